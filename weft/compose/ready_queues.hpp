// SPDX-License-Identifier: MIT
// Ready queues: one a worker, filled by its owner. The containers are those of weft/queue; what is here only
// gives them the names that schedulers use.
#pragma once

#include "weft/queue/chase_lev_deque.hpp"
#include "weft/queue/intrusive_fifo.hpp"
#include "weft/queue/locked_fifo.hpp"

namespace weft::compose {

// The default: the owner takes the youngest, thieves the oldest.
template <class Unit>
class stealing_deque {
 public:
  // Whether workers other than the owner may call steal().
  static constexpr bool shared = true;

  // Adds a unit as the youngest. False: no memory, nothing changed. Contexts: the owner. Switches: never.
  [[gnu::always_inline]] bool push(Unit& u) noexcept { return deque_.try_push_bottom(&u); }
  // What the owner runs next; null: nothing. Contexts: the owner.
  [[gnu::always_inline]] Unit* pop() noexcept { return deque_.pop_bottom(); }
  // The unit that waits longest. Contexts: the owner.
  [[gnu::always_inline]] Unit* pop_oldest() noexcept { return deque_.steal_top_by_owner(); }
  // Takes `u` if pop() would give it. Contexts: the owner.
  [[gnu::always_inline]] bool pop_if(Unit& u) noexcept { return deque_.pop_bottom_if(&u); }
  // Contexts: any worker.
  Unit* steal() noexcept { return deque_.steal().item; }
  // RACY. Contexts: any worker.
  [[nodiscard]] bool empty() const noexcept { return deque_.empty(); }

 private:
  queue::chase_lev_deque<Unit> deque_;
};

// First come, first served, for one worker: nothing is stolen from it, and no operation is atomic.
template <class Unit>
class private_fifo {
 public:
  static constexpr bool shared = false;

  [[gnu::always_inline]] bool push(Unit& u) noexcept {
    list_.push_back(&u.link);
    return true;
  }
  [[gnu::always_inline]] Unit* pop() noexcept {
    queue::link* first = list_.pop_front();
    return first != nullptr ? &Unit::from(*first) : nullptr;
  }
  [[gnu::always_inline]] Unit* pop_oldest() noexcept { return pop(); }
  [[gnu::always_inline]] bool pop_if(Unit& u) noexcept {
    if (list_.first() != &u.link)
      return false;
    list_.pop_first(&u.link);
    return true;
  }
  Unit* steal() noexcept { return nullptr; }
  [[nodiscard]] bool empty() const noexcept { return list_.empty(); }

 private:
  queue::intrusive_fifo list_;
};

// First come, first served under a spin lock; others may take from it.
template <class Unit>
class locked_fifo {
 public:
  static constexpr bool shared = true;

  bool push(Unit& u) noexcept {
    list_.push_back(&u.link);
    return true;
  }
  Unit* pop() noexcept {
    queue::link* first = list_.pop_front();
    return first != nullptr ? &Unit::from(*first) : nullptr;
  }
  Unit* pop_oldest() noexcept { return pop(); }
  // Nothing says whether `u` is the first: a join waits instead.
  bool pop_if(Unit&) noexcept { return false; }
  Unit* steal() noexcept { return pop(); }
  [[nodiscard]] bool empty() const noexcept { return list_.empty(); }

 private:
  queue::locked_fifo list_;
};

} // namespace weft::compose
