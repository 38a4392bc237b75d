// SPDX-License-Identifier: MIT
// One bucket of the table of the user-level futex (futex.hpp): the threads that wait at the addresses which
// hash to it, how many kernel threads wait at them in the kernel, and what a signal's handler owes to either.
// The argument: weft/sync/README.md.
#pragma once

#include "weft/base/fence.hpp"
#include "weft/base/spin_lock.hpp"
#include "weft/os/futex.hpp"
#include "weft/sync/address_queues.hpp"

#include <cerrno>
#include <cstdint>
#include <functional>
#include <mutex>

namespace weft::sync {

using futex_word = base::atomic<std::uint32_t>;

template <class Waiter>
class futex_bucket;

/// One thread that waits; in its frame. `Waiter` is one sleep: default constructible, notify() wakes it
/// (false: it has given up by itself).
template <class Waiter>
struct futex_place : address_place {
  futex_place(const void* at, std::uint32_t bits) noexcept : address_place(at), bitset(bits) {}
  const std::uint32_t bitset;
  base::atomic<futex_bucket<Waiter>*> bucket{nullptr}; // of `key`; changed under the locks of both
  Waiter sleep;
};

/// The buckets to which handlers of signals owe something, and the bell of the kernel thread that pays.
/// Lock-free: handlers push one at a time, whoever pays takes all. *Ordering*: (F5) push() publishes what the
/// handler did before; pairs with take_all(). (F6) ring() comes after the push, and pairs with the look at
/// the bell before all is taken: who sleeps has seen each push that was rung for.
template <class Bucket>
class owing_buckets {
 public:
  void push(Bucket& b) noexcept {
    Bucket* first = head_.load_relaxed(); // relaxed: only linked to, not looked at
    do {
      b.next_owing_ = first;
    } while (!head_.cas_weak_release(first, &b)); // (F5)
  }
  [[nodiscard]] Bucket* take_all() noexcept { return head_.exchange_acquire(nullptr); } // pairs with (F5)

  void ring() noexcept {
    bell_.fetch_add_release(1); // (F6)
    os::futex_wake(&bell_, 1);
  }
  /// Pays what is owed, whenever the bell rings, until `done()`. *Contexts*: a kernel thread of its own.
  template <class Done>
  void serve(Done done) noexcept {
    for (;;) {
      const std::uint32_t rung = bell_.load_acquire(); // pairs with (F6)
      Bucket::pay(*this);
      if (done())
        return;
      os::futex_wait(&bell_, rung);
    }
  }

 private:
  base::atomic<Bucket*> head_{nullptr};
  base::atomic<std::uint32_t> bell_{0};
};

/// *Ownership*: `lock_` guards the queues and each place in them. *Invariants*: a place that stands in the
/// queues is counted in `threads_`, and so is one whose thread is about to look at its word. *Ordering*: (F1)
/// to (F6).
template <class Waiter>
class alignas(64) futex_bucket {
 public:
  using place = futex_place<Waiter>;
  using owing = owing_buckets<futex_bucket>;

  // --- waiting ---

  /// Puts a place into the queue, if the word reads `expected` and `call_off`, where there is one, 0. Returns
  /// 0, or EAGAIN, ECANCELED. The place then sleeps, and leave()s unless it was notified.
  int enter(place& p, const futex_word& word, std::uint32_t expected, const futex_word* call_off) noexcept {
    threads_.fetch_add_relaxed(1); // (F1)
    base::full_fence();            // (F1) pairs with (F2)
    p.bucket.store_relaxed(this);  // relaxed: others learn of the place by lock_
    const std::scoped_lock held(lock_);
    // relaxed, both: the fence orders them, or lock_; for what comes with a value the caller looks itself
    const int why_not = word.load_relaxed() != expected                        ? EAGAIN
                        : call_off != nullptr && call_off->load_relaxed() != 0 ? ECANCELED
                                                                               : 0;
    if (why_not == 0)
      queues_.add(p);
    else
      threads_.fetch_sub_relaxed(1); // relaxed: nobody who looked needed it
    return why_not;
  }

  /// Of a place that nobody has notified: takes it out of wherever it stands.
  static void leave(place& p) noexcept {
    for (;;) {
      futex_bucket& b =
          *p.bucket.load_relaxed(); // relaxed: buckets are always there, and it is looked at again
      const std::scoped_lock held(b.lock_);
      if (p.bucket.load_relaxed() != &b) // relaxed: who has moved the place from here held lock_
        continue;
      if (p.stands)
        b.take_out(p);
      return;
    }
  }

  /// A kernel thread waits at an address of the bucket, in the kernel: between the two it makes the call.
  void enter_kernel() noexcept {
    in_kernel_.fetch_add_relaxed(1); // (F1)
    base::full_fence();              // (F1) pairs with (F2)
  }
  void leave_kernel() noexcept { in_kernel_.fetch_sub_relaxed(1); } // relaxed: as in enter()

  // --- waking: the caller has changed the word ---

  struct company {
    bool threads, kernel_threads;
  };
  /// Who may wait here. SIGNAL-SAFE. (F2) either a waiter's look at its word comes after this fence and finds
  /// it changed, or this look finds the waiter counted.
  [[nodiscard]] company look() const noexcept {
    base::full_fence();                                                    // (F2) pairs with (F1)
    return {threads_.load_relaxed() != 0, in_kernel_.load_relaxed() != 0}; // relaxed: the fence orders them
  }

  /// Wakes up to `most` threads at `key` that wait for any of `bits`; returns how many. GONE: their frames.
  unsigned wake(const void* key, unsigned most, std::uint32_t bits) noexcept {
    const std::scoped_lock held(lock_);
    return wake_locked(key, most, bits);
  }

  /// The same, then moves up to `most_moved` of the others to the end of the queue at `to_key` in `to`; not
  /// unless the word still reads `expected`, where that is asked for: EAGAIN then, else 0. SIGNAL-SAFE: no.
  struct moved {
    int error;
    unsigned woken, requeued;
  };
  moved requeue(const futex_word& word, const std::uint32_t* expected, unsigned most_woken, futex_bucket& to,
                const void* to_key, unsigned most_moved) noexcept {
    const two_locks held(*this, to);
    if (expected != nullptr && word.load_relaxed() != *expected) // relaxed: as in enter()
      return {EAGAIN, 0, 0};
    moved m{0, wake_locked(&word, most_woken, any_bit), 0};
    while (m.requeued < most_moved) {
      address_place* const first = queues_.find(&word);
      if (first == nullptr || to_key == &word)
        break;
      move(static_cast<place&>(*first), to, to_key);
      ++m.requeued;
    }
    return m;
  }

  // --- in the handler of a signal, which may have interrupted a holder of lock_ ---

  /// Says that all threads at `key` are to be woken, and that the bucket owes it. One address has room; of
  /// more, everybody in the bucket is woken, and some without cause. SIGNAL-SAFE. (F4) acq_rel: publishes the
  /// change of the word, also where the address is noted already; pairs with the exchange in pay().
  void owe(const void* key, owing& list) noexcept {
    std::uintptr_t seen = owed_.load_relaxed(); // relaxed: the compare-and-swap tells
    const auto mine = reinterpret_cast<std::uintptr_t>(key);
    while (!owed_.cas_weak_acq_rel(seen, seen == nothing || seen == mine ? mine : everyone)) { // (F4)
    }
    if (seen == nothing)
      list.push(*this);
  }

  /// Wakes all to whom something is owed. Not in handlers.
  static void pay(owing& list) noexcept {
    for (futex_bucket* b = list.take_all(); b != nullptr;) {
      futex_bucket* const next = b->next_owing_; // before the exchange: the bucket may be pushed again then
      const std::uintptr_t key = b->owed_.exchange_acq_rel(nothing); // (F4)
      const std::scoped_lock held(b->lock_);
      if (key == everyone)
        b->wake_everyone();
      else
        b->wake_locked(reinterpret_cast<const void*>(key), all, any_bit);
      b = next;
    }
  }

  // --- others ---

  /// In the child of fork(), where no waiter is left.
  void forget() noexcept {
    queues_.forget();
    threads_.store_relaxed(0); // relaxed, all: one kernel thread
    in_kernel_.store_relaxed(0);
    owed_.store_relaxed(nothing);
    static_cast<void>(lock_.try_lock()); // it may be held by a kernel thread that is not there any more
    lock_.unlock();
  }

  /// Checks the invariants, in O(waiters).
  [[nodiscard]] bool valid() noexcept {
    const std::scoped_lock held(lock_);
    return queues_.valid() && (queues_.any() == nullptr || threads_.load_relaxed() != 0);
  }
  [[nodiscard]] bool empty() noexcept {
    return threads_.load_relaxed() == 0 && in_kernel_.load_relaxed() == 0; // RACY: for tests
  }

  static constexpr std::uint32_t any_bit = ~std::uint32_t{0};
  static constexpr unsigned all = ~0U;

 private:
  friend owing;
  enum : std::uintptr_t { nothing = 0, everyone = 1 }; // no word has that address

  // By address, so that two who move in opposite directions do not wait for each other.
  class two_locks {
   public:
    two_locks(futex_bucket& a, futex_bucket& b) noexcept
        : first_(std::less<>()(&a, &b) ? a : b), second_(&first_ == &a ? b : a) {
      first_.lock_.lock();
      if (&first_ != &second_)
        second_.lock_.lock();
    }
    ~two_locks() {
      if (&first_ != &second_)
        second_.lock_.unlock();
      first_.lock_.unlock();
    }
    two_locks(const two_locks&) = delete;
    two_locks& operator=(const two_locks&) = delete;

   private:
    futex_bucket& first_;
    futex_bucket& second_;
  };

  void take_out(place& p) noexcept {
    queues_.remove(p);
    threads_.fetch_sub_relaxed(1); // relaxed: as in enter()
  }

  unsigned wake_locked(const void* key, unsigned most, std::uint32_t bits) noexcept {
    unsigned woken = 0;
    address_place* leader = woken < most ? queues_.find(key) : nullptr;
    for (address_place* p = leader; p != nullptr && woken < most;) {
      address_place* const next = address_queues::after(*leader, *p);
      auto& here = static_cast<place&>(*p);
      if ((here.bitset & bits) != 0) {
        take_out(here);
        if (p == leader)
          leader = next;                      // the heir
        woken += here.sleep.notify() ? 1 : 0; // GONE: here
      }
      p = next;
    }
    return woken;
  }

  void wake_everyone() noexcept {
    while (address_place* const p = queues_.any()) {
      auto& here = static_cast<place&>(*p);
      take_out(here);
      here.sleep.notify(); // GONE: here
    }
  }

  // Holds both locks.
  void move(place& p, futex_bucket& to, const void* to_key) noexcept {
    take_out(p);
    p.key = to_key;
    to.threads_.fetch_add_relaxed(1); // relaxed: who wakes there has been told by the caller, later
    to.queues_.add(p);
    p.bucket.store_relaxed(&to); // relaxed: who leaves takes the lock of either
  }

  base::spin_lock lock_;
  base::atomic<std::uint32_t> threads_{0};
  base::atomic<std::uint32_t> in_kernel_{0};
  address_queues queues_;
  base::atomic<std::uintptr_t> owed_{nothing};
  base::plain<futex_bucket*> next_owing_{
      nullptr}; // of who has made `owed_` something, until pay() has read it
};

} // namespace weft::sync
