// SPDX-License-Identifier: MIT
// Tasks of clang's programs. The program gets a kmp_task_t with room for what the task captures; the task
// that it belongs to is named in the words before it.
#include "front/openmp/dependence.hpp"
#include "front/openmp/kmp/abi.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

using routine = int (*)(int, void*);

struct kmp_task {
  void* shareds;
  routine function;
  std::int32_t part;
  routine destructors; // or a priority, for the compiler's own use
  std::int32_t priority;
};

// What stands before it; 16 bytes aligned, as it is.
struct alignas(16) prefix {
  task* of;
  std::size_t bytes; // of the kmp_task and what is shared
  bool has_destructors;
};

enum flag : std::int32_t {
  is_tied = 1,
  is_final = 2,
  merged_if_0 = 4,
  with_destructors = 8,
  is_proxy = 0x10, // ends when somebody says so
  with_priority = 0x20,
  detachable = 0x40,
};

prefix& prefix_of(void* t) noexcept {
  return static_cast<prefix*>(t)[-1];
}
kmp_task* kmp_task_of(const task& k) noexcept {
  return reinterpret_cast<kmp_task*>(static_cast<prefix*>(k.data) + 1);
}

void run_routine(void* data) {
  if (tool::is_on) [[unlikely]]
    tool::exits_from(*self, __builtin_frame_address(0));
  auto* const p = static_cast<prefix*>(data);
  auto* const k = reinterpret_cast<kmp_task*>(p + 1);
  const int id = caller().id;
  if (k->function != nullptr) // else it only has dependences
    k->function(id, k);
  if (p->has_destructors && k->destructors != nullptr)
    k->destructors(id, k);
  __asm__ volatile(""); // no jump in place of a call: this frame stays below the program's
}

kmp_task* allocate(thread& t, std::int32_t flags, std::size_t bytes, std::size_t shared, routine function) {
  const std::size_t at = (bytes + 15) / 16 * 16;
  task& k = new_task(t, {.function = &run_routine,
                         .size = sizeof(prefix) + at + shared,
                         .alignment = alignof(prefix),
                         .is_final = (flags & is_final) != 0});
  *static_cast<prefix*>(k.data) = {&k, at + shared, (flags & with_destructors) != 0};
  kmp_task* const made = kmp_task_of(k);
  made->shareds = shared != 0 ? reinterpret_cast<char*>(made) + at : nullptr;
  made->function = function;
  made->part = 0;
  if (tool::is_on) [[unlikely]] {
    k.told.flags = (flags & is_tied) == 0 ? unsigned{tool::untied_task} : 0U;
    if ((flags & merged_if_0) != 0)
      k.told.flags |= tool::mergeable_task;
    k.told.bytes = sizeof(prefix) + at + shared;
  }
  if ((flags & is_proxy) != 0)
    k.to_complete.store_relaxed(2); // relaxed: nobody else knows it
  return made;
}

// A task that is given again while it runs is an untied one that goes on later: it ends once more.
bool goes_on_later(thread& t, task& k) {
  if (t.current != &k)
    return false;
  k.to_complete.fetch_add_relaxed(1); // relaxed: it cannot end before the caller returns from it
  if (tool::is_on) [[unlikely]]
    k.told.parts_to_come.fetch_add_relaxed(1); // relaxed: read by who returns
  make_ready(t, k);
  return true;
}

void tell_made(thread& t, task& k, bool has_dependences) {
  const bool is_undeferred = t.at.team->size == 1 || t.current->is_final;
  tool::task_is_made(t, k, is_undeferred ? unsigned{tool::undeferred_task} : 0U, has_dependences);
}

void submit(thread& t, task& k) {
  if (runs_at_once(t))
    return execute(t, k);
  make_ready(t, k);
}

// --- dependences, in the GNU ABI's form ---

struct depend_info {
  void* address;
  std::size_t bytes;
  std::uint8_t flags; // 1 in, 2 out, 4 mutexinoutset, 8 inoutset, 0x80 omp_all_memory
};

tool::dependence as_told(const depend_info& d) noexcept {
  tool::dependence told{{0}, tool::reads};
  told.variable.pointer = d.address;
  const bool is_all = (d.flags & 0x80) != 0 || d.address == all_memory;
  if (is_all) {
    told.variable.pointer = nullptr;
    told.type = tool::all_memory_out;
  } else if ((d.flags & 3) == 3) {
    told.type = tool::reads_and_writes;
  } else if ((d.flags & 2) != 0) {
    told.type = tool::writes;
  } else if ((d.flags & 4) != 0) {
    told.type = tool::excludes;
  } else if ((d.flags & 8) != 0) {
    told.type = tool::reads_and_writes_together;
  }
  return told;
}

std::vector<tool::dependence> as_told(int count, const depend_info* list, int more,
                                      const depend_info* others) {
  std::vector<tool::dependence> out;
  for (int i = 0; i < count; ++i)
    out.push_back(as_told(list[i]));
  for (int i = 0; i < more; ++i)
    out.push_back(as_told(others[i]));
  return out;
}

bool names_all_memory(int count, const depend_info* list) {
  return std::any_of(list, list + count,
                     [](const depend_info& d) { return (d.flags & 0x80) != 0 || d.address == all_memory; });
}

// Null where there is none.
std::vector<void*> list_of(int count, const depend_info* list, int more, const depend_info* others) {
  if (names_all_memory(count, list) || names_all_memory(more, others))
    return {reinterpret_cast<void*>(1), reinterpret_cast<void*>(1), all_memory};
  std::vector<void*> out(2);
  std::size_t written = 0;
  const auto add = [&](bool writes) {
    for (const auto& [n, from] : {std::pair{count, list}, std::pair{more, others}}) {
      for (int i = 0; i < n; ++i) {
        if (((from[i].flags & 14) != 0) == writes)
          out.push_back(from[i].address);
      }
    }
  };
  add(true);
  written = out.size() - 2;
  add(false);
  out[0] = reinterpret_cast<void*>(out.size() - 2);
  out[1] = reinterpret_cast<void*>(written);
  return out;
}

} // namespace

KMP_EXPORT void* __kmpc_omp_task_alloc(ident*, int, std::int32_t flags, std::size_t bytes, std::size_t shared,
                                       routine function) {
  return allocate(caller(), flags, bytes, shared, function);
}
// target nowait: by the host, as any other task.
KMP_EXPORT void* __kmpc_omp_target_task_alloc(ident*, int, std::int32_t flags, std::size_t bytes,
                                              std::size_t shared, routine function, std::int64_t /*device*/) {
  return allocate(caller(), flags, bytes, shared, function);
}
// A hint: where its data are. Threads are not chosen by that.
KMP_EXPORT int __kmpc_omp_reg_task_with_affinity(ident*, int, void* /*made*/, int /*count*/, void* /*list*/) {
  return 0;
}
KMP_EXPORT void __kmpc_proxy_task_completed(int, void* made) {
  fulfill(*prefix_of(made).of);
}
// The same, by a kernel thread that need not be one of the team's.
KMP_EXPORT void __kmpc_proxy_task_completed_ooo(void* made) {
  fulfill(*prefix_of(made).of);
}
// Tells the tasks that there are from each other.
KMP_EXPORT std::uint64_t __kmpc_get_taskid() {
  return reinterpret_cast<std::uintptr_t>(caller().current);
}
KMP_EXPORT std::uint64_t __kmpc_get_parent_taskid() {
  return reinterpret_cast<std::uintptr_t>(caller().current->parent);
}
namespace {

int give_task(thread& t, task& k) {
  if (goes_on_later(t, k))
    return 0;
  if (tool::is_on) [[unlikely]]
    tell_made(t, k, false);
  submit(t, k); // SWITCH: may resume on another worker
  return 0;
}

} // namespace

KMP_EXPORT int __kmpc_omp_task(ident* at, int, void* made) {
  return give_task(called_by(at), *prefix_of(made).of);
}
KMP_EXPORT int __kmpc_omp_task_parts(ident* at, int, void* made) {
  return give_task(called_by(at), *prefix_of(made).of);
}
KMP_EXPORT int __kmpc_omp_task_with_deps(ident* at, int, void* made, int count, const depend_info* list,
                                         int more, const depend_info* others) {
  thread& t = called_by(at);
  task& k = *prefix_of(made).of;
  if (tool::is_on) [[unlikely]] {
    tell_made(t, k, count + more != 0);
    if (count + more != 0) {
      const std::vector<tool::dependence> told = as_told(count, list, more, others);
      tool::has_dependences(k, told.data(), static_cast<int>(told.size()));
    }
  }
  if (count + more == 0 || t.current->is_final) {
    submit(t, k);
    return 0;
  }
  std::vector<void*> depend = list_of(count, list, more, others);
  submit_with_dependences(t, k, depend.data());
  return 0;
}
namespace {

// A taskwait, which is a task to a tool; or what an undeferred task waits for.
void wait_for_list(thread& t, int count, const depend_info* list, int more, const depend_info* others) {
  std::vector<void*> depend = list_of(count, list, more, others);
  await_dependences(t, depend.data()); // SWITCH: may resume on another worker
}

} // namespace

KMP_EXPORT void __kmpc_omp_wait_deps(ident* at, int, int count, const depend_info* list, int more,
                                     const depend_info* others) {
  wait_for_list(called_by(at), count, list, more, others); // SWITCH: may resume on another worker
}
KMP_EXPORT void __kmpc_omp_taskwait_deps_51(ident* at, int, int count, const depend_info* list, int more,
                                            const depend_info* others, int) {
  thread& t = called_by(at);
  if (!tool::is_on) [[likely]]
    return wait_for_list(t, count, list, more, others); // SWITCH: may resume on another worker
  const std::vector<tool::dependence> told = as_told(count, list, more, others);
  const tool::taskwait_with_dependences waits(t, told.data(), static_cast<int>(told.size()));
  wait_for_list(t, count, list, more, others); // SWITCH: may resume on another worker
}

// if(0): the compiler calls the function itself.
KMP_EXPORT void __kmpc_omp_task_begin_if0(ident* at, int, void* made) {
  thread& t = called_by(at);
  task& k = *prefix_of(made).of;
  if (tool::is_on) [[unlikely]] {
    task& before = *t.current;
    tool::task_is_made(t, k, tool::undeferred_task, false);
    before.told.frame.enter.pointer = t.told.called.stack; // until its end
    // The program's function calls the task's: its frame, as far as the compiler keeps it.
    tool::task_begins(t, before, k, *static_cast<void**>(__builtin_frame_address(0)));
  }
  t.current = &k;
}
KMP_EXPORT void __kmpc_omp_task_complete_if0(ident* at, int, void* made) {
  thread& t = called_by(at);
  task& before = *t.current->parent;
  end_function(t, *prefix_of(made).of);
  if (tool::is_on) [[unlikely]]
    before.told.frame.enter.pointer = nullptr;
}

KMP_EXPORT int __kmpc_omp_taskwait(ident* at, int) {
  wait_for_children(called_by(at));
  return 0;
}
KMP_EXPORT int __kmpc_omp_taskyield(ident* at, int, int) {
  yield_to_tasks(called_by(at));
  return 0;
}
KMP_EXPORT void* __kmpc_task_allow_completion_event(ident*, int, void* made) {
  task& k = *prefix_of(made).of;
  k.to_complete.store_relaxed(2); // relaxed: nobody else knows it
  return &k;
}

// --- taskloop: the given task is the pattern; its bounds lie somewhere in it ---

namespace {

void tell_part(thread& t, task& k, const prefix& like, bool undeferred, std::uint64_t first,
               std::uint64_t count) {
  k.told.flags = like.of->told.flags;
  k.told.bytes = like.of->told.bytes;
  k.told.first_iteration = first;
  k.told.iterations = count;
  const bool at_once = undeferred || t.at.team->size == 1 || t.current->is_final;
  tool::task_is_made(t, k, at_once ? unsigned{tool::undeferred_task} : 0U, false);
}

// A copy of the pattern for `count` iterations.
void make_part(thread& t, void* pattern, const prefix& like, std::uint64_t* lower, std::uint64_t* upper,
               std::uint64_t first, std::uint64_t last, std::uint64_t count, bool is_last, bool undeferred,
               void (*copy)(void*, void*, int)) {
  task& original = *like.of;
  task& k = new_task(t, {.function = &run_routine,
                         .size = sizeof(prefix) + like.bytes,
                         .alignment = alignof(prefix),
                         .is_final = original.is_final});
  *static_cast<prefix*>(k.data) = {&k, like.bytes, like.has_destructors};
  char* const made = reinterpret_cast<char*>(kmp_task_of(k));
  char* const from = static_cast<char*>(pattern);
  std::memcpy(made, from, like.bytes);
  auto* const fresh = reinterpret_cast<kmp_task*>(made);
  if (fresh->shareds != nullptr)
    fresh->shareds = made + (static_cast<char*>(fresh->shareds) - from);
  std::memcpy(made + (reinterpret_cast<char*>(lower) - from), &first, sizeof first);
  std::memcpy(made + (reinterpret_cast<char*>(upper) - from), &last, sizeof last);
  if (copy != nullptr)
    copy(made, pattern, is_last ? 1 : 0);
  if (tool::is_on) [[unlikely]]
    tell_part(t, k, like, undeferred, first, count);
  undeferred ? execute(t, k) : submit(t, k);
}

void taskloop(thread& t, void* pattern, int if_value, std::uint64_t* lower, std::uint64_t* upper,
              std::int64_t step, int no_group, int how, std::uint64_t wanted, bool strict,
              void (*copy)(void*, void*, int)) {
  if (no_group == 0)
    begin_group(t);
  const std::uint64_t low = *lower;
  const auto span = step > 0 ? *upper - low : low - *upper;
  const bool is_empty = step > 0 ? static_cast<std::int64_t>(*upper) < static_cast<std::int64_t>(low)
                                 : static_cast<std::int64_t>(low) < static_cast<std::int64_t>(*upper);
  const std::uint64_t by =
      step > 0 ? static_cast<std::uint64_t>(step) : ~static_cast<std::uint64_t>(step) + 1;
  const std::uint64_t n = is_empty ? 0 : span / by + 1;
  const prefix like = prefix_of(pattern);
  const void* const from = t.told.called.from;
  if (tool::is_on) [[unlikely]]
    tool::work_begins(t, tool::work::taskloop, n);
  if (n != 0) {
    std::uint64_t tasks = how == 1   ? std::max<std::uint64_t>(n / std::max<std::uint64_t>(wanted, 1), 1)
                          : how == 2 ? wanted
                                     : std::uint64_t{t.at.team->size} * 10;
    if (how == 1 && strict)
      tasks = n / wanted + (n % wanted != 0 ? 1 : 0);
    tasks = std::clamp<std::uint64_t>(tasks, 1, n);
    std::uint64_t done = 0;
    for (std::uint64_t i = 0; i < tasks; ++i) {
      const std::uint64_t size =
          how == 1 && strict ? std::min(wanted, n - done) : n / tasks + (i < n % tasks ? 1 : 0);
      const std::uint64_t first = low + done * static_cast<std::uint64_t>(step);
      const std::uint64_t last = first + (size - 1) * static_cast<std::uint64_t>(step);
      done += size;
      make_part(t, pattern, like, lower, upper, first, last, size, i + 1 == tasks, if_value == 0, copy);
    }
  }
  forget_task(*like.of); // the pattern never runs
  if (tool::is_on) [[unlikely]] {
    t.told.called.from = from; // parts may have run at once
    tool::work_ends(t);
  }
  if (no_group == 0)
    end_group(t);
}

} // namespace

KMP_EXPORT void __kmpc_taskloop(ident* at, int, void* pattern, int if_value, std::uint64_t* lower,
                                std::uint64_t* upper, std::int64_t step, int no_group, int how,
                                std::uint64_t wanted, void (*copy)(void*, void*, int)) {
  taskloop(called_by(at), pattern, if_value, lower, upper, step, no_group, how, wanted, false, copy);
}
KMP_EXPORT void __kmpc_taskloop_5(ident* at, int, void* pattern, int if_value, std::uint64_t* lower,
                                  std::uint64_t* upper, std::int64_t step, int no_group, int how,
                                  std::uint64_t wanted, int strict, void (*copy)(void*, void*, int)) {
  taskloop(called_by(at), pattern, if_value, lower, upper, step, no_group, how, wanted, strict != 0, copy);
}
