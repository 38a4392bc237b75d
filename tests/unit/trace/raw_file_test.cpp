// SPDX-License-Identifier: MIT
#include "weft/trace/raw_file.hpp"

#include "tests/unit/trace/example.hpp"
#include "weft/trace/file_form.hpp"
#include "weft/trace/output_file.hpp"
#include "weft/trace/summary.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <unistd.h>

namespace {

using namespace weft::trace;

class raw_file_test : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "weft_raw_" + std::to_string(::getpid()) + ".weft";
    ASSERT_EQ(write_in_form_of(path_.c_str(), example_.all()), 0);
    bytes_.resize(std::filesystem::file_size(path_) / 8);
    std::ifstream in(path_, std::ios::binary);
    in.read(reinterpret_cast<char*>(bytes_.data()), static_cast<std::streamsize>(bytes_.size() * 8));
  }
  void TearDown() override { std::filesystem::remove(path_); }

  // What parse_raw() says of the first `count` bytes, in memory of just that size; "" if they are a trace.
  std::string said_of(std::size_t count) const {
    std::vector<std::uint64_t> exact((count + 7) / 8);
    auto* begin = reinterpret_cast<std::byte*>(exact.data());
    std::copy_n(reinterpret_cast<const std::byte*>(bytes_.data()), count, begin);
    recording result;
    const char* wrong = parse_raw({begin, count}, result);
    if (wrong != nullptr) {
      return wrong;
    }
    static_cast<void>(to_text(summarise(result))); // whatever it is, it can be looked at
    return "";
  }
  [[nodiscard]] std::size_t size() const { return bytes_.size() * 8; }
  template <class T>
  T& at(std::size_t offset) {
    return *reinterpret_cast<T*>(reinterpret_cast<std::byte*>(bytes_.data()) + offset);
  }

  test::example example_;
  std::string path_;
  std::vector<std::uint64_t> bytes_;
};

constexpr std::size_t counters_end = sizeof(raw_header) + 12 * sizeof(raw_counter);

TEST_F(raw_file_test, holds_all_that_was_recorded) {
  const recording before = example_.all();
  const recording after = read_raw(path_.c_str());
  EXPECT_EQ(std::filesystem::file_size(path_), raw_bytes(before));
  EXPECT_EQ(after.begin_ns, before.begin_ns);
  EXPECT_EQ(after.end_ns, before.end_ns);
  EXPECT_EQ(after.process, 42);
  EXPECT_STREQ(after.program, "example");
  EXPECT_EQ(after.totals.steals, 5u);
  EXPECT_EQ(after.totals.parks, 1u);
  ASSERT_EQ(after.tracks.size(), before.tracks.size());
  for (std::size_t t = 0; t < after.tracks.size(); ++t) {
    EXPECT_EQ(after.tracks[t].id, before.tracks[t].id);
    EXPECT_EQ(after.tracks[t].number, before.tracks[t].number);
    EXPECT_EQ(after.tracks[t].outside, before.tracks[t].outside);
    ASSERT_EQ(after.tracks[t].size(), before.tracks[t].size());
    for (std::size_t i = 0; i < after.tracks[t].size(); ++i) {
      EXPECT_EQ(std::memcmp(&after.tracks[t].at(i), &before.tracks[t].at(i), sizeof(record)), 0)
          << t << ' ' << i;
    }
  }
  EXPECT_STREQ(after.tracks[0].name_of(run_argument(thread_kind, 2)), "writer");
  EXPECT_EQ(after.tracks[0].name_of(run_argument(thread_kind, 3)), nullptr);
}

TEST_F(raw_file_test, one_that_is_cut_is_refused_wherever_it_was_cut) {
  EXPECT_EQ(said_of(size()), "");
  for (std::size_t count = 0; count < size(); ++count) {
    ASSERT_NE(said_of(count), "") << count << " of " << size();
  }
}

TEST_F(raw_file_test, says_what_is_wrong) {
  const auto damaged = [&](auto change) {
    const auto whole = bytes_;
    change();
    const std::string said = said_of(size());
    bytes_ = whole;
    return said;
  };
  auto& h = at<raw_header>(0);
  auto& t = at<raw_track>(counters_end);
  auto& first = at<record>(counters_end + sizeof t + 2 * sizeof(name_entry));
  ASSERT_EQ(t.events, 10u);
  EXPECT_NE(damaged([&] { h.magic[0] = 'W'; }).find("does not begin"), std::string::npos);
  EXPECT_NE(damaged([&] { h.order = 0x04030201; }).find("byte order"), std::string::npos);
  EXPECT_NE(damaged([&] { h.version = 2; }).find("version"), std::string::npos);
  EXPECT_NE(damaged([&] { h.record_bytes = 32; }).find("version"), std::string::npos);
  EXPECT_NE(damaged([&] { h.end_ns = h.begin_ns - 1; }).find("header"), std::string::npos);
  EXPECT_NE(damaged([&] { std::memset(h.program, 'x', sizeof h.program); }).find("header"),
            std::string::npos);
  EXPECT_NE(damaged([&] { h.counters = ~0U; }).find("counters"), std::string::npos);
  EXPECT_NE(damaged([&] { h.tracks = ~0U; }).find("within a track"), std::string::npos);
  EXPECT_NE(damaged([&] { h.tracks = 1; }).find("follows"), std::string::npos);
  EXPECT_NE(damaged([&] { t.events = ~std::uint64_t{0}; }).find("within a track"), std::string::npos);
  EXPECT_NE(damaged([&] { t.events = ~std::uint64_t{0} / sizeof(record) + 2; }).find("within"),
            std::string::npos);
  EXPECT_NE(damaged([&] { t.names = ~0U; }).find("within a track"), std::string::npos);
  EXPECT_NE(damaged([&] { t.id = 4; }).find("order"), std::string::npos);
  EXPECT_NE(damaged([&] { first.what = static_cast<event>(event_count); }).find("does not exist"),
            std::string::npos);
  EXPECT_NE(damaged([&] { first.time_ns = 999; }).find("times"), std::string::npos);
  EXPECT_NE(damaged([&] { first.time_ns = 11'001; }).find("times"), std::string::npos);
  EXPECT_EQ(damaged([&] { first.argument = ~0U; }), "") << "a name that is not there counts as none";
}

// Under AddressSanitizer this is what looks for a read beyond the bytes.
TEST_F(raw_file_test, survives_what_chance_makes_of_it) {
  std::mt19937 random(3);
  const auto whole = bytes_;
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    bytes_ = whole;
    for (unsigned changes = 1 + random() % 4; changes != 0; --changes) {
      at<std::uint8_t>(random() % size()) = static_cast<std::uint8_t>(random());
    }
    refused += said_of(size() - (random() % 4 == 0 ? random() % size() : 0)) != "";
  }
  EXPECT_GT(refused, 1'000);
  EXPECT_LT(refused, 20'000) << "nothing that is damaged a little was ever looked at";
}

TEST_F(raw_file_test, a_file_that_is_none_is_named) {
  const auto said = [](const std::string& path) -> std::string {
    try {
      static_cast<void>(read_raw(path.c_str()));
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(
      said("/nonexistent-folder/x.weft").find("/nonexistent-folder/x.weft cannot be read: No such file"),
      std::string::npos);
  EXPECT_NE(said("/").find("/ cannot be read: Is a directory"), std::string::npos);
  std::ofstream(path_) << "This is a text, and long enough for a header: " << std::string(200, '.');
  EXPECT_NE(said(path_).find(path_ + " is no raw trace: it does not begin"), std::string::npos)
      << said(path_);
  std::ofstream(path_, std::ios::trunc).flush();
  EXPECT_NE(said(path_).find("too short"), std::string::npos);
}

} // namespace
