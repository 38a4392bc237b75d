// SPDX-License-Identifier: MIT
// Limits of zero and in the past, which let others run as yield() does, and clocks of the user's.
#include "tests/unit/api/twins.hpp"

namespace weft::test {
namespace {

template <class Of>
class twins_in_time : public twin_fixture<Of> {};
TYPED_TEST_SUITE(twins_in_time, rows, names);

// --- limits of zero, and in the past ---

/// Runs what polls while another thread is what it waits for: on one worker that one runs only if the poll
/// lets it.
template <class Of, class Poll>
void expect_lets_others_run(const char* what, Poll poll) {
  std::atomic<bool> ran = false;
  typename Of::thread other([&] { ran = true; });
  int polls = 0;
  while (!ran && polls < 100'000'000) {
    EXPECT_FALSE(poll()) << what;
    ++polls;
  }
  EXPECT_TRUE(ran) << what << " lets nobody run";
  if constexpr (std::is_same_v<Of, of_weft>) {
    EXPECT_LE(polls, 10) << what << " is not like yield()";
  }
  other.join();
}

/// Moments before a clock's epoch: libstdc++ hands them to the kernel, which refuses them, and takes that for
/// success (its bug 116586).
template <class Of>
inline constexpr bool negative_times_work = std::is_same_v<Of, of_weft>;

template <class Of, class Poll>
void expect_lets_others_run_in_no_time(const char* what, Poll poll) {
  expect_lets_others_run<Of>(what, [&] { return poll(0s); });
  if constexpr (negative_times_work<Of>)
    expect_lets_others_run<Of>(what, [&] { return poll(-24h * 365 * 100); });
  expect_lets_others_run<Of>(what, [&] { return poll(std::chrono::duration<double>(-0.0005)); });
}
template <class Of, class Poll>
void expect_lets_others_run_in_the_past(const char* what, Poll poll) {
  expect_lets_others_run<Of>(what, [&] { return poll(std::chrono::steady_clock::now()); });
  if constexpr (negative_times_work<Of>)
    expect_lets_others_run<Of>(what, [&] { return poll(std::chrono::steady_clock::time_point::min()); });
  expect_lets_others_run<Of>(what, [&] { return poll(std::chrono::system_clock::time_point()); });
  expect_lets_others_run<Of>(what, [&] { return poll(std::chrono::system_clock::now() - 1ms); });
}

/// A lock that another thread holds until the end.
template <class Of, class Lock>
class held_elsewhere {
 public:
  explicit held_elsewhere(Lock& l)
      : thread_([this, &l] {
          l.lock();
          is_held_ = true;
          while (!end_)
            Of::yield();
          l.unlock();
        }) {
    while (!is_held_)
      Of::yield();
  }
  ~held_elsewhere() {
    end_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> is_held_ = false;
  std::atomic<bool> end_ = false;
  typename Of::thread thread_;
};

template <class Of, class Lock>
void expect_a_lock_to_let_others_run(const char* what) {
  Lock l;
  const held_elsewhere<Of, Lock> held(l);
  expect_lets_others_run_in_no_time<Of>(what, [&](auto length) { return l.try_lock_for(length); });
  expect_lets_others_run_in_the_past<Of>(what, [&](auto at) { return l.try_lock_until(at); });
}

TYPED_TEST(twins_in_time, locks_with_no_time_left) {
  expect_a_lock_to_let_others_run<TypeParam, typename TypeParam::timed_mutex>("timed_mutex");
  expect_a_lock_to_let_others_run<TypeParam, typename TypeParam::recursive_mutex>("recursive_timed_mutex");
  using shared = typename TypeParam::shared_mutex;
  expect_a_lock_to_let_others_run<TypeParam, shared>("shared_timed_mutex");
  shared l;
  const held_elsewhere<TypeParam, shared> held(l);
  expect_lets_others_run_in_no_time<TypeParam>("try_lock_shared_for",
                                               [&](auto length) { return l.try_lock_shared_for(length); });
  expect_lets_others_run_in_the_past<TypeParam>("try_lock_shared_until",
                                                [&](auto at) { return l.try_lock_shared_until(at); });
}

TYPED_TEST(twins_in_time, semaphores_and_futures_with_no_time_left) {
  typename TypeParam::semaphore s(0);
  expect_lets_others_run_in_no_time<TypeParam>("semaphore",
                                               [&](auto length) { return s.try_acquire_for(length); });
  expect_lets_others_run_in_the_past<TypeParam>("semaphore",
                                                [&](auto at) { return s.try_acquire_until(at); });
  typename TypeParam::template promise<int> p;
  auto f = p.get_future().share();
  expect_lets_others_run_in_no_time<TypeParam>(
      "future", [&](auto length) { return f.wait_for(length) == std::future_status::ready; });
  expect_lets_others_run_in_the_past<TypeParam>(
      "future", [&](auto at) { return f.wait_until(at) == std::future_status::ready; });
}

TYPED_TEST(twins_in_time, condition_variables_with_no_time_left) {
  typename TypeParam::mutex m;
  std::unique_lock held(m);
  typename TypeParam::condition_variable c;
  typename TypeParam::condition_variable_any any;
  const auto never = [] { return false; };
  expect_lets_others_run_in_no_time<TypeParam>("condition_variable", [&](auto length) {
    return c.wait_for(held, length) == std::cv_status::no_timeout || c.wait_for(held, length, never);
  });
  expect_lets_others_run_in_the_past<TypeParam>("condition_variable", [&](auto at) {
    return c.wait_until(held, at) == std::cv_status::no_timeout || c.wait_until(held, at, never);
  });
  expect_lets_others_run_in_no_time<TypeParam>("condition_variable_any", [&](auto length) {
    return any.wait_for(held, length) == std::cv_status::no_timeout ||
           any.wait_for(held, std::stop_token(), length, never);
  });
  EXPECT_TRUE(held.owns_lock());
  EXPECT_TRUE(c.wait_for(held, 0s, [] { return true; }));
}

TYPED_TEST(twins_in_time, sleeps_with_no_time_left) {
  expect_lets_others_run_in_no_time<TypeParam>("sleep_for", [](auto length) {
    TypeParam::sleep_for(length);
    return false;
  });
  expect_lets_others_run_in_the_past<TypeParam>("sleep_until", [](auto at) {
    TypeParam::sleep_until(at);
    return false;
  });
}

// The forms that std has not.
TEST(twins_of_nobody, waits_with_no_time_left) {
  runtime::options o;
  o.workers = 1;
  ASSERT_TRUE(runtime::start(o));
  {
    latch l(1);
    expect_lets_others_run_in_no_time<of_weft>("latch", [&](auto length) { return l.wait_for(length); });
    expect_lets_others_run_in_the_past<of_weft>("latch", [&](auto at) { return l.wait_until(at); });
    barrier<> b(2);
    auto token = b.arrive();
    expect_lets_others_run_in_no_time<of_weft>("barrier",
                                               [&](auto length) { return b.wait_for(token, length); });
    expect_lets_others_run_in_the_past<of_weft>("barrier", [&](auto at) { return b.wait_until(token, at); });
    b.arrive_and_drop();
    latch end(1);
    thread waits([&] { end.wait(); });
    expect_lets_others_run_in_no_time<of_weft>("join",
                                               [&](auto length) { return waits.try_join_for(length); });
    expect_lets_others_run_in_the_past<of_weft>("join", [&](auto at) { return waits.try_join_until(at); });
    end.count_down();
    waits.join();
    // A tasklet does not wait for no time, so it may.
    binary_semaphore s(0);
    mutex m;
    m.lock();
    bool taken = true;
    tasklet([&] { taken = s.try_acquire_for(0s) || m.try_lock_for(0s); }).join();
    EXPECT_FALSE(taken);
    m.unlock();
  }
  EXPECT_TRUE(runtime::stop());
}

/// A thread that is to be cancelled is not by a wait, nor by one for no time.
TEST(twins_of_nobody, no_time_left_is_no_cancellation_point) {
  runtime::options o;
  o.workers = 1;
  ASSERT_TRUE(runtime::start(o));
  {
    std::atomic<bool> went_on = false;
    std::atomic<bool> asked = false;
    std::atomic<bool> after_yield = false;
    thread t([&] {
      while (!asked)
        this_thread::sleep_for(0s);
      this_thread::sleep_for(0s);
      went_on = true;
      this_thread::yield();
      after_yield = true;
    });
    this_thread::yield();
    t.cancel();
    asked = true;
    t.join();
    EXPECT_TRUE(went_on);
    EXPECT_FALSE(after_yield);
  }
  EXPECT_TRUE(runtime::stop());
}

// --- clocks of the user's (LWG 887) ---

/// Goes at a third of the pace.
struct slow_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<slow_clock, duration>;
  static constexpr bool is_steady = false;
  static time_point now() { return time_point(std::chrono::steady_clock::now().time_since_epoch() / 3); }
};

template <class Wait>
void expect_follows_its_clock(const char* what, Wait wait) {
  const auto at = slow_clock::now() + 3ms;
  wait(at);
  EXPECT_GE(slow_clock::now(), at) << what << " came back too early";
}

TYPED_TEST(twins_in_time, follow_slow_clocks) {
  typename TypeParam::timed_mutex m;
  {
    const held_elsewhere<TypeParam, typename TypeParam::timed_mutex> held(m);
    expect_follows_its_clock("timed_mutex", [&](auto at) { EXPECT_FALSE(m.try_lock_until(at)); });
  }
  typename TypeParam::shared_mutex s;
  {
    const held_elsewhere<TypeParam, typename TypeParam::shared_mutex> held(s);
    expect_follows_its_clock("shared", [&](auto at) { EXPECT_FALSE(s.try_lock_until(at)); });
    expect_follows_its_clock("shared", [&](auto at) { EXPECT_FALSE(s.try_lock_shared_until(at)); });
  }
  typename TypeParam::template promise<int> p;
  auto f = p.get_future();
  expect_follows_its_clock("future",
                           [&](auto at) { EXPECT_EQ(f.wait_until(at), std::future_status::timeout); });
  typename TypeParam::mutex lock;
  std::unique_lock held(lock);
  typename TypeParam::condition_variable c;
  typename TypeParam::condition_variable_any any;
  expect_follows_its_clock("condition_variable", [&](auto at) {
    while (c.wait_until(held, at) == std::cv_status::no_timeout) {
    }
  });
  expect_follows_its_clock("condition_variable",
                           [&](auto at) { EXPECT_FALSE(c.wait_until(held, at, [] { return false; })); });
  expect_follows_its_clock("condition_variable_any", [&](auto at) {
    EXPECT_FALSE(any.wait_until(held, std::stop_token(), at, [] { return false; }));
  });
  expect_follows_its_clock("sleep_until", [&](auto at) { TypeParam::sleep_until(at); });
}

} // namespace
} // namespace weft::test
