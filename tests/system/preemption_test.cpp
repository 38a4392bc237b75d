// SPDX-License-Identifier: MIT
// Preemption as the environment sets it up: with as good as no kernel threads to lend, and by another signal.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

#include "tests/system/scenario.hpp"
#include "weft/preempt/donors.hpp"
#include "weft/preempt/spares.hpp"
#include "weft/weft.hpp"

namespace {

using namespace std::chrono_literals;
using weft::preemption;
using weft::tests::require;

weft::thread_attributes preemptible(preemption kind) {
  weft::thread_attributes a;
  a.preemption = kind;
  return a;
}

preemption kind_of_argument() {
  return static_cast<preemption>(std::stoi(weft::tests::scenario_argument()));
}

constexpr int cannot = 77; // exit code: this machine has no such threads

void expect_success(const char* scenario, preemption kind,
                    std::vector<std::pair<std::string, std::string>> environment) {
  SCOPED_TRACE(static_cast<unsigned>(kind));
  const auto result = weft::tests::run(scenario, {.environment = std::move(environment),
                                                  .limit = 100s,
                                                  .argument = std::to_string(static_cast<unsigned>(kind))});
  if (result.exit_code != cannot) {
    EXPECT_EQ(result.exit_code, 0) << result.describe();
  }
}

// --- one to lend ---

// Ticks that find none wait; nobody else does.
WEFT_SCENARIO(a_thousand_with_one_to_lend) {
  const preemption kind = kind_of_argument();
  if (!weft::can_preempt(kind))
    return cannot;
  constexpr int threads = 1000, rounds = 8;
  require(weft::runtime::start({.workers = 2}), "start");
  weft::preempt::set_interval(100us);
  std::atomic<int> ended{0};
  std::atomic<std::size_t> most_donors{0}, most_spares{0};
  weft::mutex m;
  long counted = 0;
  std::vector<weft::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back(preemptible(kind), [&, kind] {
      for (int round = 0; round < rounds; ++round) {
        const auto end = std::chrono::steady_clock::now() + 250us; // too long for a flag
        while (std::chrono::steady_clock::now() < end) {
        }
        if (kind == preemption::own_tls) // whose malloc may wait for one that was preempted in its own
          require(std::make_unique<std::string>(100, 'x')->size() == 100, "malloc");
        const std::scoped_lock held(m);
        ++counted;
      }
      ++ended;
    });
  }
  while (ended != threads) {
    most_donors = std::max(most_donors.load(), weft::preempt::donor_count());
    most_spares = std::max(most_spares.load(), weft::preempt::spare_count());
    weft::this_thread::yield();
  }
  for (weft::thread& t : all)
    t.join();
  require(counted == long{threads} * rounds, "each round was counted");
  require(most_donors <= 1, "no more than one");
  require(most_spares <= 1 + most_donors, "and one, beside the one that the donor has with it");
  require(weft::runtime::stop(), "stop");
  return 0;
}
TEST(preemption, with_one_donor_and_one_spare_a_thousand_threads_end) {
  for (const preemption kind : {preemption::signal_yield, preemption::own_tls, preemption::own_kernel_thread})
    expect_success("a_thousand_with_one_to_lend", kind,
                   {{"WEFT_PREEMPTION_DONORS", "1"}, {"WEFT_PREEMPTION_SPARES", "1"}});
}

// One that was preempted has the only block: another can be told of ticks, no more.
WEFT_SCENARIO(the_second_has_none_to_borrow) {
  if (!weft::can_preempt(preemption::own_tls))
    return cannot;
  require(weft::runtime::start({.workers = 1}), "start");
  weft::preempt::set_interval(1s);
  bool first_is_there = false, second_was_ticked = false; // one worker
  weft::thread first(preemptible(preemption::own_tls), [&] {
    first_is_there = true;
    while (!second_was_ticked)
      weft::preempt::tick_self();
  });
  weft::thread second(preemptible(preemption::own_tls), [&] {
    while (!first_is_there)
      weft::this_thread::yield();
    const weft::preempt::tick_counts before = weft::preempt::counts();
    weft::preempt::tick_self();
    const weft::preempt::tick_counts now = weft::preempt::counts();
    require(now.nowhere_to_go == before.nowhere_to_go + 1, "the tick came to nothing, and was counted");
    require(now.preemptions == before.preemptions, "nobody was preempted");
    second_was_ticked = true;
  });
  first.join();
  second.join();
  require(weft::runtime::stop(), "stop");
  return 0;
}
TEST(preemption, with_one_donor_a_second_thread_goes_on_and_is_counted) {
  expect_success("the_second_has_none_to_borrow", preemption::own_tls, {{"WEFT_PREEMPTION_DONORS", "1"}});
}

// bound_tls needs one for each, where blocks cannot be made: the second is refused, and can be had when the
// first has ended.
WEFT_SCENARIO(two_bound_with_one_to_lend) {
  if (!weft::can_preempt(preemption::bound_tls))
    return cannot;
  require(weft::runtime::start({.workers = 1}), "start");
  weft::latch first_may_end(1);
  weft::thread first(preemptible(preemption::bound_tls), [&] { first_may_end.wait(); });
  bool refused = false;
  try {
    weft::thread second(preemptible(preemption::bound_tls), [] {});
    second.join();
  } catch (const std::system_error& e) {
    refused = e.code() == std::errc::resource_unavailable_try_again;
  }
  require(refused, "the second was refused");
  first_may_end.count_down();
  first.join();
  weft::thread third(preemptible(preemption::bound_tls), [] {});
  third.join();
  require(weft::runtime::stop(), "stop");
  return 0;
}
TEST(preemption, with_one_donor_a_second_bound_thread_is_refused) {
  expect_success("two_bound_with_one_to_lend", preemption::bound_tls,
                 {{"WEFT_PREEMPTION_DONORS", "1"}, {"WEFT_PREEMPTION_BLOCKS", "donors"}});
}

// --- another signal ---

std::atomic<int> theirs_seen{0};

struct sigaction action_of(int signal) {
  struct sigaction now = {};
  require(::sigaction(signal, nullptr, &now) == 0, "sigaction");
  return now;
}

WEFT_SCENARIO(another_signal) {
  const preemption kind = kind_of_argument();
  if (!weft::can_preempt(kind))
    return cannot;
  const int ours = SIGUSR2;
  struct sigaction counts = {};
  counts.sa_handler = [](int) { ++theirs_seen; };
  counts.sa_flags = SA_RESTART;
  require(::sigaction(ours, &counts, nullptr) == 0, "sigaction");
  require(weft::runtime::start({.workers = 1}), "start");
  weft::preempt::set_interval(200us);
  constexpr int turns = 200;
  std::atomic<int> turn{0};
  std::vector<weft::thread> pair; // over only if ticks come
  for (int me = 0; me < 2; ++me) {
    pair.emplace_back(preemptible(kind), [&turn, me] {
      for (int at = me; at < turns; at += 2) {
        while (turn.load() != at) {
        }
        ::raise(SIGURG);
        for (const int so_far = theirs_seen; theirs_seen == so_far;) // one that finds a tick pending is lost
          ::raise(SIGUSR2);
        turn = at + 1;
      }
    });
  }
  require(action_of(SIGURG).sa_handler == SIG_DFL, "SIGURG is left alone");
  require(action_of(ours).sa_handler != counts.sa_handler, "the other one is taken");
  for (weft::thread& t : pair)
    t.join();
  require(theirs_seen == turns, "their handler got theirs, and no tick");
  require(weft::preempt::counts().preemptions > 0, "somebody was preempted");
  require(weft::runtime::stop(), "stop");
  require(action_of(ours).sa_handler == counts.sa_handler, "it was given back");
  return 0;
}
TEST(preemption, by_another_signal) {
  for (const preemption kind :
       {preemption::signal_yield, preemption::own_tls, preemption::own_kernel_thread, preemption::bound_tls})
    expect_success("another_signal", kind, {{"WEFT_PREEMPTION_SIGNAL", std::to_string(SIGUSR2)}});
}

WEFT_SCENARIO(a_signal_that_nobody_handles) {
  if (!weft::can_preempt(preemption::own_tls))
    return cannot;
  require(weft::runtime::start({.workers = 1}), "start");
  weft::thread t(preemptible(preemption::own_tls), [] {});
  t.join();
  require(action_of(SIGURG).sa_handler != SIG_DFL, "the default signal is used");
  require(weft::runtime::stop(), "stop");
  return 0;
}
TEST(preemption, by_a_signal_that_cannot_be_handled_is_not_asked_for) {
  for (const int number : {SIGKILL, SIGSTOP, SIGSEGV})
    expect_success("a_signal_that_nobody_handles", preemption::own_tls,
                   {{"WEFT_PREEMPTION_SIGNAL", std::to_string(number)}});
}

} // namespace
