// SPDX-License-Identifier: MIT
// The shared side; the exclusive side stands in mutex_test.cpp.
#include "weft/shared_mutex.hpp"

#include "tests/unit/sync/fixture.hpp"

#include <mutex>
#include <shared_mutex>

namespace weft::testing {
namespace {

WEFT_SYNC_SUITE(shared_mutex_test);

TEST_P(shared_mutex_test, readers_share_writers_do_not) {
  shared_mutex m;
  {
    const std::shared_lock first(m);
    std::shared_lock second(m, std::defer_lock);
    weft::thread([&] {
      EXPECT_TRUE(second.try_lock_for(never));
      EXPECT_FALSE(m.try_lock());
      EXPECT_FALSE(m.try_lock_for(1ms));
      second.unlock();
    }).join();
  }
  m.lock();
  weft::thread([&] {
    EXPECT_FALSE(m.try_lock_shared());
    EXPECT_FALSE(m.try_lock_shared_for(1ms));
    EXPECT_FALSE(m.try_lock_shared_until(std::chrono::steady_clock::now()));
  }).join();
  m.unlock();
  EXPECT_TRUE(m.try_lock_shared());
  m.unlock_shared();
}

TEST_P(shared_mutex_test, a_waiting_writer_stops_new_readers_until_it_gives_up) {
  shared_mutex m;
  m.lock_shared();
  std::stop_source source;
  std::atomic<bool> stopped = false;
  weft::thread writer([&] { stopped = !m.lock(source.get_token()); });
  while (m.try_lock_shared()) {
    m.unlock_shared();
    this_thread::yield();
  }
  std::atomic<int> reading = 0;
  {
    crowd c;
    const auto read = [&](int) {
      const std::shared_lock held(m);
      ++reading;
    };
    c.weft_threads(2, read);
    c.kernel_threads(1, read);
    this_thread::yield();
    EXPECT_EQ(reading, 0);
    source.request_stop();
    writer.join();
    EXPECT_TRUE(stopped);
  }
  EXPECT_EQ(reading, 3); // though the first reader is still there
  m.unlock_shared();
}

TEST_P(shared_mutex_test, stress) {
  shared_mutex m;
  std::atomic<int> readers = 0;
  std::atomic<int> writers = 0;
  long written = 0;
  std::atomic<long> taken = 0;
  crowd c;
  const auto work = [&](int id) {
    std::mt19937 random(static_cast<unsigned>(seed) + static_cast<unsigned>(id));
    for (int i = 0; i < 500; ++i) {
      std::stop_source source;
      const auto patience = std::chrono::microseconds(random() % 100);
      if (random() % 4 == 0) {
        if (random() % 2 == 0 ? m.try_lock_for(patience) : (m.lock(), true)) {
          EXPECT_EQ(++writers, 1);
          EXPECT_EQ(readers, 0);
          ++written;
          ++taken;
          this_thread::yield();
          --writers;
          m.unlock();
        }
      } else if (random() % 2 == 0 ? m.try_lock_shared_for(patience) : (m.lock_shared(), true)) {
        ++readers;
        EXPECT_EQ(writers, 0);
        this_thread::yield();
        --readers;
        m.unlock_shared();
      }
    }
  };
  c.kernel_threads(2, work);
  c.weft_threads(6, work);
  c.join();
  EXPECT_EQ(written, taken);
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

} // namespace
} // namespace weft::testing
