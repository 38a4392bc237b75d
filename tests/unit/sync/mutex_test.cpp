// SPDX-License-Identifier: MIT
// The contract of all exclusive mutexes, and what is special in each.
#include "weft/mutex.hpp"

#include "tests/unit/sync/fixture.hpp"
#include "weft/recursive_mutex.hpp"
#include "weft/shared_mutex.hpp"
#include "weft/sync/suspended_thread.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>

namespace weft::testing {
namespace {

template <class M>
concept timed_lockable = requires(M m) {
  m.lock();
  { m.try_lock() } -> std::same_as<bool>;
  m.unlock();
  { m.try_lock_for(1s) } -> std::same_as<bool>;
  { m.try_lock_until(std::chrono::system_clock::now()) } -> std::same_as<bool>;
  { m.lock(std::stop_token()) } -> std::same_as<bool>;
};
static_assert(timed_lockable<mutex> && timed_lockable<mcs_mutex> && timed_lockable<recursive_mutex> &&
              timed_lockable<shared_mutex>);
static_assert(timed_lockable<timed_mutex> && timed_lockable<recursive_timed_mutex> &&
              timed_lockable<shared_timed_mutex>);
static_assert(!std::is_copy_constructible_v<mutex> && std::is_nothrow_default_constructible_v<mutex>);
static_assert(sizeof(sync::stored_release_mutex<sync::unrecorded_owner>) == 4);

WEFT_SYNC_SUITE(mutex_test);

/// Runs `body.operator()<M>()` for every kind of mutex.
template <class Body>
void for_each_mutex(Body body) {
  body.template operator()<mutex>();
  body.template operator()<mcs_mutex>();
  body.template operator()<recursive_mutex>();
  body.template operator()<shared_mutex>();
  body.template operator()<sync::stored_release_mutex<sync::recorded_owner>>();
}

TEST_P(mutex_test, works_with_the_locks_of_the_standard) {
  for_each_mutex([]<class M>() {
    M a;
    M b;
    {
      const std::scoped_lock both(a, b);
      weft::thread([&] { EXPECT_FALSE(a.try_lock()); }).join();
    }
    std::lock(a, b);
    std::unique_lock<M> first(a, std::adopt_lock);
    const std::unique_lock<M> second(b, std::adopt_lock);
    first.unlock();
    EXPECT_TRUE(first.try_lock_for(1ms));
    first.unlock();
    EXPECT_TRUE(first.try_lock_until(std::chrono::steady_clock::now()));
  });
}

TEST_P(mutex_test, excludes_threads_of_both_kinds) {
  for_each_mutex([]<class M>() {
    constexpr int rounds = 1000;
    M m;
    long count = 0;
    crowd c;
    const auto add = [&](int) {
      for (int i = 0; i < rounds; ++i) {
        const std::scoped_lock held(m);
        ++count;
        if (i % 64 == 0) {
          this_thread::yield(); // the others meet a taken mutex, also with one worker
        }
      }
    };
    c.kernel_threads(2, add);
    c.weft_threads(6, add);
    c.join();
    EXPECT_EQ(count, 8 * rounds);
  });
}

TEST_P(mutex_test, a_timed_lock_gives_up) {
  for_each_mutex([]<class M>() {
    M m;
    m.lock();
    crowd c;
    const auto try_in_vain = [&](int) {
      EXPECT_FALSE(m.try_lock());
      EXPECT_FALSE(m.try_lock_for(2ms));
      EXPECT_FALSE(m.try_lock_for(-1s));
      EXPECT_FALSE(m.try_lock_until(std::chrono::system_clock::now() + 2ms));
    };
    c.weft_threads(3, try_in_vain);
    c.kernel_threads(1, try_in_vain);
    c.join();
    m.unlock();
    EXPECT_TRUE(m.try_lock()); // nothing was left behind
    m.unlock();
  });
}

TEST_P(mutex_test, a_stop_request_ends_the_wait) {
  for_each_mutex([]<class M>() {
    M m;
    m.lock();
    std::stop_source source;
    std::atomic<int> stopped = 0;
    crowd c;
    const auto wait = [&](int) { stopped += m.lock(source.get_token()) ? 0 : 1; };
    c.weft_threads(3, wait);
    c.kernel_threads(1, wait);
    this_thread::yield();
    source.request_stop();
    c.join();
    EXPECT_EQ(stopped, 4);
    m.unlock();
    EXPECT_TRUE(m.lock(source.get_token())); // free: taken whatever the token says
    m.unlock();
  });
}

/// Timeouts and stop requests race with unlocks; nobody may be forgotten and nobody let in twice.
TEST_P(mutex_test, stress_of_timeouts_and_stops) {
  for_each_mutex([this]<class M>() {
    M m;
    std::atomic<int> inside = 0;
    long count = 0;
    std::atomic<long> taken = 0;
    crowd c;
    const auto work = [&](int id) {
      std::mt19937 random(static_cast<unsigned>(seed) + static_cast<unsigned>(id));
      for (int i = 0; i < 100; ++i) {
        std::stop_source source;
        bool got = true;
        switch (random() % 4) {
        case 0:
          m.lock();
          break;
        case 1:
          got = m.try_lock_for(std::chrono::microseconds(random() % 200));
          break;
        case 2: {
          weft::thread([source]() mutable { source.request_stop(); }).detach();
          got = m.lock(source.get_token());
          while (!source.stop_requested()) {
            this_thread::yield();
          }
          break;
        }
        default:
          got = m.try_lock();
          break;
        }
        if (got) {
          EXPECT_EQ(inside.fetch_add(1), 0);
          ++count;
          ++taken;
          if (random() % 8 == 0) {
            this_thread::yield();
          }
          inside.fetch_sub(1);
          m.unlock();
        }
      }
    };
    c.kernel_threads(2, work);
    c.weft_threads(6, work);
    c.join();
    EXPECT_EQ(count, taken);
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  });
}

/// Who unlocks last destroys the mutex: the one before it may still be in unlock().
TEST_P(mutex_test, may_be_destroyed_by_the_next_owner) {
  for_each_mutex([]<class M>() {
    struct shared {
      M m;
      int users = 2;
    };
    for (int round = 0; round < 60; ++round) {
      auto* s = new shared;
      const auto use = [s](int) {
        s->m.lock();
        const bool last = --s->users == 0;
        s->m.unlock();
        if (last) {
          std::destroy_at(s);
          std::fill_n(reinterpret_cast<unsigned char*>(s), sizeof(shared), static_cast<unsigned char>(0));
          ::operator delete(s, sizeof(shared));
        }
      };
      crowd c;
      if (round % 2 == 0) {
        c.kernel_threads(1, use);
      } else {
        c.weft_threads(1, use);
      }
      use(0);
    }
  });
}

TEST_P(mutex_test, a_tasklet_may_lock_but_not_wait) {
  for_each_mutex([]<class M>() {
    M m;
    weft::tasklet([&] {
      m.lock();
      m.unlock();
    }).join();
    m.lock();
    bool refused = false;
    weft::tasklet([&] {
      refused = is_refused([&] { m.lock(); }) && is_refused([&] { EXPECT_FALSE(m.try_lock_for(1s)); });
    }).join();
    EXPECT_TRUE(refused);
    m.unlock();
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  });
}

/// Nobody can take the mutex before the caller is in the place.
template <class M>
void unlock_and_wait_is_atomic() {
  M m;
  sync::suspended_thread place;
  bool inside = false;
  for (int i = 0; i < 60; ++i) {
    crowd c;
    const auto wake = [&](int) {
      for (bool done = false; !done;) {
        m.lock();
        if (inside) {
          done = true;
          EXPECT_TRUE(place.notify());
          inside = false;
        }
        m.unlock();
        this_thread::yield();
      }
    };
    if (i % 4 == 0) {
      c.kernel_threads(1, wake);
    } else {
      c.weft_threads(1, wake);
    }
    m.lock();
    inside = true;
    m.unlock_and_wait(place);
    m.lock();
    EXPECT_FALSE(inside);
    m.unlock();
  }
}

TEST_P(mutex_test, unlock_and_wait) {
  unlock_and_wait_is_atomic<mutex>();
  unlock_and_wait_is_atomic<mcs_mutex>();
  unlock_and_wait_is_atomic<sync::stored_release_mutex<sync::recorded_owner>>();
}

/// One thread takes and releases without a pause that others could use; they must get their turn all the
/// same.
TEST_P(mutex_test, hands_over_to_a_waiter_that_keeps_losing) {
  mutex m;
  std::atomic<bool> got = false;
  m.lock();
  weft::thread waiter([&] {
    const std::scoped_lock held(m);
    got = true;
  });
  for (long i = 0; !got; ++i) {
    this_thread::yield(); // holding it
    m.unlock();
    m.lock();
    ASSERT_LT(i, 10'000'000);
  }
  m.unlock();
  waiter.join();
}

/// A mutex that is left to a waiter which cannot run, for its worker is kept busy, is there for who tries.
TEST_P(mutex_test, is_there_for_one_that_tries_while_a_waiter_is_ready) {
  mutex m;
  bool got = false;
  m.lock();
  weft::thread waiter([&] {
    const std::scoped_lock held(m);
    got = true;
  });
  for (int i = 0; i < 8; ++i) {
    this_thread::yield(); // holding it: the waiter, if it is on this worker, looks in vain
    m.unlock();
    while (!m.try_lock()) {
    }
  }
  m.unlock();
  waiter.join();
  EXPECT_TRUE(got);
}

TEST_P(mutex_test, many_mutexes_share_slots) {
  constexpr std::size_t count = 4 * sync::wait_slots;
  const auto mutexes = std::make_unique<mutex[]>(count);
  std::vector<int> passed(count);
  for (std::size_t i = 0; i < count; ++i) {
    mutexes[i].lock();
  }
  {
    std::vector<weft::thread> threads;
    for (std::size_t i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        const std::scoped_lock held(mutexes[i]);
        ++passed[i];
      });
    }
    this_thread::yield();
    EXPECT_TRUE(sync::wait_table_valid());
    for (std::size_t i = count; i-- > 0;) {
      mutexes[i].unlock();
    }
    for (auto& t : threads) {
      t.join();
    }
  }
  EXPECT_EQ(passed, std::vector<int>(count, 1));
}

TEST_P(mutex_test, mcs_serves_in_order_and_skips_who_gave_up) {
  mcs_mutex m;
  std::vector<int> order;
  m.lock();
  std::vector<weft::thread> threads;
  for (int i = 0; i < 6; ++i) {
    std::atomic<bool> started = false;
    threads.emplace_back([&, i] {
      started = true;
      if (i % 2 == 0) {
        const std::scoped_lock held(m);
        order.push_back(i);
      } else {
        EXPECT_FALSE(m.try_lock_for(1ms));
      }
    });
    while (!started) {
      this_thread::yield();
    }
    this_thread::yield();
    std::this_thread::sleep_for(
        1ms); // it stands in the queue by now; if not, the order is by luck, not wrong
  }
  for (int i = 1; i < 6; i += 2) {
    threads[static_cast<std::size_t>(i)].join();
  }
  m.unlock();
  for (int i = 0; i < 6; i += 2) {
    threads[static_cast<std::size_t>(i)].join();
  }
  EXPECT_EQ(order.size(), 3U);
  if (GetParam() == 1) {
    EXPECT_EQ(order, (std::vector<int>{0, 2, 4}));
  }
}

TEST_P(mutex_test, recursion) {
  recursive_mutex m;
  m.lock();
  EXPECT_TRUE(m.try_lock());
  EXPECT_TRUE(m.try_lock_for(0s));
  weft::thread([&] { EXPECT_FALSE(m.try_lock()); }).join();
  m.unlock();
  this_thread::yield();
  m.unlock();
  weft::thread([&] { EXPECT_FALSE(m.try_lock()); }).join();
  m.unlock();
  std::thread([&] {
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  }).join();
}

using recording = sync::stored_release_mutex<sync::recorded_owner>;

TEST_P(mutex_test, unlocking_anothers_mutex_is_diagnosed) {
  if (GetParam() != 1) {
    GTEST_SKIP() << "once is enough";
  }
  recording m;
  EXPECT_DEATH(m.unlock(), "does not hold it");
  m.lock();
  EXPECT_DEATH(m.lock(), "holds already");
  m.unlock();
}

} // namespace
} // namespace weft::testing
