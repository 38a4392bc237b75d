// SPDX-License-Identifier: MIT
// A binary heap of deadlines whose entries know their slot, so that a wait that ends early leaves it in O(log
// n).
#include "weft/events/timer_queue.hpp"

#include <new>
#include <system_error>
#include <utility>

#include "weft/base/immortal.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/fault.hpp"

namespace weft::sched {

namespace {

constinit std::mutex idle_lock;
constinit timer_queue* idle_queues = nullptr;

} // namespace

timer_queue::lease timer_queue::take() {
  std::lock_guard held(idle_lock);
  if (idle_queues == nullptr)
    return lease(new timer_queue);
  return lease(std::exchange(idle_queues, idle_queues->next_idle_));
}

void timer_queue::recycler::operator()(timer_queue* queue) const noexcept {
  std::lock_guard held(idle_lock);
  queue->next_idle_ = std::exchange(idle_queues, queue);
}

void timer_queue::arm(timer& t, deadline at) {
  if (const int error = os::fault(os::fault_site::timer_create)) {
    throw std::system_error(error, std::system_category(), "weft: no timer for this wait");
  }
  std::lock_guard held(lock_);
  heap_.push_back(&t); // may throw, before anything else changes
  t.at_ = at;
  t.queue_.store_relaxed(this); // relaxed: the waiter itself arms, and hands the timer on by its own means
  t.armed_ = true;
  place(&t, heap_.size() - 1);
  sift_up(heap_.size() - 1);
  earliest_.store_relaxed(heap_.front()->at_);
}

bool timer_queue::disarm(timer& t) noexcept {
  for (;;) {
    // relaxed: confirmed under the lock; queues are never deallocated
    timer_queue* queue = t.queue_.load_relaxed();
    if (queue == nullptr)
      return false;
    // Also where it has fired: on_expiry() runs under this lock, so it has returned once we hold it.
    std::lock_guard held(queue->lock_);
    if (t.queue_.load_relaxed() != queue)
      continue; // moved meanwhile
    if (!t.armed_)
      return false;
    queue->remove_at(t.slot_);
    t.armed_ = false;
    return true;
  }
}

void timer_queue::move_to(timer_queue& other) noexcept {
  while (!try_move_to(other))
    os::sleep_ns(100'000);
}

bool timer_queue::try_move_to(timer_queue& other) noexcept {
  std::scoped_lock held(lock_, other.lock_);
  try {
    other.heap_.reserve(other.heap_.size() + heap_.size());
  } catch (const std::bad_alloc&) {
    return false;
  }
  for (timer* t : heap_) {
    t->queue_.store_relaxed(&other); // relaxed: read again under the lock, see disarm()
    other.heap_.push_back(t);
    other.sift_up(other.heap_.size() - 1);
  }
  heap_.clear();
  earliest_.store_relaxed(no_deadline);
  if (!other.heap_.empty())
    other.earliest_.store_relaxed(other.heap_.front()->at_);
  return true;
}

int timer_queue::expire(deadline now) noexcept {
  if (earliest() > now)
    return 0;
  std::lock_guard held(lock_);
  int fired = 0;
  while (!heap_.empty() && heap_.front()->at_ <= now) {
    timer* t = heap_.front();
    remove_at(0);
    t->armed_ = false;
    t->on_expiry(); // GONE: the waiter may have returned, and the timer with it, once the lock is free
    ++fired;
  }
  return fired;
}

std::size_t timer_queue::size() const noexcept {
  std::lock_guard held(lock_);
  return heap_.size();
}

void timer_queue::remove_at(std::size_t slot) noexcept {
  timer* last = heap_.back();
  heap_.pop_back();
  if (slot < heap_.size()) {
    place(last, slot);
    sift_up(slot);
    sift_down(last->slot_);
  }
  earliest_.store_relaxed(heap_.empty() ? no_deadline : heap_.front()->at_);
}

void timer_queue::place(timer* t, std::size_t slot) noexcept {
  heap_[slot] = t;
  t->slot_ = slot;
}

void timer_queue::sift_up(std::size_t slot) noexcept {
  timer* t = heap_[slot];
  while (slot > 0) {
    const std::size_t parent = (slot - 1) / 2;
    if (heap_[parent]->at_ <= t->at_)
      break;
    place(heap_[parent], slot);
    slot = parent;
  }
  place(t, slot);
}

void timer_queue::sift_down(std::size_t slot) noexcept {
  timer* t = heap_[slot];
  for (;;) {
    std::size_t child = 2 * slot + 1;
    if (child >= heap_.size())
      break;
    if (child + 1 < heap_.size() && heap_[child + 1]->at_ < heap_[child]->at_)
      ++child;
    if (t->at_ <= heap_[child]->at_)
      break;
    place(heap_[child], slot);
    slot = child;
  }
  place(t, slot);
}

timer_queue& timers_left_behind() noexcept {
  struct alignas(64) line { // of its own: its lock is taken, and every worker reads what stands beside it
    timer_queue queue;
  };
  return base::immortal<line>().queue; // workers may outlive static objects
}

} // namespace weft::sched
