// SPDX-License-Identifier: MIT
// Those who wait at addresses, in order of arrival at each: what a bucket of a table of waiters holds. To
// find the oldest at an address takes as many steps as there are addresses, however many wait at each.
#pragma once

#include "weft/base/atomic.hpp"
#include "weft/queue/intrusive_fifo.hpp"

namespace weft::sync {

/// One who waits; in the frame of the wait. *Ownership*: who adds it, before; then whoever holds the lock of
/// the queues that it stands in.
struct address_place {
  explicit address_place(const void* at) noexcept : key(at) {}
  address_place(const address_place&) = delete;
  address_place& operator=(const address_place&) = delete;

  queue::link link; // in the leader's members; first, for from()
  const void* key;
  base::plain<bool> stands{false}; // in a queue
  bool leads = false;
  queue::intrusive_fifo members; // used by a leader
  address_place* next_leader = nullptr;
  address_place* previous_leader = nullptr;

  static address_place& from(queue::link* l) noexcept { return *reinterpret_cast<address_place*>(l); }
};

/// *Ownership*: under the lock of whoever has them. *Invariants*: each address has one leader, the oldest at
/// it, in `leaders_`; the leader's `members` holds all places of that address in order, itself in front.
/// All members: *Contexts*: who holds the lock. *Switches*: never. *Errors*: none.
class address_queues {
 public:
  /// The oldest at that address, or null.
  [[nodiscard]] address_place* find(const void* key) const noexcept {
    address_place* p = leaders_;
    while (p != nullptr && p->key != key)
      p = p->next_leader;
    return p;
  }
  /// The oldest at any of the addresses, or null.
  [[nodiscard]] address_place* any() const noexcept { return leaders_; }
  /// Who came next to the same address as `p`, whose leader is `leader`; null: nobody.
  [[nodiscard]] static address_place* after(const address_place& leader, const address_place& p) noexcept {
    return p.link.next == leader.members.end() ? nullptr : &address_place::from(p.link.next);
  }

  void add(address_place& p) noexcept {
    p.stands = true;
    if (address_place* const leader = find(p.key)) {
      leader->members.push_back(&p.link);
    } else {
      p.members.push_back(&p.link);
      lead(p);
    }
  }

  void remove(address_place& p) noexcept {
    p.stands = false;
    p.members.remove(&p.link); // from whichever list holds it
    if (!p.leads)
      return;
    p.leads = false;
    (p.previous_leader != nullptr ? p.previous_leader->next_leader : leaders_) = p.next_leader;
    if (p.next_leader != nullptr)
      p.next_leader->previous_leader = p.previous_leader;
    if (queue::link* const second = p.members.front()) {
      address_place& heir = address_place::from(second);
      heir.members.splice_back(p.members);
      lead(heir);
    }
  }

  /// In the child of fork(), where none of them is left.
  void forget() noexcept { leaders_ = nullptr; }

  /// Checks the invariants, in O(places).
  [[nodiscard]] bool valid() const noexcept {
    for (const address_place* p = leaders_; p != nullptr; p = p->next_leader) {
      if (!p->leads || p->members.front() != &p->link || !p->members.valid() ||
          (p->next_leader != nullptr && p->next_leader->previous_leader != p))
        return false;
    }
    return true;
  }

 private:
  void lead(address_place& p) noexcept {
    p.leads = true;
    p.previous_leader = nullptr;
    p.next_leader = leaders_;
    if (leaders_ != nullptr)
      leaders_->previous_leader = &p;
    leaders_ = &p;
  }

  address_place* leaders_ = nullptr;
};

} // namespace weft::sync
