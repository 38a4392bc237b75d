// SPDX-License-Identifier: MIT
// The functions that a tool calls: it gets them by name from look_up(). Types and results are the standard's.
#include "front/openmp/crew.hpp"
#include "front/openmp/places.hpp"
#include "front/openmp/team.hpp"
#include "front/openmp/tool/discovery.hpp"

#include <algorithm>
#include <cstring>
#include <sched.h>
#include <span>

namespace weft::openmp::tool {
namespace {

struct numbered_name {
  int number;
  const char* name;
};

// The next of a list after `current`, which begins at the first for `first`.
int next_of(std::span<const numbered_name> list, int current, int* next, const char** name) noexcept {
  for (std::size_t i = 0; i + 1 < list.size(); ++i) {
    if (list[i].number != current)
      continue;
    *next = list[i + 1].number;
    *name = list[i + 1].name;
    return 1;
  }
  return 0;
}

// --- callbacks ---

int set_callback(int which, function f) {
  constexpr int error = 0;
  constexpr int never = 1;
  constexpr int always = 5;
  constexpr event told[] = {event::thread_begin,   event::thread_end,   event::parallel_begin,
                            event::parallel_end,   event::task_create,  event::task_schedule,
                            event::implicit_task,  event::control_tool, event::sync_region_wait,
                            event::mutex_released, event::dependences,  event::task_dependence,
                            event::work,           event::masked,       event::sync_region,
                            event::lock_init,      event::lock_destroy, event::mutex_acquire,
                            event::mutex_acquired, event::nest_lock,    event::flush,
                            event::cancel,         event::reduction,    event::dispatch,
                            event::error};
  if (which < 1 || static_cast<unsigned>(which) >= events)
    return error;
  if (std::find(std::begin(told), std::end(told), static_cast<event>(which)) == std::end(told))
    return never;
  listeners[static_cast<std::size_t>(which)].store_release(f); // pairs with the acquire in listener_of()
  return always;
}

int get_callback(int which, function* f) {
  if (which < 1 || static_cast<unsigned>(which) >= events)
    return 0;
  *f = listener_of(static_cast<event>(which));
  return *f != nullptr ? 1 : 0;
}

// --- where the caller is ---

// Null: a thread that the runtime has not met, or there is no tool any more or yet.
thread* known() noexcept {
  return is_on ? self : nullptr;
}

word* get_thread_data() {
  thread* const t = known();
  return t != nullptr ? &t->told.data : nullptr;
}

int get_state(std::uint64_t* wait_id) {
  const thread* const t = known();
  if (t == nullptr)
    return static_cast<int>(state::serial);
  if (wait_id != nullptr)
    *wait_id = t->told.waits_for;
  return static_cast<int>(t->told.state);
}

int get_parallel_info(int level, word** data, int* size) {
  const thread* const t = known();
  if (t == nullptr || level < 0)
    return 0;
  team* in = t->at.team;
  for (; level > 0 && in != nullptr; --level)
    in = in->outer.team;
  if (in == nullptr)
    return 0;
  if (data != nullptr)
    *data = &in->told.data;
  if (size != nullptr)
    *size = static_cast<int>(in->size);
  return 2;
}

/// A task that the caller executes, or has left for another one.
struct place_of_task {
  task* at;
  team* in;
  unsigned number;
};

place_of_task ancestor(const thread& t, int level) noexcept {
  place_of_task p{t.current, t.at.team, t.at.number};
  for (; level > 0 && p.at != nullptr; --level) {
    if (p.at->is_explicit) {
      p.at = p.at->told.preempted != nullptr ? p.at->told.preempted : p.at->parent;
      continue;
    }
    p.at = p.at->parent;
    p.number = p.in->outer.number;
    p.in = p.in->outer.team;
  }
  return p;
}

int get_task_info(int level, int* flags, word** data, frame** where, word** of_team, int* number) {
  const thread* const t = known();
  if (t == nullptr || level < 0)
    return 0;
  const place_of_task p = ancestor(*t, level);
  if (p.at == nullptr || p.in == nullptr)
    return 0;
  if (flags != nullptr)
    *flags = static_cast<int>(p.at->told.flags);
  if (data != nullptr)
    *data = &p.at->told.data;
  if (where != nullptr)
    *where = &p.at->told.frame;
  if (of_team != nullptr)
    *of_team = &p.in->told.data;
  if (number != nullptr)
    *number = static_cast<int>(p.number);
  return 2;
}

// The data that an explicit task has got with it: one block.
int get_task_memory(void** address, std::size_t* size, int block) {
  const thread* const t = known();
  if (t == nullptr || block != 0)
    return 0;
  const task& k = *t->current;
  const bool has = k.is_explicit && k.told.bytes != 0;
  *address = has ? k.data : nullptr;
  *size = has ? k.told.bytes : 0;
  return 0; // no further block
}

std::uint64_t get_unique_id() {
  static constinit door::atomic<std::uint64_t> last{0};
  return last.fetch_add_relaxed(1) + 1; // relaxed: only the numbers differ
}

// --- the machine ---

int get_num_procs() {
  return static_cast<int>(processors());
}
int get_proc_id() {
  return known() != nullptr ? ::sched_getcpu() : -1;
}
int get_num_places() {
  return static_cast<int>(places().size());
}
int get_place_proc_ids(int number, int room, int* ids) {
  const auto& all = places();
  if (number < 0 || static_cast<std::size_t>(number) >= all.size())
    return 0;
  const place& p = all[static_cast<std::size_t>(number)];
  std::copy_n(p.begin(), std::min(p.size(), static_cast<std::size_t>(std::max(room, 0))), ids);
  return static_cast<int>(p.size());
}
int get_place_num() {
  const thread* const t = known();
  return t == nullptr ? -1 : static_cast<int>(t->at.place) - 1;
}
int get_partition_place_nums(int room, int* numbers) {
  const thread* const t = known();
  if (t == nullptr || places().empty())
    return 0;
  const position& p = t->at;
  for (unsigned i = 0; i < p.place_count && i < static_cast<unsigned>(std::max(room, 0)); ++i)
    numbers[i] = static_cast<int>(p.first_place + i);
  return static_cast<int>(p.place_count);
}

// The host is no device that has events of its own.
int get_num_devices() {
  return 1;
}
int get_target_info(std::uint64_t* /*device*/, std::uint64_t* /*target*/, std::uint64_t* /*operation*/) {
  return 0;
}

// --- lists ---

int enumerate_states(int current, int* next, const char** name) {
  constexpr numbered_name list[] = {
      {0x102, "ompt_state_undefined"},
      {0x000, "ompt_state_work_serial"},
      {0x001, "ompt_state_work_parallel"},
      {0x002, "ompt_state_work_reduction"},
      {0x011, "ompt_state_wait_barrier_implicit_parallel"},
      {0x012, "ompt_state_wait_barrier_implicit_workshare"},
      {0x014, "ompt_state_wait_barrier_explicit"},
      {0x015, "ompt_state_wait_barrier_implementation"},
      {0x020, "ompt_state_wait_taskwait"},
      {0x021, "ompt_state_wait_taskgroup"},
      {0x041, "ompt_state_wait_lock"},
      {0x042, "ompt_state_wait_critical"},
      {0x043, "ompt_state_wait_atomic"},
      {0x044, "ompt_state_wait_ordered"},
      {0x100, "ompt_state_idle"},
      {0x101, "ompt_state_overhead"},
  };
  return next_of(list, current, next, name);
}

// The first is where a tool begins, which is no implementation; there is one.
int enumerate_mutex_impls(int current, int* next, const char** name) {
  constexpr numbered_name list[] = {{0, "ompt_mutex_impl_none"}, {1, "ompt_mutex_impl_word"}};
  return next_of(list, current, next, name);
}

void finalize_tool() {
  finish();
}

} // namespace

function look_up(const char* name) noexcept {
  struct entry {
    const char* name;
    function f;
  };
#define ENTRY(of) {"ompt_" #of, reinterpret_cast<function>(&of)}
  static const entry all[] = {
      ENTRY(set_callback),      ENTRY(get_callback),
      ENTRY(get_thread_data),   ENTRY(get_state),
      ENTRY(get_parallel_info), ENTRY(get_task_info),
      ENTRY(get_task_memory),   ENTRY(get_unique_id),
      ENTRY(get_num_procs),     ENTRY(get_proc_id),
      ENTRY(get_num_places),    ENTRY(get_place_proc_ids),
      ENTRY(get_place_num),     ENTRY(get_partition_place_nums),
      ENTRY(get_num_devices),   ENTRY(get_target_info),
      ENTRY(enumerate_states),  ENTRY(enumerate_mutex_impls),
      ENTRY(finalize_tool),
  };
#undef ENTRY
  for (const entry& e : all) {
    if (std::strcmp(e.name, name) == 0)
      return e.f;
  }
  return nullptr;
}

} // namespace weft::openmp::tool
