// SPDX-License-Identifier: MIT
// How an idle worker goes to sleep and a push wakes it. The protocol and its proof stand in README.md
// ("Parking"); the labels (P1) to (P7) are its steps. tests/model/parking_model_test.cpp explores this very
// code.
#pragma once

#include <algorithm>
#include <cstdint>

#include "weft/base/atomic.hpp"

namespace weft::sched {

enum class idle_state : std::uint32_t {
  active,    // runs units
  searching, // looks for work; will look again, behind a heavy fence, before it parks
  parked,    // waits in the kernel, or is about to
  notified,  // was parked; somebody woke it; it will search
};

// One per worker. Ownership: the worker itself makes every transition but parked -> notified, which anyone
// may make.
class parking_spot {
 public:
  [[nodiscard]] idle_state load() const noexcept { return static_cast<idle_state>(word_.load_relaxed()); }
  [[nodiscard]] const base::atomic<std::uint32_t>& word() const noexcept { return word_; }

  void start_searching() noexcept { set(idle_state::searching); }

  // (P5) relaxed: a full fence follows, see leave_search().
  void found_work() noexcept { set(idle_state::active); }

  // (P1) relaxed: the heavy fence (P2) that follows orders it; pairs with (P3) through (P2).
  void announce_park() noexcept { set(idle_state::parked); }

  // The worker leaves `parked` by itself. False: it was notified meanwhile, which it must treat as a wake.
  bool cancel_park() noexcept { return move(idle_state::parked, idle_state::searching); }

  // (P6) The right to wake this worker; one of many pushes wins. acq_rel: pairs with (P7), the worker's load
  // after its sleep.
  bool try_notify() noexcept { return move(idle_state::parked, idle_state::notified); }

  // (P7) acquire: pairs with (P6).
  [[nodiscard]] bool is_notified() const noexcept {
    return word_.load_acquire() == static_cast<std::uint32_t>(idle_state::notified);
  }

 private:
  void set(idle_state s) noexcept { word_.store_relaxed(static_cast<std::uint32_t>(s)); }
  bool move(idle_state from, idle_state to) noexcept {
    auto expected = static_cast<std::uint32_t>(from);
    return word_.cas_strong_acq_rel(expected, static_cast<std::uint32_t>(to));
  }

  base::atomic<std::uint32_t> word_{0};
};

// How long a worker searches before it sleeps, in ns. A wake-up costs who pushes 50 us on some machines, and
// a worker that is woken for units which others then run would sleep again before the next push, and be woken
// for that. So a search gets longer while the sleeps are shorter than what a wake-up costs. Ownership: the
// worker.
class search_time {
 public:
  [[nodiscard]] std::int64_t length(std::int64_t least) const noexcept { return std::max(length_, least); }
  void slept(std::int64_t how_long, std::int64_t least) noexcept {
    length_ = how_long < short_sleep ? std::min(length(least) * 2, least * most_times) : length_ / 2;
  }

 private:
  static constexpr std::int64_t short_sleep = 100'000;
  static constexpr std::int64_t most_times = 64;
  std::int64_t length_ = 0;
};

// What a push asks of the workers that serve the pool: one load and a branch while none is parked.
class sleepers {
 public:
  // (P3) The push is behind us in program order; light fence; then the count. Pairs with (P2).
  [[nodiscard]] bool any() const noexcept {
    base::light_fence();
    return parked_.load_relaxed() != 0;
  }
  void add() noexcept { parked_.fetch_add_relaxed(1); }
  void remove() noexcept { parked_.fetch_sub_relaxed(1); }

 private:
  base::atomic<std::uint32_t> parked_{0};
};

// (P4) Chooses whom to wake among those who serve the pool: nobody while one is searching (it will look again
// before it parks, and passes the search on if it finds other work), else the first that can be notified.
// Null: nobody needs a kernel wake. `Spots` is a range of pointers to parking_spot.
template <class Spots>
parking_spot* choose_sleeper(const Spots& spots) noexcept {
  for (parking_spot* spot : spots) {
    const idle_state s = spot->load();
    if (s == idle_state::searching || s == idle_state::notified)
      return nullptr;
  }
  for (parking_spot* spot : spots) {
    if (spot->load() == idle_state::parked && spot->try_notify())
      return spot;
  }
  return nullptr;
}

// --- the worker's steps, each over the pools that it serves: `each(action)` calls action(pool) for all of
// them ---

// What the steps rest on; the model test takes one away at a time.
struct parking_fences {
  static void parking() noexcept { base::heavy_fence(); }    // (P2)
  static void search_left() noexcept { base::full_fence(); } // (P5)
  static void handing_on() noexcept { base::heavy_fence(); } // (P5)
};

// (P1), (P2). The worker looks once more after this, and sleeps on `spot.word()` while it reads `parked`.
template <class Fences = parking_fences, class EachPool>
void enter_park(parking_spot& spot, const EachPool& each) noexcept {
  spot.announce_park();
  each([](auto& p) { p.waiting_workers().add(); });
  Fences::parking();
}

// (P7) relaxed: what the waker pushed is found through the container, which orders it.
template <class EachPool>
void leave_park(parking_spot& spot, const EachPool& each) noexcept {
  spot.start_searching();
  each([](auto& p) { p.waiting_workers().remove(); });
}

// (P5) The worker found work and searches no longer. A push may have counted on its search: then its unit is
// seen here and somebody else is woken for it. The second fence is heavy because the push has a light one; it
// is paid only while somebody sleeps, and is cheaper than a wake-up in vain.
template <class Fences = parking_fences, class EachPool>
void leave_search(parking_spot& spot, const EachPool& each) noexcept {
  spot.found_work();
  Fences::search_left(); // two searchers that leave together see each other; a parker's count is seen, or it
                         // sees us active
  bool somebody_sleeps = false;
  each([&somebody_sleeps](auto& p) { somebody_sleeps = somebody_sleeps || p.waiting_workers().any(); });
  if (!somebody_sleeps)
    return;
  Fences::handing_on();
  each([](auto& p) {
    if (!p.empty())
      p.announce();
  });
}

} // namespace weft::sched
