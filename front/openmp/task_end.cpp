// SPDX-License-Identifier: MIT
#include "front/openmp/task_end.hpp"

#include "front/openmp/dependence.hpp"
#include "front/openmp/team.hpp"

#include <cstddef>
#include <new>
#include <utility>

namespace weft::openmp {
namespace {

// The cells from `first` to `last` go back to the thread that took them, which is there: its region ends
// after this, or it ends the last of its own tasks.
void return_cells(thread& owner, task_cell* first, task_cell* last) noexcept {
  last->next = owner.returned.load_relaxed();
  // release: what was done with the memory comes before its next use; pairs with take_returned_cells()
  while (!owner.returned.cas_weak_release(last->next, first)) {
  }
}

void free_task(task& k) noexcept {
  thread* const owner = k.owner;
  k.~task();
  if (owner == nullptr)
    return ::operator delete(&k, task_memory);
  if (owner == self)
    return owner->spare_tasks.push_back(&k); // has room: take_cell()
  auto* const cell = ::new (static_cast<void*>(&k)) task_cell{};
  return_cells(*owner, cell, cell);
}

void take_returned_cells(thread& t) noexcept {
  if (t.returned.load_relaxed() == nullptr) // a hint
    return;
  // acquire: pairs with the release in return_cells()
  for (task_cell* c = t.returned.exchange_acquire(nullptr); c != nullptr;)
    t.spare_tasks.push_back(std::exchange(c, c->next)); // has room: take_cell()
}

void make_cells(thread& t) {
  constexpr std::size_t cells = 32;
  t.spare_tasks.reserve((t.cells.size() + 1) * cells);
  auto* const first = static_cast<std::byte*>(::operator new(cells * cell_bytes, task_memory));
  t.cells.emplace_back(first);
  for (std::size_t i = cells; i != 0; --i)
    t.spare_tasks.push_back(first + (i - 1) * cell_bytes);
}

} // namespace

void* take_cell(thread& t) {
  if (t.spare_tasks.empty())
    take_returned_cells(t);
  if (t.spare_tasks.empty())
    make_cells(t);
  void* const cell = t.spare_tasks.back();
  t.spare_tasks.pop_back();
  return cell;
}

bool leave_parent_and_group(task& k) noexcept {
  bool tell = false;
  // seq_cst, all: (T1)
  if (k.group != nullptr)
    tell = k.group->pending.fetch_sub_seq_cst(1) == 1; // GONE: the group
  return k.parent->children.fetch_sub_seq_cst(1) == 1 || tell;
}

namespace {

void start_successors(task& k) noexcept {
  // acquire: who has added one has let the task go since; pairs with release(). Nobody adds another: nobody
  // has it.
  if (k.holders.load_acquire() == 1 && k.successors == nullptr)
    return;
  successor* s = nullptr;
  bool is_awaited = false;
  {
    const locked held(k.lock);
    k.ended.store_release(true); // pairs with the acquire of those who wait for it without the lock
    s = k.successors;
    is_awaited = k.is_awaited;
  }
  if (is_awaited)
    k.team->wake_all(); // (T1)
  while (s != nullptr) {
    task& next = *s->who;
    s = s->next; // GONE: the link, once its task can run
    // acq_rel: the last of the tasks before it has the others' work behind it
    if (next.blockers.fetch_sub_acq_rel(1) == 1)
      make_ready(*self, next);
  }
}

} // namespace

void common_end::add(task& k) noexcept {
  parent_ = k.parent;
  group_ = k.group;
  team_ = k.team;
  ++tasks_;
  k.table.reset(); // it holds children, which hold the task
  start_successors(k);
  if (k.holders.fetch_sub_acq_rel(1) == 1) { // acq_rel: as in release()
    ++freed_;
    free(k);
  }
}

void common_end::free(task& k) noexcept {
  if (k.owner == nullptr || k.owner == self || (owner_ != nullptr && owner_ != k.owner))
    return free_task(k);
  owner_ = k.owner;
  k.~task();
  first_ = ::new (static_cast<void*>(&k)) task_cell{first_};
  if (last_ == nullptr)
    last_ = first_;
}

void common_end::tell() noexcept {
  const std::uint32_t n = std::exchange(tasks_, 0);
  if (n == 0)
    return;
  // seq_cst, all: (T1)
  bool tell = group_ != nullptr && group_->pending.fetch_sub_seq_cst(n) == n; // GONE: the group
  tell = parent_->children.fetch_sub_seq_cst(n) == n || tell;
  if (const std::uint32_t holds = std::exchange(freed_, 0))
    release(*parent_, holds);
  if (first_ != nullptr)
    return_cells(*owner_, first_, last_);
  owner_ = nullptr;
  first_ = last_ = nullptr;
  // Last: the region may end then, and the threads whose cells these were.
  if (team_->unfinished.fetch_sub_seq_cst(n) == n || tell)
    team_->wake_all();
}

void end(task& k) noexcept {
  team& in = *k.team;
  const bool is_counted = k.is_queued_task;
  k.table.reset(); // it holds children, which hold the task
  start_successors(k);
  bool tell = leave_parent_and_group(k);
  release(k);
  // Last: the region may end then, and the threads whose cells these were.
  if (is_counted)
    tell = in.unfinished.fetch_sub_seq_cst(1) == 1 || tell; // (T1)
  if (tell)
    in.wake_all();
}

void complete_one(task& k) noexcept {
  if (k.to_complete.fetch_sub_seq_cst(1) != 1) // (T1); acq_rel is what the task's end needs
    return;
  if (tool::is_on && k.told.is_detached.load_acquire()) // pairs with tool::task_ends()
    tool::fulfilled(*self, k, true);
  end(k);
}

// Each holds its parent for as long as it is there: who asks whether one descends from another walks up.
void release(task& k, std::uint32_t holds) noexcept {
  task* at = &k;
  while (at->holders.fetch_sub_acq_rel(holds) == holds) { // acq_rel: all that others did comes before its end
    task* const parent = at->parent;
    free_task(*at);
    at = parent;
    holds = 1;
  }
}

} // namespace weft::openmp
