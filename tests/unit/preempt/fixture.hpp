// SPDX-License-Identifier: MIT
// A runtime of a given shape, with ticks at a given interval.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <utility>
#include <vector>

#include "tests/unit/census_check.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/os/clock.hpp"
#include "weft/preemption.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"

namespace weft::test {

inline const char* name_of(preemption kind) {
  constexpr const char* names[] = {"none", "signal_yield", "own_tls", "own_kernel_thread", "bound_tls"};
  return names[static_cast<unsigned>(kind)];
}

inline void start_ticking(sched::arrangement pools, unsigned workers, std::chrono::microseconds interval) {
  ASSERT_TRUE(runtime::start({.workers = workers, .pools = pools, .bind = false, .make_scheduler = nullptr}));
  preempt::set_interval(interval);
}

// start_ticking() for one test, which may be skipped before, and what every fixture looks at after it.
class ticked_runtime {
 public:
  void start(sched::arrangement pools, unsigned workers, std::chrono::microseconds interval) {
    start_ticking(pools, workers, interval);
    census_.begin();
    before_ = preempt::counts();
    runs_ = true;
  }
  void stop() {
    if (!std::exchange(runs_, false))
      return;
    census_.end();
    EXPECT_TRUE(runtime::stop());
  }
  // Since start().
  [[nodiscard]] std::size_t preemptions() const {
    return preempt::counts().preemptions - before_.preemptions;
  }
  [[nodiscard]] std::size_t workers_let_go() const {
    return preempt::counts().workers_let_go - before_.workers_let_go;
  }
  [[nodiscard]] std::size_t threads_left() const {
    return preempt::counts().threads_left - before_.threads_left;
  }
  [[nodiscard]] std::size_t calls_gone_on_with() const {
    return preempt::counts().calls_gone_on_with - before_.calls_gone_on_with;
  }

 private:
  census_check census_;
  preempt::tick_counts before_;
  bool runs_ = false;
};

// The calling thread, which may have been let go in a system call, only computes until a tick has fetched it.
// False: none has.
inline bool comes_back_to_a_worker(const sched::user_mode& me) {
  constexpr std::int64_t given_up_after = 20'000'000'000;
  for (const std::int64_t end = os::now_ns() + given_up_after; me.is_away() && os::now_ns() < end;)
    asm volatile("" ::: "memory");
  return !me.is_away();
}

// Of a worker of the default group, which names it once it runs.
inline pool& main_pool_of(unsigned worker) {
  pool* named = nullptr;
  while ((named = runtime::default_group().member(worker).main_pool.load_acquire()) == nullptr)
    this_thread::yield();
  return *named;
}

// Where threads of which kind run.
struct place {
  preemption kind;
  sched::arrangement pools;
  unsigned workers;
};

// As a test's name. Without it GoogleTest prints the bytes, and memcheck complains of those that are padding.
inline void PrintTo(const place& p, std::ostream* out) {
  *out << name_of(p.kind) << "_workers_" << p.workers;
}

// A worker alone with its threads, and two of which each takes the other's: for each of these kinds.
inline std::vector<place> two_places_of_each(std::initializer_list<preemption> kinds) {
  std::vector<place> all;
  for (const preemption kind : kinds) {
    all.push_back({kind, sched::arrangement::pool_per_worker, 1});
    all.push_back({kind, sched::arrangement::stealing, 2});
  }
  return all;
}

// The whole of a test there, with ticks often enough to come at every moment.
class ticked_at_a_place : public ::testing::TestWithParam<place> {
 protected:
  void SetUp() override {
    if (!can_preempt(GetParam().kind))
      GTEST_SKIP() << "not on this machine";
    runtime_.start(GetParam().pools, GetParam().workers, std::chrono::microseconds(200));
  }
  void TearDown() override { runtime_.stop(); }

  ticked_runtime runtime_;
};

// Of one kind, on one worker, with ticks by hand: the monitor keeps still.
class ticked_by_hand : public ::testing::TestWithParam<preemption> {
 protected:
  void SetUp() override {
    if (!can_preempt(GetParam()))
      GTEST_SKIP() << "not on this machine";
    runtime_.start(sched::arrangement::pool_per_worker, 1, std::chrono::seconds(1));
  }
  void TearDown() override { runtime_.stop(); }
  static thread_attributes attributes() {
    thread_attributes a;
    a.preemption = GetParam();
    return a;
  }

  ticked_runtime runtime_;
};

} // namespace weft::test
