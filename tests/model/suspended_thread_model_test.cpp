// SPDX-License-Identifier: MIT
// The shipped suspended_thread (weft/sync/suspended_thread.cpp) under the checker: who waits is resumed
// exactly once, by whom it is told, with its context complete, while notifiers, a timer and a stop request
// race for the word; swap and enter pass a thread on, and put it back where they are told to. What runs once
// a thread has left its stack has a model thread of its own.
#include "tests/model/checker/model.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/mutations.hpp"
#include "tests/model/runtime/seat.hpp"
#include "weft/sync/suspended_thread.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stop_token>

namespace weft {
namespace {

using model::bounds;
using model::check;
using model::exactly;
using model::exhaustively;
using model::expect_bugs_are_found;
using model::expect_every_weakening_is_found;
using model::expect_passes;
using model::runtime::actor;
using model::runtime::seat;
using model::runtime::who;
using sync::suspended_thread;
using sync::wait_result;

void begin() {
  model::runtime::begin(model::runtime::arrivals::apart);
}

/// A place, and how often somebody has come to it. What is published by `f` may be notified.
struct station {
  suspended_thread place;
  base::atomic<int> tickets{0};
  model::var<int> mail = 0; // from the notifier to the thread

  bool publish() {
    tickets.fetch_add_release(1);
    return true;
  }
  void wait() {
    place.wait_with([this] { return publish(); });
  }
  /// For who may look at the place: a swap.
  void await_ticket() {
    await_any();
    static_cast<void>(tickets.load_acquire());
  }
  /// For who notifies: what the thread has done is seen by the word alone.
  void await_any() {
    for (;;) {
      int seen = tickets.load_relaxed();
      if (seen > 0 && tickets.cas_strong_relaxed(seen, seen - 1))
        return;
      model::relax();
    }
  }
  void resume() {
    await_any();
    check(place.notify(), "a thread that is there was not found");
  }
};

/// Two resume in turn whoever waits in the place, so many times each.
void two_resumers(who w, int first, int second) {
  begin();
  station s;
  const int waits = first + second;
  {
    const auto resume = [&s](int times) {
      for (int i = 0; i < times; ++i)
        s.resume();
    };
    const actor a(who::threads, [&] { resume(first); });
    const actor b(who::foreign, [&] { resume(second); });
    const seat mine(w == who::threads);
    for (int i = 0; i < waits; ++i)
      s.wait();
  }
  check(!s.place, "somebody is left in the place");
}

/// A notification may come at any moment: one that finds nobody changes nothing, also where a thread is on
/// its way into the place.
void stray_notifications(who w, int waits) {
  begin();
  suspended_thread place;
  base::atomic<int> there{0};
  int called = 0;
  int ended = 0; // by the stray ones
  {
    const actor strays(who::threads, [&] {
      ended += place.notify() ? 1 : 0;
      ended += place.notify() ? 1 : 0;
    });
    const actor notifies(who::threads, [&] {
      for (int i = 1; i <= waits; ++i) {
        while (there.load_acquire() < i)
          model::relax();
        if (!place.notify())
          --ended; // a stray one was first
      }
    });
    const seat mine(w == who::threads);
    for (int i = 1; i <= waits; ++i) {
      place.wait_with([&] {
        ++called;
        there.fetch_add_release(1); // not in the order of the waits: the one before may be late with it
        return true;
      });
      check(called == i, "a wait has ended before anybody could know of it");
    }
  }
  check(ended <= 0, "a notification has ended no wait");
}

/// What a wait came to, and whether the notifier was told that it ended it.
struct race_of_three {
  suspended_thread place;
  base::atomic<int> there{0};
  bool called = false;
  model::var<int> context = 0;
  model::var<int> mail = 0;

  wait_result wait(const std::stop_token& stop) {
    const wait_result how = place.wait_with_until(
        [this] {
          called = true;
          there.store_release(1);
          return true;
        },
        1, stop);
    there.store_release(2); // nothing to be waited for any more
    return how;
  }
  bool notify() {
    while (there.load_acquire() == 0)
      model::relax();
    mail = 1;
    return place.notify();
  }
};

/// Notifier, timer and stop request: one of them ends the wait, and it is the one that the waiter is told of.
/// The thread waits a second time in the same place, where the late ones must not be felt.
void notifier_timer_and_stop(who w, bool stops, bool again) {
  begin();
  race_of_three r;
  std::stop_source source;
  bool notified = false;
  bool ended = false;
  {
    const actor notifies(who::threads, [&] { notified = r.notify(); });
    const actor others(who::foreign, [&] {
      model::runtime::expire_timers();
      if (stops)
        source.request_stop();
    });
    const seat mine(w == who::threads);
    const wait_result how = r.wait(source.get_token());
    if (how == wait_result::notified) {
      check(r.called && r.mail == 1, "nobody has notified it");
    } else {
      check(how == wait_result::stopped ? stops : true, "nobody has stopped it");
    }
    if (again) {
      bool called = false;
      r.place.wait_with([&] { return !(called = true); }); // cancelled
      check(called, "a late notification has ended the next wait");
    }
    ended = how == wait_result::notified;
  }
  check(!r.place && !r.place.notify(), "somebody is left in the place");
  check(again || notified == ended, "who ended the wait was not told so, or the other way");
}

/// Two threads pass the worker to and fro; a third one resumes the last.
void to_and_fro(int swaps) {
  begin();
  station a, b;
  model::var<int> steps = 0;
  {
    const actor other(who::threads, [&] {
      a.wait();
      for (int i = 0; i < swaps; ++i) {
        check(steps == 2 * i + 1, "resumed out of turn");
        ++steps;
        a.place.swap_with(b.place, [&] { return a.publish(); });
      }
      ++steps;
    });
    const actor last(who::foreign, [&] {
      b.mail = 1;
      b.resume();
    });
    const seat mine;
    for (int i = 0; i < swaps; ++i) {
      a.await_ticket();
      check(steps == 2 * i, "resumed out of turn");
      ++steps;
      b.place.swap(a.place);
    }
    a.await_ticket();
    b.place.swap_with(a.place, [&] {
      b.tickets.store_release(1);
      return true;
    });
    check(b.mail == 1, "resumed without its mail");
  }
  check(steps == 2 * swaps + 1, "a step is missing");
}

/// A swap that is called off puts the thread of `next` back, where a third one finds it; the other way round
/// enter() leaves for it at once.
void called_off(bool enters) {
  begin();
  station a, b;
  base::atomic<int> looks{0};
  {
    const actor other(who::threads, [&] {
      a.wait();
      check(a.mail == 1, "resumed without its mail");
      a.wait();
    });
    const actor third(who::threads, [&] {
      while (looks.load_relaxed() == 0)
        model::relax();
      a.mail = 1;
      check(a.place.notify(), "the thread was not put back");
    });
    const seat mine;
    a.await_ticket();
    b.place.swap_with(a.place, [] { return false; });
    check(static_cast<bool>(a.place) && !b.place, "the places are not as they were");
    looks.store_relaxed(1);
    a.await_any();
    if (enters) {
      a.place.enter();
    } else {
      check(a.place.notify(), "a thread that is there was not found");
    }
  }
  check(!a.place && !b.place, "somebody is left in a place");
}

/// The same where f has published the caller, and a third one resumes it: then it has left after all.
void called_off_too_late() {
  begin();
  station a, b;
  bool resumed = false;
  {
    const actor other(who::threads, [&] { a.wait(); });
    const actor third(who::threads, [&] {
      b.await_any();
      resumed = b.place.notify();
    });
    const seat mine;
    a.await_ticket();
    b.place.swap_with(a.place, [&] {
      b.tickets.fetch_add_release(1);
      return false;
    });
    if (!a.place.notify())
      check(resumed, "the thread was neither put back nor resumed");
  }
  check(!a.place && !b.place, "somebody is left in a place");
}

/// f publishes the thread and cancels the wait; who notifies it meanwhile may be first.
void cancelled_when_published() {
  begin();
  station s;
  int ended = 0;
  {
    const actor notifies(who::threads, [&] {
      s.await_any();
      static_cast<void>(s.place.notify());
    });
    const actor strays(who::foreign, [&] { static_cast<void>(s.place.notify()); });
    const seat mine;
    s.place.wait_with([&] {
      s.tickets.fetch_add_release(1);
      return false;
    });
    ++ended;
  }
  check(ended == 1 && !s.place, "somebody is left in the place");
}

/// A notification that comes too early for a wait does not take its end of time away.
void a_stray_notification_and_the_timer(who w, int times = 1) {
  begin();
  suspended_thread place;
  bool over = false;
  bool notified = false;
  wait_result how{};
  {
    const actor strays(who::threads, [&] {
      for (int i = 0; i < times; ++i)
        notified = place.notify() || notified;
    });
    const actor clock(who::foreign, [&] {
      while (!over) {
        model::runtime::expire_timers();
        model::relax();
      }
    });
    const seat mine(w == who::threads);
    how = place.wait_with_until([] { return true; }, 1);
    over = true;
  }
  check(notified == (how == wait_result::notified), "who ended the wait was not told so, or the other way");
  check(!place, "somebody is left in the place");
}

/// f publishes the thread and cancels; who resumes it was first, and it waits in the same place again, where
/// it is not to be felt that the first f says no only now. `later`: what the second f says.
void cancelled_and_there_again(bool timed, bool later) {
  begin();
  station s;
  base::atomic<int> looked{0};
  bool found = false;
  {
    const actor notifies(who::threads, [&] {
      s.await_any();
      static_cast<void>(s.place.notify());
      looked.store_release(1);
      s.await_any();
      s.mail = 1;
      found = s.place.notify();
      check(found || !later, "a thread that is there was not found");
    });
    const seat mine;
    const auto wait = [&](bool verdict) {
      auto f = [&, verdict] {
        s.tickets.fetch_add_release(1);
        return verdict;
      };
      timed ? static_cast<void>(s.place.wait_with_until(f, 1)) : s.place.wait_with(f);
    };
    wait(false);
    while (looked.load_acquire() == 0)
      model::relax();
    wait(later);
    check(!later || s.mail == 1, "a wait was cancelled by the f of the one before");
  }
  check(!s.place, "somebody is left in the place");
}

/// The same of who swaps, is resumed, and waits again in the place of the swap.
void called_off_and_there_again() {
  begin();
  station a, b;
  base::atomic<int> looked{0};
  {
    const actor other(who::threads, [&] { a.wait(); });
    const actor notifies(who::threads, [&] {
      b.await_any();
      static_cast<void>(b.place.notify());
      looked.store_release(1);
      b.resume();
    });
    const seat mine;
    a.await_ticket();
    b.place.swap_with(a.place, [&] {
      b.tickets.fetch_add_release(1);
      return false;
    });
    while (looked.load_acquire() == 0)
      model::relax();
    b.wait();
    static_cast<void>(a.place.notify()); // unless it has been switched to, since the swap was not called off
  }
  check(!a.place && !b.place, "somebody is left in a place");
}

/// The thread in the place that is swapped to may give up at any moment: it is resumed once, by the timer or
/// by the swap, and told by whom; put back, it can still be notified or give up.
void swap_and_the_timer(bool calls_off) {
  begin();
  station a, b;
  wait_result how{};
  bool notified = false;
  {
    const actor other(who::threads, [&] {
      auto f = [&] { return a.publish(); };
      how = a.place.wait_with_until(f, 1);
    });
    const actor clock(who::foreign, [&] {
      a.await_any();
      a.tickets.fetch_add_release(1);
      model::runtime::expire_timers();
    });
    const actor third(who::threads, [&] {
      b.await_any();
      static_cast<void>(b.place.notify());
    });
    const seat mine;
    a.await_ticket();
    a.tickets.fetch_add_release(1);
    b.place.swap_with(a.place, [&] {
      return !calls_off && b.publish();
    });
    if (calls_off) {
      b.tickets.fetch_add_release(1); // for the third one
      notified = a.place.notify();
    }
  }
  check(!calls_off || notified == (how == wait_result::notified), "who ended the wait was not told so");
  check(!a.place && !b.place, "somebody is left in a place");
}

/// A thread that is notified leaves its place to the next one before it has come back to itself: its timer is
/// not felt there.
void the_next_one_in_the_place(who first, who second) {
  begin();
  station s;
  base::atomic<int> free{0};
  {
    const actor waits(first, [&] {
      bool called = false;
      auto f = [&] {
        called = true;
        return s.publish();
      };
      static_cast<void>(s.place.wait_with_until(f, 1));
      if (!called)
        s.tickets.fetch_add_release(1);
    });
    const actor waits_next(second, [&] {
      while (free.load_acquire() == 0)
        model::relax();
      bool called = false;
      s.place.wait_with([&] {
        called = true;
        return s.publish();
      });
      check(called, "a wait has ended before anybody could know of it");
    });
    const actor clock(who::foreign, [&] { model::runtime::expire_timers(); });
    s.await_any();
    static_cast<void>(s.place.notify());
    free.store_release(1);
    s.resume();
  }
  check(!s.place, "somebody is left in the place");
}

class suspended_thread_of : public testing::TestWithParam<who> {};
INSTANTIATE_TEST_SUITE_P(whoever, suspended_thread_of, testing::Values(who::foreign, who::threads),
                         [](const auto& info) { return info.param == who::foreign ? "foreign" : "threads"; });

TEST_P(suspended_thread_of, two_resumers) {
  expect_passes(bounds(2, 1), [w = GetParam()] { two_resumers(w, 1, 1); });
  expect_passes(exhaustively(), [w = GetParam()] { two_resumers(w, 1, 1); });
}
TEST_P(suspended_thread_of, two_resumers_twice) {
  expect_passes(bounds(1, 0), [w = GetParam()] { two_resumers(w, 2, 1); });
  expect_passes(bounds(0, 1), [w = GetParam()] { two_resumers(w, 2, 2); });
}
TEST_P(suspended_thread_of, stray_notifications) {
  expect_passes(bounds(2, 2), [w = GetParam()] { stray_notifications(w, 2); });
  expect_passes(exhaustively(), [w = GetParam()] { stray_notifications(w, 2); });
}
TEST_P(suspended_thread_of, notifier_timer_and_stop) {
  expect_passes(bounds(2, 1), [w = GetParam()] { notifier_timer_and_stop(w, true, false); });
  expect_passes(exhaustively(), [w = GetParam()] { notifier_timer_and_stop(w, true, false); });
}
TEST_P(suspended_thread_of, notifier_and_timer_then_again) {
  expect_passes(bounds(2, 1), [w = GetParam()] { notifier_timer_and_stop(w, true, true); });
  expect_passes(exhaustively(), [w = GetParam()] { notifier_timer_and_stop(w, true, true); });
}
TEST(suspended_thread_model, to_and_fro) {
  expect_passes(bounds(1, 1), [] { to_and_fro(1); });
}
TEST(suspended_thread_model, to_and_fro_twice) {
  expect_passes(bounds(0, 1), [] { to_and_fro(2); });
  expect_passes(exhaustively(), [] { to_and_fro(2); });
}
TEST(suspended_thread_model, called_off) {
  expect_passes(bounds(1, 1), [] { called_off(false); });
  expect_passes(bounds(1, 1), [] { called_off(true); });
  for (const bool enters : {false, true})
    expect_passes(exhaustively(), [=] { called_off(enters); });
}

TEST(suspended_thread_model, called_off_too_late) {
  expect_passes(bounds(1, 1), called_off_too_late);
  expect_passes(exhaustively(), called_off_too_late);
}
TEST(suspended_thread_model, cancelled_when_published) {
  expect_passes(bounds(3, 2), cancelled_when_published);
  expect_passes(exhaustively(), cancelled_when_published);
}
TEST_P(suspended_thread_of, a_stray_notification_and_the_timer) {
  expect_passes(bounds(2, 1), [w = GetParam()] { a_stray_notification_and_the_timer(w); });
}

TEST_P(suspended_thread_of, two_stray_notifications_and_the_timer) {
  expect_passes(bounds(2, 0), [w = GetParam()] { a_stray_notification_and_the_timer(w, 2); });
}
TEST(suspended_thread_model, cancelled_and_there_again) {
  for (const bool timed : {false, true})
    for (const bool later : {false, true})
      expect_passes(exhaustively(), [=] { cancelled_and_there_again(timed, later); });
}
TEST(suspended_thread_model, called_off_and_there_again) {
  expect_passes(bounds(1, 0), called_off_and_there_again);
}
TEST(suspended_thread_model, swap_and_the_timer) {
  expect_passes(bounds(0, 0), [] { swap_and_the_timer(false); });
  expect_passes(bounds(0, 0), [] { swap_and_the_timer(true); });
}
TEST_P(suspended_thread_of, the_next_one_in_the_place) {
  expect_passes(bounds(0, 0), [w = GetParam()] { the_next_one_in_the_place(w, who::threads); });
  expect_passes(bounds(0, 0), [w = GetParam()] { the_next_one_in_the_place(w, who::foreign); });
}

// --- every order that is not needed is known; bugs of logic are found ---

std::vector<model::scenario> all_scenarios() {
  return {{exactly(1, 1), cancelled_when_published},
          {exactly(1, 1), [] { a_stray_notification_and_the_timer(who::threads); }},
          {exactly(1, 1), [] { two_resumers(who::threads, 1, 1); }},
          {exactly(1, 1), [] { two_resumers(who::foreign, 1, 1); }},
          {exactly(1, 1), [] { stray_notifications(who::threads, 1); }},
          {exactly(1, 1), [] { notifier_timer_and_stop(who::threads, true, false); }},
          {exactly(1, 1), [] { notifier_timer_and_stop(who::foreign, true, false); }},
          {exactly(1, 1), [] { notifier_timer_and_stop(who::threads, true, true); }},
          {exactly(0, 1), [] { to_and_fro(1); }},
          {exactly(0, 1), [] { called_off(true); }},
          {exactly(1, 0), called_off_too_late},
          {exactly(1, 0), [] { a_stray_notification_and_the_timer(who::threads, 2); }},
          {exactly(1, 0), [] { cancelled_and_there_again(false, true); }},
          {exactly(1, 0), [] { cancelled_and_there_again(true, false); }},
          {exactly(0, 0), called_off_and_there_again},
          {exactly(0, 0), [] { swap_and_the_timer(false); }},
          {exactly(0, 0), [] { swap_and_the_timer(true); }},
          {exactly(0, 0), [] { the_next_one_in_the_place(who::threads, who::threads); }}};
}

TEST(suspended_thread_weakened, word) {
  constexpr auto publishes = "who is resumed sees what was done before by make_ready() or the futex' word";
  constexpr auto given_up =
      "whoever gives up is waited for: disarm() and the end of a stop callback order it";
  constexpr auto timed = "it gives up at any moment, and sleeps without an end of time after that";
  constexpr auto holds = "`next` must hold a thread: what tells the caller so orders it";
  constexpr auto sequence = "a read-modify-write after (S1) continues its release sequence";
  constexpr auto twice = "the exchange publishes as well, or else the swap after it: either is enough";
  constexpr auto last = "nothing is read after it";
  constexpr auto mark = "what takes the mark out resumes nobody";
  expect_every_weakening_is_found(
      all_scenarios(),
      {{"suspended_thread.cpp: timed_wait::give_up: cas -> acquire", publishes},
       {"suspended_thread.cpp: timed_wait::give_up: cas -> acquire (2)", given_up},
       {"suspended_thread.cpp: timed_wait::give_up: cas -> release (2)", given_up},
       {"suspended_thread.cpp: arrival::run: cas -> release", given_up},
       {"suspended_thread.cpp: suspended_thread::settle: rmw -> acquire", twice},
       {"suspended_thread.cpp: suspended_thread::settle: cas -> acquire", twice},
       {"suspended_thread.cpp: suspended_thread::settle: cas -> release", last},
       {"suspended_thread.cpp: suspended_thread::take_back: cas -> acquire", mark},
       {"suspended_thread.cpp: suspended_thread::take_back: rmw -> acquire", mark},
       {"suspended_thread.cpp: suspended_thread::take_back: rmw -> release",
        "who waits cannot tell a notification that came late from the f that said no"},
       {"suspended_thread.cpp: suspended_thread::put_back: cas -> acquire", sequence},
       {"suspended_thread.cpp: suspended_thread::put_back: cas -> release", last},
       {"suspended_thread.cpp: suspended_thread::wait_on_kernel_thread: futex wait -> blind (2)", timed},
       {"suspended_thread.cpp: suspended_thread::notify: rmw -> acquire", publishes},
       {"suspended_thread.cpp: suspended_thread::enter: rmw -> acquire", publishes},
       {"suspended_thread.cpp: suspended_thread::take_timed: cas -> acquire", sequence},
       {"suspended_thread.cpp: suspended_thread::take_timed: cas -> release", holds},
       {"suspended_thread.cpp: suspended_thread::do_swap: load -> relaxed", holds},
       {"suspended_thread.cpp: suspended_thread::do_swap: cas -> acquire", sequence},
       {"suspended_thread.cpp: suspended_thread::do_swap: cas -> release", holds}});
}
TEST(suspended_thread_bugs, word) {
  expect_bugs_are_found(all_scenarios(),
                        {"suspended_thread.cpp: timed_wait::give_up: store -> forgotten",
                         "suspended_thread.cpp: timed_wait::give_up: cas -> unchecked",
                         "suspended_thread.cpp: timed_wait::give_up: cas -> unchecked (2)",
                         "suspended_thread.cpp: arrival::run: cas -> unchecked",
                         "suspended_thread.cpp: suspended_thread::settle: rmw -> forgotten",
                         "suspended_thread.cpp: suspended_thread::settle: load -> unseen",
                         "suspended_thread.cpp: suspended_thread::settle: cas -> unchecked",
                         "suspended_thread.cpp: suspended_thread::take_back: cas -> unchecked",
                         "suspended_thread.cpp: suspended_thread::take_back: rmw -> forgotten",
                         "suspended_thread.cpp: suspended_thread::wait: store -> late",
                         "suspended_thread.cpp: suspended_thread::wait_on_kernel_thread: store -> late",
                         "suspended_thread.cpp: suspended_thread::do_swap: store -> late",
                         "suspended_thread.cpp: suspended_thread::do_swap: store -> forgotten (2)"});
}

} // namespace
} // namespace weft
