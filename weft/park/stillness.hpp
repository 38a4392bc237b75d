// SPDX-License-Identifier: MIT
// Whether a worker stands still. Who looks at all workers, one after another, can tell from it whether there
// was a moment at which all of them stood still. The protocol and its proof: README.md, "A moment of rest".
#pragma once

#include <cstdint>

#include "weft/base/atomic.hpp"
#include "weft/park/parking.hpp"

namespace weft::park {

// One per worker. Ownership: the worker alone writes it. While it holds, the worker sleeps for want of work,
// or for good, and waits for no lock; it has found its pools empty before.
class stillness {
 public:
  // RACY, but for the worker.
  [[nodiscard]] bool holds() const noexcept { return is_still(turns_.load_relaxed()); }
  // Odd while it holds; grows with each beginning and each end. (T2) acquire: pairs with (T1).
  [[nodiscard]] std::uint64_t turns() const noexcept { return turns_.load_acquire(); }
  [[nodiscard]] static bool is_still(std::uint64_t turns) noexcept { return (turns & 1) != 0; }

  // Both may be called twice. (T1) release: publishes all that the worker did before, whom it woke above all.
  void begin() noexcept {
    if (const std::uint64_t t = turns_.load_relaxed(); !is_still(t))
      turns_.store_release(t + 1);
  }
  // relaxed: (R2), a full fence, follows before the worker leaves its spot; pairs with (T3).
  void end() noexcept {
    if (const std::uint64_t t = turns_.load_relaxed(); is_still(t))
      turns_.store_relaxed(t + 1);
  }

 private:
  base::atomic<std::uint64_t> turns_{0};
};

// One look at all workers, by one of them that is about to sleep, or by somebody who wakes none.
class look_at_rest {
 public:
  // True: it stands still, and what it wrote before can be read.
  bool see(const parking_spot& spot, const stillness& s, bool is_looker) noexcept {
    const idle_state now = spot.load_acquire(); // (T3) before the turns
    const std::uint64_t turns = s.turns();      // (T2)
    all_parked_ = all_parked_ && (now == idle_state::parked || now == idle_state::watching);
    all_still_ = all_still_ && (is_looker || stillness::is_still(turns));
    turns_ += turns;
    return stillness::is_still(turns);
  }
  [[nodiscard]] bool all_are_parked() const noexcept { return all_parked_; }
  // Whether all stood still at a moment between the first look and this, the second.
  [[nodiscard]] bool confirms(const look_at_rest& first) const noexcept {
    return all_parked_ && all_still_ && first.all_parked_ && first.all_still_ && turns_ == first.turns_;
  }

 private:
  bool all_parked_ = true, all_still_ = true;
  std::uint64_t turns_ = 0; // of all: none ever falls, so the sum stays if and only if each has stayed
};

} // namespace weft::park
