// SPDX-License-Identifier: MIT
// The watch (weft/park/parking.hpp, argued in weft/park/README.md): no interleaving of events, pushes and
// workers that go to sleep leaves an event unseen while a worker sleeps. Such an event ends as a deadlock.
#include <gtest/gtest.h>

#include <vector>

#include "tests/model/checker/model.hpp"
#include "tests/model/expect.hpp"
#include "weft/base/atomic.hpp"
#include "weft/os/doorbell.hpp"
#include "weft/os/futex.hpp"
#include "weft/park/parking.hpp"

namespace {

using weft::base::atomic;
using weft::model::bounds;
using weft::model::expect_fails;
using weft::model::expect_passes;
using weft::model::expect_walks_pass;
using weft::park::idle_state;
using weft::park::parking_fences;
using weft::park::parking_spot;

// A place for units or events: a slot each.
struct slots {
  static constexpr int capacity = 3;
  atomic<int> slot[capacity]{};

  bool take() {
    for (auto& s : slot) {
      int expected = 1;
      if (s.load_relaxed() == 1 && s.cas_strong_acq_rel(expected, 0))
        return true;
    }
    return false;
  }
  [[nodiscard]] bool empty() const {
    for (const auto& s : slot) {
      if (s.load_relaxed() == 1)
        return false;
    }
    return true;
  }
};

// What a group is to the protocol: a pool that all workers serve, an event source, the watch.
struct model_group {
  slots units;
  weft::park::sleepers sleepers;
  slots events;
  weft::os::doorbell bell; // rung by the kernel too, when there is an event
  weft::park::watch post;
  std::vector<parking_spot*> spots;

  weft::park::sleepers& waiting_workers() { return sleepers; }
  [[nodiscard]] bool empty() const { return units.empty(); }
  void announce() {
    if (sleepers.any())
      choose_sleeper(spots).finish();
  }
  void push(int number) {
    units.slot[number].store_relaxed(1);
    announce();
  }
  // As waiting_source::poll() and deliver(): all there are.
  void deliver() {
    for (int i = 0; i < slots::capacity; ++i) {
      int expected = 1;
      if (events.slot[i].load_acquire() == 1 && events.slot[i].cas_strong_acq_rel(expected, 0))
        push(i);
    }
  }
  void event(int number) {
    events.slot[number].store_release(1);
    bell.ring();
  }
};

// What sched::worker does in idle() and park().
template <class Fences, bool hands_on = true>
struct model_worker {
  model_group& group;
  parking_spot spot{};

  explicit model_worker(model_group& g) : group(g) { g.spots.push_back(&spot); }

  void on_word(bool nap) {
    const auto parked = static_cast<std::uint32_t>(idle_state::parked);
    if (nap) {
      weft::os::futex_wait_until(&spot.word(), parked, 1);
    } else {
      weft::os::futex_wait(&spot.word(), parked);
    }
  }
  [[nodiscard]] bool may_go_on() const { return spot.load() == idle_state::parked; }
  void in_source() {
    if (spot.start_watching(group.bell))
      group.bell.wait();
  }

  void leave_search() {
    weft::park::leave_search(spot, [this](auto action) { action(group); });
    if (hands_on && !group.post.is_kept())
      choose_sleeper(group.spots).finish();
  }

  // Searches and sleeps until it has found a unit or an event; then it runs for ever.
  void next() {
    const auto each = [this](auto action) { action(group); };
    spot.start_searching();
    for (;;) {
      if (!group.post.is_taken())
        group.deliver();
      if (group.units.take())
        return leave_search();
      weft::park::enter_park<Fences>(spot, each);
      const bool watched = group.empty() && weft::park::sleep_with_watch<Fences>(group.post, *this);
      weft::park::leave_park(spot, each);
      if (watched) {
        group.deliver();
        group.post.give_up();
      }
    }
  }
};

// What comes, each for one of two workers.
template <class Fences, bool hands_on, class Happens>
void two_workers(Happens happens) {
  model_group g;
  model_worker<Fences, hands_on> a(g), b(g);
  weft::model::thread first([&] { a.next(); });
  weft::model::thread second([&] { b.next(); });
  happens(g);
  first.join();
  second.join();
}

template <class Fences, bool hands_on = true>
void two_events() {
  two_workers<Fences, hands_on>([](model_group& g) {
    g.event(0);
    g.event(1);
  });
}

template <class Fences>
void an_event_and_a_push() {
  two_workers<Fences, true>([](model_group& g) {
    g.push(0);
    g.event(1);
  });
}

template <class Fences>
void a_push_and_an_event() {
  two_workers<Fences, true>([](model_group& g) {
    g.event(1);
    g.push(0);
  });
}

// Two that leave their searches at once must not leave the watch to each other: the third sleeps.
template <class Fences>
void three_workers() {
  model_group g;
  model_worker<Fences> a(g), b(g), c(g);
  weft::model::thread first([&] { a.next(); });
  weft::model::thread second([&] { b.next(); });
  weft::model::thread third([&] { c.next(); });
  g.push(0);
  g.push(1);
  g.event(2);
  first.join();
  second.join();
  third.join();
}

TEST(watch_model, two_events) {
  expect_passes(bounds(2, 2), [] { two_events<parking_fences>(); });
}
TEST(watch_model, an_event_and_a_push) {
  expect_passes(bounds(2, 2), [] { an_event_and_a_push<parking_fences>(); });
}
TEST(watch_model, a_push_and_an_event) {
  expect_passes(bounds(2, 2), [] { a_push_and_an_event<parking_fences>(); });
}

// A push reaches the one worker, in the event source or on the way there.
TEST(watch_model, one_worker) {
  expect_passes(weft::model::exhaustively(), [] {
    model_group g;
    model_worker<parking_fences> a(g);
    weft::model::thread worker([&] {
      a.next();
      a.next();
    });
    g.push(0);
    g.event(1);
    worker.join();
  });
}

TEST(watch_model, random_walks) {
  for (auto* body : {&two_events<parking_fences, true>, &an_event_and_a_push<parking_fences>,
                     &a_push_and_an_event<parking_fences>, &three_workers<parking_fences>}) {
    expect_walks_pass({}, 20'000, body);
  }
}

// --- each part taken away must be found ---

struct without_parking_fence : parking_fences {
  static void parking() noexcept {}
};

weft::model::options walks() {
  weft::model::options how = bounds(8, 8);
  how.random_executions = 100'000;
  return how;
}

TEST(watch_model_mutants, the_watch_is_not_handed_on) {
  expect_fails(walks(), "wait", [] { two_events<parking_fences, false>(); });
}
TEST(watch_model_mutants, no_fence_before_the_watch_is_looked_at) {
  expect_fails(walks(), "wait", [] { two_events<without_parking_fence>(); });
}

} // namespace
