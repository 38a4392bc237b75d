// SPDX-License-Identifier: MIT
// What a tool is told, from what the model says.
#include "front/openmp/team.hpp"
#include "front/openmp/tool/discovery.hpp"

#include <utility>
#include <vector>

namespace weft::openmp::tool {
namespace {

enum class endpoint : int { begin = 1, end = 2 };

constexpr unsigned no_such_impl = 0; // of a lock: nothing is said

word* nothing() noexcept {
  return nullptr;
}

team& team_of(const thread& t) noexcept {
  return *t.at.team;
}

state state_of(sync kind) noexcept {
  switch (kind) {
  case sync::explicit_barrier:
    return state::explicit_barrier;
  case sync::end_of_share:
    return state::end_of_share;
  case sync::end_of_region:
    return state::end_of_region;
  case sync::wait_for_children:
    return state::taskwait;
  case sync::group:
    return state::taskgroup;
  default:
    return state::implementation_barrier;
  }
}

state state_of(mutex kind) noexcept {
  switch (kind) {
  case mutex::critical:
    return state::critical;
  case mutex::atomic:
    return state::atomic;
  case mutex::ordered:
    return state::ordered;
  default:
    return state::lock;
  }
}

state at_work(const thread& t) noexcept {
  return t.at.level != 0 ? state::parallel : state::serial;
}

std::uint64_t id_of(const void* what) noexcept {
  return reinterpret_cast<std::uintptr_t>(what);
}

} // namespace

void of_task::renew(unsigned of_flags) noexcept {
  data.value = 0;
  frame = {{0}, {0}, is_of_program | is_frame_pointer, is_of_runtime | is_cfa};
  flags = of_flags;
  preempted = nullptr;
  bytes = 0;
  first_iteration = 0;
  iterations = 0;
  share = work::none;
  share_count = 0;
  is_detached.store_relaxed(false); // relaxed, both: nobody else knows it
  parts_to_come.store_relaxed(0);
}

in_call::in_call(thread& t) noexcept : of_(*t.current), before_(of_.told.frame.enter) {
  if (before_.pointer == nullptr && of_.told.frame.exit.pointer != nullptr)
    of_.told.frame.enter.pointer = t.told.called.stack;
}

in_call::~in_call() {
  of_.told.frame.enter = before_;
}

// --- threads ---

void meet(thread& t) {
  start_once();
  if (is_on)
    thread_begins(t);
}

void thread_begins(thread& t) {
  constexpr int initial = 1;
  constexpr int worker = 2;
  t.told.state = t.is_initial ? state::serial : state::idle;
  tell(event::thread_begin, t.is_initial ? initial : worker, &t.told.data);
  if (!t.is_initial)
    return;
  t.current->told.renew(initial_task);
  team_of(t).told.data.value = 0;
  tell(event::implicit_task, endpoint::begin, &team_of(t).told.data, &t.current->told.data, 1U, 1U,
       static_cast<int>(initial_task));
}

void thread_ends(thread& t) {
  if (t.is_initial)
    tell(event::implicit_task, endpoint::end, nothing(), &t.current->told.data, 0U, 1U,
         static_cast<int>(initial_task));
  tell(event::thread_end, &t.told.data);
  t.told.state = state::undefined;
}

// --- regions ---

void region_begins(thread& t, team& in, const region& r, unsigned wanted) {
  in.told.data.value = 0;
  in.told.from = t.told.called.from;
  in.told.flags = is_team | (r.function == nullptr ? called_by_program : called_by_runtime);
  in.told.share = work::none;
  if (r.share != nullptr) {
    in.told.share = r.most != 0 ? work::sections : work::loop;
    in.told.share_count = r.share->space.count;
  }
  in.told.left.store_relaxed(0); // relaxed: published with the members' start
  for (unsigned i = 0; i < in.size; ++i) {
    in.members[i].implicit.told.renew(implicit_task | (in.size == 1 ? undeferred_task : 0U));
  }
  t.told.state = state::overhead;
  task& opens = *t.current;
  opens.told.frame.enter.pointer = t.told.called.stack; // until the region ends
  const frame* const where = &opens.told.frame;
  tell(event::parallel_begin, &opens.told.data, where, &in.told.data, wanted, static_cast<int>(in.told.flags),
       in.told.from);
}

// The caller is again in the task that opened it.
void region_ends(thread& t, team& in) {
  tell(event::parallel_end, &in.told.data, &t.current->told.data, static_cast<int>(in.told.flags),
       in.told.from);
  t.current->told.frame.enter.pointer = nullptr;
  t.told.state = at_work(t);
}

void implicit_begins(thread& t, void* frame) {
  team& in = team_of(t);
  t.current->told.frame.exit.pointer = frame;
  tell(event::implicit_task, endpoint::begin, &in.told.data, &t.current->told.data, in.size, t.at.number,
       static_cast<int>(implicit_task));
  t.told.state = state::parallel;
  if (in.told.share != work::none)
    work_begins(t, in.told.share, in.told.share_count);
}

void implicit_ends(thread& t) {
  t.current->told.frame.exit.pointer = nullptr;
  tell(event::implicit_task, endpoint::end, nothing(), &t.current->told.data, team_of(t).size, t.at.number,
       static_cast<int>(implicit_task));
  t.told.state = state::idle;
}

void exits_from(thread& t, void* frame) noexcept {
  t.current->told.frame.exit.pointer = frame;
}

// --- waits ---

namespace {

// At the end of a region its master has been called, and the others have not.
const void* origin_of(const thread& t, sync kind) noexcept {
  if (kind != sync::end_of_region)
    return t.told.called.from;
  return t.at.number == 0 ? team_of(t).told.from : nullptr;
}

} // namespace

// The task has left the program's code at the end of its region; elsewhere it is in a call.
waiting::waiting(thread& t, sync kind)
    : t_(t), waits_(*t.current), kind_(kind), from_(origin_of(t, kind)), before_(t.told.state) {
  if (kind == sync::end_of_region)
    waits_.told.frame.exit.pointer = nullptr;
  else
    waits_.told.frame.enter.pointer = t.told.called.stack;
  word* const of_team = &team_of(t).told.data;
  if (kind != sync::group) // it began with its group
    tell(event::sync_region, kind, endpoint::begin, of_team, &waits_.told.data, from_);
  t.told.state = state_of(kind);
  tell(event::sync_region_wait, kind, endpoint::begin, of_team, &waits_.told.data, from_);
}

waiting::~waiting() {
  word* const of_team = kind_ == sync::end_of_region ? nothing() : &team_of(t_).told.data;
  tell(event::sync_region_wait, kind_, endpoint::end, of_team, &waits_.told.data, from_);
  t_.told.state = before_;
  tell(event::sync_region, kind_, endpoint::end, of_team, &waits_.told.data, from_);
  waits_.told.frame.enter.pointer = nullptr;
}

void group_begins(thread& t) {
  const in_call here(t);
  tell(event::sync_region, sync::group, endpoint::begin, &team_of(t).told.data, &t.current->told.data,
       t.told.called.from);
}

void reduction_begins(thread& t) {
  t.told.state = state::reduction;
  tell(event::reduction, sync::reduction, endpoint::begin, &team_of(t).told.data, &t.current->told.data,
       t.told.called.from);
}

void reduction_ends(thread& t) {
  tell(event::reduction, sync::reduction, endpoint::end, &team_of(t).told.data, &t.current->told.data,
       t.told.called.from);
  t.told.state = at_work(t);
}

// --- work shares ---

void work_begins(thread& t, work kind, std::uint64_t count) {
  of_task& of = t.current->told;
  of.share = kind;
  of.share_count = count;
  tell(event::work, kind, endpoint::begin, &team_of(t).told.data, &of.data, count, t.told.called.from);
}

void work_ends(thread& t) {
  of_task& of = t.current->told;
  if (of.share == work::none)
    return;
  tell(event::work, std::exchange(of.share, work::none), endpoint::end, &team_of(t).told.data, &of.data,
       of.share_count, t.told.called.from);
}

void single(thread& t, bool executes) {
  work_begins(t, executes ? work::single_executor : work::single_other, 1);
  if (!executes)
    work_ends(t);
}

namespace {

void tell_chunk(thread& t, task& of, chunk_of kind, std::uint64_t first, std::uint64_t count) {
  struct {
    std::uint64_t start;
    std::uint64_t iterations;
  } chunk{first, count};
  word instance{0};
  instance.pointer = &chunk;
  tell(event::dispatch, &team_of(t).told.data, &of.told.data, kind, instance);
}

} // namespace

void chunk_begins(thread& t, chunk_of kind, std::uint64_t first, std::uint64_t count) {
  tell_chunk(t, *t.current, kind, first, count);
}

void section_begins(thread& t) {
  word instance{0};
  instance.pointer = const_cast<void*>(t.told.called.from);
  tell(event::dispatch, &team_of(t).told.data, &t.current->told.data, chunk_of::section, instance);
}

void masked(thread& t, bool begins) {
  tell(event::masked, begins ? endpoint::begin : endpoint::end, &team_of(t).told.data, &t.current->told.data,
       t.told.called.from);
}

// --- tasks ---

void task_is_made(thread& t, task& k, unsigned flags, bool has_dependences) {
  const in_call here(t);
  k.told.flags |= explicit_task | flags | (k.is_final ? final_task : 0U);
  const frame* const where = &t.current->told.frame;
  tell(event::task_create, &t.current->told.data, where, &k.told.data, static_cast<int>(k.told.flags),
       has_dependences ? 1 : 0, t.told.called.from);
}

void has_dependences(task& k, const dependence* list, int count) {
  tell(event::dependences, &k.told.data, list, count);
}

void iteration(thread& t, const std::uint64_t* values, std::size_t count, dependence_type type) {
  std::vector<dependence> list;
  for (std::size_t i = 0; i < count; ++i)
    list.push_back({{values[i]}, type});
  has_dependences(*t.current, list.data(), static_cast<int>(count));
}

void depends(task& first, task& second) {
  tell(event::task_dependence, &first.told.data, &second.told.data);
}

void task_begins(thread& t, task& before, task& k, void* frame) {
  k.told.preempted = &before;
  tell(event::task_schedule, &before.told.data, std::exchange(t.told.leaves, status::switched), &k.told.data);
  k.told.frame.exit.pointer = frame;
  t.told.state = at_work(t);
  if (k.told.iterations != 0)
    tell_chunk(t, k, chunk_of::taskloop, k.told.first_iteration, k.told.iterations);
}

void task_ends(thread& t, task& k, task& before, status why) {
  k.told.frame.exit.pointer = nullptr;
  if (why == status::detach)
    k.told.is_detached.store_release(true); // pairs with the acquire in fulfill()
  tell(event::task_schedule, &k.told.data, why, &before.told.data);
  k.told.preempted = nullptr;
  t.told.state = at_work(t);
}

void fulfilled(thread& /*t*/, task& k, bool is_late) {
  tell(event::task_schedule, &k.told.data, is_late ? status::late_fulfill : status::early_fulfill, nothing());
}

taskwait_with_dependences::taskwait_with_dependences(thread& t, const dependence* list, int count) : t_(t) {
  t.current->told.frame.enter.pointer = t.told.called.stack;
  constexpr unsigned flags = taskwait_task | undeferred_task | mergeable_task;
  const frame* const where = &t.current->told.frame;
  tell(event::task_create, &t.current->told.data, where, &data_, static_cast<int>(flags), 1,
       t.told.called.from);
  tell(event::dependences, &data_, list, count);
}

taskwait_with_dependences::~taskwait_with_dependences() {
  tell(event::task_schedule, &data_, status::taskwait_complete, nothing());
  t_.current->told.frame.enter.pointer = nullptr;
}

// --- mutual exclusion ---

void acquires(thread& t, mutex kind, const void* what, unsigned hint) {
  t.told.waits_for = id_of(what);
  tell(event::mutex_acquire, kind, hint, no_such_impl, id_of(what), t.told.called.from);
  t.told.state = state_of(kind);
}

void acquired(thread& t, mutex kind, const void* what) {
  stays_free(t);
  tell(event::mutex_acquired, kind, id_of(what), t.told.called.from);
}

void stays_free(thread& t) noexcept {
  t.told.state = at_work(t);
  t.told.waits_for = 0;
}

void released(thread& t, mutex kind, const void* what) {
  tell(event::mutex_released, kind, id_of(what), t.told.called.from);
}

void nests(thread& t, const void* what, bool deeper) {
  stays_free(t);
  tell(event::nest_lock, deeper ? endpoint::begin : endpoint::end, id_of(what), t.told.called.from);
}

void lock_begins(thread& t, mutex kind, const void* what, unsigned hint) {
  tell(event::lock_init, kind, hint, no_such_impl, id_of(what), t.told.called.from);
}

void lock_ends(thread& t, mutex kind, const void* what) {
  tell(event::lock_destroy, kind, id_of(what), t.told.called.from);
}

// --- the rest ---

void flushes(thread& t) {
  tell(event::flush, &t.told.data, t.told.called.from);
}

void cancels(thread& t, cancellation kind, cancelled how) {
  constexpr int flags[] = {1, 4, 2, 8}; // parallel, loop, sections, group
  tell(event::cancel, &t.current->told.data, flags[static_cast<unsigned>(kind)] | static_cast<int>(how),
       t.told.called.from);
}

void discards(thread& /*t*/, task& k, bool with_region) {
  constexpr int of_region = 1;
  constexpr int of_group = 8;
  const void* const from = nullptr;
  tell(event::cancel, &k.told.data,
       (with_region ? of_region : of_group) | static_cast<int>(cancelled::discarded_task), from);
}

void error(thread& t, int severity, const char* message) {
  std::size_t length = 0;
  while (message[length] != '\0')
    ++length;
  tell(event::error, severity, message, length, t.told.called.from);
}

int control(thread& t, int command, int modifier, void* argument) {
  constexpr int no_tool = -2;
  constexpr int not_listening = -1;
  using control_function = int (*)(std::uint64_t, std::uint64_t, void*, const void*);
  if (!is_on)
    return no_tool;
  const auto f = reinterpret_cast<control_function>(listener_of(event::control_tool));
  if (f == nullptr)
    return not_listening;
  const in_call here(t);
  return f(static_cast<std::uint64_t>(command), static_cast<std::uint64_t>(modifier), argument,
           t.told.called.from);
}

} // namespace weft::openmp::tool
