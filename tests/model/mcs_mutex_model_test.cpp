// SPDX-License-Identifier: MIT
// The shipped mcs_mutex with the shipped waiters under the checker: mutual exclusion, no lost offer, whoever
// takes it from the waiter to whom it was made, no touch of a mutex that its next owner has destroyed, and
// each node freed once, also where waiters give up.
#include "tests/model/checker/model.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/mutations.hpp"
#include "tests/model/runtime/seat.hpp"
#include "weft/sync/mcs_mutex.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stop_token>

namespace weft {
namespace {

using model::bounds;
using model::check;
using model::exactly;
using model::expect_bugs_are_found;
using model::expect_every_weakening_is_found;
using model::expect_passes;
using model::runtime::actor;
using model::runtime::seat;
using model::runtime::who;

struct guarded {
  sync::mcs_mutex m;
  model::var<int> count = 0;

  void add() {
    m.lock();
    add_locked();
  }
  void add_locked() {
    ++count;
    m.unlock();
  }
};

void counting(who w, int threads, int rounds) {
  model::runtime::begin();
  guarded g;
  const auto body = [&] {
    for (int i = 0; i < rounds; ++i)
      g.add();
  };
  {
    const actor a(w, body);
    if (threads == 3) {
      const actor b(w, body);
      const seat mine(w == who::threads);
      body();
    } else {
      const seat mine(w == who::threads);
      body();
    }
  }
  check(g.count == threads * rounds, "an update is lost");
  check(g.m.try_lock(), "nobody holds it, and it is not free");
}

/// One who may give up between two who do not.
void an_impatient_one(who w, int tries) {
  model::runtime::begin();
  guarded g;
  int got = 0;
  {
    std::stop_source source;
    const actor impatient(w, [&] {
      for (int i = 0; i < tries; ++i) {
        if (g.m.lock(source.get_token())) {
          ++got;
          g.add_locked();
        }
      }
    });
    const actor patient(w, [&] { g.add(); });
    const seat mine(w == who::threads);
    g.add();
    source.request_stop();
  }
  check(g.count == 2 + got, "an update is lost");
  check(g.m.try_lock(), "nobody holds it, and it is not free");
}

/// The last user destroys it.
void destroyed_by_the_last(who w) {
  model::runtime::begin();
  auto* const shared = new guarded;
  const auto leave = [shared] {
    shared->m.lock();
    const bool last = ++shared->count == 2;
    shared->m.unlock();
    if (last)
      delete shared;
  };
  const actor other(w, leave);
  const seat mine(w == who::threads);
  leave();
}

/// What the owner offers to one or two that wait is taken by itself and by one more, again and again.
void taken_by_those_that_try(who w, int waiters, int tries) {
  model::runtime::begin();
  guarded g;
  const auto try_it = [&] {
    for (int i = 0; i < tries; ++i) {
      if (g.m.try_lock())
        g.add_locked();
    }
  };
  g.m.lock();
  {
    const actor a(w, [&] { g.add(); });
    const actor b(w, [&] { waiters == 2 ? g.add() : try_it(); });
    g.add_locked();
    try_it();
  }
  check(g.count > waiters, "one that waited did not have it");
  check(g.m.try_lock(), "nobody holds it, and it is not free");
}

/// The one to whom it is offered is stopped at some moment: before the offer, after it, or after it was
/// taken.
void taken_from_one_that_is_stopped(who w) {
  model::runtime::begin();
  guarded g;
  g.m.lock();
  {
    std::stop_source source;
    const actor waits(w, [&, token = source.get_token()] {
      if (g.m.lock(token))
        g.add_locked();
    });
    const actor stops(who::foreign, [&] { source.request_stop(); });
    g.add_locked();
    for (int i = 0; i < 2; ++i) {
      if (g.m.try_lock())
        g.add_locked();
    }
  }
  check(g.m.try_lock(), "nobody holds it, and it is not free");
}

/// Offered past one that has given up, taken from the one behind, and offered to that one again.
void taken_from_one_behind(who w) {
  model::runtime::begin();
  guarded g;
  g.m.lock();
  {
    std::stop_source source;
    const actor stopped(w, [&, token = source.get_token()] {
      if (g.m.lock(token))
        g.add_locked();
    });
    const actor waits(w, [&] { g.add(); });
    source.request_stop();
    g.add_locked();
    if (g.m.try_lock())
      g.add_locked();
  }
  check(g.m.try_lock(), "nobody holds it, and it is not free");
}

/// The last user destroys it, who waited for it or has tried until it was there.
void destroyed_by_one_that_tries(who w) {
  model::runtime::begin();
  auto* const shared = new guarded;
  const auto leave = [shared] {
    const bool last = ++shared->count == 2;
    shared->m.unlock();
    if (last)
      delete shared;
  };
  const actor other(w, [shared, leave] {
    shared->m.lock();
    leave();
  });
  while (!shared->m.try_lock())
    model::relax();
  leave();
}

/// The mutex is given back by who waits, off its stack.
void unlock_and_wait() {
  model::runtime::begin();
  guarded g;
  sync::suspended_thread place;
  {
    const actor notifies(who::threads, [&] {
      for (;;) {
        g.m.lock();
        const bool there = g.count == 1;
        if (there)
          check(place.notify(), "a thread that is there was not found");
        g.m.unlock();
        if (there)
          return;
        model::relax();
      }
    });
    const seat mine;
    g.m.lock();
    ++g.count;
    g.m.unlock_and_wait(place);
    g.add();
  }
  check(g.count == 2, "an update is lost");
}

class mcs_mutex_of : public testing::TestWithParam<who> {};
INSTANTIATE_TEST_SUITE_P(whoever, mcs_mutex_of, testing::Values(who::foreign, who::threads),
                         [](const auto& info) { return info.param == who::foreign ? "foreign" : "threads"; });

TEST_P(mcs_mutex_of, two_threads_twice) {
  expect_passes(bounds(4, 2), [w = GetParam()] { counting(w, 2, 2); });
}
TEST_P(mcs_mutex_of, three_threads) {
  expect_passes(bounds(3, 2), [w = GetParam()] { counting(w, 3, 1); });
}
TEST_P(mcs_mutex_of, three_threads_twice) {
  expect_passes(bounds(2, 1), [w = GetParam()] { counting(w, 3, 2); });
}
TEST_P(mcs_mutex_of, an_impatient_one) {
  expect_passes(bounds(2, 1), [w = GetParam()] { an_impatient_one(w, 1); });
  expect_passes(bounds(1, 1), [w = GetParam()] { an_impatient_one(w, 2); });
}
TEST_P(mcs_mutex_of, taken_by_those_that_try) {
  expect_passes(bounds(3, 1), [w = GetParam()] { taken_by_those_that_try(w, 1, 1); });
  expect_passes(bounds(2, 1), [w = GetParam()] { taken_by_those_that_try(w, 1, 2); });
  expect_passes(bounds(2, 1), [w = GetParam()] { taken_by_those_that_try(w, 2, 2); });
}
TEST_P(mcs_mutex_of, taken_from_one_that_is_stopped) {
  expect_passes(bounds(2, 1), [w = GetParam()] { taken_from_one_that_is_stopped(w); });
  expect_passes(bounds(2, 1), [w = GetParam()] { taken_from_one_behind(w); });
}
TEST_P(mcs_mutex_of, destroyed_by_one_that_tries) {
  expect_passes(model::exhaustively(), [w = GetParam()] { destroyed_by_one_that_tries(w); });
}
TEST_P(mcs_mutex_of, destroyed_by_the_last) {
  expect_passes(model::exhaustively(), [w = GetParam()] { destroyed_by_the_last(w); });
}
TEST(mcs_mutex_model, unlock_and_wait) {
  expect_passes(model::exhaustively(), unlock_and_wait);
}

// --- every order that is not needed is known; bugs of logic are found ---

std::vector<model::scenario> all_scenarios() {
  return {{exactly(2, 1), [] { counting(who::threads, 2, 2); }},
          {exactly(2, 1), [] { destroyed_by_the_last(who::foreign); }},
          {exactly(2, 1), [] { counting(who::threads, 3, 1); }},
          {exactly(1, 1), [] { an_impatient_one(who::threads, 2); }},
          {exactly(2, 1), [] { taken_by_those_that_try(who::threads, 1, 2); }},
          {exactly(2, 1), [] { destroyed_by_one_that_tries(who::foreign); }},
          {exactly(2, 1), [] { taken_from_one_behind(who::threads); }}};
}

TEST(mcs_mutex_weakened, queue) {
  constexpr auto freed =
      "the checker sees a use after the destruction, not a destruction that is unordered after a use";
  expect_every_weakening_is_found(
      all_scenarios(),
      {{"mcs_mutex.cpp: mcs_mutex::take_over: cas -> release",
        "it takes back the caller's own mark; where it fails the link is acquired"},
       {"mcs_mutex.cpp: mcs_mutex::offer: cas -> acquire",
        "nobody takes what was freed past waiters who gave up, within these bounds"},
       {"mcs_mutex.cpp: mcs_mutex::offer: cas -> release",
        "it takes back the mark of a node that was acquired; where it fails the link is"},
       {"mcs_mutex.hpp: let_go::operator: rmw -> acquire", freed},
       {"mcs_mutex.hpp: let_go::operator: rmw -> release", freed},
       {"mcs_mutex.hpp: mcs_mutex::release: load -> relaxed", "offer() reads the link again, and acquires"},
       {"wait_word.hpp: wait_word::fall_asleep: cas -> release", "who falls asleep learns nothing"},
       {"wait_word.hpp: wait_word::decide: cas -> acquire", "who was woken looks at the offer, which orders"},
       {"wait_word.hpp: wait_word::load: load -> relaxed", "the same"}});
}
TEST(mcs_mutex_bugs, queue) {
  expect_bugs_are_found(all_scenarios(), {"mcs_mutex.cpp: mcs_mutex::enqueue: cas -> unchecked (2)",
                                          "mcs_mutex.cpp: mcs_mutex::enqueue: store -> forgotten",
                                          "mcs_mutex.cpp: mcs_mutex::take_over: store -> forgotten",
                                          "mcs_mutex.cpp: mcs_mutex::take_over: cas -> unchecked",
                                          "mcs_mutex.cpp: mcs_mutex::take_over: store -> forgotten (2)",
                                          "mcs_mutex.cpp: mcs_mutex::offer: store -> forgotten",
                                          "mcs_mutex.cpp: mcs_mutex::offer_to: store -> forgotten",
                                          "offer_word.hpp: offer_word::prepare: store -> forgotten",
                                          "offer_word.hpp: offer_word::publish: store -> forgotten",
                                          "offer_word.hpp: offer_word::try_take: cas -> unchecked",
                                          "offer_word.hpp: call_word::stand_by: cas -> unchecked",
                                          "mcs_mutex.hpp: mcs_mutex::take: cas -> unchecked",
                                          "mcs_mutex.hpp: mcs_mutex::release: cas -> unchecked"});
}

} // namespace
} // namespace weft
