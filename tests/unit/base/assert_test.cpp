// SPDX-License-Identifier: MIT
// Assertions are on in this file whatever the build.
#undef WEFT_ASSERT_LEVEL
#define WEFT_ASSERT_LEVEL 1
#include "weft/base/assert.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <string>

namespace {

TEST(assert_death, panic_prints_one_line_and_aborts) {
  EXPECT_EXIT(weft::base::panic("thread %s of %d", "reader", 7), testing::KilledBySignal(SIGABRT),
              "^weft: thread reader of 7\n$");
}

TEST(assert_death, a_long_message_is_cut) {
  const std::string text(3000, 'x');
  EXPECT_EXIT(weft::base::panic("%s", text.c_str()), testing::KilledBySignal(SIGABRT),
              "^weft: x{1000,1018}\n$");
}

TEST(assert_death, failed_assertion_names_file_text_and_condition) {
  const int pools = 3;
  EXPECT_EXIT(WEFT_ASSERT(pools == 2, "two pools"), testing::KilledBySignal(SIGABRT),
              "^weft: .*assert_test\\.cpp:[0-9]+: two pools \\(pools == 2\\)\n$");
}

TEST(assert, holds_quietly) {
  testing::internal::CaptureStderr();
  WEFT_ASSERT(1 + 1 == 2, "arithmetic");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(assert, warn_returns_and_keeps_errno) {
  testing::internal::CaptureStderr();
  errno = ERANGE;
  weft::base::warn("%s is odd", "this");
  EXPECT_EQ(errno, ERANGE);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "weft: this is odd\n");
}

} // namespace
