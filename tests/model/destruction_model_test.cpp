// SPDX-License-Identifier: MIT
// The shipped primitives, each destroyed by whoever is let through first, while the others are still on their
// way out: whichever way they came, and however their waits end. No store, and no look, comes after.
#include "tests/model/checker/model.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/mutations.hpp"
#include "tests/model/runtime/seat.hpp"
#include "weft/sync/barrier.hpp"
#include "weft/sync/condition_variable.hpp"
#include "weft/sync/future.hpp"
#include "weft/sync/latch.hpp"
#include "weft/sync/semaphore.hpp"
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
using model::exhaustively;
using model::expect_every_weakening_is_found;
using model::expect_passes;
using model::runtime::actor;
using model::runtime::seat;
using model::runtime::who;

/// Deleted by the first of those who come here.
template <class T>
class ends_with_the_first {
 public:
  template <class... Arguments>
  explicit ends_with_the_first(Arguments... arguments) : object_(new T(arguments...)) {}
  T* operator->() const noexcept { return object_; }
  void through() {
    if (!back_.exchange_acq_rel(true))
      delete object_;
  }

 private:
  T* object_;
  base::atomic<bool> back_{false};
};

class destruction_model : public testing::TestWithParam<who> {};
INSTANTIATE_TEST_SUITE_P(whoever, destruction_model, testing::Values(who::foreign, who::threads),
                         [](const auto& info) { return info.param == who::foreign ? "foreign" : "threads"; });

// --- barrier ---

/// `Arrive` is how the other one arrives, who does not wait if it returns false.
template <class Arrive>
void two_at_a_barrier(who w, Arrive arrive) {
  model::runtime::begin();
  ends_with_the_first<sync::barrier<>> both(2);
  const actor other(w, [&] {
    if (arrive(both))
      both.through();
  });
  const seat mine(w == who::threads);
  both->arrive_and_wait();
  both.through();
}

void both_wait(who w) {
  two_at_a_barrier(w, [](auto& both) {
    both->arrive_and_wait();
    return true;
  });
}
void one_arrives(who w) {
  two_at_a_barrier(w, [](auto& both) {
    static_cast<void>(both->arrive());
    return false;
  });
}
void one_drops(who w) {
  two_at_a_barrier(w, [](auto& both) {
    both->arrive_and_drop();
    return false;
  });
}
/// Its wait is ended by the third, before the phase is over or after.
void one_is_stopped(who w) {
  model::runtime::begin();
  ends_with_the_first<sync::barrier<>> both(2);
  std::stop_source source;
  const actor other(w, [&, token = source.get_token()] {
    if (both->arrive_and_wait(token))
      both.through();
  });
  const actor stopper(who::foreign, [&] { source.request_stop(); });
  const seat mine(w == who::threads);
  both->arrive_and_wait();
  both.through();
}
void three_wait(who w) {
  model::runtime::begin();
  ends_with_the_first<sync::barrier<>> all(3);
  const auto meet = [&] {
    all->arrive_and_wait();
    all.through();
  };
  const actor a(w, meet);
  const actor b(w, meet);
  const seat mine(w == who::threads);
  meet();
}

TEST_P(destruction_model, barrier_both_wait) {
  expect_passes(exhaustively(), [w = GetParam()] { both_wait(w); });
}
TEST_P(destruction_model, barrier_one_arrives) {
  expect_passes(exhaustively(), [w = GetParam()] { one_arrives(w); });
}
TEST_P(destruction_model, barrier_one_drops) {
  expect_passes(exhaustively(), [w = GetParam()] { one_drops(w); });
}
TEST_P(destruction_model, barrier_one_is_stopped) {
  expect_passes(bounds(3, 2), [w = GetParam()] { one_is_stopped(w); });
}
TEST_P(destruction_model, barrier_three_wait) {
  expect_passes(bounds(2, 2), [w = GetParam()] { three_wait(w); });
}

// --- latch ---

void both_arrive_and_wait(who w) {
  model::runtime::begin();
  ends_with_the_first<sync::latch> both(2);
  const auto meet = [&] {
    both->arrive_and_wait();
    both.through();
  };
  const actor other(w, meet);
  const seat mine(w == who::threads);
  meet();
}
void one_counts_down(who w) {
  model::runtime::begin();
  auto both = std::make_unique<sync::latch>(2);
  const actor other(w, [raw = both.get()] { raw->count_down(); });
  const seat mine(w == who::threads);
  both->arrive_and_wait();
  both.reset();
}
void one_is_stopped_at_a_latch(who w) {
  model::runtime::begin();
  ends_with_the_first<sync::latch> both(2);
  std::stop_source source;
  const actor other(w, [&, token = source.get_token()] {
    if (both->arrive_and_wait(token))
      both.through();
  });
  const actor stopper(who::foreign, [&] { source.request_stop(); });
  const seat mine(w == who::threads);
  both->arrive_and_wait();
  both.through();
}

TEST_P(destruction_model, latch_both_arrive_and_wait) {
  expect_passes(exhaustively(), [w = GetParam()] { both_arrive_and_wait(w); });
}
TEST_P(destruction_model, latch_one_counts_down) {
  expect_passes(exhaustively(), [w = GetParam()] { one_counts_down(w); });
}
TEST_P(destruction_model, latch_one_is_stopped) {
  expect_passes(bounds(3, 2), [w = GetParam()] { one_is_stopped_at_a_latch(w); });
}

// --- semaphore, future, condition variable, shared mutex ---

void semaphore_by_who_acquires(who w) {
  model::runtime::begin();
  auto s = std::make_unique<sync::counting_semaphore<>>(0);
  const actor other(w, [raw = s.get()] { raw->release(); });
  const seat mine(w == who::threads);
  s->acquire();
  s.reset();
}

/// Who has the result lets go of promise and future while the other one is in set_value().
void promise_by_who_gets(who w) {
  model::runtime::begin();
  auto p = std::make_unique<sync::promise<int>>();
  auto f = std::make_unique<sync::future<int>>(p->get_future());
  const actor other(w, [raw = p.get()] { raw->set_value(7); });
  const seat mine(w == who::threads);
  check(f->get() == 7, "the result is not what was set");
  f.reset();
  p.reset();
}

/// A waiter whose time passes leaves while another, who was notified, destroys the condition variable.
void condition_variable_beside_an_impatient_waiter() {
  model::runtime::begin();
  base::spin_lock lock;
  auto cv = std::make_unique<sync::condition_variable_any>();
  model::var<bool> set = false;
  const actor impatient(who::foreign, [&, raw = cv.get()] {
    std::unique_lock held(lock);
    if (!set)
      raw->wait_for(held, std::chrono::hours(1)); // may end at any moment
  });
  const actor patient(who::foreign, [&] {
    {
      std::unique_lock held(lock);
      while (!set)
        cv->wait(held);
    }
    cv.reset();
  });
  const std::scoped_lock held(lock);
  set = true;
  cv->notify_all();
}

void shared_mutex_by_the_last_of_two(who w) {
  model::runtime::begin();
  struct object {
    sync::shared_mutex m;
    base::atomic<int> users{2};
  };
  auto* const shared = new object;
  const auto leave = [shared](bool reads) {
    reads ? shared->m.lock_shared() : shared->m.lock();
    const bool last = shared->users.fetch_sub_acq_rel(1) == 1;
    reads ? shared->m.unlock_shared() : shared->m.unlock();
    return last;
  };
  // The last one takes it once more, alone: all others have let it go, but may still be in unlock().
  const auto leave_and_delete = [shared, leave](bool reads) {
    if (leave(reads)) {
      shared->m.lock();
      shared->m.unlock();
      delete shared;
    }
  };
  const actor other(w, [=] { leave_and_delete(true); });
  const seat mine(w == who::threads);
  leave_and_delete(false);
}

TEST_P(destruction_model, semaphore_by_who_acquires) {
  expect_passes(exhaustively(), [w = GetParam()] { semaphore_by_who_acquires(w); });
}
TEST_P(destruction_model, promise_by_who_gets) {
  expect_passes(exhaustively(), [w = GetParam()] { promise_by_who_gets(w); });
}
TEST(destruction_model_timed, condition_variable_beside_an_impatient_waiter) {
  expect_passes(bounds(2, 1), condition_variable_beside_an_impatient_waiter);
}
TEST_P(destruction_model, shared_mutex_by_the_last) {
  expect_passes(exhaustively(), [w = GetParam()] { shared_mutex_by_the_last_of_two(w); });
}

// --- every order that is not needed is known ---

constexpr const char* only_uses_after =
    "the checker sees a use after the destruction, not a destruction that is unordered after a use";

TEST(destruction_weakened, stopped_at_a_barrier) {
  expect_every_weakening_is_found(
      {{exactly(2, 1), [] { one_is_stopped(who::threads); }},
       {exactly(2, 1), [] { one_is_stopped(who::foreign); }}},
      {{"wait_word.hpp: wait_word::fall_asleep: cas -> release", "who falls asleep learns nothing"},
       {"wait_word.hpp: wait_word::decide: cas -> acquire", "nothing goes with it here"},
       {"wait_word.hpp: wait_word::load: load -> relaxed", "the same"},
       {"waiter.hpp: waiter::part: rmw -> acquire", only_uses_after},
       {"waiter.hpp: waiter::part: rmw -> release", only_uses_after}});
}

} // namespace
} // namespace weft
