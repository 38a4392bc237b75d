// SPDX-License-Identifier: MIT
// The shipped suspended_thread (weft/sync/suspended_thread.cpp) under the checker: who waits is resumed
// exactly once, by whom it is told, with its context complete.
#include "tests/model/expect.hpp"
#include "tests/model/mutations.hpp"
#include "tests/model/suspended_thread_scenarios.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

using namespace model;
using namespace places;

class suspended_thread_of : public testing::TestWithParam<who> {};
INSTANTIATE_TEST_SUITE_P(whoever, suspended_thread_of, testing::Values(who::foreign, who::threads),
                         [](const auto& info) { return info.param == who::foreign ? "foreign" : "threads"; });

TEST_P(suspended_thread_of, two_resumers) {
  expect_passes(exhaustively(), [w = GetParam()] { two_resumers(w, 1, 1); });
}
TEST_P(suspended_thread_of, two_resumers_twice) {
  expect_passes(exhaustively(), [w = GetParam()] { two_resumers(w, 2, 1); });
  expect_passes(exhaustively(), [w = GetParam()] { two_resumers(w, 2, 2); });
}
TEST_P(suspended_thread_of, stray_notifications) {
  expect_passes(exhaustively(), [w = GetParam()] { stray_notifications(w, 2); });
}
TEST_P(suspended_thread_of, notifier_timer_and_stop) {
  expect_passes(exhaustively(), [w = GetParam()] { notifier_timer_and_stop(w, true, false); });
}
TEST_P(suspended_thread_of, notifier_and_timer_then_again) {
  expect_passes(exhaustively(), [w = GetParam()] { notifier_timer_and_stop(w, true, true); });
}
TEST(suspended_thread_model, to_and_fro) {
  expect_passes(exhaustively(), [] { to_and_fro(1); });
}
TEST(suspended_thread_model, to_and_fro_twice) {
  expect_passes(exhaustively(), [] { to_and_fro(2); });
}
TEST(suspended_thread_model, called_off) {
  for (const bool enters : {false, true})
    expect_passes(exhaustively(), [=] { called_off(enters); });
}

TEST(suspended_thread_model, called_off_too_late) {
  expect_passes(exhaustively(), called_off_too_late);
}
TEST(suspended_thread_model, called_off_while_swapped_to) {
  expect_passes(exhaustively(), called_off_while_swapped_to);
}
TEST(suspended_thread_model, cancelled_when_published) {
  expect_passes(exhaustively(), cancelled_when_published);
}
TEST_P(suspended_thread_of, a_stray_notification_and_the_timer) {
  expect_passes(exhaustively(), [w = GetParam()] { a_stray_notification_and_the_timer(w); });
}

TEST_P(suspended_thread_of, two_stray_notifications_and_the_timer) {
  expect_passes(bounds(3, 1), [w = GetParam()] { a_stray_notification_and_the_timer(w, 2); });
}
TEST(suspended_thread_model, cancelled_and_there_again) {
  for (const bool timed : {false, true})
    for (const bool later : {false, true})
      expect_passes(exhaustively(), [=] { cancelled_and_there_again(timed, later); });
}
TEST(suspended_thread_model, called_off_and_there_again) {
  expect_passes(exhaustively(), called_off_and_there_again);
}
TEST(suspended_thread_model, swap_and_the_timer) {
  expect_passes(bounds(2, 1), [] { swap_and_the_timer(false); });
  expect_passes(bounds(2, 1), [] { swap_and_the_timer(true); });
}
TEST_P(suspended_thread_of, the_next_one_in_the_place) {
  expect_passes(bounds(2, 1), [w = GetParam()] { the_next_one_in_the_place(w, who::threads); });
  expect_passes(bounds(2, 1), [w = GetParam()] { the_next_one_in_the_place(w, who::foreign); });
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
  constexpr auto given_up = "disarm() and the end of a stop callback wait for who gives up, and order it";
  constexpr auto timed = "it gives up at any moment, and sleeps without an end of time after that";
  constexpr auto both = "who resumes it counts with the end of f, (S5), which orders that it has left";
  constexpr auto holds = "`next` must hold a thread: what tells the caller so orders it";
  constexpr auto sequence = "a read-modify-write after (S1) continues its release sequence";
  constexpr auto twice = "the exchange publishes as well, or else the swap after it: either is enough";
  constexpr auto last = "nothing is read after it";
  constexpr auto mark = "what takes the mark out resumes nobody";
  expect_every_weakening_is_found(
      all_scenarios(),
      {{"suspended_thread.cpp: timed_wait::give_up: cas -> acquire", publishes},
       {"suspended_thread.cpp: timed_wait::give_up: cas -> release", both},
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
                         "suspended_thread.cpp: suspended_thread::wait_for: store -> late",
                         "suspended_thread.cpp: suspended_thread::wait_on_kernel_thread: store -> late",
                         "suspended_thread.cpp: suspended_thread::do_swap: store -> late",
                         "suspended_thread.cpp: suspended_thread::do_swap: store -> forgotten (2)"});
}

/// These take a third thread between two operations of two others.
TEST(suspended_thread_bugs, deeper) {
  expect_bugs_are_found({{exhaustively(), called_off_and_there_again},
                         {exhaustively(), called_off_while_swapped_to},
                         {exactly(2, 1), [] { swap_and_the_timer(true); }}},
                        {"suspended_thread.cpp: suspended_thread::put_back: cas -> unchecked",
                         "suspended_thread.cpp: suspended_thread::take_timed: cas -> unchecked",
                         "suspended_thread.cpp: suspended_thread::do_swap: cas -> unchecked"});
}

} // namespace
} // namespace weft
