// SPDX-License-Identifier: MIT
// How an idle worker goes to sleep and a push wakes it. The protocol and its proof stand in README.md
// ("Parking"); the labels (P1) to (P8) are its steps. tests/model/parking_model_test.cpp explores this very
// code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "weft/base/atomic.hpp"
#include "weft/os/doorbell.hpp"
#include "weft/os/futex.hpp"

namespace weft::park {

enum class idle_state : std::uint32_t {
  active,    // runs units
  searching, // looks for work; will look again, behind a heavy fence, before it parks, and if a push has
             // counted on it, also when it has found other work
  parked,    // waits in the kernel, or is about to
  notified,  // was parked or watching; somebody woke it; it will search
  watching,  // parked, and waits in the group's event source, or is about to
  visiting,  // its kernel thread is in an event loop of somebody else's, which waits for a bell too
};

// What is left to do for whoever has won the right to wake a worker: nothing for those who have not.
class [[nodiscard]] waking {
 public:
  waking() noexcept = default;
  explicit waking(const base::atomic<std::uint32_t>& word) noexcept : word_(&word) {}
  explicit waking(os::doorbell& bell) noexcept : bell_(&bell) {}

  explicit operator bool() const noexcept { return word_ != nullptr || bell_ != nullptr; }
  // By address only: the worker may be gone. Bells are never freed.
  void finish() const noexcept {
    if (word_ != nullptr) {
      os::futex_wake(word_, 1);
    } else if (bell_ != nullptr) {
      bell_->ring();
    }
  }

 private:
  const base::atomic<std::uint32_t>* word_ = nullptr;
  os::doorbell* bell_ = nullptr;
};

// One per worker. Ownership: the worker itself makes every transition but parked -> notified and watching ->
// notified, which anyone may make, and owns `bell_` but while it watches. Anyone may set the mark
// `counted_on` while the worker is searching or notified. Invariant: what the worker sleeps on reads
// `parked`, no mark.
class parking_spot {
 public:
  [[nodiscard]] idle_state load() const noexcept { return state_of(word_.load_relaxed()); }
  // acquire: what the worker wrote before the full fence that came before the state, is seen.
  [[nodiscard]] idle_state load_acquire() const noexcept { return state_of(word_.load_acquire()); }
  [[nodiscard]] const base::atomic<std::uint32_t>& word() const noexcept { return word_; }

  // Of a worker that was active: nobody has counted on it.
  void start_searching() noexcept { word_.store_relaxed(static_cast<std::uint32_t>(idle_state::searching)); }

  // (P7) Of one that was parked, and perhaps notified.
  void search_again() noexcept { move_on(idle_state::searching); }

  // (P5) True: a push has counted on the search, or has ended the sleep before it.
  [[nodiscard]] bool found_work() noexcept {
    move_on(idle_state::active);
    return std::exchange(owes_look_, false);
  }

  // (P1) The heavy fence (P2) that follows orders it; pairs with (P3) through (P2).
  void announce_park() noexcept { move_on(idle_state::parked); }

  // The worker leaves `parked` by itself. False: it was notified meanwhile, which it must treat as a wake.
  bool cancel_park() noexcept { return move(idle_state::parked, idle_state::searching); }

  // (P8) The worker will sleep in the event source, whose bell this is, instead of on its word. False: it was
  // notified meanwhile. acq_rel: publishes the bell to (P6).
  bool start_watching(os::doorbell& bell) noexcept {
    bell_.store_relaxed(&bell);
    return move(idle_state::parked, idle_state::watching);
  }

  // (P8) The same for a worker whose kernel thread goes into a loop of somebody else's.
  bool start_visiting(os::doorbell& bell) noexcept {
    visitors_bell_.store_relaxed(&bell);
    return move(idle_state::parked, idle_state::visiting);
  }

  // (P4) The worker is awake, and will look again for what the caller has pushed. False: it runs units, or
  // sleeps. release: publishes the push to (P5), and to (P1), (P7) of the same worker. It writes although the
  // mark may stand there already: that one publishes what another has pushed.
  bool try_count_on() noexcept {
    std::uint32_t seen = word_.load_relaxed();
    for (;;) {
      const idle_state s = state_of(seen);
      if (s != idle_state::searching && s != idle_state::notified)
        return false;
      if (word_.cas_strong_release(seen, seen | counted_on))
        return true;
    }
  }

  // (P6) The right to wake this worker, and by what; one of many pushes wins. acq_rel: pairs with (P7), the
  // worker's load after its sleep. The worker may be gone afterwards, so nothing of it is read.
  waking try_notify() noexcept {
    std::uint32_t seen = word_.load_acquire(); // acquire: pairs with (P8)
    for (;;) {
      waking how;
      switch (state_of(seen)) {
      case idle_state::parked:
        how = waking(word_);
        break;
      case idle_state::watching:
        how = waking(*bell_.load_relaxed()); // relaxed: seen above
        break;
      case idle_state::visiting:
        how = waking(*visitors_bell_.load_relaxed());
        break;
      default:
        return {};
      }
      if (word_.cas_strong_acq_rel(seen, static_cast<std::uint32_t>(idle_state::notified)))
        return how;
    }
  }

  // (P7) acquire: pairs with (P6).
  [[nodiscard]] bool is_notified() const noexcept {
    return state_of(word_.load_acquire()) == idle_state::notified;
  }

 private:
  static constexpr std::uint32_t counted_on = 1U << 31;
  static idle_state state_of(std::uint32_t word) noexcept {
    return static_cast<idle_state>(word & ~counted_on);
  }
  // acquire: what was pushed by those who have counted on the worker, (P4), (P6), is seen from here on.
  void move_on(idle_state to) noexcept {
    const std::uint32_t old = word_.exchange_acquire(static_cast<std::uint32_t>(to));
    owes_look_ = owes_look_ || (old & counted_on) != 0 || state_of(old) == idle_state::notified;
  }
  bool move(idle_state from, idle_state to) noexcept {
    auto expected = static_cast<std::uint32_t>(from);
    return word_.cas_strong_acq_rel(expected, static_cast<std::uint32_t>(to));
  }

  base::atomic<std::uint32_t> word_{0};
  bool owes_look_ = false;                    // the worker's own: what the marks said that it has taken off
  base::atomic<os::doorbell*> bell_{nullptr}; // the same for a group once it has one
  base::atomic<os::doorbell*> visitors_bell_{nullptr}; // the same for a worker once it has one
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

  // The searcher has offered its CPU, and got it back after so long. True: somebody has had it each of the
  // last times. Then it is better to sleep: the kernel leaves two that run in turns on one CPU as they are,
  // but who is woken may come to another CPU that is idle.
  [[nodiscard]] bool is_in_the_way(std::int64_t away) noexcept {
    constexpr std::int64_t nobody_ran = 1'000;
    constexpr unsigned enough = 16;
    offers_taken_ = away < nobody_ran ? 0 : offers_taken_ + 1;
    if (offers_taken_ < enough)
      return false;
    offers_taken_ = 0;
    return true;
  }

 private:
  static constexpr std::int64_t short_sleep = 100'000;
  static constexpr std::int64_t most_times = 64;
  std::int64_t length_ = 0;
  unsigned offers_taken_ = 0; // in a row
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

// (P4) Chooses whom to wake among those who serve the pool: nobody while one is searching or notified, who is
// told that somebody counts on it (it will look again before it parks, and passes the search on if it finds
// other work), else the first that can be notified; who sleeps in the event source comes last, for another
// would have to take its place there. Empty: nobody needs a kernel wake. `Spots` is a range of pointers to
// parking_spot.
template <class Spots>
waking choose_sleeper(const Spots& spots) noexcept {
  for (parking_spot* spot : spots) {
    if (spot->try_count_on())
      return {};
  }
  for (const idle_state wanted : {idle_state::parked, idle_state::watching, idle_state::visiting}) {
    for (parking_spot* spot : spots) {
      if (spot->load() == wanted) {
        if (const waking won = spot->try_notify())
          return won;
      }
      if (spot->try_count_on()) // it woke meanwhile
        return {};
    }
  }
  return {};
}

// Who of a group's idle workers sleeps in its event source (the watch), and who looks from time to time
// whether somebody does (the deputy). README.md, "The watch". Ownership: whoever has a post gives it up.
class watch {
 public:
  // (E1) True: the caller has the watch. acq_rel: what the event source keeps for the one who watches goes
  // from one to the next.
  bool try_take() noexcept {
    std::uint32_t nobody = 0;
    return taken_.load_relaxed() == 0 && taken_.cas_strong_acq_rel(nobody, 1);
  }
  // (E2) release: pairs with (E1). (P5) or the heavy fence of the next parking follows before the caller
  // relies on somebody else.
  void give_up() noexcept {
    changes_.store_relaxed(changes_.load_relaxed() + 1);
    taken_.store_release(0);
  }

  // (E3) True: the caller is the deputy, and will look again soon.
  bool try_stand_by() noexcept {
    std::uint32_t nobody = 0;
    return deputy_.load_relaxed() == 0 && deputy_.cas_strong_acq_rel(nobody, 1);
  }
  void stand_down() noexcept { deputy_.store_release(0); }

  // Changes whenever the watch is given up: who sees the same number twice need not expect that soon.
  [[nodiscard]] std::uint32_t changes() const noexcept { return changes_.load_relaxed(); }
  // RACY: whether a poll would be done by somebody else anyway.
  [[nodiscard]] bool is_taken() const noexcept { return taken_.load_relaxed() != 0; }
  // (E4) After (P5): whether somebody watches or will look soon.
  [[nodiscard]] bool is_kept() const noexcept {
    return taken_.load_relaxed() != 0 || deputy_.load_relaxed() != 0;
  }

 private:
  base::atomic<std::uint32_t> taken_{0};
  base::atomic<std::uint32_t> deputy_{0};
  base::atomic<std::uint32_t> changes_{0}; // written by whoever has the watch
};

// --- the worker's steps, each over the pools that it serves: `each(action)` calls action(pool) for all of
// them ---

// What the steps rest on; the model test takes one away at a time.
struct parking_fences {
  static void parking() noexcept { base::heavy_fence(); } // (P2)
};

// (P1), (P2). The worker looks once more after this, and sleeps on `spot.word()` while it reads `parked`.
template <class Fences = parking_fences, class EachPool>
void enter_park(parking_spot& spot, const EachPool& each) noexcept {
  spot.announce_park();
  each([](auto& p) { p.waiting_workers().add(); });
  Fences::parking();
}

// How a parked worker sleeps where the group has an event source. `Sleep` tells how:
//   sleep.on_word(longest)    on the spot's word, at most so long as given when the worker parked, and if
//                             `longest` at most as long as a deputy's nap; false: that time has passed
//   sleep.in_source()         in the event source
//   sleep.may_go_on()         whether the worker is still parked and its time has not passed
// True: the worker has the watch, and must handle what came and give it up.
template <class Fences = parking_fences, class Sleep>
bool sleep_with_watch(watch& post, Sleep& sleep) noexcept {
  if (post.try_take())
    return sleep.in_source(), true;
  if (post.try_stand_by()) {
    std::uint32_t seen;
    do {
      seen = post.changes();
      sleep.on_word(true);
      if (!sleep.may_go_on())
        return post.stand_down(), false;
      if (post.try_take())
        return post.stand_down(), sleep.in_source(), true;
    } while (post.changes() != seen);
    post.stand_down();
    Fences::parking(); // (E5) who gives the watch up from now on sees no deputy, or we see that it is free
    if (post.try_take())
      return sleep.in_source(), true;
  }
  sleep.on_word(false);
  return false;
}

// (P7)
template <class EachPool>
void leave_park(parking_spot& spot, const EachPool& each) noexcept {
  spot.search_again();
  each([](auto& p) { p.waiting_workers().remove(); });
}

// (P5) The worker found work and searches no longer. A push that counted on its search has said so: then its
// unit is seen here, and somebody else is woken for it.
template <class EachPool>
void leave_search(parking_spot& spot, const EachPool& each) noexcept {
  if (!spot.found_work())
    return;
  each([](auto& p) {
    if (!p.empty())
      p.announce();
  });
}

} // namespace weft::park
