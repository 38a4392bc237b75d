// SPDX-License-Identifier: MIT
// Every threading technique under every deviation, with private and shared pools, work stealing and
// priorities, on 1, 2 and 4 workers; by attribute and by type. That it is that technique is told by the stack
// and by what runs first.
#include <atomic>
#include <cfenv>
#include <optional>
#include <random>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/unit/api/inline_join.hpp"
#include "tests/unit/census_check.hpp"
#include "weft/mutex.hpp"
#include "weft/semaphore.hpp"
#include "weft/sleep.hpp"
#include "weft/techniques.hpp"
#include "weft/thread_specific.hpp"

namespace weft::test {
namespace {

constexpr technique_id all[] = {technique_id::automatic,
                                technique_id::full,
                                technique_id::full_lazy,
                                technique_id::roc,
                                technique_id::roc_lazy,
                                technique_id::ss,
                                technique_id::ss_lazy,
                                technique_id::sc,
                                technique_id::inline_join,
                                technique_id::c_full,
                                technique_id::c_roc,
                                technique_id::c_full_eager_release,
                                technique_id::c_roc_eager_release};
static_assert(std::size(all) == unit::technique_count);

class techniques : public ::testing::TestWithParam<std::tuple<technique_id, layout>> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(runtime::start(options_of(std::get<1>(GetParam()))));
    this_thread::yield();
    census_.begin();
  }
  void TearDown() override {
    census_.end();
    EXPECT_TRUE(runtime::stop());
  }

  static technique_id id() { return std::get<0>(GetParam()); }
  static unsigned workers() { return std::get<1>(GetParam()).workers; }
  static bool is_private() { return std::get<1>(GetParam()).pools == arrangement::pool_per_worker; }
  static thread_attributes attributes() {
    thread_attributes a;
    a.technique = id();
    return a;
  }
  // Creates `count` threads that call body(i), then joins them in this order or the other.
  template <class F>
  static void run_many(int count, F body, bool reverse = false) {
    std::vector<thread> threads;
    threads.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
      threads.emplace_back(attributes(), [&body, i] { body(i); });
    if (reverse)
      std::reverse(threads.begin(), threads.end());
    for (thread& t : threads)
      t.join();
  }
  // From main, and from a thread of the same technique.
  template <class F>
  static void nested(F test) {
    test();
    thread outer(attributes(), [&test] { test(); });
    outer.join();
  }

  census_check census_;
};

std::string name_of_case(const ::testing::TestParamInfo<std::tuple<technique_id, layout>>& info) {
  std::string name = to_string(std::get<0>(info.param));
  for (char& c : name) {
    if (c == '-' || c == ' ')
      c = '_';
  }
  return name + "_" + ::testing::PrintToString(std::get<1>(info.param));
}

// Under sanitizers calls across stacks are jumps, so fewer will do.
std::vector<layout> layouts() {
  if constexpr (arch::sanitizer::watches_frames)
    return {private_1, stealing_4};
  return {private_1, private_2, stealing_2, stealing_4, hierarchical_4,
          shared_1,  shared_4,  priority_1, priority_4};
}

INSTANTIATE_TEST_SUITE_P(each, techniques,
                         ::testing::Combine(::testing::ValuesIn(all), ::testing::ValuesIn(layouts())),
                         name_of_case);

TEST_P(techniques, run_to_their_end) {
  nested([] {
    std::atomic<int> sum{0};
    run_many(300, [&sum](int i) { sum += i; });
    EXPECT_EQ(sum, 299 * 300 / 2);
    run_many(300, [&sum](int i) { sum -= i; }, true);
    EXPECT_EQ(sum, 0);
  });
}

// A child that keeps its stack ends the slow way; its creator, which it holds by then, must not be forgotten
// there.
TEST_P(techniques, child_cancels_its_creator) {
  bool unwound = false;
  thread creator([&unwound] {
    const struct mark {
      bool& word;
      ~mark() { word = true; }
    } at_end{unwound};
    unit::descriptor& self = *sched::here().current;
    thread child(attributes(), [&self] { sched::request_cancel(self); });
    child.join();
    for (;;)
      this_thread::yield();
  });
  ASSERT_TRUE(creator.try_join_for(std::chrono::seconds(30)));
  EXPECT_TRUE(unwound);
}

TEST_P(techniques, yield) {
  nested([] {
    std::atomic<int> rounds{0};
    run_many(100, [&rounds](int i) {
      for (int k = 0; k < i % 4; ++k) {
        this_thread::yield();
        ++rounds;
      }
    });
    EXPECT_EQ(rounds, 150);
  });
}

TEST_P(techniques, wait_for_locks) {
  nested([] {
    mutex m;
    int counter = 0;
    run_many(60, [&](int i) {
      const std::scoped_lock held(m);
      const int seen = counter;
      if (i % 3 == 0)
        this_thread::yield(); // the others have to wait
      counter = seen + 1;
    });
    EXPECT_EQ(counter, 60);
  });
}

TEST_P(techniques, suspend_and_are_resumed) {
  std::atomic<int> count{0};
  std::vector<thread> threads;
  for (int i = 0; i < 20; ++i) {
    threads.emplace_back(attributes(), [&count] {
      this_thread::suspend();
      ++count;
    });
  }
  for (thread& t : threads)
    t.resume();
  for (thread& t : threads)
    t.join();
  EXPECT_EQ(count, 20);
}

TEST_P(techniques, exit_in_the_middle) {
  nested([] {
    std::atomic<int> destroyed{0};
    struct counts {
      std::atomic<int>& n;
      ~counts() { ++n; }
    };
    run_many(40, [&destroyed](int i) {
      const counts c{destroyed};
      if (i % 2 == 0)
        this_thread::yield();
      if (i % 4 < 2)
        this_thread::exit();
    });
    EXPECT_EQ(destroyed, 40);
  });
}

TEST_P(techniques, are_cancelled_before_and_after_their_start) {
  std::atomic<int> ran{0};
  std::vector<thread> threads;
  for (int i = 0; i < 20; ++i) {
    threads.emplace_back(attributes(), [&ran, i] {
      for (int k = 0; k < 1'000'000 && i % 2 == 0; ++k)
        this_thread::yield();
      ++ran;
    });
    if (i % 3 == 0)
      this_thread::yield();
    threads.back().cancel();
  }
  for (thread& t : threads)
    t.join();
  EXPECT_LE(ran, 20);
}

TEST_P(techniques, join_others_that_have_not_ended) {
  // A tree of depth 8.
  struct tree {
    static int leaves(int depth) {
      if (depth == 0)
        return 1;
      int left = 0;
      thread t(attributes(), [&left, depth] { left = leaves(depth - 1); });
      const int right = leaves(depth - 1);
      if (depth % 3 == 0)
        this_thread::yield();
      t.join();
      return left + right;
    }
  };
  EXPECT_EQ(tree::leaves(8), 256);
  int from_thread = 0;
  thread outer(attributes(), [&from_thread] { from_thread = tree::leaves(8); });
  outer.join();
  EXPECT_EQ(from_thread, 256);
}

TEST_P(techniques, move_to_another_worker) {
  if (!is_private() || workers() < 2)
    GTEST_SKIP() << "there is one pool";
  pool& other = main_pool_of(1);
  int places[2] = {-1, -1};
  binary_semaphore ready(0);
  thread t(attributes(), [&] {
    places[0] = static_cast<int>(worker_here());
    ready.acquire(); // until it has been asked to move
    this_thread::yield();
    places[1] = static_cast<int>(worker_here());
  });
  t.migrate_to(other);
  ready.release();
  t.join();
  EXPECT_EQ(places[1], 1);
}

TEST_P(techniques, sleep) {
  run_many(10, [](int) { this_thread::sleep_for(std::chrono::microseconds(200)); });
}

TEST_P(techniques, keep_their_own_storage) {
  std::atomic<int> destroyed{0};
  struct counts {
    std::atomic<int>* n = nullptr;
    ~counts() {
      if (n != nullptr)
        ++*n;
    }
  };
  {
    thread_specific<counts> mine;
    run_many(20, [&](int i) {
      EXPECT_FALSE(mine);
      mine.reset(new counts{&destroyed});
      if (i % 2 == 0)
        this_thread::yield();
      EXPECT_EQ(mine->n, &destroyed);
    });
    EXPECT_EQ(destroyed, 20);
  }
}

TEST_P(techniques, throw_and_catch) {
  std::atomic<int> caught{0};
  run_many(20, [&caught](int i) {
    try {
      if (i % 2 == 0)
        this_thread::yield();
      throw std::runtime_error("thrown in a thread");
    } catch (const std::runtime_error&) {
      this_thread::yield();
      ++caught;
    }
  });
  EXPECT_EQ(caught, 20);
  // The creator and joiner handles an exception itself.
  try {
    throw std::runtime_error("thrown by the creator");
  } catch (const std::runtime_error& e) {
    run_many(4, [](int) { EXPECT_EQ(std::current_exception(), nullptr); });
    EXPECT_STREQ(e.what(), "thrown by the creator");
  }
}

TEST_P(techniques, are_joined_with_a_limit_or_detached) {
  std::atomic<bool> go{false};
  thread t(attributes(), [&go] {
    while (!go)
      this_thread::yield();
  });
  EXPECT_FALSE(t.try_join_for(std::chrono::microseconds(50)));
  go = true;
  EXPECT_TRUE(t.try_join_for(std::chrono::hours(1)));

  std::atomic<int> ended{0};
  for (int i = 0; i < 10; ++i) {
    thread(attributes(), [&ended, i] {
      if (i % 2 == 0)
        this_thread::yield();
      ++ended;
    }).detach();
  }
  while (ended != 10)
    this_thread::yield();
  // The last has counted, and is about to give its stack and its descriptor back.
  for (int i = 0; i < 1000 && runtime::count().units != census_.before().units; ++i)
    this_thread::sleep_for(std::chrono::microseconds(100));
}

TEST_P(techniques, may_be_made_by_foreign_kernel_threads) {
  std::atomic<int> sum{0};
  std::atomic<bool> done{false};
  std::thread foreign([&] {
    run_many(20, [&sum](int i) {
      if (i % 2 == 0)
        this_thread::yield();
      ++sum;
    });
    done = true;
  });
  while (!done)
    this_thread::yield(); // main is a worker
  foreign.join();
  EXPECT_EQ(sum, 20);
}

TEST_P(techniques, and_tasklets) {
  std::atomic<int> sum{0};
  std::vector<thread> threads(20);
  tasklet maker([&] {
    for (thread& t : threads)
      t = thread(attributes(), [&sum] { ++sum; });
  });
  maker.join();
  for (thread& t : threads)
    t.join();
  EXPECT_EQ(sum, 20);
}

TEST_P(techniques, keep_rounding_modes_apart) {
#if defined(__x86_64__)
  if (std::getenv("WEFT_CONFORMANCE_SCALE") != nullptr)
    GTEST_SKIP() << "memcheck rounds to nearest whatever it is told";
#endif
  run_many(10, [](int i) {
    std::fesetround(i % 2 == 0 ? FE_UPWARD : FE_DOWNWARD);
    this_thread::yield();
    EXPECT_EQ(std::fegetround(), i % 2 == 0 ? FE_UPWARD : FE_DOWNWARD);
  });
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

// Whether the child runs before its creator goes on.
TEST_P(techniques, run_first_what_they_should) {
  if (workers() != 1)
    GTEST_SKIP() << "others may run it";
  bool ran = false;
  thread t(attributes(), [&ran] { ran = true; });
  EXPECT_EQ(ran, unit::is_child_first(id()));
  t.join();
  EXPECT_TRUE(ran);
}

TEST_P(techniques, creators_of_child_first_threads_are_stolen) {
  if (workers() == 1 || is_private() || !unit::is_child_first(id()))
    GTEST_SKIP() << "nobody steals";
  thread outer([] {
    for (int i = 0; i < 20; ++i) {
      std::atomic<bool> creator_went_on{false};
      thread child(attributes(), [&creator_went_on] {
        while (!creator_went_on)
          this_thread::yield(); // or it is stolen
      });
      creator_went_on = true;
      child.join();
    }
  });
  outer.join();
}

TEST_P(techniques, mix_in_one_pool) {
  std::mt19937 random(7);
  for (int round = 0; round < 5; ++round) {
    std::vector<thread> threads;
    std::atomic<int> sum{0};
    for (int i = 0; i < 100; ++i) {
      thread_attributes a;
      a.technique = i % 2 == 0 ? id() : all[random() % std::size(all)];
      const unsigned yields = random() % 3;
      threads.emplace_back(a, [&sum, yields] {
        for (unsigned k = 0; k < yields; ++k)
          this_thread::yield();
        ++sum;
      });
    }
    std::shuffle(threads.begin(), threads.end(), random);
    for (thread& t : threads)
      t.join();
    EXPECT_EQ(sum, 100);
  }
}

template <technique_id T>
void check_type() {
  std::atomic<int> sum{0};
  std::vector<thread_of<T>> threads;
  for (int i = 0; i < 200; ++i) {
    threads.emplace_back([&sum, i] {
      if (i % 5 == 0)
        this_thread::yield();
      sum += i;
    });
  }
  for (auto& t : threads)
    t.join();
  EXPECT_EQ(sum, 199 * 200 / 2) << to_string(T);
  thread_of<T> typed([&sum] { sum = 0; });
  thread plain(std::move(typed));
  plain.join();
  EXPECT_EQ(sum, 0);
}

template <std::size_t... I>
void check_types(std::index_sequence<I...>) {
  (check_type<all[I]>(), ...);
}

class technique_types : public joins {};
INSTANTIATE_TEST_SUITE_P(layouts, technique_types,
                         ::testing::Values(private_1, private_2, stealing_1, stealing_2, stealing_4),
                         name_of);

TEST_P(technique_types, all_of_them) {
  from_main_and_a_thread([] { check_types(std::make_index_sequence<unit::technique_count>()); });
}

class technique_stacks : public joins {};
INSTANTIATE_TEST_SUITE_P(layouts, technique_stacks, ::testing::Values(private_1), name_of);

const memory::stack_record* stack_of_one(technique_id t) {
  thread_attributes a;
  a.technique = t;
  witness w(a);
  renew_budget();
  w.t.join();
  return w.stack;
}

TEST_P(technique_stacks, are_the_joiners_or_their_own) {
  const memory::stack_record* mine = stack_here();
  for (const technique_id t : all) {
    const bool shares =
        t == technique_id::automatic || t == technique_id::sc || t == technique_id::inline_join;
    EXPECT_EQ(stack_of_one(t) == mine, shares) << to_string(t);
  }
}

TEST_P(technique_stacks, are_taken_early_kept_late_or_neither) {
  const auto stacks = [] { return runtime::count().stacks; };
  const std::size_t before = stacks();
  for (const technique_id t : all) {
    thread_attributes a;
    a.technique = t;
    thread one(a, [] {});
    EXPECT_EQ(stacks() - before, unit::has_stack_at_creation(t) || unit::keeps_stack(t) ? 1U : 0U)
        << to_string(t);
    one.join();
    EXPECT_EQ(stacks(), before) << to_string(t);
  }
}

TEST_P(technique_stacks, of_other_sizes) {
  for (const technique_id t : all) {
    thread_attributes a;
    a.technique = t;
    a.stack_size = 256 << 10;
    std::size_t size = 0;
    const auto body = [&size] { size = stack_here()->usable(); };
    if (t == technique_id::sc) {
      EXPECT_THROW(thread(a, body), std::system_error);
      continue;
    }
    thread one(a, body);
    one.join();
    EXPECT_GE(size, 256U << 10) << to_string(t);
  }
}

TEST_P(technique_stacks, cancelled_before_the_start_go_back) {
  for (const technique_id t : {technique_id::full, technique_id::roc, technique_id::ss}) {
    thread_attributes a;
    a.technique = t;
    thread one(a, [] { FAIL() << "was cancelled"; });
    one.cancel();
    one.join();
  }
}

TEST_P(technique_stacks, unknown_techniques_are_refused) {
  thread_attributes a;
  a.technique = static_cast<technique_id>(unit::technique_count);
  EXPECT_THROW(thread(a, [] {}), std::system_error);
  a.technique = technique_id::roc;
  EXPECT_THROW(tasklet(a, [] {}), std::system_error);
}

} // namespace
} // namespace weft::test
