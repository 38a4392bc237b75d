// SPDX-License-Identifier: MIT
// What every runtime promises of waiting, composed or compiled: run over all pages.
#include "tests/unit/compose/pages.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

namespace weft::compose::testing {
namespace {

template <class P>
class conformance_of_waits : public page_test<P> {};
TYPED_TEST_SUITE(conformance_of_waits, all_pages, page_names);

TYPED_TEST(conformance_of_waits, a_mutex_excludes) {
  this->on_each_count([] {
    using rt = runtime<TypeParam>;
    typename rt::mutex lock;
    int inside = 0;
    long sum = 0;
    std::vector<typename rt::thread> threads;
    for (int i = 0; i < many<TypeParam> / 4; ++i) {
      threads.emplace_back([&, i] {
        for (int round = 0; round < 5; ++round) {
          const std::scoped_lock held(lock);
          EXPECT_EQ(++inside, 1);
          sum += 1;
          if (i % 3 == 0)
            rt::yield();
          --inside;
        }
      });
    }
    for (auto& t : threads)
      t.join();
    EXPECT_EQ(sum, many<TypeParam> / 4 * 5);
    EXPECT_TRUE(lock.try_lock());
    EXPECT_FALSE(lock.try_lock());
    lock.unlock();
  });
}

// What was released to a thread that waits, and has not run yet, is there for one that tries without a pause.
TYPED_TEST(conformance_of_waits, a_mutex_is_there_for_one_that_tries) {
  if constexpr (is_sequential<TypeParam>)
    GTEST_SKIP() << "no thread waits for another one here";
  this->on_each_count([] {
    using rt = runtime<TypeParam>;
    typename rt::mutex lock;
    std::array<bool, 2> had_it{};
    lock.lock();
    std::vector<typename rt::thread> threads;
    for (bool& mine : had_it) {
      threads.emplace_back([&] {
        const std::scoped_lock held(lock);
        mine = true;
      });
    }
    for (int i = 0; i < 10; ++i) {
      rt::yield(); // holding it
      lock.unlock();
      while (!lock.try_lock()) {
      }
    }
    lock.unlock();
    for (auto& t : threads)
      t.join();
    EXPECT_TRUE(had_it[0] && had_it[1]);
  });
}

TYPED_TEST(conformance_of_waits, a_condition_variable_passes_items_on) {
  if constexpr (is_sequential<TypeParam>)
    GTEST_SKIP() << "no thread waits for another one here";
  this->on_each_count([] {
    using rt = runtime<TypeParam>;
    typename rt::mutex lock;
    typename rt::condition_variable filled, emptied;
    std::vector<int> buffer;
    long sum = 0;
    constexpr int items = many<TypeParam>;
    const auto consume = [&] {
      for (int i = 0; i < items; ++i) {
        std::unique_lock held(lock);
        filled.wait(held, [&] { return !buffer.empty(); });
        sum += buffer.back();
        buffer.pop_back();
        emptied.notify_one();
      }
    };
    typename rt::thread one(consume), two(consume);
    for (int i = 1; i <= 2 * items; ++i) {
      std::unique_lock held(lock);
      emptied.wait(held, [&] { return buffer.size() < 4; });
      buffer.push_back(i);
      held.unlock();
      if (i % 5 == 0) {
        filled.notify_all();
      } else {
        filled.notify_one();
      }
    }
    filled.notify_all();
    one.join();
    two.join();
    EXPECT_EQ(sum, static_cast<long>(items) * (2 * items + 1));
  });
}

TYPED_TEST(conformance_of_waits, a_barrier_keeps_rounds_apart) {
  if constexpr (is_sequential<TypeParam>)
    GTEST_SKIP() << "no thread waits for another one here";
  this->on_each_count([] {
    using rt = runtime<TypeParam>;
    constexpr int count = 7;
    typename rt::barrier meet(count);
    std::atomic<int> arrived{0};
    std::vector<typename rt::thread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&] {
        for (int round = 1; round <= 20; ++round) {
          arrived.fetch_add(1);
          meet.arrive_and_wait();
          EXPECT_GE(arrived.load(), round * count);
          meet.arrive_and_wait();
        }
      });
    }
    for (auto& t : threads)
      t.join();
    EXPECT_EQ(arrived.load(), 20 * count);
  });
}

TYPED_TEST(conformance_of_waits, a_barrier_is_destroyed_by_the_first_who_is_let_through) {
  if constexpr (is_sequential<TypeParam>)
    GTEST_SKIP() << "no thread waits for another one here";
  this->on_each_count([] {
    using rt = runtime<TypeParam>;
    for (int round = 0; round < 500; ++round) {
      auto* const meet = new typename rt::barrier(3);
      std::atomic<bool> first{true};
      const auto body = [&] {
        meet->arrive_and_wait();
        if (first.exchange(false)) {
          std::destroy_at(meet);
          std::memset(static_cast<void*>(meet), 0xA5, sizeof *meet); // who looks again hangs
        }
      };
      std::vector<typename rt::thread> threads;
      for (int i = 0; i < 3; ++i)
        threads.emplace_back(body);
      for (auto& t : threads)
        t.join();
      ::operator delete(meet);
    }
  });
}

TYPED_TEST(conformance_of_waits, a_suspended_thread_is_notified_entered_and_swapped) {
  if constexpr (is_sequential<TypeParam>)
    GTEST_SKIP() << "no thread waits for another one here";
  this->on_each_count([] {
    using rt = runtime<TypeParam>;
    typename rt::suspended_thread place, other;
    std::atomic<bool> inside{false};
    int waits = 0;
    const auto wait = [&](typename rt::suspended_thread& p) {
      p.wait_with([&] {
        inside.store(true, std::memory_order_release);
        return true;
      });
    };
    const auto until_inside = [&] {
      while (!inside.load(std::memory_order_acquire))
        rt::yield();
      inside.store(false);
    };
    EXPECT_FALSE(place.notify());
    typename rt::thread waiter([&] {
      wait(place);
      ++waits;
      wait(place);
      ++waits;
      wait(place);
      ++waits;
      EXPECT_TRUE(other.notify());
    });
    until_inside();
    EXPECT_TRUE(static_cast<bool>(place));
    EXPECT_TRUE(place.notify());
    until_inside();
    place.enter();
    until_inside();
    other.swap(place);
    waiter.join();
    EXPECT_EQ(waits, 3);
    EXPECT_FALSE(static_cast<bool>(place));
    EXPECT_FALSE(static_cast<bool>(other));
  });
}

TYPED_TEST(conformance_of_waits, a_wait_that_is_cancelled_goes_on) {
  this->on_each_count([] {
    using rt = runtime<TypeParam>;
    typename rt::suspended_thread place;
    int calls = 0;
    for (int i = 0; i < 10; ++i) {
      typename rt::thread beside([] {}); // so that there is somebody to switch to
      place.wait_with([&] {
        ++calls;
        return false;
      });
      EXPECT_FALSE(static_cast<bool>(place));
      beside.join();
    }
    EXPECT_EQ(calls, 10);
  });
}

TYPED_TEST(conformance_of_waits, a_mutex_can_be_given_back_by_who_waits) {
  if constexpr (is_sequential<TypeParam> || std::is_same_v<TypeParam, samples::spin_mutex_page>) {
    GTEST_SKIP() << "its mutex has no unlock_and_wait(), or nobody waits";
  } else {
    this->on_each_count([] {
      using rt = runtime<TypeParam>;
      typename rt::mutex lock;
      typename rt::suspended_thread place;
      bool ready = false;
      typename rt::thread waiter([&] {
        lock.lock();
        ready = true;
        lock.unlock_and_wait(place);
      });
      for (bool seen = false; !seen; rt::yield()) {
        const std::scoped_lock held(lock);
        seen = ready;
      }
      EXPECT_TRUE(place.notify());
      waiter.join();
    });
  }
}

// A kernel thread that has nothing to do with the runtime ends a wait in it.
TYPED_TEST(conformance_of_waits, foreign_kernel_threads_may_notify) {
  if constexpr (is_sequential<TypeParam>)
    GTEST_SKIP() << "a wait that only others could end is taken for a deadlock";
  this->on_each_count([] {
    using rt = runtime<TypeParam>;
    for (int i = 0; i < 20; ++i) {
      typename rt::suspended_thread place;
      std::atomic<bool> inside{false};
      std::thread helper([&] {
        while (!inside.load(std::memory_order_acquire))
          std::this_thread::yield();
        EXPECT_TRUE(place.notify());
      });
      place.wait_with([&] {
        inside.store(true, std::memory_order_release);
        return true;
      });
      helper.join();
    }
  });
}

} // namespace
} // namespace weft::compose::testing
