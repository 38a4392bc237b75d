// SPDX-License-Identifier: MIT
#include <cstring>

#include "sync.hpp"

using namespace abt_test;

namespace {

struct code {
  int value;
  const char* name;
};

// The numbers are part of the ABI: a program compiled for upstream has them.
#define CODE(number, name)                                                                                   \
  {number, #name}, {                                                                                         \
    name, #name                                                                                              \
  }
constexpr code codes[] = {CODE(0, ABT_SUCCESS),
                          CODE(1, ABT_ERR_UNINITIALIZED),
                          CODE(2, ABT_ERR_MEM),
                          CODE(3, ABT_ERR_OTHER),
                          CODE(4, ABT_ERR_INV_XSTREAM),
                          CODE(5, ABT_ERR_INV_XSTREAM_RANK),
                          CODE(6, ABT_ERR_INV_XSTREAM_BARRIER),
                          CODE(7, ABT_ERR_INV_SCHED),
                          CODE(8, ABT_ERR_INV_SCHED_KIND),
                          CODE(9, ABT_ERR_INV_SCHED_PREDEF),
                          CODE(10, ABT_ERR_INV_SCHED_TYPE),
                          CODE(11, ABT_ERR_INV_SCHED_CONFIG),
                          CODE(12, ABT_ERR_INV_POOL),
                          CODE(13, ABT_ERR_INV_POOL_KIND),
                          CODE(14, ABT_ERR_INV_POOL_ACCESS),
                          CODE(15, ABT_ERR_INV_UNIT),
                          CODE(16, ABT_ERR_INV_THREAD),
                          CODE(17, ABT_ERR_INV_THREAD_ATTR),
                          CODE(18, ABT_ERR_INV_TASK),
                          CODE(19, ABT_ERR_INV_KEY),
                          CODE(20, ABT_ERR_INV_MUTEX),
                          CODE(21, ABT_ERR_INV_MUTEX_ATTR),
                          CODE(22, ABT_ERR_INV_COND),
                          CODE(23, ABT_ERR_INV_RWLOCK),
                          CODE(24, ABT_ERR_INV_EVENTUAL),
                          CODE(25, ABT_ERR_INV_FUTURE),
                          CODE(26, ABT_ERR_INV_BARRIER),
                          CODE(27, ABT_ERR_INV_TIMER),
                          CODE(28, ABT_ERR_INV_QUERY_KIND),
                          CODE(29, ABT_ERR_XSTREAM),
                          CODE(30, ABT_ERR_XSTREAM_STATE),
                          CODE(31, ABT_ERR_XSTREAM_BARRIER),
                          CODE(32, ABT_ERR_SCHED),
                          CODE(33, ABT_ERR_SCHED_CONFIG),
                          CODE(34, ABT_ERR_POOL),
                          CODE(35, ABT_ERR_UNIT),
                          CODE(36, ABT_ERR_THREAD),
                          CODE(37, ABT_ERR_TASK),
                          CODE(38, ABT_ERR_KEY),
                          CODE(39, ABT_ERR_MUTEX),
                          CODE(40, ABT_ERR_MUTEX_LOCKED),
                          CODE(41, ABT_ERR_COND),
                          CODE(42, ABT_ERR_COND_TIMEDOUT),
                          CODE(43, ABT_ERR_RWLOCK),
                          CODE(44, ABT_ERR_EVENTUAL),
                          CODE(45, ABT_ERR_FUTURE),
                          CODE(46, ABT_ERR_BARRIER),
                          CODE(47, ABT_ERR_TIMER),
                          CODE(48, ABT_ERR_MIGRATION_TARGET),
                          CODE(49, ABT_ERR_MIGRATION_NA),
                          CODE(50, ABT_ERR_MISSING_JOIN),
                          CODE(51, ABT_ERR_FEATURE_NA),
                          CODE(52, ABT_ERR_INV_TOOL_CONTEXT),
                          CODE(53, ABT_ERR_INV_ARG),
                          CODE(54, ABT_ERR_SYS),
                          CODE(55, ABT_ERR_CPUID),
                          CODE(56, ABT_ERR_INV_POOL_CONFIG),
                          CODE(57, ABT_ERR_INV_POOL_USER_DEF)};
#undef CODE

void expect_all_names() {
  for (const code& c : codes) {
    char text[64];
    std::memset(text, '#', sizeof text);
    std::size_t length = 0;
    EXPECT_EQ(ABT_SUCCESS, ABT_error_get_str(c.value, text, &length));
    EXPECT_STREQ(text, c.name);
    EXPECT_EQ(length, std::strlen(c.name));
    EXPECT_EQ(text[length + 1], '#'); // nothing behind the end
  }
}

TEST(ABT_error_get_str, names_every_code) {
  expect_all_names(); // needs no runtime
  const runtime rt;
  expect_all_names();
  in_kernel_thread(expect_all_names);
  in_tasklet([] { EXPECT_EQ(name_of(ABT_ERR_MEM), "ABT_ERR_MEM"); });
}

TEST(ABT_error_get_str, leaves_out_what_is_not_wanted) {
  std::size_t length = 0;
  EXPECT_EQ(ABT_SUCCESS, ABT_error_get_str(ABT_ERR_MEM, nullptr, &length));
  EXPECT_EQ(length, std::strlen("ABT_ERR_MEM"));
  char text[64] = "";
  EXPECT_EQ(ABT_SUCCESS, ABT_error_get_str(ABT_ERR_MEM, text, nullptr));
  EXPECT_STREQ(text, "ABT_ERR_MEM");
  EXPECT_EQ(ABT_SUCCESS, ABT_error_get_str(ABT_ERR_MEM, nullptr, nullptr));
}

TEST(ABT_error_get_str, refuses_unknown_codes) {
  for (const int unknown : {-1, 58, 1000, INT32_MAX, INT32_MIN}) {
    char text[64] = "before";
    std::size_t length = 99;
    EXPECT_EQ(ABT_ERR_OTHER, ABT_error_get_str(unknown, text, &length));
    EXPECT_EQ(ABT_ERR_OTHER, ABT_error_get_str(unknown, nullptr, nullptr));
    EXPECT_STREQ(text, "before");
    EXPECT_EQ(length, 99U);
  }
}

} // namespace
