// SPDX-License-Identifier: MIT
// fork and join, loops, reductions and task groups from main, on the default runtime.
#include "weft/parallel.hpp"

#include <array>
#include <atomic>
#include <iterator>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/unit/api/fixture.hpp"
#include "weft/task_group.hpp"

namespace weft::test {
namespace {

using namespace std::chrono_literals;

WEFT_API_SUITE(parallel_test);

long fib(int n) {
  if (n < 2)
    return n;
  auto right = fork([n] { return fib(n - 2); });
  const long left = fib(n - 1);
  return left + right.join();
}

TEST_P(parallel_test, fib) {
  EXPECT_EQ(fib(18), 2584);
  long foreign = 0;
  std::atomic<bool> done{false};
  std::thread outside([&] {
    foreign = fib(8);
    done = true;
  });
  while (!done)
    this_thread::yield(); // its threads need this worker
  outside.join();
  EXPECT_EQ(foreign, 21);
}

TEST_P(parallel_test, results_of_every_kind) {
  int place = 0;
  auto by_reference = fork([&place]() -> int& { return place; });
  auto move_only = fork([] { return std::make_unique<int>(7); });
  auto nothing = fork([&place] { place = 3; });
  nothing.join();
  EXPECT_EQ(*move_only.join(), 7);
  EXPECT_EQ(&by_reference.join(), &place);
  EXPECT_EQ(place, 3);
}

TEST_P(parallel_test, joined_in_any_order) {
  std::atomic<int> sum{0};
  auto a = fork([&sum] { return sum += 1; });
  auto b = fork([&sum] { return sum += 10; });
  auto c = fork([&sum] { return sum += 100; });
  a.join();
  c.join();
  b.join();
  EXPECT_EQ(sum, 111);
}

TEST_P(parallel_test, grains) {
  for (const int grain : {0, 1, 3, 1000}) {
    std::vector<std::atomic<int>> touched(97);
    parallel_for(0, 97, [&touched](int i) { ++touched[static_cast<std::size_t>(i)]; }, grain);
    for (const auto& t : touched)
      EXPECT_EQ(t, 1);
    EXPECT_EQ(parallel_reduce(0, 97, 0, [](int i) { return i; }, std::plus<>(), grain), 97 * 96 / 2);
  }
  EXPECT_EQ(parallel_reduce(3, 3, 42, [](int) { return 0; }, std::plus<>()), 42);
  EXPECT_EQ(parallel_reduce(
                std::size_t{0}, 10, 0L, [](std::size_t i) { return static_cast<long>(i); }, std::plus<>()),
            45);
}

TEST_P(parallel_test, deep_recursion_falls_back_to_stacks_of_its_own) {
  struct chain {
    static int go(int depth) {
      volatile char frame[512];
      frame[0] = 1;
      if (depth == 0)
        return frame[0];
      auto next = fork([depth] { return go(depth - 1); });
      return next.join() + frame[0];
    }
  };
  int result = 0;
  thread t([&result] { result = chain::go(300); });
  t.join();
  EXPECT_EQ(result, 301);
}

template <std::size_t Bytes>
struct histogram {
  long count[Bytes / sizeof(long)];
};

template <std::size_t Bytes>
void expect_counted(int indices, int grain) {
  using value = histogram<Bytes>;
  const auto sum = std::make_unique<value>(parallel_reduce(
      0, indices, value{},
      [](int i) {
        value x{};
        for (int j = 0; j < 16; ++j)
          ++x.count[static_cast<std::size_t>(i * 16 + j) % std::size(x.count)];
        return x;
      },
      [](value a, const value& b) {
        for (std::size_t i = 0; i < std::size(a.count); ++i)
          a.count[i] += b.count[i];
        return a;
      },
      grain));
  EXPECT_EQ(std::accumulate(std::begin(sum->count), std::end(sum->count), 0L), indices * 16) << Bytes;
}

template <std::size_t... Kib>
void expect_counted_in_each(int indices, int grain) {
  (expect_counted<Kib * 1024>(indices, grain), ...);
}

// Of more than a stack's size too, from main and from a thread with a default stack, whose caller's own
// values are what it must have room for.
TEST_P(parallel_test, reductions_of_large_values) {
  for (const int grain : {0, 1, 7}) {
    expect_counted_in_each<1, 2, 4, 8, 16, 32, 64, 256>(64, grain);
    thread([&] { expect_counted_in_each<1, 2, 4, 8>(64, grain); }).join();
  }
  expect_counted<512>(100'000, 1); // 17 levels
}

// What a body throws comes out wherever it was called.
TEST_P(parallel_test, exceptions_in_reductions_of_large_values) {
  using value = histogram<(64 << 10)>;
  for (int bad = 0; bad < 32; ++bad) {
    const auto body = [bad](int i) {
      if (i == bad)
        throw std::runtime_error("told");
      return value{};
    };
    EXPECT_THROW(parallel_reduce(
                     0, 32, value{}, body, [](const value&, const value& b) { return b; }, 1),
                 std::runtime_error);
  }
}

template <class Loop>
void expect_cancelled(Loop loop) {
  try {
    loop();
    ADD_FAILURE() << "no exception";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::operation_canceled);
  }
}

// exit() in a body ends its part: the caller is told, whoever ran it, and goes on.
TEST_P(parallel_test, exit_in_a_body) {
  const auto loops = [](int caller, int bad) {
    const auto body = [=](int i) {
      if (i == bad && caller == 0)
        this_thread::exit();
      if (i == bad)
        throw unit::exit_request{}; // what exit() does in parts that others run, and refuses main itself
      return i;
    };
    expect_cancelled([&] { parallel_for(0, 16, [&](int i) { body(i); }, 1); });
    expect_cancelled([&] { parallel_reduce(0, 16, 0, body, std::plus<>(), 1); });
    expect_cancelled([&] {
      parallel_reduce(
          0, 16, histogram<1024>{},
          [&](int i) {
            body(i);
            return histogram<1024>{};
          },
          [](const auto&, const auto& b) { return b; }, 1);
    });
  };
  for (int bad = 0; bad < 16; ++bad) {
    thread([&] { loops(0, bad); }).join();
    loops(1, bad);
  }
}

TEST_P(parallel_test, task_groups) {
  std::atomic<int> ran{0};
  task_group g;
  g.wait(); // empty
  for (int i = 0; i < 50; ++i)
    g.run([&ran] { ++ran; });
  g.wait();
  EXPECT_EQ(ran, 50);
  for (int i = 0; i < 3; ++i)
    g.run([i] { throw std::runtime_error(std::to_string(i)); });
  EXPECT_THROW(g.wait(), std::runtime_error);
  g.wait(); // said once
  g.run([] { this_thread::exit(); });
  EXPECT_TRUE(g.wait_for(60s));
  std::stop_source stop;
  stop.request_stop();
  std::atomic<bool> go{false};
  g.run([&go] {
    while (!go)
      this_thread::yield();
  });
  EXPECT_FALSE(g.wait(stop.get_token()));
  std::atomic<bool> done{false};
  std::thread outside([&] {
    g.wait();
    done = true;
  });
  go = true;
  while (!done)
    this_thread::yield(); // the member needs this worker
  outside.join();
  tasklet t([&g] {
    g.run([] {});
    static_cast<void>(g);
  });
  t.join();
}

// Who gives up leaves the list that the last member takes the others from.
TEST_P(parallel_test, task_groups_whose_waiters_give_up_while_the_last_member_ends) {
  for (int round = 0; round < 300; ++round) {
    task_group g;
    for (int i = 0; i < 3; ++i) {
      g.run([round, i] {
        for (int k = 0; k < round % 7 * i; ++k)
          this_thread::yield();
      });
    }
    std::vector<thread> waiters;
    for (int i = 0; i < 3; ++i) {
      waiters.emplace_back([&g, i] {
        while (!g.wait_for(std::chrono::microseconds(1 + 3 * i))) {
        }
      });
    }
    for (thread& t : waiters)
      t.join();
  }
}

} // namespace
} // namespace weft::test
