// SPDX-License-Identifier: MIT
// What the tests of the C API share. A suite is named after the function that it tests, ABT_mutex_lock and so
// on; a test of how the function fails has a name that begins with "refuses" (tools/lint/abt_coverage counts
// both). After each test leaks.cpp looks for stacks, units, timers and kernel threads that were left behind.
#pragma once

#include <atomic>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "abt.h"

namespace abt_test {

// Names the code in a failure message.
inline std::string name_of(int code) {
  char text[64] = "?";
  ABT_error_get_str(code, text, nullptr);
  return text;
}

#define EXPECT_ABT(expected, call) EXPECT_EQ(abt_test::name_of(expected), abt_test::name_of(call))
#define ASSERT_ABT(expected, call) ASSERT_EQ(abt_test::name_of(expected), abt_test::name_of(call))
#define EXPECT_OK(call) EXPECT_ABT(ABT_SUCCESS, call)
#define ASSERT_OK(call) ASSERT_ABT(ABT_SUCCESS, call)

// The runtime for as long as it lives.
struct runtime {
  runtime() { EXPECT_OK(ABT_init(0, nullptr)); }
  ~runtime() { EXPECT_OK(ABT_finalize()); }
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
};

// A callable as what ABT_thread_create() takes: run_function, &callable.
using body = std::function<void()>;
inline void run_function(void* callable) {
  (*static_cast<body*>(callable))();
}

inline ABT_xstream self_xstream() {
  ABT_xstream es = ABT_XSTREAM_NULL;
  EXPECT_OK(ABT_self_get_xstream(&es));
  return es;
}

// The first pool of the stream that runs the caller.
inline ABT_pool self_pool() {
  ABT_pool pool = ABT_POOL_NULL;
  EXPECT_OK(ABT_xstream_get_main_pools(self_xstream(), 1, &pool));
  return pool;
}

// Runs `f` in a new ULT, a new tasklet, or a kernel thread that the runtime does not know, to its end.
inline void in_thread(body f, ABT_pool pool = ABT_POOL_NULL) {
  ABT_thread t = ABT_THREAD_NULL;
  ASSERT_OK(ABT_thread_create(pool == ABT_POOL_NULL ? self_pool() : pool, run_function, &f,
                              ABT_THREAD_ATTR_NULL, &t));
  ASSERT_OK(ABT_thread_free(&t));
}
inline void in_tasklet(body f, ABT_pool pool = ABT_POOL_NULL) {
  ABT_task t = ABT_TASK_NULL;
  ASSERT_OK(ABT_task_create(pool == ABT_POOL_NULL ? self_pool() : pool, run_function, &f, &t));
  ASSERT_OK(ABT_task_free(&t));
}
void in_kernel_thread(body f); // abt_test.cpp: waits by yielding, so that streams go on

// Yields until `done()`; fails the test after a minute.
void yield_until(const std::function<bool()>& done);

// Secondary streams with the default scheduler, freed at the end.
class streams {
 public:
  explicit streams(int count) : all_(static_cast<std::size_t>(count), ABT_XSTREAM_NULL) {
    for (ABT_xstream& es : all_)
      EXPECT_OK(ABT_xstream_create(ABT_SCHED_NULL, &es));
  }
  ~streams() {
    for (ABT_xstream& es : all_)
      EXPECT_OK(ABT_xstream_free(&es));
  }
  streams(const streams&) = delete;
  streams& operator=(const streams&) = delete;

  ABT_xstream operator[](std::size_t i) const { return all_[i]; }
  ABT_pool pool(std::size_t i) const {
    ABT_pool p = ABT_POOL_NULL;
    EXPECT_OK(ABT_xstream_get_main_pools(all_[i], 1, &p));
    return p;
  }

 private:
  std::vector<ABT_xstream> all_;
};

} // namespace abt_test
