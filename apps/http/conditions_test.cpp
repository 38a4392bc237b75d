// SPDX-License-Identifier: MIT
// Conditions and ranges (RFC 9110, 13 and 14), and the dates that they compare.
#include "apps/http/conditions.hpp"
#include "apps/http/date.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace weft::http {
namespace {

constexpr std::time_t then = 784111777;
constexpr std::string_view then_text = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr std::string_view before = "Sun, 06 Nov 1994 08:49:36 GMT";
constexpr std::string_view later = "Sunday, 06-Nov-94 08:49:38 GMT";

representation a_file(std::uint64_t size = 100) {
  return {"\"t\"", then_text, then, size};
}

request conditional(method m = method::get) {
  request r;
  r.method = m;
  r.is_conditional = true;
  return r;
}

part ranged(std::string_view range, std::uint64_t size = 100, std::string_view if_range = {}) {
  request r = conditional();
  r.range = range;
  r.if_range = if_range;
  return evaluate(r, a_file(size));
}

testing::AssertionResult is_part(const part& p, std::uint64_t first, std::uint64_t size) {
  if (p.status == 206 && p.first == first && p.size == size)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << p.status << ": " << p.size << " bytes from " << p.first;
}

TEST(http_ranges, one) {
  EXPECT_TRUE(is_part(ranged("bytes=0-0"), 0, 1));
  EXPECT_TRUE(is_part(ranged("bytes=10-19"), 10, 10));
  EXPECT_TRUE(is_part(ranged("Bytes= 10-19 "), 10, 10));
  EXPECT_TRUE(is_part(ranged("bytes=90-"), 90, 10));
  EXPECT_TRUE(is_part(ranged("bytes=90-1000"), 90, 10));
  EXPECT_TRUE(is_part(ranged("bytes=0-99999999999999999999999"), 0, 100));
  EXPECT_TRUE(is_part(ranged("bytes=-1"), 99, 1));
  EXPECT_TRUE(is_part(ranged("bytes=-1000"), 0, 100));
}

TEST(http_ranges, none_is_there) {
  for (const char* range : {"bytes=100-", "bytes=100-200", "bytes=-0", "bytes=99999999999999999999999-"})
    EXPECT_EQ(ranged(range).status, 416) << range;
  EXPECT_EQ(ranged("bytes=0-", 0).status, 416);
  EXPECT_EQ(ranged("bytes=-5", 0).status, 200);
}

TEST(http_ranges, those_that_are_as_if_not_there) {
  for (const char* range :
       {"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-4", "bytes=1-2,5-6", "bytes=0-0,-1",
        "lines=1-2", "bytes=1-2x", "bytes=1 -2", "bytes=--1", "bytes=+1-2", "bytes 1-2"}) {
    const part p = ranged(range);
    EXPECT_EQ(p.status, 200) << range;
    EXPECT_EQ(p.size, 100U) << range;
  }
  request head = conditional(method::head); // RFC 9110, 14.2
  head.range = "bytes=0-0";
  EXPECT_EQ(evaluate(head, a_file()).status, 200);
}

TEST(http_ranges, if_it_is_the_same) {
  EXPECT_EQ(ranged("bytes=0-0", 100, "\"t\"").status, 206);
  EXPECT_EQ(ranged("bytes=0-0", 100, then_text).status, 206);
  for (const std::string_view other : {std::string_view("\"u\""), std::string_view("W/\"t\""), before, later,
                                       std::string_view("?"), std::string_view("*")})
    EXPECT_EQ(ranged("bytes=0-0", 100, other).status, 200) << other;
  EXPECT_EQ(ranged("bytes=100-", 100, "\"u\"").status, 200);
}

int with(std::string_view match, std::string_view none_match, std::string_view unmodified,
         std::string_view modified, const representation& what = a_file()) {
  request r = conditional();
  r.if_match = match;
  r.if_none_match = none_match;
  r.if_unmodified_since = unmodified;
  r.if_modified_since = modified;
  return evaluate(r, what).status;
}

TEST(http_conditions, tags) {
  EXPECT_EQ(with("\"t\"", "", "", ""), 200);
  EXPECT_EQ(with("*", "", "", ""), 200);
  EXPECT_EQ(with("\"a,b\" ,\"t\"", "", "", ""), 200);
  for (const char* tags : {"\"u\"", "W/\"t\"", "t", ",", "\"t", "\"\"t\"\""})
    EXPECT_EQ(with(tags, "", "", ""), 412) << tags;
  for (const char* tags : {"\"t\"", "W/\"t\"", "*", "\"u\", W/\"t\"", ",,\"t\"", "\"a,b\",\"t\""})
    EXPECT_EQ(with("", tags, "", ""), 304) << tags;
  for (const char* tags : {"\"u\"", "w/\"t\"", ",", "\"x\"t\"", "\",\"t"})
    EXPECT_EQ(with("", tags, "", ""), 200) << tags;
}

TEST(http_conditions, dates) {
  EXPECT_EQ(with("", "", then_text, ""), 200);
  EXPECT_EQ(with("", "", later, ""), 200);
  EXPECT_EQ(with("", "", before, ""), 412);
  EXPECT_EQ(with("", "", "no date", ""), 200);
  EXPECT_EQ(with("", "", "", then_text), 304);
  EXPECT_EQ(with("", "", "", later), 304);
  EXPECT_EQ(with("", "", "", before), 200);
  EXPECT_EQ(with("", "", "", "no date"), 200);
}

TEST(http_conditions, tags_go_before_dates) {
  EXPECT_EQ(with("\"t\"", "", before, ""), 200);
  EXPECT_EQ(with("", "\"u\"", "", later), 200);
  EXPECT_EQ(with("\"u\"", "\"t\"", "", ""), 412);
}

TEST(http_conditions, of_what_has_neither) {
  const representation bare{{}, {}, 0, 13};
  EXPECT_EQ(with("\"t\"", "", "", "", bare), 412);
  EXPECT_EQ(with("*", "", "", "", bare), 200);
  EXPECT_EQ(with("", "*", "", "", bare), 304);
  EXPECT_EQ(with("", "", before, later, bare), 200);
}

TEST(http_dates, three_forms) {
  for (const char* text :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"})
    EXPECT_EQ(parse_date(text), then) << text;
  EXPECT_EQ(parse_date("Tue, 29 Feb 2000 00:00:00 GMT"), 951782400);
  EXPECT_EQ(parse_date("Sat, 31 Dec 2016 23:59:60 GMT"), 1483228800); // a leap second
}

TEST(http_dates, none) {
  for (const char* text :
       {"", "0", "Sun", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Son, 06 Nov 1994 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Someday, 06-Nov-94 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 199x 08:49:37 GMT",
        "Sun, 06 unN 1994 08:49:37 GMT"})
    EXPECT_EQ(parse_date(text), std::nullopt) << text;
}

} // namespace
} // namespace weft::http
