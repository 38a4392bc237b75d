// SPDX-License-Identifier: MIT
// Conformance: structured parallelism against its serial answer.
#include <functional>
#include <numeric>
#include <stdexcept>

#include "tests/conformance/cell.hpp"
#include "weft/fork_join.hpp"
#include "weft/parallel.hpp"
#include "weft/task_group.hpp"

namespace weft::conformance {
namespace {

WEFT_CONFORMANCE(parallel);

long serial_fib(int n) {
  return n < 2 ? n : serial_fib(n - 1) + serial_fib(n - 2);
}

long fib(int n) {
  if (n < 2)
    return n;
  auto right = fork([n] { return fib(n - 2); });
  const long left = fib(n - 1);
  return left + right.join();
}

TEST_P(parallel, fork_and_join) {
  long result = 0;
  inside([&result] { result = fib(scaled(100) < 100 ? 7 : 11); });
  EXPECT_EQ(result, serial_fib(scaled(100) < 100 ? 7 : 11));
}

// A fork that was stolen, waited and came back to the worker of its joiner is half done, not there to be made
// again.
TEST_P(parallel, each_fork_runs_once) {
  std::atomic<int> forked{0}, ran{0};
  std::function<void(int)> tree = [&](int n) {
    if (n < 2)
      return;
    ++forked;
    auto other = fork([&, n] {
      ++ran;
      tree(n - 2);
    });
    tree(n - 1);
    other.join();
  };
  inside([&] { tree(scaled(100) < 100 ? 8 : 12); });
  EXPECT_EQ(ran, forked);
}

TEST_P(parallel, forks_that_wait_inside) {
  std::atomic<int> sum{0};
  inside([&] {
    auto a = fork([&] {
      this_thread::yield();
      ++sum;
      thread t([&sum] { ++sum; });
      t.join();
    });
    auto b = fork([&] {
      // It may run on its joiner's stack, so it may not go elsewhere alone.
      EXPECT_THROW(this_thread::migrate_to(main_pool(workers() - 1)), std::system_error);
      ++sum;
    });
    this_thread::yield();
    b.join();
    a.join();
  });
  EXPECT_EQ(sum, 3);
}

TEST_P(parallel, exit_ends_the_forked_call_and_not_its_joiner) {
  int went_on = 0;
  inside([&went_on] {
    for (int i = 0; i < 4; ++i) {
      auto without = fork([] { this_thread::exit(); });
      auto owing = fork([]() -> int { this_thread::exit(); });
      if (i % 2 == 0)
        this_thread::yield();
      try {
        owing.join();
        ADD_FAILURE() << "a result from nowhere";
      } catch (const std::system_error& e) {
        EXPECT_EQ(e.code(), std::errc::operation_canceled);
      }
      without.join();
      ++went_on;
    }
  });
  EXPECT_EQ(went_on, 4);
}

TEST_P(parallel, exceptions_reach_the_joiner) {
  inside([] {
    for (int i = 0; i < 4; ++i) {
      auto bad = fork([i]() -> int { throw std::runtime_error(std::to_string(i)); });
      auto good = fork([i] { return std::string("result ") + std::to_string(i); });
      if (i % 2 == 0)
        this_thread::yield();
      EXPECT_EQ(good.join(), "result " + std::to_string(i));
      try {
        bad.join();
        ADD_FAILURE() << "no exception";
      } catch (const std::runtime_error& e) {
        EXPECT_EQ(e.what(), std::to_string(i));
      }
      static_cast<void>(fork([] { throw 1; })); // forgotten: joined and dropped
    }
  });
}

TEST_P(parallel, loops_and_reductions) {
  const int count = scaled(500);
  std::vector<int> touched(static_cast<std::size_t>(count));
  long sum = 0;
  std::string text;
  inside([&] {
    parallel_for(0, count, [&](int i) { ++touched[static_cast<std::size_t>(i)]; });
    parallel_for(0, count, [&](int i) { ++touched[static_cast<std::size_t>(i)]; }, 7);
    parallel_for(5, 5, [&](int) { ADD_FAILURE() << "an empty range"; });
    sum = parallel_reduce(0, count, 0L, [](int i) { return static_cast<long>(i) * i; }, std::plus<>());
    int narrow = 0; // 255 indices, more than their type can count
    narrow = parallel_reduce(
        std::int8_t{-128}, std::int8_t{127}, 0, [](std::int8_t i) { return int{i}; }, std::plus<>());
    EXPECT_EQ(narrow, -128 - 127);
    EXPECT_EQ(parallel_reduce(
                  std::int8_t{-128}, std::int8_t{127}, 0, [](std::int8_t) { return 1; }, std::plus<>(),
                  std::int8_t{3}),
              255);
    // Associative, not commutative: the order is kept.
    text = parallel_reduce(
        0, 26, std::string(), [](int i) { return std::string(1, static_cast<char>('a' + i)); }, std::plus<>(),
        2);
    EXPECT_THROW(parallel_for(
                     0, 50,
                     [](int i) {
                       if (i == 31)
                         throw std::logic_error("31");
                     },
                     2),
                 std::logic_error);
  });
  for (int i = 0; i < count; ++i)
    EXPECT_EQ(touched[static_cast<std::size_t>(i)], 2);
  long expected = 0;
  for (int i = 0; i < count; ++i)
    expected += static_cast<long>(i) * i;
  EXPECT_EQ(sum, expected);
  EXPECT_EQ(text, "abcdefghijklmnopqrstuvwxyz");
}

TEST_P(parallel, task_groups) {
  std::atomic<int> ran{0};
  inside([&ran] {
    task_group tasks;
    for (int i = 0; i < 10; ++i) {
      tasks.run([&ran, &tasks] {
        ++ran;
        tasks.run([&ran] { ++ran; });
      });
    }
    tasks.wait();
    EXPECT_EQ(ran, 20);
    tasks.run([] { throw std::runtime_error("of a member"); });
    EXPECT_THROW(tasks.wait(), std::runtime_error);
    unit_handle* member = nullptr;
    std::atomic<bool> known{false};
    tasks.run([&] {
      member = sched::here().current;
      known = true;
      this_thread::suspend();
    });
    EXPECT_FALSE(tasks.wait_for(100us));
    while (!known)
      tasks.wait_for(100us);
    sched::resume(*member);
    tasks.run([] {});
  });
}

} // namespace
} // namespace weft::conformance
