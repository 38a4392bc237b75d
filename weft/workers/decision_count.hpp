// SPDX-License-Identifier: MIT
// How often a worker's decisions go through its loop.
#pragma once

#include <atomic>
#include <cstdint>

#include "weft/arch/arch.hpp"

namespace weft::sched {

// Decisions between two visits of the loop, where timers, event sources and old units get their turn; the one
// after them is the visit. Together a prime number, so that visits do not fall in step with the program (of
// 252 decisions each 2nd, 3rd, 4th, 6th, 7th or 9th is always the same one of a loop); a visit costs about
// 300 instructions, so one in 251 adds about one to each decision (Go's 61 would add five).
inline constexpr std::int32_t decision_budget = 250;

// How many decisions are left before the next visit. Ownership: the worker counts. Anyone may end it, so that
// the next decision is a visit: every fast path reads this word anyway. RACY: an end may be lost to a
// decision of the same moment, so who needs it repeats it.
class decision_count {
 public:
  constexpr explicit(false) decision_count(std::int32_t n) noexcept : left_(n) {}
  // Takes one; true: there was none left.
  [[gnu::always_inline]] bool count_down() noexcept { return arch::count_down(left_); }
  void end() noexcept { *this = -1; }
  // relaxed: a number, by which nothing is published
  decision_count& operator=(std::int32_t n) noexcept {
    left_.store(n, std::memory_order_relaxed);
    return *this;
  }
  decision_count& operator-=(std::int32_t n) noexcept { return *this = *this - n; }
  explicit(false) operator std::int32_t() const noexcept { return left_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int32_t> left_; // not base::atomic: for the checker each decision would be an interleaving
};

} // namespace weft::sched
