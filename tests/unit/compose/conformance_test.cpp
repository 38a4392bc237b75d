// SPDX-License-Identifier: MIT
// What every runtime promises, composed or compiled: run over all pages.
#include "tests/unit/compose/pages.hpp"

#include <array>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace weft::compose::testing {
namespace {

template <class P>
class conformance : public page_test<P> {};
TYPED_TEST_SUITE(conformance, all_pages, page_names);

template <class P>
long fib(int n) {
  if (n < 2)
    return n;
  long a = 0;
  typename runtime<P>::thread left([&a, n] { a = fib<P>(n - 1); });
  const long b = fib<P>(n - 2);
  left.join();
  return a + b;
}

// Its answer depends on nobody's order.
TYPED_TEST(conformance, recursion_forks_and_joins) {
  const int n = has_kernel_threads<TypeParam> ? 8 : 17;
  const long answer = has_kernel_threads<TypeParam> ? 21 : 1597;
  this->on_each_count([&] { EXPECT_EQ(fib<TypeParam>(n), answer); });
}

TYPED_TEST(conformance, threads_are_joined_in_any_order) {
  this->on_each_count([] {
    constexpr int count = many<TypeParam>;
    std::vector<int> ran(count);
    std::vector<typename runtime<TypeParam>::thread> threads;
    for (int order = 0; order < 3; ++order) {
      for (int i = 0; i < count; ++i)
        threads.emplace_back([&ran, i] { ++ran[static_cast<std::size_t>(i)]; });
      if (order == 1) {
        for (auto t = threads.rbegin(); t != threads.rend(); ++t)
          t->join();
      } else {
        for (int step = 0; step < 2; ++step) // every other one first
          for (std::size_t i = 0; i < threads.size(); ++i)
            if (threads[i].joinable() && (order == 0 || i % 2 == 0 || step == 1))
              threads[i].join();
      }
      threads.clear();
    }
    EXPECT_EQ(std::accumulate(ran.begin(), ran.end(), 0), 3 * count);
  });
}

TYPED_TEST(conformance, callables_of_all_kinds_are_called_and_destroyed) {
  this->on_each_count([] {
    using thread = typename runtime<TypeParam>::thread;
    const auto counted = std::make_shared<int>(0);
    std::array<long, 20> large{};
    large.fill(1);
    thread small([p = counted.get()] { *p += 1; });
    small.join();
    thread shared([counted] { *counted += 1; });
    shared.join();
    thread big([counted, large] { *counted += static_cast<int>(large[19]); });
    big.join();
    thread moved([p = std::make_unique<int>(1), counted] { *counted += *p; });
    moved.join();
    thread with_arguments([](std::shared_ptr<int> p, int more) { *p += more; }, counted, 1);
    with_arguments.join();
    EXPECT_EQ(*counted, 5);
    EXPECT_EQ(counted.use_count(), 1);
  });
}

TYPED_TEST(conformance, yield_lets_others_run) {
  if constexpr (is_sequential<TypeParam>)
    GTEST_SKIP() << "no thread waits for another one here";
  this->on_each_count([] {
    using rt = runtime<TypeParam>;
    std::atomic<int> turn{0};
    const auto part = [&turn](int me) {
      for (int i = 0; i < 100; ++i) {
        while (turn.load(std::memory_order_acquire) % 2 != me)
          rt::yield();
        turn.fetch_add(1, std::memory_order_acq_rel);
      }
    };
    typename rt::thread first(part, 0), second(part, 1);
    first.join();
    second.join();
    EXPECT_EQ(turn.load(), 200);
  });
}

// Threads that handle an exception while others, on the same kernel threads, throw and catch.
TYPED_TEST(conformance, exceptions_stay_with_their_thread) {
  this->on_each_count([] {
    using rt = runtime<TypeParam>;
    std::vector<typename rt::thread> threads;
    for (int i = 0; i < 20; ++i) {
      threads.emplace_back([i] {
        for (int round = 0; round < 5; ++round) {
          try {
            throw std::runtime_error(std::to_string(i));
          } catch (const std::runtime_error& e) {
            rt::yield();
            typename rt::thread child([] {
              try {
                throw 1;
              } catch (int) {
                rt::yield();
              }
            });
            child.join();
            EXPECT_EQ(e.what(), std::to_string(i));
            try {
              throw;
            } catch (const std::runtime_error& again) {
              EXPECT_EQ(&again, &e);
            }
          }
          EXPECT_EQ(std::uncaught_exceptions(), 0);
        }
      });
    }
    for (auto& t : threads)
      t.join();
  });
}

// A chain of joins, each of which could run the next thread on its own stack: there is not room for all.
TYPED_TEST(conformance, chains_of_joins_do_not_overflow) {
  struct chain {
    static int of(int n) {
      if (n == 0)
        return 0;
      volatile char frame[512] = {};
      int below = 0;
      typename runtime<TypeParam>::thread next([&below, n] { below = of(n - 1); });
      next.join();
      return below + 1 + frame[n % 512];
    }
  };
  const int depth = many<TypeParam>;
  this->on_each_count([&] { EXPECT_EQ(chain::of(depth), depth); });
}

TYPED_TEST(conformance, run_returns_what_main_returns_or_throws) {
  using rt = runtime<TypeParam>;
  EXPECT_EQ(rt::run([] { return 42; }, {.workers = 2}), 42);
  EXPECT_EQ(*rt::run([] { return std::make_unique<int>(7); }, {.workers = 1}), 7);
  EXPECT_THROW(rt::run([] { throw std::runtime_error("main"); }, {.workers = 2}), std::runtime_error);
  rt::run([] {});
}

TYPED_TEST(conformance, joining_what_cannot_be_joined_is_an_error) {
  this->on_each_count([] {
    using thread = typename runtime<TypeParam>::thread;
    thread none;
    EXPECT_FALSE(none.joinable());
    EXPECT_THROW(none.join(), std::system_error);
    EXPECT_THROW(none.detach(), std::system_error);
    thread self;
    std::error_code said;
    std::atomic<bool> ready{false};
    if constexpr (!is_sequential<TypeParam>) {
      self = thread([&] {
        while (!ready.load(std::memory_order_acquire))
          runtime<TypeParam>::yield();
        try {
          self.join();
        } catch (const std::system_error& e) {
          said = e.code();
        }
      });
      ready.store(true, std::memory_order_release);
      while (true) {
        runtime<TypeParam>::yield();
        if (self.joinable())
          break;
      }
      self.join();
      EXPECT_EQ(said, std::errc::resource_deadlock_would_occur);
    }
  });
}

} // namespace
} // namespace weft::compose::testing
