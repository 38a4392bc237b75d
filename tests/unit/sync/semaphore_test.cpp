// SPDX-License-Identifier: MIT
#include "weft/semaphore.hpp"

#include "tests/unit/sync/fixture.hpp"

#include <memory>

namespace weft::testing {
namespace {

static_assert(binary_semaphore::max() == 1 && counting_semaphore<7>::max() == 7);

WEFT_SYNC_SUITE(semaphore_test);

TEST_P(semaphore_test, counts) {
  counting_semaphore<10> s(2);
  EXPECT_TRUE(s.try_acquire());
  EXPECT_TRUE(s.try_acquire_for(0s));
  EXPECT_FALSE(s.try_acquire());
  EXPECT_FALSE(s.try_acquire_for(1ms));
  EXPECT_FALSE(s.try_acquire_until(std::chrono::system_clock::now()));
  s.release(2);
  s.acquire();
  s.acquire();
  EXPECT_FALSE(s.try_acquire());
}

TEST_P(semaphore_test, limits_how_many_are_inside) {
  counting_semaphore s(3);
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  crowd c;
  const auto work = [&](int) {
    for (int i = 0; i < 300; ++i) {
      s.acquire();
      const int now = ++inside;
      EXPECT_LE(now, 3);
      most = std::max<int>(most, now);
      this_thread::yield();
      --inside;
      s.release();
    }
  };
  c.kernel_threads(2, work);
  c.weft_threads(6, work);
  c.join();
  EXPECT_LE(most, 3); // that three meet is likely, not certain
}

/// Every released permit is acquired or left, whatever races.
TEST_P(semaphore_test, stress_of_timeouts_and_stops_against_releases) {
  counting_semaphore s(0);
  std::atomic<int> acquired = 0;
  std::atomic<bool> done = false;
  std::stop_source end;
  crowd c;
  const auto acquire = [&](int id) {
    std::mt19937 random(static_cast<unsigned>(seed) + static_cast<unsigned>(id));
    while (!done) {
      const bool got = random() % 3 == 0
                           ? s.acquire(end.get_token())
                           : s.try_acquire_for(std::chrono::microseconds(random() % 100), end.get_token());
      acquired += got ? 1 : 0;
      this_thread::yield();
    }
  };
  c.kernel_threads(2, acquire);
  c.weft_threads(6, acquire);
  std::mt19937 random(static_cast<unsigned>(seed));
  int released = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto count = static_cast<int>(random() % 4);
    s.release(count);
    released += count;
    if (random() % 4 == 0) {
      this_thread::yield();
    }
  }
  done = true;
  end.request_stop();
  c.join();
  int left = 0;
  while (s.try_acquire()) {
    ++left;
  }
  EXPECT_EQ(acquired + left, released);
}

TEST_P(semaphore_test, may_be_destroyed_by_whom_it_lets_through) {
  for (int i = 0; i < 100; ++i) {
    crowd c;
    auto* s = new binary_semaphore(0);
    const auto release = [s](int) { s->release(); };
    if (i % 2 == 0) {
      c.kernel_threads(1, release);
    } else {
      c.weft_threads(1, release);
    }
    s->acquire();
    delete s;
  }
}

TEST_P(semaphore_test, a_tasklet_may_acquire_but_not_wait) {
  binary_semaphore s(1);
  bool refused = false;
  weft::tasklet([&] {
    s.acquire();
    refused = is_refused([&] { s.acquire(); });
    s.release();
  }).join();
  EXPECT_TRUE(refused);
  EXPECT_TRUE(s.try_acquire());
}

} // namespace
} // namespace weft::testing
