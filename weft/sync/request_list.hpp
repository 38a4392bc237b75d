// SPDX-License-Identifier: MIT
// The queue of a delegator as a list, and its lock: one word.
#pragma once

#include "weft/sync/request.hpp"

namespace weft::sync {

/// The lock of a delegator with the requests of those who found it taken; any number of them.
///
///   state_     meaning
///   0          free
///   1          owned, nothing has arrived
///   pointer    owned; the youngest arrival, linked to those before it by `next`
///
/// *Ownership*: `state_` is anybody's. Who turned it from 0 owns the delegator, or who was given it by an
/// owner; `oldest_`, and all requests that have been taken from `state_`, are the owner's. *Invariants*: free
/// only if nothing has arrived and `oldest_` is null, so no request is ever left without an owner to serve
/// it. Requests are served in the order of arrival: what `oldest_` chains arrived before what `state_`
/// chains. *Ordering*: (D1) taking pairs with (D2) freeing: an owner sees the sections of earlier ones, and
/// `oldest_`. (D3) pushing publishes a request to (D4), the owner who takes all that has arrived. No ABA:
/// arrivals leave only all together, by an exchange.
/// As in the queue of Mellor-Crummey and Scott requests lie with those who wait; but the word points to the
/// youngest of a stack (Treiber 1986) and not to the tail of a queue: there a requester that loses its CPU
/// between exchange and link stops the owner, here the owner takes a complete batch with one instruction.
class request_list {
 public:
  /// Takes the delegator if it is free. *Contexts*: any. *Switches*: never.
  [[nodiscard]] bool try_take() noexcept {
    std::uintptr_t expected = free;
    // relaxed look: a taken word is not written to. (D1) acquire: pairs with (D2)
    return state_.load_relaxed() == free && state_.cas_strong_acquire(expected, owned);
  }

  /// Adds a request, or takes the delegator with it. GONE: `r`, unless the caller is the owner now.
  /// *Contexts*: all but signal handlers. *Switches*: never. *Errors*: none.
  pushed push(request& r) noexcept {
    std::uintptr_t seen = state_.load_relaxed(); // RACY: the swap decides
    do {
      r.next = seen > owned ? reinterpret_cast<request*>(seen) : nullptr;
      // (D3) release: publishes the request; pairs with (D4). (D1) acquire, if it was free: pairs with (D2)
    } while (!state_.cas_weak_acq_rel(seen, reinterpret_cast<std::uintptr_t>(&r)));
    return {.owner = seen == free, .crowded = false};
  }

  /// The same with what is in `p`. *Errors*: std::bad_alloc; nothing has changed then.
  pushed post(posted& p) { return push(*new posted(std::move(p))); }

  // --- the owner's ---

  /// The oldest request; null if there is none at the moment.
  [[nodiscard]] request* front() noexcept {
    if (oldest_ == nullptr && state_.load_relaxed() != owned) { // RACY: a null may be out of date
      std::uint32_t count = 0;
      // (D4) acquire: pairs with (D3)
      oldest_ = oldest_first(reinterpret_cast<request*>(state_.exchange_acquire(owned)), count);
    }
    return oldest_;
  }
  /// Takes the front out, before it is run: it may be gone afterwards.
  void pop() noexcept { oldest_ = static_cast<request*>(oldest_)->next; }
  /// Frees a posted request that is done.
  void dispose(request& r) noexcept { delete static_cast<posted*>(&r); }
  /// Where a request that was popped, and put off, can stay until it is done.
  request& keep(request& r) noexcept { return r; }
  /// Frees the delegator unless there are requests. GONE: *this, if true.
  [[nodiscard]] bool try_free() noexcept {
    std::uintptr_t expected = owned;
    return oldest_ == nullptr && state_.cas_strong_release(expected, free); // (D2) release: pairs with (D1)
  }

 private:
  enum : std::uintptr_t { free = 0, owned = 1 };

  // Written by all, and by the owner alone: two lines.
  alignas(64) base::atomic<std::uintptr_t> state_{free};
  alignas(64) base::plain<request*> oldest_ = nullptr;
};

} // namespace weft::sync
