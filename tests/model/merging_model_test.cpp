// SPDX-License-Identifier: MIT
// Proof of merging (checker/seen_states.hpp): small programs have the same outcomes, and the same failures,
// as where all executions are run one by one.
#include "tests/model/checker/model.hpp"
#include "tests/model/checker/quarantine.hpp"
#include "tests/model/expect.hpp"
#include "weft/base/atomic.hpp"
#include "weft/base/spin_lock.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <mutex>
#include <set>
#include <utility>

namespace weft {
namespace {

using base::atomic;

/// What is seen by the threads, of programs whose outcomes are all different.
using outcomes = std::set<std::uint64_t, std::less<>, model::host_allocator<std::uint64_t>>;

/// `body` returns what is seen. One by one within bounds that leave nothing out of these programs.
void expect_same_outcomes(const std::function<std::uint64_t()>& body) {
  const auto all_of = [&](const model::options& how) {
    outcomes all;
    const auto result = model::explore(how, [&] { all.insert(body()); });
    EXPECT_FALSE(result.failed) << result.reason;
    EXPECT_TRUE(result.complete);
    model::report(how, result);
    return all;
  };
  model::options bounds = model::one_by_one(model::exactly(20, 20));
  const outcomes one_by_one = all_of(bounds);
  EXPECT_EQ(one_by_one, all_of(model::exhaustively()));
  EXPECT_GT(one_by_one.size(), 1U);
  bounds.merge = true;
  EXPECT_EQ(one_by_one, all_of(bounds));
  for (const auto& [preemptions, stale] : {std::pair{1U, 1U}, std::pair{0U, 2U}, std::pair{2U, 0U}}) {
    bounds = model::one_by_one(model::exactly(preemptions, stale));
    const outcomes fewer = all_of(bounds);
    bounds.merge = true;
    EXPECT_EQ(fewer, all_of(bounds)) << preemptions << " preemptions, " << stale << " stale reads";
  }
}

TEST(merging, store_buffering_and_message_passing) {
  for (const bool fenced : {false, true}) {
    expect_same_outcomes([fenced] {
      atomic<int> x = 0, y = 0;
      std::uint64_t a_saw = 0, b_saw = 0;
      {
        const model::thread a([&] {
          x.store_relaxed(1);
          fenced ? base::full_fence() : void();
          a_saw = static_cast<std::uint64_t>(y.load_relaxed());
        });
        const model::thread b([&] {
          y.store_release(1);
          fenced ? base::full_fence() : void();
          b_saw = static_cast<std::uint64_t>(x.load_acquire());
        });
      }
      return 2 * a_saw + b_saw;
    });
  }
}

TEST(merging, stores_of_equal_values_that_go_back) {
  expect_same_outcomes([] {
    atomic<int> x = 0, y = 0;
    std::uint64_t seen = 0;
    {
      const model::thread a([&] {
        x.store_relaxed(1);
        y.store_relaxed(2);
      });
      const model::thread b([&] {
        y.store_relaxed(1);
        x.store_relaxed(2);
      });
    }
    seen = static_cast<std::uint64_t>(x.load_relaxed() * 10 + y.load_relaxed());
    return seen;
  });
}

/// Plain data behind a lock whose word tells nothing of who had it first.
TEST(merging, plain_data_behind_a_lock) {
  expect_same_outcomes([] {
    base::spin_lock lock;
    std::uint64_t order = 0; // not known to the checker
    const auto enter = [&](std::uint64_t who) {
      for (int i = 0; i < 2; ++i) {
        const std::scoped_lock held(lock);
        order = 4 * order + who;
      }
    };
    {
      const model::thread a([&] { enter(1); });
      enter(2);
    }
    return order;
  });
}

TEST(merging, parked_and_awoken) {
  expect_same_outcomes([] {
    atomic<std::uint32_t> word = 0;
    std::uint64_t how = 0;
    const auto wait = [&](unsigned which) {
      const int left = model::futex_wait(&word, 0, which == 1);
      how += (left == 0 ? 1U : left == ETIMEDOUT ? 2U : 3U) << 4 * which;
    };
    {
      const model::thread a([&] { wait(0); });
      const model::thread b([&] { wait(1); });
      word.store_relaxed(1);
      how += static_cast<std::uint64_t>(model::futex_wake(&word, 1)) << 8;
      model::futex_wake(&word, 2);
    }
    return how;
  });
}

/// A thread that spins on what nobody will write is told from one that waits its turn.
TEST(merging, a_livelock_is_found) {
  model::expect_fails(model::exhaustively(), "livelock", [] {
    atomic<int> go = 0;
    const model::thread a([&] {
      while (go.load_relaxed() == 0)
        model::relax();
    });
    const model::thread b([&] {
      int expected = 1;
      go.cas_strong_relaxed(expected, 2);
    });
  });
  model::expect_passes(model::exhaustively(), [] {
    atomic<int> go = 0;
    const model::thread a([&] {
      while (go.load_relaxed() != 3)
        model::relax();
    });
    const model::thread b([&] {
      for (int i = 0; i < 3; ++i)
        go.fetch_add_relaxed(1);
    });
  });
}

} // namespace
} // namespace weft
