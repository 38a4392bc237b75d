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
//              (hand-over)
//   suspended  with nobody: whoever takes it first resumes it               take_suspended(),
//              start_suspended()
//   finished   with its joiner                                              -
//
// Only the party that holds the unit (middle column) changes the word, so the stores are plain; others may
// read it for display or as a hint (RACY). Who owns the unit is decided by the container or by the join word;
// the owner of an unshared container may read here whether the unit is in it. The exception is `suspended`:
// (U1) it is stored, with release, when the thread has left its stack, and (U2) taken by compare-and-swap.
#pragma once

#include <cstdint>

#include "weft/base/assert.hpp"
#include "weft/base/atomic.hpp"

namespace weft::unit {

enum class state : std::uint8_t { fresh, posted, ready, running, blocked, finished, suspended };

inline const char* to_string(state s) noexcept {
  constexpr const char* names[] = {"fresh", "posted", "ready", "running", "blocked", "finished", "suspended"};
  return names[static_cast<std::uint8_t>(s)];
}

class state_word {
 public:
  [[nodiscard]] state load() const noexcept { return static_cast<state>(word_.load_relaxed()); }

  [[nodiscard]] bool is(state s) const noexcept { return word_.equals_relaxed(static_cast<std::uint8_t>(s)); }

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
  // A joiner on whose stack a unit has ended. It may have been made ready for that, and run already.
  void go_on() noexcept { set(state::running); }
  void finish() noexcept {
    WEFT_ASSERT(load() == state::running, "only a running unit can finish");
    set(state::finished);
  }

  // (U1) release: publishes the left context to take_suspended().
  void suspend() noexcept { word_.store_release(static_cast<std::uint8_t>(state::suspended)); }
  // (U2) acquire: pairs with (U1). True: the caller holds the thread now, which reads `blocked`.
  [[nodiscard]] bool take_suspended() noexcept {
    auto expected = static_cast<std::uint8_t>(state::suspended);
    return word_.cas_strong_acq_rel(expected, static_cast<std::uint8_t>(state::blocked));
  }
  // (U2) The same for who switches to it at once: it reads `running`.
  [[nodiscard]] bool start_suspended() noexcept {
    auto expected = static_cast<std::uint8_t>(state::suspended);
    return word_.cas_strong_acq_rel(expected, static_cast<std::uint8_t>(state::running));
  }
  // For the switch that stores `suspended` itself (arch::swap_publishing).
  [[nodiscard]] base::atomic<std::uint8_t>& word() noexcept { return word_; }

 private:
  // relaxed: display and hints only; the unit itself is published by the container or the join word.
  void set(state s) noexcept { word_.store_relaxed(static_cast<std::uint8_t>(s)); }

  base::atomic<std::uint8_t> word_{0};
};

} // namespace weft::unit
