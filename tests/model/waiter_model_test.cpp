// SPDX-License-Identifier: MIT
// The word of a wait (weft/sync/wait_word.hpp): notifier, timer, stop request and the departing thread race;
// exactly one of the first three decides, and the thread is resumed exactly once, with its context complete.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/model/checker/model.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/mutations.hpp"
#include "weft/base/atomic.hpp"
#include "weft/os/futex.hpp"
#include "weft/sync/wait_word.hpp"

namespace {

using weft::model::bounds;
using weft::model::expect_fails;
using weft::model::expect_passes;
using weft::sync::wait_word;

constexpr std::uint32_t notified = 2;
constexpr std::uint32_t timed_out = 3;
constexpr std::uint32_t stopped = 4;

struct wait {
  wait_word word;
  weft::model::var<int> context{0}; // what the thread leaves behind
  weft::model::var<int> message{0}; // what the notifier brings
  int resumed = 0;                  // the checker runs one model thread at a time
  unsigned thread = weft::model::self();

  bool decide(std::uint32_t how) {
    const auto found = word.decide(how);
    if (found == wait_word::found::sleeping) {
      weft::model::check(context == 7, "the context that is resumed is complete");
      ++resumed;
      weft::model::unpark(thread);
    }
    return found != wait_word::found::decided;
  }
  // As waiter::sleep() on a worker: the context is left before the word says so.
  void sleep(bool careful = true) {
    if (word.load() > wait_word::asleep)
      return;
    if (careful)
      context = 7;
    const bool asleep = word.fall_asleep();
    if (!careful)
      context = 7;
    if (asleep)
      weft::model::park();
  }
};

void notifier_timer_and_stop(bool careful) {
  wait w;
  bool won[3] = {};
  weft::model::thread notifier([&] {
    w.message = 5;
    won[0] = w.decide(notified);
  });
  weft::model::thread others([&] {
    won[1] = w.decide(timed_out);
    won[2] = w.decide(stopped);
  });
  w.sleep(careful);
  const std::uint32_t how = w.word.load();
  if (how == notified)
    weft::model::check(w.message == 5, "who is notified sees what the notifier did");
  notifier.join();
  others.join();
  weft::model::check(won[0] + won[1] + won[2] == 1, "one decides");
  weft::model::check(how >= notified && won[how - notified], "and it is the one that the waiter reads");
  weft::model::check(w.resumed <= 1, "resumed at most once");
}

TEST(waiter_model, notifier_timer_and_stop) {
  expect_passes(weft::model::exhaustively(), [] { notifier_timer_and_stop(true); });
}
TEST(waiter_model_mutants, asleep_before_the_context_is_left) {
  expect_fails(weft::model::options{}, "", [] { notifier_timer_and_stop(false); });
}

// A kernel thread that is no worker: it blocks on the word itself, and its frame is gone when it returns.
void foreign_wait(bool timed) {
  auto* w = new wait;
  weft::model::thread notifier([w] {
    const auto* address = &w->word.word();
    if (w->word.decide(notified) == wait_word::found::sleeping)
      weft::os::futex_wake(address, 1);
  });
  if (w->word.fall_asleep()) {
    while (w->word.load() == wait_word::asleep) {
      if (!timed) {
        weft::os::futex_wait(&w->word.word(), wait_word::asleep);
      } else if (weft::os::futex_wait_until(&w->word.word(), wait_word::asleep, 1) == ETIMEDOUT) {
        static_cast<void>(w->word.decide(timed_out));
      }
    }
  }
  weft::model::check(w->word.load() >= notified, "decided");
  notifier.join();
  delete w;
}

TEST(waiter_model, foreign_kernel_thread) {
  expect_passes(weft::model::exhaustively(), [] { foreign_wait(false); });
}
TEST(waiter_model, foreign_kernel_thread_with_a_deadline) {
  expect_passes(weft::model::exhaustively(), [] { foreign_wait(true); });
}

// A decision that looks and then stores lets two win.
TEST(waiter_model_mutants, decision_by_a_plain_store) {
  expect_fails(weft::model::options{}, "one decides", [] {
    weft::base::atomic<std::uint32_t> word{0};
    int winners = 0;
    const auto decide = [&](std::uint32_t how) {
      if (word.load_acquire() > 1)
        return;
      word.store_release(how);
      ++winners;
    };
    weft::model::thread first([&] { decide(notified); });
    decide(timed_out);
    first.join();
    weft::model::check(winners == 1, "one decides");
  });
}

// --- every order that is not needed is known ---

TEST(waiter_weakened, word) {
  using weft::model::exactly;
  weft::model::expect_every_weakening_is_found(
      {{exactly(3, 3), [] { notifier_timer_and_stop(true); }}, {exactly(3, 3), [] { foreign_wait(true); }}},
      {{"wait_word.hpp: wait_word::fall_asleep: cas -> release",
        "who falls asleep learns nothing: what the decision published is acquired by load() after it"}});
}

} // namespace
