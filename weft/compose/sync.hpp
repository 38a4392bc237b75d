// SPDX-License-Identifier: MIT
// The locks of a composed runtime: the default mutex part, and what is written for any mutex part.
#pragma once

#include <cstddef>
#include <mutex>

#include "weft/base/spin_lock.hpp"
#include "weft/compose/suspended_thread.hpp"

namespace weft::compose {

// The default mutex part: one compare-and-swap each to take and to give back while nobody waits; who waits is
// served in order of arrival, by hand-over. Meets Lockable. Not recursive.
// Ownership: whoever turned `held` on, or was handed it. `waiters_` under `lock_`. Invariant: while `lock_`
// is free, the word is `contended` iff `waiters_` is not empty. Ordering: (CM1) release of the owner, pairs
// with (CM2), the next owner's acquire; by hand-over the cell's.
template <class P>
class queued_mutex {
 public:
  constexpr queued_mutex() noexcept = default;
  queued_mutex(const queued_mutex&) = delete;
  queued_mutex& operator=(const queued_mutex&) = delete;

  // Contexts: threads of the runtime; any kernel thread as long as it need not wait. Switches: may. Errors:
  // what worker::require_can_wait() says; the mutex is not held then, and nothing has changed.
  [[gnu::always_inline]] void lock() {
    if (!try_lock()) [[unlikely]]
      lock_slowly();
  }
  // Contexts: any. Switches: never.
  [[nodiscard, gnu::always_inline]] bool try_lock() noexcept {
    std::uintptr_t none = free;
    return word_.cas_strong_acquire(none, held); // (CM2)
  }
  // Contexts: any kernel thread, by the owner. Switches: never. GONE: *this.
  [[gnu::always_inline]] void unlock() noexcept {
    std::uintptr_t alone = held;
    if (!word_.cas_strong_release(alone, free)) [[unlikely]] // (CM1)
      hand_over();
  }
  // Suspends the owner into `place`, then, off its stack, gives the mutex back. It is not held afterwards.
  // Source: unlock_and_wait of the composable-threads paper.
  void unlock_and_wait(suspended_thread<P>& place) {
    place.wait_with([this] {
      unlock();
      return true;
    });
  }

 private:
  enum : std::uintptr_t { free = 0, held = 1, contended = 2 };

  [[gnu::noinline]] void lock_slowly() {
    P::template worker<P>::require_can_wait();
    wait_cell<P> me;
    {
      const std::scoped_lock guard(lock_);
      std::uintptr_t seen = word_.load_relaxed(); // relaxed: the exchange decides
      for (;;) {
        if (seen == free ? word_.cas_strong_acquire(seen, held) : // (CM2)
                word_.cas_strong_relaxed(seen, contended))        // relaxed: publishes nothing; lock_ does
          break;
      }
      if (seen == free)
        return;
      waiters_.push(me);
    }
    me.wait(); // SWITCH: the mutex is ours when it returns
  }
  [[gnu::noinline]] void hand_over() noexcept {
    wait_cell<P>* next = nullptr;
    {
      const std::scoped_lock guard(lock_);
      next = waiters_.pop();
      if (waiters_.empty())
        word_.store_relaxed(held); // relaxed: the next owner learns of it by its cell
    }
    next->notify(); // GONE: *this
  }

  typename P::template atomic<std::uintptr_t> word_{free};
  base::spin_lock lock_;
  cell_list<P> waiters_;
};

// For any lock that the runtime's threads use. A waiter stands in the list before its lock is given back.
// Waits: contexts, errors: as queued_mutex::lock(); the lock is held then. Notifications: any kernel thread
// while the run is under way; never switch.
template <class P>
class condition_variable {
 public:
  condition_variable() noexcept = default;
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;

  template <class Lock>
  void wait(Lock& lock) {
    P::template worker<P>::require_can_wait();
    wait_cell<P> me;
    {
      const std::scoped_lock guard(lock_);
      waiters_.push(me);
    }
    lock.unlock();
    me.wait(); // SWITCH
    lock.lock();
  }
  template <class Lock, class Predicate>
  void wait(Lock& lock, Predicate done) {
    while (!done())
      wait(lock);
  }
  void notify_one() noexcept {
    lock_.lock();
    wait_cell<P>* first = waiters_.pop();
    lock_.unlock();
    if (first != nullptr)
      first->notify();
  }
  void notify_all() noexcept {
    lock_.lock();
    wait_cell<P>* c = waiters_.take_all();
    lock_.unlock();
    while (c != nullptr) {
      wait_cell<P>* next = c->next;
      c->notify(); // GONE: *c
      c = next;
    }
  }

 private:
  base::spin_lock lock_;
  cell_list<P> waiters_;
};

// For `count` threads, again and again. Whoever arrives stands in the list when others learn of it, and none
// touches the barrier after the last one has come and given `lock_` back; so whoever is let through may
// destroy it. Ownership: `lock_` guards all. Contexts, errors: as queued_mutex::lock(); the caller has not
// arrived then.
template <class P>
class barrier {
 public:
  explicit barrier(std::size_t count) noexcept : missing_(count), count_(count) {}
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;
  ~barrier() { const std::scoped_lock last_one_has_left(lock_); }

  void arrive_and_wait() {
    wait_cell<P> me;
    std::unique_lock guard(lock_);
    if (missing_ != 1) {
      P::template worker<P>::require_can_wait();
      --missing_;
      waiters_.push(me);
      guard.unlock();
      try {
        return me.wait(); // SWITCH, GONE: *this
      } catch (...) {     // nobody is left who could end this wait, nor destroy the barrier
        guard.lock();
        waiters_.remove(me);
        ++missing_;
        throw;
      }
    }
    missing_ = count_;
    wait_cell<P>* c = waiters_.take_all();
    guard.unlock(); // GONE: *this, once one of them has been notified
    while (c != nullptr) {
      wait_cell<P>* const next = c->next;
      c->notify(); // GONE: *c
      c = next;
    }
  }

 private:
  base::spin_lock lock_;
  cell_list<P> waiters_;
  std::size_t missing_;
  const std::size_t count_;
};

} // namespace weft::compose
