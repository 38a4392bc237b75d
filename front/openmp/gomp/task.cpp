// SPDX-License-Identifier: MIT
// Tasks, taskloops, groups.
#include "front/openmp/gomp/abi.hpp"

#include <algorithm>
#include <cstring>

using namespace weft::openmp;
using namespace weft::openmp::gomp;
using ull = unsigned long long;

namespace {

enum task_flag : unsigned {
  untied = 1,
  final_task = 2,
  mergeable = 4,
  has_depend = 8,
  has_priority = 16,
  going_up = 1U << 8,
  has_grainsize = 1U << 9,
  if_true = 1U << 10,
  no_group = 1U << 11,
  has_reduction = 1U << 12,
  has_detach = 1U << 13,
  is_strict = 1U << 14,
};

} // namespace

OMP_EXPORT void GOMP_task(function f, void* data, void (*copy)(void*, void*), long size, long alignment,
                          bool if_clause, unsigned flags, void** depend, int priority, void** detach) {
  make_task(called(), {.function = f,
                       .data = data,
                       .copy = copy,
                       .size = static_cast<std::size_t>(size),
                       .alignment = static_cast<std::size_t>(std::max(alignment, 1L)),
                       .undeferred = !if_clause,
                       .is_final = (flags & final_task) != 0,
                       .is_untied = (flags & untied) != 0,
                       .is_mergeable = (flags & mergeable) != 0,
                       .priority = (flags & has_priority) != 0 ? priority : 0,
                       .depend = (flags & has_depend) != 0 ? depend : nullptr,
                       .detach = (flags & has_detach) != 0 ? detach : nullptr});
}

OMP_EXPORT void GOMP_taskwait() {
  wait_for_children(called());
}
OMP_EXPORT void GOMP_taskwait_depend(void** depend) {
  wait_for_children(called(), depend);
}
OMP_EXPORT void GOMP_taskyield() {
  yield_to_tasks(called());
}
OMP_EXPORT void GOMP_taskgroup_start() {
  begin_group(called());
}
OMP_EXPORT void GOMP_taskgroup_end() {
  thread& t = called();
  if (t.current->group == nullptr)
    return;
  end_group(t);
}

OMP_EXPORT void omp_fulfill_event(std::uintptr_t event) {
  fulfill(*reinterpret_cast<task*>(event));
}

// --- taskloop ---

namespace {

// Each task has the bounds of its part in the first two words of its data.
template <class Value>
struct loop_parts {
  std::uint64_t tasks;
  std::uint64_t each; // iterations of a task
  std::uint64_t more; // tasks with one iteration more
};

template <class Value>
loop_parts<Value> parts_of(const thread& t, std::uint64_t n, std::uint64_t wanted, unsigned flags) {
  loop_parts<Value> p{1, n, 0};
  if ((flags & has_grainsize) != 0) {
    const std::uint64_t grain = std::max<std::uint64_t>(wanted, 1);
    if ((flags & is_strict) != 0)
      return {n / grain + (n % grain != 0 ? 1 : 0), grain, 0}; // the last one has what is left
    p.tasks = std::max<std::uint64_t>(n / grain, 1);
  } else {
    p.tasks = wanted != 0 ? wanted : t.at.team->size;
    p.tasks = std::clamp<std::uint64_t>(p.tasks, 1, n);
  }
  p.each = n / p.tasks;
  p.more = n % p.tasks;
  return p;
}

template <class Value>
void make_loop_tasks(thread& t, task_request wanted, const iteration_space& space,
                     const loop_parts<Value>& p) {
  std::uint64_t low = 0;
  for (std::uint64_t i = 0; i < p.tasks; ++i) {
    const std::uint64_t high = std::min(low + p.each + (i < p.more ? 1 : 0), space.count);
    const Value bounds[2] = {static_cast<Value>(space.first + low * space.step),
                             static_cast<Value>(space.value(high))};
    make_task(t, wanted, [&](void* data) {
      if (wanted.copy != nullptr) {
        wanted.copy(data, wanted.data);
      } else {
        std::memcpy(data, wanted.data, wanted.size);
      }
      std::memcpy(data, bounds, sizeof bounds);
    });
    low = high;
  }
}

template <class Value>
void taskloop(thread& t, function f, void* data, void (*copy)(void*, void*), long size, long alignment,
              unsigned flags, unsigned long wanted, int priority, const iteration_space& space);

} // namespace

OMP_EXPORT void GOMP_taskgroup_reduction_register(std::uintptr_t* data);

namespace {

template <class Value>
void taskloop(thread& t, function f, void* data, void (*copy)(void*, void*), long size, long alignment,
              unsigned flags, unsigned long wanted, int priority, const iteration_space& space) {
  if (t.at.team->cancelled.load_relaxed()) // a hint
    return;
  // Reductions that the data's third word describes are of the group that the loop itself is.
  const bool has_group = (flags & no_group) == 0;
  if (has_group)
    begin_group(t);
  if ((flags & has_reduction) != 0) {
    struct with_reductions {
      Value first, last;
      std::uintptr_t* reductions;
    };
    GOMP_taskgroup_reduction_register(static_cast<with_reductions*>(data)->reductions);
  }
  const void* const from = t.told.called.from;
  if (tool::is_on) [[unlikely]]
    tool::work_begins(t, tool::work::taskloop, space.count);
  if (space.count != 0) {
    const task_request r{.function = f,
                         .data = data,
                         .copy = copy,
                         .size = static_cast<std::size_t>(size),
                         .alignment = static_cast<std::size_t>(std::max(alignment, 1L)),
                         .undeferred = (flags & if_true) == 0,
                         .is_final = (flags & final_task) != 0,
                         .is_untied = (flags & untied) != 0,
                         .is_mergeable = (flags & mergeable) != 0,
                         .priority = (flags & has_priority) != 0 ? priority : 0};
    make_loop_tasks<Value>(t, r, space, parts_of<Value>(t, space.count, wanted, flags));
  }
  if (tool::is_on) [[unlikely]] {
    t.told.called.from = from; // parts may have run at once
    tool::work_ends(t);
  }
  if (has_group)
    end_group(t);
}

} // namespace

OMP_EXPORT void GOMP_taskloop(function f, void* data, void (*copy)(void*, void*), long size, long alignment,
                              unsigned flags, unsigned long wanted, int priority, long start, long end,
                              long step) {
  taskloop<long>(called(), f, data, copy, size, alignment, flags, wanted, priority,
                 iteration_space::of(start, end, step));
}
OMP_EXPORT void GOMP_taskloop_ull(function f, void* data, void (*copy)(void*, void*), long size,
                                  long alignment, unsigned flags, unsigned long wanted, int priority,
                                  ull start, ull end, ull step) {
  taskloop<ull>(called(), f, data, copy, size, alignment, flags, wanted, priority,
                iteration_space::of((flags & going_up) != 0, start, end, step));
}
