// SPDX-License-Identifier: MIT
// The locks of a composed runtime: the default mutex part, and what is written for any mutex part.
#pragma once

#include <cstddef>
#include <mutex>

#include "weft/base/spin_lock.hpp"
#include "weft/compose/suspended_thread.hpp"

namespace weft::compose {

// The default mutex part: one compare-and-swap each to take and to give back while nobody waits; who waits is
// served in order of arrival. It is offered to the oldest, who has been woken; only who tries takes it before
// that one has run: with a hand-over a loop of tries on his worker would never end. Meets Lockable. Not
// recursive.
// Ownership: whoever turned the word from `free` or `offered`. `waiters_` and `woken_` under `lock_`; who
// waits stays in the list until the mutex is his. Invariants: while `lock_` is free, the word is `contended`
// or `offered` iff `waiters_` is not empty; `offered`, the oldest has been woken. Ordering: (CM1) release of
// the owner, pairs with (CM2), the next owner's acquire.
template <class P>
class queued_mutex {
 public:
  constexpr queued_mutex() noexcept = default;
  queued_mutex(const queued_mutex&) = delete;
  queued_mutex& operator=(const queued_mutex&) = delete;

  // Contexts: threads of the runtime; any kernel thread as long as it need not wait. Switches: may. Errors:
  // what worker::require_can_wait() says; the mutex is not held then, and nothing has changed.
  [[gnu::always_inline]] void lock() {
    if (!take_free()) [[unlikely]]
      lock_slowly();
  }
  // Contexts: any. Switches: never.
  [[nodiscard, gnu::always_inline]] bool try_lock() noexcept { return take_free() || take_offered(); }
  // Contexts: any kernel thread, by the owner. Switches: never. GONE: *this.
  [[gnu::always_inline]] void unlock() noexcept {
    std::uintptr_t alone = held;
    if (!word_.cas_strong_release(alone, free)) [[unlikely]] // (CM1)
      offer();
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
  enum : std::uintptr_t { free = 0, held = 1, contended = 2, offered = 3 };

  [[gnu::always_inline]] bool take_free() noexcept {
    std::uintptr_t none = free;
    return word_.cas_strong_acquire(none, held); // (CM2)
  }
  bool take_offered() noexcept {
    std::uintptr_t seen = word_.load_relaxed();                          // relaxed: the exchange decides
    return seen == offered && word_.cas_strong_acquire(seen, contended); // (CM2)
  }

  [[gnu::noinline]] void lock_slowly() {
    P::template worker<P>::require_can_wait();
    wait_cell<P> me;
    {
      const std::scoped_lock guard(lock_);
      std::uintptr_t seen = word_.load_relaxed(); // relaxed: the exchange decides
      for (;;) {
        if (seen == offered)
          break;                                                  // others wait
        if (seen == free ? word_.cas_strong_acquire(seen, held) : // (CM2)
                word_.cas_strong_relaxed(seen, contended))        // relaxed: publishes nothing; lock_ does
          break;
      }
      if (seen == free)
        return;
      waiters_.push(me);
    }
    do {
      me.wait(); // SWITCH: may resume on another worker
    } while (!accept(me));
  }
  // By the oldest, when he has been woken. False: another one has taken it, and he can wait once more.
  bool accept(wait_cell<P>& me) noexcept {
    const std::scoped_lock guard(lock_);
    woken_ = false;
    std::uintptr_t seen = offered;
    if (!word_.cas_strong_acquire(seen, me.next == nullptr ? held : contended)) { // (CM2)
      me.renew();
      return false;
    }
    waiters_.pop();
    return true;
  }
  // GONE: *this, unless the oldest is still to be woken: he does not leave before.
  [[gnu::noinline]] void offer() noexcept {
    wait_cell<P>* sleeps = nullptr;
    {
      const std::scoped_lock guard(lock_);
      word_.store_release(offered); // (CM1)
      if (!woken_) {
        woken_ = true;
        sleeps = waiters_.front();
      }
    }
    if (sleeps != nullptr)
      sleeps->notify(); // GONE: *this
  }

  typename P::template atomic<std::uintptr_t> word_{free};
  base::spin_lock lock_;
  bool woken_ = false; // the oldest, and he has not come back for it yet
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
