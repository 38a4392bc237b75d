// SPDX-License-Identifier: MIT
// What the tests of the synchronisation objects share: times, null handles, and who waits.
#pragma once

#include <array>
#include <ctime>
#include <deque>
#include <thread>

#include "abt_test.hpp"

namespace abt_test {

// Both values that every function must take for "no object".
template <class Handle>
std::array<Handle, 2> nulls(Handle null) {
  return {null, Handle{}};
}

inline timespec now() {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  return t;
}
inline timespec after(double seconds) {
  timespec t = now();
  const long long ns = t.tv_nsec + static_cast<long long>(seconds * 1e9);
  t.tv_sec += static_cast<time_t>(ns / 1000000000);
  t.tv_nsec = static_cast<long>(ns % 1000000000);
  return t;
}
inline bool reached(const timespec& at) {
  const timespec t = now();
  return t.tv_sec != at.tv_sec ? t.tv_sec > at.tv_sec : t.tv_nsec >= at.tv_nsec;
}
// Never comes while a test runs.
inline timespec far() {
  return after(3600);
}
inline constexpr timespec long_ago = {1, 0};

// A blocked ULT waits in what it has called: the test need not sleep and hope for that.
inline bool blocked(ABT_thread t) {
  ABT_thread_state state = ABT_THREAD_STATE_TERMINATED;
  EXPECT_OK(ABT_thread_get_state(t, &state));
  return state == ABT_THREAD_STATE_BLOCKED;
}
inline void until_blocked(ABT_thread t) {
  yield_until([t] { return blocked(t); });
}

// For "and nothing more happens": all that could run in the caller's stream has run several times.
inline void yield_often() {
  for (int i = 0; i < 100; ++i)
    ABT_thread_yield();
}

// ULTs and kernel threads, joined at the end of the scope.
class crowd {
 public:
  crowd() = default;
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;
  ~crowd() { join(); }

  void ults(int count, body f, ABT_pool pool = ABT_POOL_NULL) {
    for (int i = 0; i < count; ++i) {
      bodies_.push_back(f);
      ABT_thread t = ABT_THREAD_NULL;
      EXPECT_OK(ABT_thread_create(pool == ABT_POOL_NULL ? self_pool() : pool, run_function, &bodies_.back(),
                                  ABT_THREAD_ATTR_NULL, &t));
      ults_.push_back(t);
    }
  }
  void kernel_threads(int count, const body& f) {
    for (int i = 0; i < count; ++i) {
      ++running_;
      kernel_.emplace_back([this, f] {
        f();
        --running_;
      });
    }
  }
  ABT_thread ult(std::size_t i) const { return ults_[i]; }
  void join() {
    for (ABT_thread& t : ults_)
      EXPECT_OK(ABT_thread_free(&t));
    ults_.clear();
    // std::thread::join() would stop the stream that a kernel thread may wait for.
    while (running_ != 0)
      ABT_thread_yield();
    for (std::thread& t : kernel_)
      t.join();
    kernel_.clear();
  }

 private:
  std::atomic<int> running_ = 0;
  std::deque<body> bodies_;
  std::vector<ABT_thread> ults_;
  std::vector<std::thread> kernel_;
};

// A call that has to wait, up to a time.
using timed = std::function<int(const timespec*)>;

inline void expect_gives_up(const timed& wait) {
  const body f = [&] {
    const timespec at = after(0.02);
    EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, wait(&at));
    EXPECT_TRUE(reached(at));
    EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, wait(&long_ago));
  };
  f();
  in_thread(f);
  in_kernel_thread(f);
}

inline void expect_refuses_no_time(const timed& wait) {
  const body f = [&] { EXPECT_ABT(ABT_ERR_INV_ARG, wait(nullptr)); };
  f();
  in_kernel_thread(f);
}

} // namespace abt_test
