// SPDX-License-Identifier: MIT
// The other mutex: strictly first come, first served, by the queue of Mellor-Crummey and Scott; the one of
// the composable-threads paper.
#pragma once

#include "weft/arch/arch.hpp"
#include "weft/os/own_heap.hpp"
#include "weft/sync/offer_word.hpp"
#include "weft/sync/owner_record.hpp"
#include "weft/sync/release_action.hpp"
#include "weft/sync/suspended_thread.hpp"
#include "weft/sync/waiter.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>

namespace weft::sync {

/// A fair mutex of three words: each release offers it to the oldest waiter. Who tries (try_lock(), or for no
/// time) takes it before that one has run; who waits, with a limit or a token or without, never comes before
/// another. Costs two atomics where mutex costs one, and a contended one passes at the speed of wakes; take
/// it where order matters more than throughput. Otherwise as mutex, also in what tasklets, tokens,
/// cancellation and destruction by the next owner are concerned. *Ownership*: `head_` belongs to the owner,
/// but for the link to its successor; nobody's while the mutex is offered. A waiter's node lies in its frame;
/// that of a wait that may be given up lies in the heap: freed by the waiter if it was notified, else by the
/// last of two, the waiter, which may still be on its way out of the wait, and the releasing owner that takes
/// it out of the queue (K5). *Invariants*: tail_ is null if free, &head_ if held and nobody waits, else the
/// youngest waiter's node. Offered, it is so to the first of the queue, to which `head_` is linked, and which
/// stays there until it has accepted. *Ordering*: (K1) taking a free mutex acquires what (K2) freeing it
/// released. (K3) linking a node publishes it to (K4), whoever reads the link. An offer is ordered by (O1) to
/// (O4). Source: Mellor-Crummey and Scott 1991, in the form of Auslander et al. 2003 K42, which needs no node
/// while the mutex is held, so that lock() and unlock() may be called from different frames.
class mcs_mutex : private release_action<mcs_mutex> {
 public:
  constexpr mcs_mutex() noexcept = default;
  mcs_mutex(const mcs_mutex&) = delete;
  mcs_mutex& operator=(const mcs_mutex&) = delete;

  void lock() {
    if (!take()) [[unlikely]] {
      owner_.expect_other();
      wait();
    }
    set_owner();
  }
  [[nodiscard]] bool try_lock() noexcept {
    // relaxed look: a taken mutex is not written to
    if (tail_.load_relaxed() != nullptr ? !offer_.try_take() : !take()) {
      return false;
    }
    set_owner();
    return true;
  }
  /// *Errors*: also std::bad_alloc.
  [[nodiscard]] bool lock(const std::stop_token& stop) {
    return try_in_turn() || wait(sched::no_deadline, stop);
  }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& length,
                                  const std::stop_token& stop = {}) {
    return try_in_turn() || wait(deadline_of(length), stop);
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& at,
                                    const std::stop_token& stop = {}) {
    return try_in_turn() || wait_by_clock(at, stop, [&](sched::deadline until) { return wait(until, stop); });
  }
  void unlock() noexcept {
    owner_.clear();
    release();
  }
  /// As stored_release_mutex::unlock_and_wait().
  void unlock_and_wait(suspended_thread& place) {
    owner_.expect_self();
    place.wait_with(this->action()); // SWITCH: may resume on another worker
  }

 private:
  friend release_action<mcs_mutex>;

  struct node {
    base::atomic<node*> next{nullptr};
  };
  struct waiting_node : node, os::on_own_heap {
    waiter sleep;
    call_word calls;
    base::atomic<bool> left{false}; // by the waiter that gave up, or by the owner that found it so

    struct let_go {
      // (K5) acq_rel: the second one frees, after all that the first did
      void operator()(waiting_node* n) const noexcept {
        if (n->left.exchange_acq_rel(true)) {
          delete n;
        }
      }
    };
  };

  bool take() noexcept {
    node* expected = nullptr;
    return tail_.cas_strong_acquire(expected, &head_); // (K1)
  }
  /// What a form that can wait does first, so that it takes nothing from who waits.
  bool try_in_turn() noexcept {
    if (tail_.load_relaxed() != nullptr || !take()) { // relaxed: as in try_lock()
      return false;
    }
    set_owner();
    return true;
  }
  void set_owner() noexcept {
    mark_.store_relaxed(arch::stack_mark()); // relaxed: for inspection only, as the store below
    owner_.set();
  }
  void release() noexcept {
    mark_.store_relaxed(0);
    if (head_.next.load_acquire() == nullptr) { // (K4)
      node* expected = &head_;
      if (tail_.cas_strong_release(expected, nullptr)) [[likely]] { // (K2) GONE: *this
        return;
      }
    }
    offer();
  }
  void release_for_owner() noexcept {
    owner_.clear_by_other();
    release();
  }
  WEFT_API void wait();
  WEFT_API bool wait(sched::deadline until, const std::stop_token& stop);
  WEFT_API void offer() noexcept;
  bool enqueue(waiting_node& n) noexcept;
  bool accept(waiting_node& n) noexcept;
  static bool sleep(std::unique_ptr<waiting_node>& n, sched::deadline until, const std::stop_token& stop);
  bool offer_to(waiting_node& n) noexcept;
  void take_over(waiting_node& n) noexcept;

  base::atomic<std::uint32_t> mark_{0}; // the owner's; first, as the word of a mutex is
  offer_word offer_;
  base::atomic<node*> tail_{nullptr};
  node head_;
  [[no_unique_address]] default_owner_record owner_;
};

} // namespace weft::sync
