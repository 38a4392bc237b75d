// SPDX-License-Identifier: MIT
#include "weft/base/knob.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace weft::base;

constexpr const char* colours[] = {"red", "green"};
constinit integer_knob count{"WEFT_TEST_COUNT", 7, {1, 100}, knob_scale::count, "how many"};
constinit integer_knob size{
    "WEFT_TEST_SIZE", 4096, {4096, std::int64_t{1} << 40}, knob_scale::bytes, "how big"};
constinit boolean_knob flag{"WEFT_TEST_FLAG", true, "whether"};
constinit choice_knob colour{"WEFT_TEST_COLOUR", 1, colours, "which"};
constinit text_knob file{"WEFT_TEST_FILE", nullptr, "where"};
const knob_list listed{count, size, flag, colour, file};

// What the knob prints on stderr while the environment says `spelling`.
std::string read_with(knob& subject, const char* spelling) {
  testing::internal::CaptureStderr();
  if (spelling == nullptr) {
    ::unsetenv(subject.name());
  } else {
    ::setenv(subject.name(), spelling, 1);
  }
  subject.reset();
  subject.changed();
  return testing::internal::GetCapturedStderr();
}

TEST(knob, default_without_environment) {
  EXPECT_EQ(read_with(count, nullptr), "");
  EXPECT_EQ(count.get(), 7);
  EXPECT_FALSE(count.changed());
  EXPECT_EQ(read_with(count, ""), "");
  EXPECT_EQ(count.get(), 7);
}

TEST(knob, integer_reads_decimal_and_hex_within_its_range) {
  EXPECT_EQ(read_with(count, "100"), "");
  EXPECT_EQ(count.get(), 100);
  EXPECT_TRUE(count.changed());
  EXPECT_EQ(read_with(count, "0x10"), "");
  EXPECT_EQ(count.get(), 16);
}

TEST(knob, bad_integers_warn_once_and_keep_the_default) {
  for (const char* bad : {"0", "101", "-1", "x", "12x", "5K", "99999999999999999999", " "}) {
    const std::string said = read_with(count, bad);
    EXPECT_EQ(said, std::string{"weft: WEFT_TEST_COUNT="} + bad + " is not one of 1..100; using 7\n");
    EXPECT_EQ(count.get(), 7);
    EXPECT_FALSE(count.changed());
  }
}

TEST(knob, sizes_take_suffixes) {
  read_with(size, "64K");
  EXPECT_EQ(size.get(), 65536);
  read_with(size, "2m");
  EXPECT_EQ(size.get(), 2 << 20);
  read_with(size, "3G");
  EXPECT_EQ(size.get(), std::int64_t{3} << 30);
  EXPECT_NE(read_with(size, "9223372036854775807K"), "");
  EXPECT_NE(read_with(size, "64KB"), "");
  EXPECT_EQ(size.get(), 4096);
}

TEST(knob, boolean_spellings) {
  for (const char* off : {"0", "off", "no", "FALSE"}) {
    EXPECT_EQ(read_with(flag, off), "");
    EXPECT_FALSE(flag.get());
  }
  for (const char* on : {"1", "On", "yes", "true"}) {
    EXPECT_EQ(read_with(flag, on), "");
    EXPECT_TRUE(flag.get());
  }
  EXPECT_NE(read_with(flag, "2"), "");
  EXPECT_TRUE(flag.get());
}

TEST(knob, choice_by_word) {
  EXPECT_EQ(read_with(colour, "RED"), "");
  EXPECT_EQ(colour.get(), 0U);
  EXPECT_STREQ(colour.word(), "red");
  EXPECT_EQ(read_with(colour, "blue"), "weft: WEFT_TEST_COLOUR=blue is not one of red|green; using green\n");
}

TEST(knob, text_may_be_absent) {
  read_with(file, nullptr);
  EXPECT_EQ(file.get(), nullptr);
  read_with(file, "/tmp/x");
  EXPECT_STREQ(file.get(), "/tmp/x");
}

TEST(knob, a_program_overrides_the_environment_within_the_range) {
  read_with(count, "50");
  count.set(1000);
  EXPECT_EQ(count.get(), 100);
  count.set(-5);
  EXPECT_EQ(count.get(), 1);
  EXPECT_TRUE(count.changed());
}

TEST(knob, first_reads_from_many_kernel_threads_agree_and_warn_once) {
  ::setenv("WEFT_TEST_COUNT", "wrong", 1);
  count.reset();
  testing::internal::CaptureStderr();
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 8; ++reader) {
    readers.emplace_back([] { EXPECT_EQ(count.get(), 7); });
  }
  for (std::thread& reader : readers) {
    reader.join();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "weft: WEFT_TEST_COUNT=wrong is not one of 1..100; using 7\n");
}

TEST(knob, print_all_is_sorted_and_marks_changes) {
  read_with(count, "8");
  read_with(flag, nullptr);
  char* text = nullptr;
  std::size_t bytes = 0;
  std::FILE* out = ::open_memstream(&text, &bytes);
  print_all(out);
  std::fclose(out);
  const std::string all{text, bytes};
  std::free(text);
  EXPECT_NE(all.find("* WEFT_TEST_COUNT=8  # how many; 1..100; default 7\n"), std::string::npos) << all;
  EXPECT_NE(all.find("  WEFT_TEST_FLAG=1  # whether; 0|1; default 1\n"), std::string::npos) << all;
  EXPECT_LT(all.find("WEFT_PRINT_CONFIG"), all.find("WEFT_TEST_COLOUR"));
  EXPECT_LT(all.find("WEFT_TEST_COLOUR"), all.find("WEFT_TEST_COUNT"));
}

} // namespace
