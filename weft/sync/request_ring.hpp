// SPDX-License-Identifier: MIT
// The queue of a delegator as a ring of slots, and its lock: what is posted lies in the slot.
#pragma once

#include "weft/sync/request.hpp"

#include <algorithm>

namespace weft::sync {

/// The lock of a delegator with the requests of those who found it taken: `Capacity` of them in slots, the
/// rest in a list that is entered while there is no room.
///
///   state_       meaning
///   bit 0        owned
///   bits 1..31   how many are in the overflow, or on their way there
///   bits 32..63  the next ticket; the slot of a ticket is its remainder
///
/// *Ownership*: `state_` and `overflow_` are anybody's. Who set bit 0 owns the delegator, or who was given it
/// by an owner; `head_`, `oldest_`, the slots from head_ to the next ticket once their turn has come, and
/// what has been taken from `overflow_` are the owner's. A slot is its ticket holder's until its turn.
/// *Invariants*: free only if head_ is the next ticket, nothing is in the overflow, and `oldest_` is null.
/// `seen_head_` <= head_ <= next ticket <= seen_head_ + Capacity. While anybody is in the overflow no ticket
/// is given, and the overflow is taken only when all tickets have been served; so two requests of one caller
/// are served in their order. *Ordering*: (D1) taking pairs with (D2) freeing, as in the list. (D5) a slot's
/// turn publishes its request to (D6), the owner. (D7) the owner's `seen_head_` gives slots back to (D8), who
/// draws tickets. (D9) entering the overflow publishes a request to (D10), the owner who takes it all.
/// Tickets wrap at 2^32: a requester would have to be stopped between look and swap for as many requests.
/// Source: the circular buffer of the offloading that the composable-threads paper generalises, with the lock
/// in its word and an overflow, so that neither tasklets nor delegated functions ever meet a full one.
template <std::size_t Capacity = base::backend::scaled(64, 2)>
class request_ring {
 public:
  /// As request_list::try_take().
  [[nodiscard]] bool try_take() noexcept {
    std::uint64_t seen = state_.load_relaxed();
    // (D1) acquire: pairs with (D2)
    return (seen & owned) == 0 && state_.cas_strong_acquire(seen, seen | owned);
  }

  /// As request_list::push().
  pushed push(request& r) noexcept {
    const claim mine = draw();
    if (mine.has_slot) {
      slot& s = slot_of(mine.ticket);
      s.what = &r;
      s.turn.store_release(mine.ticket + 1); // (D5) release: pairs with (D6)
    } else {
      enter_overflow(r);
    }
    return {.owner = mine.was_free, .crowded = !mine.has_slot};
  }

  /// The same with what is in `p`: copied into a slot, or into the heap if there is none. *Errors*:
  /// std::bad_alloc; nothing has changed then.
  pushed post(posted& p) {
    std::unique_ptr<posted> spare;
    const claim mine = draw([&] {
      if (!spare) {
        spare = std::make_unique<posted>();
      }
    });
    if (mine.has_slot) {
      slot& s = slot_of(mine.ticket);
      s.copy.take(p);
      s.what = &s.copy;
      s.turn.store_release(mine.ticket + 1); // (D5) release: pairs with (D6)
    } else {
      spare->take(p);
      enter_overflow(*spare.release());
    }
    return {.owner = mine.was_free, .crowded = !mine.has_slot};
  }

  // --- the owner's; all as in request_list ---

  /// Null also if the oldest is still on its way: try_free() fails then.
  [[nodiscard]] request* front() noexcept {
    if (oldest_ != nullptr) {
      return oldest_;
    }
    slot& s = slot_of(head_);
    if (s.turn.load_acquire() == head_ + 1) { // (D6) acquire: pairs with (D5)
      return s.what;
    }
    const std::uint64_t seen = state_.load_relaxed(); // RACY: what arrives later is found later
    if (ticket_of(seen) == head_ && (seen & in_overflow) != 0) {
      take_overflow();
    }
    return oldest_;
  }
  void pop() noexcept {
    if (oldest_ != nullptr) {
      oldest_ = static_cast<request*>(oldest_)->next;
    } else if (slot& s = slot_of(head_); static_cast<request*>(s.what) != &s.copy) {
      advance();
    } // else the slot is in use until dispose() or keep()
  }
  void dispose(request& r) noexcept {
    slot& s = slot_of(head_);
    if (&r == &s.copy) {
      s.copy.clear();
      advance();
    } else {
      delete static_cast<posted*>(&r);
    }
  }
  /// A slot that was put off is copied into the heap; where there is no memory the process ends.
  request& keep(request& r) noexcept {
    slot& s = slot_of(head_);
    if (&r != &s.copy) {
      return r;
    }
    auto* const kept = new posted(std::move(s.copy));
    advance();
    return *kept;
  }
  [[nodiscard]] bool try_free() noexcept {
    std::uint64_t seen = state_.load_relaxed();
    return oldest_ == nullptr && ticket_of(seen) == head_ && (seen & in_overflow) == 0 &&
           state_.cas_strong_release(seen, seen & ~owned); // (D2) release: pairs with (D1)
  }

 private:
  static constexpr std::uint64_t owned = 1;
  static constexpr std::uint64_t one_in_overflow = 2;
  static constexpr std::uint64_t in_overflow = 0xfffffffe;
  static constexpr std::uint64_t one_ticket = std::uint64_t{1} << 32;
  /// The owner gives slots back so many at a time: requesters read that line.
  static constexpr std::uint32_t given_back_at_once = std::max<std::uint32_t>(Capacity / 8, 1);
  static_assert((Capacity & (Capacity - 1)) == 0, "tickets wrap");

  /// One cache line: what its requester writes and its server reads.
  struct alignas(64) slot {
    base::atomic<std::uint32_t> turn{0}; // ticket + 1, once it is filled
    base::plain<request*> what = nullptr;
    posted copy;
  };
  struct claim {
    bool has_slot;
    bool was_free;
    std::uint32_t ticket;
  };

  static std::uint32_t ticket_of(std::uint64_t state) noexcept {
    return static_cast<std::uint32_t>(state >> 32);
  }
  slot& slot_of(std::uint32_t ticket) noexcept { return slots_[ticket % Capacity]; }

  /// Draws a ticket, or a place in the overflow; takes the delegator if it is free. `no_room()` runs before
  /// each attempt at a place in the overflow.
  template <class NoRoom>
  claim draw(NoRoom no_room) {
    std::uint64_t seen = state_.load_relaxed(); // RACY: the swap decides
    for (;;) {
      const std::uint32_t ticket = ticket_of(seen);
      // (D8) acquire: pairs with (D7). One that is newer than `seen` makes the swap fail
      const bool has_slot = (seen & in_overflow) == 0 && ticket - seen_head_.load_acquire() < Capacity;
      if (!has_slot) {
        no_room();
      }
      const std::uint64_t wanted = (seen | owned) + (has_slot ? one_ticket : one_in_overflow);
      if (state_.cas_weak_acquire(seen, wanted)) { // (D1) acquire, if it was free: pairs with (D2)
        return {has_slot, (seen & owned) == 0, ticket};
      }
    }
  }
  claim draw() noexcept {
    return draw([] {});
  }

  void enter_overflow(request& r) noexcept {
    request* seen = overflow_.load_relaxed(); // RACY: the swap decides
    do {
      r.next = seen;
    } while (!overflow_.cas_weak_release(seen, &r)); // (D9) release: pairs with (D10)
  }
  void take_overflow() noexcept {
    std::uint32_t count = 0;
    oldest_ = oldest_first(overflow_.exchange_acquire(nullptr), count); // (D10) acquire: pairs with (D9)
    state_.fetch_sub_relaxed(count *
                             one_in_overflow); // relaxed: who draws next needs nothing of ours but (D7)
  }

  void advance() noexcept {
    head_ = head_ + 1;
    if (head_ % given_back_at_once == 0) {
      seen_head_.store_release(head_); // (D7) release: pairs with (D8)
    }
  }

  alignas(64) base::atomic<std::uint64_t> state_{0};
  base::atomic<request*> overflow_{nullptr};
  alignas(64) base::atomic<std::uint32_t> seen_head_{0};
  alignas(64) base::plain<std::uint32_t> head_ = 0; // the owner's, with the next
  base::plain<request*> oldest_ = nullptr;
  slot slots_[Capacity];
};

} // namespace weft::sync
