// SPDX-License-Identifier: MIT
// The default technique of a pool: what threads without one of their own get, and what is left alone. And
// what the runtime counts of those whose technique nobody chose.
#include <atomic>
#include <memory>
#include <random>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/unit/api/inline_join.hpp"
#include "weft/techniques.hpp"
#include "weft/trace.hpp"

namespace weft::test {
namespace {

class pool_default : public ::testing::TestWithParam<layout> {
 protected:
  void SetUp() override {
    const layout l = GetParam();
    ASSERT_TRUE(
        runtime::start({.workers = l.workers, .pools = l.pools, .bind = false, .make_scheduler = nullptr}));
    this_thread::yield();
    before_ = runtime::count();
  }
  void TearDown() override {
    set_all(technique_id::automatic);
    const runtime::census after = runtime::count();
    EXPECT_EQ(after.units, before_.units);
    EXPECT_EQ(after.stacks, before_.stacks);
    EXPECT_TRUE(runtime::stop());
  }

  static void set_all(technique_id t) {
    for (unsigned i = 0; i < GetParam().workers; ++i)
      main_pool_of(i).set_default_technique(t);
  }
  static technique_id mine() { return self().technique(); }

  runtime::census before_{};
};

INSTANTIATE_TEST_SUITE_P(layouts, pool_default,
                         ::testing::Values(private_1, private_2, stealing_1, stealing_4, shared_1, shared_4),
                         [](const auto& info) { return ::testing::PrintToString(info.param); });

constexpr technique_id every[] = {technique_id::full,     technique_id::full_lazy,
                                  technique_id::roc,      technique_id::roc_lazy,
                                  technique_id::ss,       technique_id::ss_lazy,
                                  technique_id::sc,       technique_id::inline_join,
                                  technique_id::c_full,   technique_id::c_full_eager_release,
                                  technique_id::c_roc,    technique_id::c_roc_eager_release,
                                  technique_id::automatic};

TEST_P(pool_default, is_what_threads_get) {
  for (const technique_id t : every) {
    set_all(t);
    EXPECT_EQ(main_pool_of(0).default_technique(), t);
    std::atomic<int> right{0};
    const auto look = [&right, t] {
      if (mine() == t)
        ++right;
      this_thread::yield();
    };
    std::vector<thread> threads;
    for (int i = 0; i < 20; ++i) {
      threads.emplace_back(look);
      threads.emplace_back(thread_attributes{.name = "with attributes"}, look);
      threads.emplace_back(thread_of<technique_id::automatic>(look));
      threads.emplace_back([look, big = std::vector<int>(3)] { look(); }); // not trivial to fill in
    }
    for (thread& one : threads)
      one.join();
    EXPECT_EQ(right, 80) << to_string(t);
  }
}

TEST_P(pool_default, is_what_threads_of_foreign_kernel_threads_get) {
  set_all(technique_id::roc_lazy);
  std::atomic<int> right{0};
  std::atomic<bool> done{false};
  std::thread foreign([&] {
    std::vector<thread> threads;
    for (int i = 0; i < 20; ++i)
      threads.emplace_back([&right] { right += mine() == technique_id::roc_lazy ? 1 : 0; });
    for (thread& t : threads)
      t.join();
    done = true;
  });
  while (!done)
    this_thread::yield();
  foreign.join();
  EXPECT_EQ(right, 20);
}

TEST_P(pool_default, yields_to_what_a_thread_asks_for) {
  set_all(technique_id::roc_lazy);
  technique_id seen[2] = {};
  thread by_attribute(thread_attributes{.technique = technique_id::ss_lazy}, [&seen] { seen[0] = mine(); });
  thread_of<technique_id::full> by_type([&seen] { seen[1] = mine(); });
  by_attribute.join();
  by_type.join();
  EXPECT_EQ(seen[0], technique_id::ss_lazy);
  EXPECT_EQ(seen[1], technique_id::full);
}

TEST_P(pool_default, leaves_tasklets_alone) {
  set_all(technique_id::c_roc_eager_release);
  bool ran = false;
  tasklet t([&ran] { ran = true; });
  t.join();
  EXPECT_TRUE(ran);
}

TEST_P(pool_default, of_sc_means_ss_lazy_for_a_stack_size_of_ones_own) {
  set_all(technique_id::sc);
  technique_id seen = technique_id::automatic;
  thread t(thread_attributes{.stack_size = 256 << 10}, [&seen] { seen = mine(); });
  t.join();
  EXPECT_EQ(seen, technique_id::ss_lazy);
}

TEST_P(pool_default, may_be_child_first) {
  if (GetParam().workers != 1)
    GTEST_SKIP() << "others may run it";
  set_all(technique_id::c_full_eager_release);
  bool ran = false;
  thread t([&ran] { ran = true; });
  EXPECT_TRUE(ran);
  t.join();
}

TEST_P(pool_default, refuses_what_is_none) {
  EXPECT_THROW(main_pool_of(0).set_default_technique(static_cast<technique_id>(unit::technique_count)),
               std::system_error);
  EXPECT_EQ(main_pool_of(0).default_technique(), technique_id::automatic);
}

TEST(runtime_technique, is_that_of_the_options) {
  ASSERT_TRUE(runtime::start({.workers = 2, .make_scheduler = nullptr, .technique = technique_id::ss_lazy}));
  technique_id seen = technique_id::automatic;
  thread t([&seen] { seen = self().technique(); });
  t.join();
  EXPECT_EQ(seen, technique_id::ss_lazy);
  EXPECT_TRUE(runtime::stop());
}

// --- what is counted ---

class counted : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(runtime::start(
        {.workers = 1, .pools = arrangement::pool_per_worker, .bind = false, .make_scheduler = nullptr}));
    before_ = trace::total();
  }
  void TearDown() override { EXPECT_TRUE(runtime::stop()); }

  // So many threads at a time, each joined.
  template <class F>
  static void run(int count, F f) {
    std::vector<thread> threads;
    for (int i = 0; i < count; ++i)
      threads.emplace_back(f);
    for (thread& t : threads)
      t.join();
  }
  [[nodiscard]] trace::counters more() const {
    trace::counters now = trace::total();
    now.sampled = now.sampled - before_.sampled;
    now.deviated = now.deviated - before_.deviated;
    now.handed_on = now.handed_on - before_.handed_on;
    return now;
  }

  trace::counters before_;
};

TEST_F(counted, joiners_watch_one_in_some_hundreds) {
  if (!arch::has_marks)
    GTEST_SKIP() << "no thread runs on its joiner's stack here";
  run(20'000, [] {});
  EXPECT_GE(more().sampled, 20U);
  EXPECT_LE(more().sampled, 200U);
  EXPECT_EQ(more().deviated, 0U);
}

TEST_F(counted, joiners_see_what_deviates) {
  if (!arch::has_marks)
    GTEST_SKIP() << "no thread runs on its joiner's stack here";
  bool stop = false;
  thread other([&stop] { // or there is nobody to yield to
    while (!stop)
      this_thread::yield();
  });
  this_thread::yield();
  std::mt19937 random(5); // not in step with the budget of decisions
  int runs = 0;
  for (int i = 0; i < 20'000; ++i) {
    thread t([&runs, yields = 1 + random() % 4] {
      for (unsigned k = 0; k < yields; ++k)
        this_thread::yield();
      ++runs;
    });
    t.join();
  }
  stop = true;
  other.join();
  EXPECT_EQ(runs, 20'000);
  EXPECT_GE(more().sampled, 10U);
  EXPECT_EQ(more().deviated, more().sampled);
}

TEST_F(counted, threads_nobody_joins_yet_share_one_stack) {
  if (!arch::has_marks)
    GTEST_SKIP() << "each has a stack of its own here";
  std::vector<const memory::stack_record*> stacks(100);
  std::vector<thread> threads;
  for (int i = 0; i < 100; ++i)
    threads.emplace_back([&stacks, i] { stacks[static_cast<std::size_t>(i)] = stack_here(); });
  renew_budget();
  this_thread::yield();
  const std::uint64_t handed_on = more().handed_on;
  for (thread& t : threads)
    t.join();
  EXPECT_GE(handed_on, 90U);
  int same = 0;
  for (std::size_t i = 1; i < stacks.size(); ++i)
    same += stacks[i] == stacks[i - 1] ? 1 : 0;
  EXPECT_GE(same, 90);
}

} // namespace
} // namespace weft::test
