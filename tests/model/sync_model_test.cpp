// SPDX-License-Identifier: MIT
// The shipped condition variable, shared mutex, barrier, latch and future, with the shipped waiters and wait
// queues, under the checker: threads on workers, which leave them, and foreign kernel threads, which sleep on
// a futex. Nothing is lost, nobody waits for ever, whoever may destroy a primitive may do so at once, and
// what one side wrote the other sees.
#include "tests/model/checker/model.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/mutations.hpp"
#include "tests/model/runtime/seat.hpp"
#include "weft/sync/barrier.hpp"
#include "weft/sync/condition_variable.hpp"
#include "weft/sync/future.hpp"
#include "weft/sync/latch.hpp"
#include "weft/sync/shared_mutex.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

namespace weft {
namespace {

using model::bounds;
using model::check;
using model::exactly;
using model::expect_every_weakening_is_found;
using model::expect_passes;
using model::runtime::actor;
using model::runtime::seat;
using model::runtime::who;
using sync::wait_result;

constexpr sched::deadline some_time =
    sched::no_deadline - 1; // foreign kernel threads: may pass at any moment

// --- condition variable ---

struct tickets {
  base::spin_lock lock;
  sync::condition_variable_any more;
  model::var<int> count = 0;

  void put(bool all) {
    {
      const std::scoped_lock held(lock);
      ++count;
    }
    all ? more.notify_all() : more.notify_one();
  }
  void take() {
    std::unique_lock held(lock);
    more.wait(held, [this] { return count > 0; });
    --count;
  }
  /// False: the time passed, and there was none then.
  bool take_for_a_while() {
    std::unique_lock held(lock);
    while (count == 0) {
      if (more.wait_once(held, some_time, {}) != wait_result::notified && count == 0)
        return false;
    }
    --count;
    return true;
  }
};

void two_takers_and_a_giver(who w, bool all) {
  model::runtime::begin();
  tickets t;
  {
    const actor a(w, [&] { t.take(); });
    const actor b(w, [&] { t.take(); });
    t.put(all);
    t.put(all);
  }
  check(t.count == 0, "tickets are left");
}

void a_taker_and_two_givers(who w) {
  model::runtime::begin();
  tickets t;
  {
    const actor a(w, [&] {
      t.take();
      t.take();
    });
    const actor b(w, [&] { t.put(false); });
    t.put(false);
  }
  check(t.count == 0, "tickets are left");
}

/// Three threads, two operations each: one gives, one takes, one does both.
void all_give_or_take_twice(who w) {
  model::runtime::begin();
  tickets t;
  {
    const actor gives(w, [&] {
      t.put(false);
      t.put(false);
    });
    const actor gives_and_takes(w, [&] {
      t.put(false);
      t.take();
    });
    const actor takes(w, [&] {
      t.take();
      t.take();
    });
  }
  check(t.count == 0, "tickets are left");
}

/// A notification that meets one who gives up goes to another.
void an_impatient_taker() {
  model::runtime::begin();
  tickets t;
  bool got = false;
  {
    const actor impatient(who::foreign, [&] { got = t.take_for_a_while(); });
    const actor patient(who::foreign, [&] { t.take(); });
    t.put(false);
    t.put(false);
  }
  check(t.count == (got ? 0 : 1), "a ticket is lost");
}

/// It may be destroyed as soon as all its waiters have been notified.
void destroyed_by_the_notified(who w) {
  model::runtime::begin();
  base::spin_lock lock;
  auto cv = std::make_unique<sync::condition_variable_any>();
  model::var<bool> set = false;
  const actor waiter(w, [&] {
    {
      std::unique_lock held(lock);
      cv->wait(held, [&] { return static_cast<bool>(set); });
    }
    cv.reset();
  });
  const std::scoped_lock held(lock);
  set = true;
  cv->notify_one();
}

class sync_model : public testing::TestWithParam<who> {};
INSTANTIATE_TEST_SUITE_P(whoever, sync_model, testing::Values(who::foreign, who::threads),
                         [](const auto& info) { return info.param == who::foreign ? "foreign" : "threads"; });

TEST_P(sync_model, condition_variable_two_takers_and_a_giver) {
  for (const bool all : {false, true})
    expect_passes(bounds(3, 2), [w = GetParam(), all] { two_takers_and_a_giver(w, all); });
}
TEST_P(sync_model, condition_variable_a_taker_and_two_givers) {
  expect_passes(bounds(3, 2), [w = GetParam()] { a_taker_and_two_givers(w); });
}
TEST_P(sync_model, condition_variable_all_give_or_take_twice) {
  expect_passes(bounds(2, 2), [w = GetParam()] { all_give_or_take_twice(w); });
}
TEST(sync_model_timed, condition_variable_an_impatient_taker) {
  expect_passes(bounds(2, 2), an_impatient_taker);
}
TEST_P(sync_model, condition_variable_destroyed_by_the_notified) {
  expect_passes(model::exhaustively(), [w = GetParam()] { destroyed_by_the_notified(w); });
}

// --- shared mutex ---

struct guarded {
  sync::shared_mutex m;
  model::var<int> value = 0;
  model::var<int> twice = 0;

  void write() {
    m.lock();
    write_locked();
  }
  void write_locked() {
    ++value;
    twice += 2;
    m.unlock();
  }
  void read() {
    m.lock_shared();
    check(twice == 2 * value, "a reader saw half a write");
    m.unlock_shared();
  }
};

void writers_and_readers(who w) {
  model::runtime::begin();
  guarded g;
  {
    const actor a(w, [&] {
      g.write();
      g.read();
    });
    const actor b(w, [&] {
      g.read();
      g.write();
    });
    const seat mine(w == who::threads);
    g.read();
    g.read();
  }
  check(g.value == 2, "a write is lost");
}

/// A writer that gives up lets the readers in that stood behind it.
void an_impatient_writer() {
  model::runtime::begin();
  guarded g;
  {
    const actor a(who::foreign, [&] {
      if (g.m.try_lock_for(std::chrono::hours(1))) // or gives up at any moment
        g.write_locked();
    });
    const actor b(who::foreign, [&] { g.read(); });
    g.m.lock_shared();
    g.m.unlock_shared();
    if (g.m.try_lock())
      g.write_locked();
  }
}

void destroyed_by_the_last(who w) {
  model::runtime::begin();
  struct object {
    sync::shared_mutex m;
    model::var<int> users = 2;
  };
  auto* const shared = new object;
  const auto leave = [shared] {
    shared->m.lock();
    const bool last = --shared->users == 0;
    shared->m.unlock();
    if (last)
      delete shared;
  };
  const actor other(w, leave);
  const seat mine(w == who::threads);
  leave();
}

TEST_P(sync_model, shared_mutex_writers_and_readers) {
  expect_passes(bounds(3, 2), [w = GetParam()] { writers_and_readers(w); });
}
TEST(sync_model_timed, shared_mutex_an_impatient_writer) {
  expect_passes(bounds(2, 1), an_impatient_writer);
}
TEST_P(sync_model, shared_mutex_destroyed_by_the_last) {
  expect_passes(model::exhaustively(), [w = GetParam()] { destroyed_by_the_last(w); });
}

// --- barrier and latch ---

struct count_phases {
  model::var<int>* arrivals;
  model::var<int>* phases;
  void operator()() noexcept {
    check(*arrivals == 3 * (*phases + 1), "the completion runs after all have arrived");
    ++*phases;
  }
};

void three_at_a_barrier(who w, int rounds) {
  model::runtime::begin();
  base::spin_lock lock;
  model::var<int> arrivals = 0;
  model::var<int> phases = 0;
  sync::barrier<count_phases> all(3, {&arrivals, &phases});
  const auto meet = [&] {
    for (int i = 1; i <= rounds; ++i) {
      {
        const std::scoped_lock held(lock);
        ++arrivals;
      }
      all.arrive_and_wait();
      check(phases >= i, "went on before the phase was over");
    }
  };
  {
    const actor a(w, meet);
    const actor b(w, meet);
    const seat mine(w == who::threads);
    meet();
  }
  check(phases == rounds, "a phase is missing");
}

/// By the last of those who waited; by the first: destruction_model_test.cpp.
void barrier_destroyed_by_the_last_back(who w) {
  model::runtime::begin();
  struct object {
    sync::barrier<> both{2};
    base::atomic<int> back{0};
  };
  auto* const shared = new object;
  const auto meet = [shared] {
    shared->both.arrive_and_wait();
    if (shared->back.fetch_add_acq_rel(1) == 1)
      delete shared;
  };
  const actor other(w, meet);
  const seat mine(w == who::threads);
  meet();
}

void latch_destroyed_by_the_waiter(who w) {
  model::runtime::begin();
  auto done = std::make_unique<sync::latch>(2);
  model::var<int> left = 0;
  model::var<int> right = 0;
  const actor a(w, [&, raw = done.get()] {
    left = 1;
    raw->count_down();
  });
  const actor b(w, [&, raw = done.get()] {
    right = 1;
    raw->count_down();
  });
  const seat mine(w == who::threads);
  done->wait();
  check(left + right == 2, "the latch opened early");
  done.reset();
}

TEST_P(sync_model, barrier_three_threads_two_phases) {
  expect_passes(bounds(2, 1), [w = GetParam()] { three_at_a_barrier(w, 2); });
  expect_passes(bounds(3, 2), [w = GetParam()] { three_at_a_barrier(w, 1); });
}
TEST_P(sync_model, barrier_destroyed_by_the_last_back) {
  expect_passes(model::exhaustively(), [w = GetParam()] { barrier_destroyed_by_the_last_back(w); });
}
TEST_P(sync_model, latch_destroyed_by_the_waiter) {
  expect_passes(model::exhaustively(), [w = GetParam()] { latch_destroyed_by_the_waiter(w); });
}

// --- future ---

/// Two wait for what the third brings, which all of them let go of: whoever is last frees it.
void a_promise_and_two_futures(who w) {
  model::runtime::begin();
  model::var<int> payload = 0;
  std::optional<sync::promise<model::var<int>*>> p(std::in_place);
  sync::shared_future<model::var<int>*> f = p->get_future().share();
  const auto get = [f = f] { check(*f.get() == 7, "the result is not what was set"); };
  {
    const actor a(w, get);
    const actor b(w, get);
    f = {};
    payload = 7;
    p->set_value(&payload);
    p.reset();
  }
}

/// Of two who set it one succeeds, and the result is its.
void two_promises_race(who w) {
  model::runtime::begin();
  model::var<int> payload[2] = {0, 0};
  sync::promise<int> p;
  sync::future<int> f = p.get_future();
  int set = 0;
  const auto try_to_set = [&](int which) {
    payload[which] = which + 1;
    try {
      p.set_value(which);
      ++set;
    } catch (const std::future_error&) {
    }
  };
  {
    const actor a(w, [&] { try_to_set(0); });
    const actor b(w, [&] { try_to_set(1); });
    const seat mine(w == who::threads);
    const int which = f.get();
    check(payload[which] == which + 1, "what the setter wrote is seen");
  }
  check(set == 1, "one sets it");
}

/// Three threads, two operations each: one sets the first and gets the second, one gets the first and sets
/// the second, one gets both.
void there_and_back(who w) {
  model::runtime::begin();
  model::var<int> asked = 0, answered = 0;
  sync::promise<void> question, answer;
  const sync::shared_future<void> heard = question.get_future().share(), told = answer.get_future().share();
  {
    const actor asks(w, [&, f = told] {
      asked = 1;
      question.set_value();
      f.get();
      check(answered == 2, "the answer is not what was set");
    });
    const actor answers(w, [&, f = heard] {
      f.get();
      answered = asked + 1;
      answer.set_value();
    });
    const actor listens(w, [&, f = heard, g = told] {
      g.get();
      f.get();
      check(asked == 1 && answered == 2, "what was set before is not seen");
    });
  }
}

/// A promise that goes without a result tells who waits.
void a_broken_promise(who w) {
  model::runtime::begin();
  std::optional<sync::promise<void>> p(std::in_place);
  sync::future<void> f = p->get_future();
  const actor a(w, [&] {
    try {
      f.get();
      model::fail("a result from nowhere");
    } catch (const std::future_error& error) {
      check(error.code() == std::future_errc::broken_promise, "the wrong error");
    }
  });
  p.reset();
}

TEST_P(sync_model, future_a_promise_and_two_futures) {
  expect_passes(bounds(3, 3), [w = GetParam()] { a_promise_and_two_futures(w); });
}
TEST_P(sync_model, future_there_and_back) {
  expect_passes(bounds(2, 1), [w = GetParam()] { there_and_back(w); });
}
TEST_P(sync_model, future_set_once) {
  expect_passes(bounds(3, 3), [w = GetParam()] { two_promises_race(w); });
}
TEST_P(sync_model, future_broken_promise) {
  expect_passes(bounds(3, 3), [w = GetParam()] { a_broken_promise(w); });
}

// --- every order that is not needed is known ---

TEST(sync_weakened, condition_variable) {
  expect_every_weakening_is_found(
      {{exactly(2, 1), [] { two_takers_and_a_giver(who::threads, false); }},
       {exactly(2, 1), [] { two_takers_and_a_giver(who::foreign, false); }},
       {exactly(3, 2), [] { destroyed_by_the_notified(who::foreign); }}},
      {{"wait_word.hpp: wait_word::fall_asleep: cas -> release",
        "who falls asleep learns nothing: what the decision published is acquired by load() after it"},
       {"wait_word.hpp: wait_word::decide: cas -> acquire",
        "the user's lock orders what the notifier did; sync_weakened.future finds it"},
       {"wait_word.hpp: wait_word::load: load -> relaxed", "the same"}});
}
TEST(sync_weakened, shared_mutex) {
  expect_every_weakening_is_found(
      {{exactly(2, 1), [] { destroyed_by_the_last(who::threads); }},
       {exactly(2, 1), [] { destroyed_by_the_last(who::foreign); }},
       {exactly(1, 1), [] { writers_and_readers(who::foreign); }}},
      {{"wait_word.hpp: wait_word::fall_asleep: cas -> release", "who falls asleep learns nothing"},
       {"wait_word.hpp: wait_word::decide: cas -> acquire", "who was woken takes the lock"},
       {"wait_word.hpp: wait_word::load: load -> relaxed", "the same"},
       {"waiter.hpp: waiter::part: rmw -> acquire", "nobody is on the way out when it is destroyed here"},
       {"waiter.hpp: waiter::part: rmw -> release", "the same"}});
}
TEST(sync_weakened, barrier) {
  expect_every_weakening_is_found(
      {{exactly(2, 1), [] { barrier_destroyed_by_the_last_back(who::foreign); }},
       {exactly(2, 1), [] { barrier_destroyed_by_the_last_back(who::threads); }},
       {exactly(1, 1), [] { three_at_a_barrier(who::threads, 1); }}},
      {{"wait_word.hpp: wait_word::fall_asleep: cas -> release",
        "who falls asleep learns nothing: what the decision published is acquired by load() after it"}});
}
TEST(sync_weakened, future) {
  expect_every_weakening_is_found(
      {{exactly(2, 2), [] { a_promise_and_two_futures(who::foreign); }},
       {exactly(2, 1), [] { two_promises_race(who::threads); }}},
      {{"shared_state.hpp: shared_state_base::forget: rmw -> acquire",
        "the checker sees a use after the destruction, not a destruction that is unordered after a use"},
       {"shared_state.hpp: shared_state_base::forget: rmw -> release",
        "the checker sees a use after the destruction, not a destruction that is unordered after a use"},
       {"shared_state.hpp: shared_state_base::claim: rmw -> acquire",
        "one winner by the modification order; publish() publishes"},
       {"shared_state.hpp: shared_state_base::claim: rmw -> release", "one winner by the modification order"},
       {"shared_state.hpp: shared_state_base::retrieve: rmw -> acquire", "one caller here"},
       {"shared_state.hpp: shared_state_base::retrieve: rmw -> release", "one caller here"},
       {"wait_word.hpp: wait_word::fall_asleep: cas -> release",
        "who falls asleep learns nothing: what the decision published is acquired by load() after it"}});
}
TEST(sync_weakened, latch) {
  expect_every_weakening_is_found(
      {{exactly(2, 2), [] { latch_destroyed_by_the_waiter(who::foreign); }},
       {exactly(2, 1), [] { latch_destroyed_by_the_waiter(who::threads); }}},
      {{"latch.cpp: latch::count_down: cas -> release",
        "only the last step reads what others did, by the read-modify-write under the lock"},
       {"wait_word.hpp: wait_word::fall_asleep: cas -> release",
        "who falls asleep learns nothing: what the decision published is acquired by load() after it"}});
}

} // namespace
} // namespace weft
