// SPDX-License-Identifier: MIT
// The life of a unit as a type: one word, named transitions, and for each state where the unit is then.
//
//   state      where the unit is                                            leaves by
//   fresh      never started: with its creator, or in a container of a pool start_running(), post()
//   posted     in an inbox whose owner has not looked yet, or on its way    make_ready(), reset(),
//              to another pool                                              start_running()
//   ready      in a container of a pool, and started before                 start_running()
//   running    is `current` of one worker                                   make_ready(), block(), finish()
//   blocked    with whoever will resume it (a waiter list, a join)          make_ready(), start_running()
//   (hand-over) finished   with its joiner                                              -
//
// Only the party that holds the unit (middle column) changes the word, so the stores are plain; others may
// read it for display or as a hint (RACY). Who owns the unit is decided by the container or by the join word;
// the owner of an unshared container may read here whether the unit is in it.
#pragma once

#include <cstdint>

#include "weft/base/assert.hpp"
#include "weft/base/atomic.hpp"

namespace weft::unit {

enum class state : std::uint32_t { fresh, posted, ready, running, blocked, finished };

inline const char* to_string(state s) noexcept {
  constexpr const char* names[] = {"fresh", "posted", "ready", "running", "blocked", "finished"};
  return names[static_cast<std::uint32_t>(s)];
}

class state_word {
 public:
  [[nodiscard]] state load() const noexcept { return static_cast<state>(word_.load_relaxed()); }

  [[nodiscard]] bool is(state s) const noexcept {
    return word_.equals_relaxed(static_cast<std::uint32_t>(s));
  }

  // A new life in the same memory; the caller owns the memory.
  void reset() noexcept { set(state::fresh); }

  void post() noexcept { set(state::posted); }
  void make_ready() noexcept {
    WEFT_ASSERT(load() != state::finished, "a finished unit was made ready");
    set(state::ready);
  }
  void start_running() noexcept {
    WEFT_ASSERT(load() != state::running && load() != state::finished, "only a waiting unit can run");
    set(state::running);
  }
  // A unit that its joiner runs by a call (inline_call.hpp) is still `fresh`: the store is saved until it
  // deviates.
  void block() noexcept {
    WEFT_ASSERT(load() == state::running || load() == state::fresh, "only a running unit can block");
    set(state::blocked);
  }
  void finish() noexcept {
    WEFT_ASSERT(load() == state::running, "only a running unit can finish");
    set(state::finished);
  }

 private:
  // relaxed: display and hints only; the unit itself is published by the container or the join word.
  void set(state s) noexcept { word_.store_relaxed(static_cast<std::uint32_t>(s)); }

  base::atomic<std::uint32_t> word_{0};
};

} // namespace weft::unit
