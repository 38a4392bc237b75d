// SPDX-License-Identifier: MIT
#include "weft/condition_variable.hpp"

#include "tests/unit/sync/fixture.hpp"
#include "weft/mutex.hpp"

#include <deque>
#include <mutex>

namespace weft::testing {
namespace {

WEFT_SYNC_SUITE(condition_variable_test);

/// Both kinds behind one interface.
struct plain {
  using variable = condition_variable;
  using lock = std::unique_lock<mutex>;
  mutex m;
};
struct any_of_mcs {
  using variable = condition_variable_any;
  using lock = std::unique_lock<mcs_mutex>;
  mcs_mutex m;
};

template <class Body>
void for_both(Body body) {
  body.template operator()<plain>();
  body.template operator()<any_of_mcs>();
}

TEST_P(condition_variable_test, hands_values_over) {
  for_both([]<class Kind>() {
    Kind k;
    typename Kind::variable changed;
    std::deque<int> queue;
    long sum = 0;
    constexpr int values = 300;
    crowd c;
    const auto consume = [&](int) {
      for (int i = 0; i < values; ++i) {
        typename Kind::lock held(k.m);
        changed.wait(held, [&] { return !queue.empty(); });
        sum += queue.front();
        queue.pop_front();
      }
    };
    const auto produce = [&](int) {
      for (int i = 1; i <= values; ++i) {
        {
          const std::scoped_lock held(k.m);
          queue.push_back(i);
        }
        changed.notify_one();
      }
    };
    c.weft_threads(3, consume);
    c.kernel_threads(1, consume);
    c.weft_threads(3, produce);
    c.kernel_threads(1, produce);
    c.join();
    EXPECT_EQ(sum, 4L * values * (values + 1) / 2);
    EXPECT_TRUE(queue.empty());
  });
}

TEST_P(condition_variable_test, notify_all_wakes_all) {
  for_both([]<class Kind>() {
    Kind k;
    typename Kind::variable changed;
    bool open = false;
    int waiting = 0;
    int passed = 0;
    crowd c;
    const auto wait = [&](int) {
      typename Kind::lock held(k.m);
      ++waiting;
      while (!open) {
        changed.wait(held);
      }
      ++passed;
    };
    c.weft_threads(20, wait);
    c.kernel_threads(2, wait);
    for (bool all = false; !all; this_thread::yield()) {
      const std::scoped_lock held(k.m);
      all = waiting == 22;
    }
    {
      const std::scoped_lock held(k.m);
      open = true;
    }
    changed.notify_all();
    c.join();
    EXPECT_EQ(passed, 22);
  });
}

TEST_P(condition_variable_test, times_out_and_holds_the_lock_again) {
  for_both([]<class Kind>() {
    Kind k;
    typename Kind::variable changed;
    crowd c;
    const auto wait = [&](int) {
      typename Kind::lock held(k.m);
      EXPECT_EQ(changed.wait_for(held, 1ms), std::cv_status::timeout);
      EXPECT_TRUE(held.owns_lock());
      EXPECT_EQ(changed.wait_until(held, std::chrono::system_clock::now() + 1ms), std::cv_status::timeout);
      EXPECT_FALSE(changed.wait_for(held, 1ms, [] { return false; }));
      EXPECT_TRUE(changed.wait_until(held, std::chrono::steady_clock::now(), [] { return true; }));
    };
    c.weft_threads(4, wait);
    c.kernel_threads(1, wait);
    c.join();
    EXPECT_TRUE(k.m.try_lock());
    k.m.unlock();
  });
}

TEST_P(condition_variable_test, a_stop_request_ends_the_wait) {
  for_both([]<class Kind>() {
    Kind k;
    typename Kind::variable changed;
    std::stop_source source;
    crowd c;
    const auto wait = [&](int i) {
      typename Kind::lock held(k.m);
      const auto no = [] { return false; };
      EXPECT_FALSE(i % 2 == 0 ? changed.wait(held, source.get_token(), no)
                              : changed.wait_for(held, source.get_token(), never, no));
      EXPECT_TRUE(held.owns_lock());
      EXPECT_TRUE(changed.wait(held, source.get_token(), [] { return true; }));
    };
    c.weft_threads(4, wait);
    c.kernel_threads(2, wait);
    this_thread::yield();
    source.request_stop();
    c.join();
  });
}

/// A notification that meets a waiter which times out or is stopped must reach another one.
TEST_P(condition_variable_test, stress_of_timeouts_against_notifications) {
  for_both([this]<class Kind>() {
    Kind k;
    typename Kind::variable changed;
    int tokens = 0;
    constexpr int total = 500;
    std::atomic<int> taken = 0;
    std::stop_source stop_at_end;
    crowd c;
    const auto impatient = [&](int id) {
      std::mt19937 random(static_cast<unsigned>(seed) + static_cast<unsigned>(id));
      while (taken < total) {
        typename Kind::lock held(k.m);
        const auto some = [&] { return tokens > 0; };
        if (changed.wait_for(held, stop_at_end.get_token(), std::chrono::microseconds(random() % 100),
                             some)) {
          --tokens;
          ++taken;
        }
        held.unlock();
        this_thread::yield();
      }
    };
    const auto patient = [&](int) {
      for (;;) {
        typename Kind::lock held(k.m);
        if (!changed.wait(held, stop_at_end.get_token(), [&] { return tokens > 0; })) {
          return;
        }
        --tokens;
        if (++taken >= total) {
          stop_at_end.request_stop();
        }
      }
    };
    c.weft_threads(3, impatient);
    c.weft_threads(3, patient);
    c.kernel_threads(1, impatient);
    c.kernel_threads(1, patient);
    for (int i = 0; i < total; ++i) {
      {
        const std::scoped_lock held(k.m);
        ++tokens;
      }
      changed.notify_one();
      if (i % 16 == 0) {
        this_thread::yield();
      }
    }
    while (taken < total) {
      this_thread::yield();
    }
    stop_at_end.request_stop();
    c.join();
    EXPECT_EQ(tokens, 0);
  });
}

TEST_P(condition_variable_test, may_be_destroyed_once_all_are_notified) {
  for (int i = 0; i < 60; ++i) {
    mutex m;
    auto* changed = new condition_variable;
    bool done = false;
    crowd c;
    c.weft_threads(1, [&](int) {
      const std::scoped_lock held(m);
      done = true;
      changed->notify_all();
    });
    std::unique_lock held(m);
    changed->wait(held, [&] { return done; });
    delete changed;
  }
}

TEST_P(condition_variable_test, serves_kernel_threads_with_a_std_mutex) {
  std::mutex m;
  condition_variable_any changed;
  bool done = false;
  std::thread waiter([&] {
    std::unique_lock held(m);
    changed.wait(held, [&] { return done; });
  });
  {
    const std::scoped_lock held(m);
    done = true;
  }
  changed.notify_one();
  waiter.join();
}

TEST_P(condition_variable_test, refuses_tasklets) {
  condition_variable changed;
  mutex m;
  bool refused = false;
  weft::tasklet([&] {
    std::unique_lock held(m);
    refused = is_refused([&] { changed.wait(held); }) && held.owns_lock();
  }).join();
  EXPECT_TRUE(refused);
}

} // namespace
} // namespace weft::testing
