// SPDX-License-Identifier: MIT
#include <algorithm>

#include "sync.hpp"

using namespace abt_test;

namespace {

// A future of so many compartments, freed at the end of the scope.
class future {
 public:
  explicit future(uint32_t compartments, void (*callback)(void**) = nullptr) {
    EXPECT_OK(ABT_future_create(compartments, callback, &handle_));
  }
  ~future() { EXPECT_OK(ABT_future_free(&handle_)); }
  future(const future&) = delete;
  future& operator=(const future&) = delete;
  operator ABT_future() const { return handle_; }

  void set(int times = 1) const {
    for (int i = 0; i < times; ++i)
      EXPECT_OK(ABT_future_set(handle_, nullptr));
  }
  bool ready() const {
    ABT_bool is = ABT_TRUE;
    EXPECT_OK(ABT_future_test(handle_, &is));
    return is != ABT_FALSE;
  }

 private:
  ABT_future handle_ = ABT_FUTURE_NULL;
};

TEST(ABT_future_create, is_not_ready) {
  const runtime rt;
  for (const uint32_t compartments : {1U, 2U, 1000U}) {
    const future f(compartments);
    EXPECT_NE(f, ABT_FUTURE_NULL);
    EXPECT_FALSE(f.ready());
  }
}

TEST(ABT_future_create, is_ready_without_compartments) {
  const runtime rt;
  const future f(0);
  EXPECT_TRUE(f.ready());
  const body wait = [&] { EXPECT_OK(ABT_future_wait(f)); };
  wait();
  in_kernel_thread(wait);
}

// What the callback is given, and the state in which it finds the world.
struct heard {
  static inline std::vector<int> values;
  static inline int calls;
  static inline bool early;
  static inline const std::atomic<bool>* waiter_done;
  static inline std::thread::id caller;

  static void callback(void** array) {
    ++calls;
    early = !*waiter_done;
    caller = std::this_thread::get_id();
    for (int i = 0; i < 5; ++i)
      values.push_back(*static_cast<int*>(array[i]));
  }
};

TEST(ABT_future_create, takes_a_callback) {
  const runtime rt;
  const future f(5, heard::callback);
  std::atomic<bool> done = false;
  heard::waiter_done = &done;
  std::array<int, 5> numbers = {10, 11, 12, 13, 14};
  for (int round = 1; round <= 2; ++round) {
    done = false;
    heard::values.clear();
    crowd c;
    c.ults(1, [&] {
      EXPECT_OK(ABT_future_wait(f));
      EXPECT_EQ(heard::calls, round); // before anybody sees the future ready
      done = true;
    });
    until_blocked(c.ult(0));
    for (int& n : numbers) {
      EXPECT_EQ(heard::calls, round - 1);
      in_kernel_thread([&] {
        EXPECT_OK(ABT_future_set(f, &n));
        if (&n == &numbers.back()) {
          EXPECT_EQ(heard::caller, std::this_thread::get_id()); // by the last to set it
        }
      });
    }
    EXPECT_EQ(heard::calls, round);
    EXPECT_TRUE(heard::early);
    c.join();
    std::sort(heard::values.begin(), heard::values.end()); // the order is not defined
    EXPECT_EQ(heard::values, std::vector(numbers.begin(), numbers.end()));
    EXPECT_OK(ABT_future_reset(f));
  }
  heard::calls = 0; // for --gtest_repeat
}

TEST(ABT_future_free, takes_the_handle_away) {
  const runtime rt;
  for (const bool ready : {false, true}) {
    ABT_future f = ABT_FUTURE_NULL;
    ASSERT_OK(ABT_future_create(1, nullptr, &f));
    if (ready) {
      EXPECT_OK(ABT_future_set(f, nullptr));
    }
    EXPECT_OK(ABT_future_free(&f));
    EXPECT_EQ(f, ABT_FUTURE_NULL);
  }
}

TEST(ABT_future_free, refuses_null_handle) {
  const runtime rt;
  for (ABT_future null : nulls(ABT_FUTURE_NULL))
    EXPECT_ABT(ABT_ERR_INV_FUTURE, ABT_future_free(&null));
}

TEST(ABT_future_wait, waits_for_the_last_value) {
  const runtime rt;
  const streams es(1);
  const future f(3);
  std::atomic<int> entered = 0;
  std::atomic<int> got = 0;
  const body wait = [&] {
    ++entered;
    EXPECT_OK(ABT_future_wait(f));
    EXPECT_TRUE(f.ready());
    ++got;
  };
  crowd c;
  c.ults(3, wait);
  c.ults(3, wait, es.pool(0));
  c.kernel_threads(2, wait);
  yield_until([&] { return entered == 8; });
  for (int i = 0; i < 3; ++i) {
    yield_often();
    EXPECT_EQ(got, 0);
    f.set();
  }
  c.join();
  EXPECT_EQ(got, 8);
  wait();
}

TEST(ABT_future_wait, blocks_the_ult) {
  const runtime rt;
  const future f(2);
  crowd c;
  c.ults(1, [&] { EXPECT_OK(ABT_future_wait(f)); });
  until_blocked(c.ult(0));
  f.set();
  yield_often();
  EXPECT_TRUE(blocked(c.ult(0)));
  f.set();
}

TEST(ABT_future_wait, refuses_null_handle) {
  const runtime rt;
  for (const ABT_future null : nulls(ABT_FUTURE_NULL)) {
    EXPECT_ABT(ABT_ERR_INV_FUTURE, ABT_future_wait(null));
    in_kernel_thread([=] { EXPECT_ABT(ABT_ERR_INV_FUTURE, ABT_future_wait(null)); });
  }
}

TEST(ABT_future_wait, refuses_tasklet) {
  const runtime rt;
  const future f(1);
  const body wait = [&] { EXPECT_ABT(ABT_ERR_FUTURE, ABT_future_wait(f)); };
  in_tasklet(wait);
  f.set();
  in_tasklet(wait); // it would not have to wait now
}

TEST(ABT_future_test, tells_whether_it_is_ready) {
  const runtime rt;
  const future f(2);
  const auto expect_ready = [&](bool expected) {
    const body look = [&] { EXPECT_EQ(f.ready(), expected); };
    look();
    in_thread(look);
    in_tasklet(look);
    in_kernel_thread(look);
  };
  expect_ready(false);
  f.set();
  expect_ready(false);
  f.set();
  expect_ready(true);
}

TEST(ABT_future_test, refuses_null_handle) {
  const runtime rt;
  ABT_bool ready = ABT_FALSE;
  for (const ABT_future null : nulls(ABT_FUTURE_NULL))
    EXPECT_ABT(ABT_ERR_INV_FUTURE, ABT_future_test(null, &ready));
}

TEST(ABT_future_set, comes_from_anywhere) {
  const runtime rt;
  const future f(4);
  const body set = [&] { f.set(); };
  set();
  in_thread(set);
  in_tasklet(set);
  EXPECT_FALSE(f.ready());
  in_kernel_thread(set);
  EXPECT_TRUE(f.ready());
}

// All at once, and none is counted twice or not at all.
TEST(ABT_future_set, counts_every_value) {
  constexpr int each = 100;
  static std::atomic<int> calls; // the callback knows nothing but the values
  static std::atomic<long> sum;
  calls = 0;
  sum = 0;
  const runtime rt;
  const streams es(2);
  const future f(5 * each, [](void** values) {
    ++calls;
    for (int i = 0; i < 5 * each; ++i)
      sum += *static_cast<int*>(values[i]);
  });
  std::vector<int> numbers(each);
  for (int i = 0; i < each; ++i)
    numbers[static_cast<std::size_t>(i)] = i;
  const body set = [&] {
    for (int& n : numbers) {
      EXPECT_OK(ABT_future_set(f, &n));
      ABT_thread_yield();
    }
  };
  crowd c;
  c.ults(1, set);
  c.ults(1, set, es.pool(0));
  c.ults(1, set, es.pool(1));
  c.kernel_threads(2, set);
  EXPECT_OK(ABT_future_wait(f));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(sum, 5 * each * (each - 1) / 2);
}

TEST(ABT_future_set, refuses_null_handle) {
  const runtime rt;
  for (const ABT_future null : nulls(ABT_FUTURE_NULL))
    EXPECT_ABT(ABT_ERR_INV_FUTURE, ABT_future_set(null, nullptr));
}

TEST(ABT_future_set, refuses_more_values_than_compartments) {
  const runtime rt;
  for (const int compartments : {0, 1, 3}) {
    const future f(static_cast<uint32_t>(compartments));
    f.set(compartments);
    const body set = [&] { EXPECT_ABT(ABT_ERR_FUTURE, ABT_future_set(f, nullptr)); };
    set();
    in_kernel_thread(set);
    EXPECT_TRUE(f.ready());
  }
}

TEST(ABT_future_reset, makes_it_new) {
  const runtime rt;
  const future f(2);
  for (int i = 0; i < 3; ++i) {
    crowd c;
    c.ults(1, [&] { EXPECT_OK(ABT_future_wait(f)); });
    until_blocked(c.ult(0)); // what was set before does not count
    f.set(2);
    c.join();
    EXPECT_TRUE(f.ready());
    EXPECT_OK(ABT_future_reset(f));
    EXPECT_FALSE(f.ready());
  }
  f.set();
  EXPECT_OK(ABT_future_reset(f)); // half full: all of it is taken back
  f.set();
  EXPECT_FALSE(f.ready());
}

TEST(ABT_future_reset, leaves_one_without_compartments_ready) {
  const runtime rt;
  const future f(0);
  EXPECT_OK(ABT_future_reset(f));
  EXPECT_TRUE(f.ready());
}

TEST(ABT_future_reset, refuses_null_handle) {
  const runtime rt;
  for (const ABT_future null : nulls(ABT_FUTURE_NULL))
    EXPECT_ABT(ABT_ERR_INV_FUTURE, ABT_future_reset(null));
}

} // namespace
