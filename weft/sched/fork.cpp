// SPDX-License-Identifier: MIT
// fork() as this room sees it. Only the forking kernel thread exists in the child, so every lock that another
// one may have held is made anew and every container that another one may have been changing is emptied; what
// they held is leaked on purpose.
#include "weft/sched/fork.hpp"

#include <new>

#include "weft/carrier/carrier.hpp"
#include "weft/carrier/leaving.hpp"
#include "weft/carrier/tls_block.hpp"
#include "weft/carrier/user_mode_rooms.hpp"
#include "weft/sched/switch.hpp"
#include "weft/sched/timekeeper.hpp"
#include "weft/unit/extension.hpp"
#include "weft/view/inspection.hpp"
#include "weft/workers/group.hpp"

namespace weft::sched {
namespace {

template <class T, class... Arguments>
void make_anew(T& object, Arguments&&... arguments) {
  ::new (static_cast<void*>(&object)) T(std::forward<Arguments>(arguments)...);
}

unsigned forks_of_this_process = 0; // written in the child, while it has one kernel thread

template <class T>
void leak(T&& object) {
  static_cast<void>(new std::decay_t<T>(std::forward<T>(object)));
}

} // namespace

// Nobody is attached afterwards: a spot of a worker that is gone would look as if it searched for ever.
void pool::forget_after_fork() {
  make_anew(sleepers_);
  attached_.clear();
  owner_.store_relaxed(nullptr);
  if (!spare_lists_.empty()) { // else nobody was attached
    publish_servers(take_spare_list());
    spare_lists_.clear();
  }
  do_forget();
}

void owned_fifo::do_forget() {
  make_anew(list_);
  make_anew(inbox_);
}

void owned_ordered::do_forget() {
  make_anew(list_);
  make_anew(buckets_);
  make_anew(inbox_);
}

void shared_pool::do_forget() {
  make_anew(list_, unit_marks(number_));
  make_anew(buckets_);
}

void deque_pool::do_forget() {
  make_anew(*deque_);
  make_anew(inbox_);
}

unsigned group::forks() noexcept {
  return forks_of_this_process;
}

void group::forget_members() noexcept {
  for (auto& member : members_)
    static_cast<void>(member.release());
  for (auto& old : former_)
    static_cast<void>(old.release());
  leak(std::exchange(mains_, {}));
  leak(std::exchange(sources_, {}));
  forget_waiting_source();
}

// It is the parent's as well: the child makes one of its own when it needs one.
void group::forget_waiting_source() noexcept {
  if (sched::waiting_source* shared = waiting_source_.exchange(nullptr, std::memory_order_relaxed))
    shared->abandon_after_fork();
  make_anew(watch_);
  outsiders_.store(0, std::memory_order_relaxed);
}

void group::keep_only(worker& w) {
  forks_seen_ = forks();
  active_.store(all, std::memory_order_relaxed);
  asleep_.store(0, std::memory_order_relaxed);
  workers_running.store(1, std::memory_order_relaxed);
  make_anew(lock_);
  make_anew(sources_lock_);
  leak(std::exchange(sources_, {}));
  source_count_.store(0, std::memory_order_relaxed);
  forget_waiting_source();
  missing_ = static_cast<unsigned>(members_.size()) - 1;
  std::unique_ptr<worker> kept;
  for (auto& member : members_) {
    if (member.get() == &w) {
      kept = std::move(member);
    } else {
      static_cast<void>(member.release());
    }
  }
  for (auto& old : former_)
    static_cast<void>(old.release());
  members_.clear();
  former_.clear();
  w.forget_after_fork();
  if (options_.pools != arrangement::custom) {
    // The same pool: threads on the forking thread's stack (inline joins) have it as their own pool.
    std::shared_ptr<pool> main = w.main_scheduler->pools().front();
    main->forget_after_fork();
    leak(std::exchange(mains_, {std::move(main)}));
    leak(w.main_scheduler);
    w.use_scheduler(scheduler_for(0, mains_));
    w.main_scheduler->start(w);
  } else {
    for (const auto& p : w.main_scheduler->pools())
      p->forget_after_fork();
    for (const auto& p : w.main_scheduler->pools())
      p->attach(w);
  }
  w.local.attach(w);
  members_.push_back(std::move(kept));
  publish_view();
  w.refresh_hot();
  if (missing_ != 0 || threads_leave(*this)) // nobody watches in the child
    w.ask(workers_missing);
}

void group::refill() noexcept {
  try {
    for (; missing_ != 0; --missing_)
      add_one();
  } catch (const std::exception& e) {
    base::warn("after fork(): %s; going on with %u workers", e.what(), size());
    missing_ = 0;
  }
  watch_leaving();
}

void worker::forget_after_fork() {
  make_anew(local);
  make_anew(timing.queue);
  make_anew(parking.spot);
  leak(std::exchange(stacked.schedulers, {}));
  stacked.units.clear();
  handed = nullptr;
  if (activity.lodging.lent != nullptr) // whoever served it is gone
    main_scheduler = std::move(activity.lodging.lent);
  activity.withdrawn = false;
  activity.rank = 0;
  activity.lodgers = activity.lodger_turn = nullptr;
  activity.arriving.store_relaxed(nullptr);
  preemption.planned_tick.store_relaxed(0);
  preemption.unhurried_until.store_relaxed(0);
  attention.store_relaxed(0);
  attach_recorder();
  forget_blocks(*this);
  group::free_primary(*this);
  own_stack.release(); // the caller may run on it, and the loop does
  carried.home->begin_anew_after_fork();
  carried.home->take_aboard(*this);
  carried.spares = nullptr;
  carried.spare_count = 0;
  timing.sleeps_until.store_relaxed(0);
  parking.stillness.end();
  group::forget_waiting_primary();
  on_primary_thread = true; // nobody can join the kernel thread of a child's first thread
  if (current == &loop_unit)
    return;
  current->own_pool =
      main_scheduler->main_pool().fast() == fast_path::owned_fifo ? &main_scheduler->main_pool() : &local;
  survive_fork(*current);
}

// The order is add_worker()'s: membership, then attaching.
void prepare_fork(group* g) noexcept {
  if (g != nullptr)
    g->hold_for_fork();
  lock_attaching();
}

void parent_of_fork(group* g) noexcept {
  unlock_attaching();
  if (g != nullptr)
    g->release_after_fork();
}

void survive_fork(descriptor& u) noexcept {
  u.join.reset();
  if (u.has(unit::not_cancellable))
    return;
  u.traits.fetch_or_relaxed(unit::ends_process);
  unit::extend(u); // so that the end of an inline call looks
}

void end_inlined(descriptor& u, descriptor& joiner) noexcept {
  unit::drop_extension(u);
  if (u.has(unit::ends_process))
    survive_fork(joiner);
}

group* child_of_fork(group* g) noexcept {
  unlock_attaching();
  ++forks_of_this_process;
  make_anew(timers_left_behind());
  forget_user_mode_rooms_after_fork();
  inspection::keep_only(on_worker() ? &here() : nullptr);
  timekeeper::forget_after_fork(on_worker());
  if (!on_worker())
    return nullptr;
  group& mine = here().owner_group;
  mine.keep_only(here());
  return &mine == g ? g : nullptr;
}

} // namespace weft::sched
