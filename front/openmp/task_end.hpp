// SPDX-License-Identifier: MIT
// How tasks end: who is told of it, and where their memory goes.
#pragma once

#include "front/openmp/task.hpp"
#include "front/openmp/thread.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::openmp {

/// A cell is memory for a task with little data; what has more has memory of its own. An odd number of cache
/// lines, so that the same lines of many cells stand in all sets of a cache.
inline constexpr std::size_t cell_bytes = 448;
/// One that is the caller's. It comes back to `t` when its task is freed. *Errors*: std::bad_alloc.
void* take_cell(thread& t);

/// All that a task had to wait for has come. By itself, as this is what tasks that never were in a deque
/// take: less than common_end does. GONE: the task.
void end(task& k) noexcept;
/// The function of a task has ended, or its event has come. GONE: the task, if that was all it had to wait
/// for.
void complete_one(task& k) noexcept;
/// What a task that never ran, or was told of by others, leaves. True: somebody may wait for that.
bool leave_parent_and_group(task& k) noexcept;

/// (E1) What the ends of tasks have in common that a thread runs one after the other: children of one parent,
/// in one group. They are told together, after the last of them: who waits for the parent's children, for the
/// group or for the team's tasks waits for each one that runs meanwhile too. So a thief touches the words
/// that it shares with the maker of many tasks once for some of them.
class common_end {
 public:
  [[nodiscard]] bool is_that_of(const task& k) const noexcept {
    return parent_ == k.parent && group_ == k.group && team_ == k.team;
  }
  /// Its function has ended, and nothing else is to come. GONE: the task.
  void add(task& k) noexcept;
  /// GONE: the group, the parent, the team.
  void tell() noexcept;

 private:
  void free(task& k) noexcept;
  task* parent_ = nullptr;
  task_group* group_ = nullptr;
  team* team_ = nullptr;
  std::uint32_t tasks_ = 0;
  std::uint32_t freed_ = 0; // of them, which do not hold the parent any more
  thread* owner_ = nullptr; // of the cells
  task_cell* first_ = nullptr;
  task_cell* last_ = nullptr;
};

} // namespace weft::openmp
