// SPDX-License-Identifier: MIT
#include "weft/trace/ring.hpp"
#include "weft/trace/timeline.hpp"

#include "tests/unit/trace/fixture.hpp"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <initializer_list>
#include <memory>
#include <sstream>
#include <vector>

namespace {

using namespace weft::trace;

struct ring_deleter {
  void operator()(ring* r) const { ring::free(r); }
};

class timeline_test : public weft::trace::test::tracing {
 protected:
  // Times are nanoseconds after the session's start.
  void record(std::initializer_list<record> events, std::size_t capacity = 64) {
    if (ring_ == nullptr) {
      ring_.reset(ring::make(capacity));
      ring_->number = 5;
    }
    for (auto e : events) {
      e.time_ns += begin;
      ring_->append(e);
    }
  }
  void write() {
    recording all;
    all.begin_ns = begin;
    all.end_ns = begin + 10'000;
    std::strcpy(all.program, "a \"program\"");
    if (ring_ != nullptr) {
      all.tracks.push_back(
          {ring_->number, 5, false, ring_->dropped(), ring_->older(), ring_->newer(), names_});
    }
    all.tracks.push_back({7, 9, false, 0, {}, {}, {}}); // a worker that others steal from
    ASSERT_EQ(write_timeline(path_.c_str(), all), 0);
    std::ifstream in(path_);
    std::ostringstream text;
    text << in.rdbuf();
    text_ = text.str();
    found_ = test::contents(path_);
  }
  [[nodiscard]] bool has(const std::string& part) const { return text_.find(part) != std::string::npos; }

  static constexpr std::int64_t begin = 1'000'000'000'000;
  std::unique_ptr<ring, ring_deleter> ring_;
  std::vector<name_entry> names_;
  std::string text_;
  std::map<std::string, long> found_;
};

TEST_F(timeline_test, an_empty_one_is_a_timeline) {
  write();
  EXPECT_EQ(found_["workers"], 1);
  EXPECT_TRUE(has(R"(a \"program\")"));
}

TEST_F(timeline_test, a_stretch_for_each_run_and_each_sleep) {
  record({{100, 0xa, thread_kind, event::run},
          {1'350, 0xa, 0, event::stop_yield},
          {1'400, 0xb, tasklet_kind, event::run},
          {1'500, 0xb, 0, event::stop_end},
          {1'600, 0xa, thread_kind, event::run},
          {1'700, 0xa, 0, event::stop_wait},
          {2'000, 0, 0, event::park},
          {4'001, 0, 0, event::unpark},
          {4'100, 0xc, 9, event::steal},
          {4'150, 0xc, no_track, event::steal},
          {4'200, 0xc, 0, event::migrate}});
  write();
  EXPECT_EQ(found_["thread"], 2);
  EXPECT_EQ(found_["tasklet"], 1);
  EXPECT_EQ(found_["parked"], 1);
  EXPECT_EQ(found_["steal"], 2);
  EXPECT_EQ(found_["migrate"], 1);
  EXPECT_EQ(found_["stop yield"], 1);
  EXPECT_EQ(found_["stop wait"], 1);
  EXPECT_EQ(found_["stop end"], 1);
  EXPECT_EQ(found_["kept events"], 11);
  EXPECT_TRUE(
      has(R"("ts":0.100,"cat":"unit","dur":1.250,"args":{"unit":"0xa","kind":"thread","stop":"yield"})"));
  EXPECT_TRUE(has(R"("name":"parked","ts":2.000,"cat":"worker","dur":2.001})"));
  EXPECT_TRUE(has(R"("args":{"unit":"0xc","from_worker":7})"));
  EXPECT_TRUE(has(R"("args":{"unit":"0xc"}})"));
  EXPECT_TRUE(has(R"("name":"worker 5")"));
}

TEST_F(timeline_test, a_stretch_is_called_as_its_unit_is) {
  names_ = {{"reader"}, {"a \"quoted\" one"}};
  record({{100, 0xa, run_argument(thread_kind, 1), event::run},
          {200, 0xa, 0, event::stop_yield},
          {300, 0xb, run_argument(tasklet_kind, 2), event::run},
          {400, 0xb, 0, event::stop_end},
          {500, 0xa, run_argument(thread_kind, 3), event::run}, // no such name
          {600, 0xa, 0, event::stop_end}});
  write();
  EXPECT_EQ(found_["reader"], 1);
  EXPECT_EQ(found_["thread"], 1);
  EXPECT_TRUE(has(R"("name":"a \"quoted\" one")"));
  EXPECT_TRUE(has(R"("kind":"tasklet")"));
}

TEST_F(timeline_test, searches_and_instants) {
  record({{100, 0, 0, event::search},
          {200, 0, 0, event::park},
          {300, 0, 0, event::unpark},
          {400, 0xa, 0, event::create},
          {500, 0xa, 0, event::ready},
          {600, 0xa, 0, event::join},
          {700, 0x10, 3, event::lock_wait},
          {800, 0x10, 4, event::lock_pass},
          {900, 0x10, 3, event::lock_got},
          {1'000, 0xa, 0, event::run}});
  write();
  EXPECT_EQ(found_["searching"], 2); // before it slept, and after
  EXPECT_TRUE(has(R"("name":"searching","ts":0.300,"cat":"worker","dur":0.700})"));
  for (const char* name : {"create", "ready", "join", "lock wait", "lock pass", "lock got"}) {
    EXPECT_EQ(found_[name], 1) << name;
  }
  EXPECT_TRUE(has(R"("name":"lock wait","ts":0.700,"cat":"lock","s":"t","args":{"lock":"0x10"}})"));
}

TEST_F(timeline_test, what_ran_before_begins_at_the_start) {
  record({{500, 0xa, 0, event::stop_wait}});
  write();
  EXPECT_TRUE(has(R"("name":"thread","ts":0.000,"cat":"unit","dur":0.500)"));
}

TEST_F(timeline_test, a_sleep_from_before_begins_at_the_start) {
  record({{700, 0, 0, event::unpark}});
  write();
  EXPECT_TRUE(has(R"("name":"parked","ts":0.000,"cat":"worker","dur":0.700})"));
}

TEST_F(timeline_test, what_goes_on_ends_at_the_end) {
  record({{500, 0xa, thread_kind, event::run}});
  write();
  EXPECT_TRUE(has(
      R"("ts":0.500,"cat":"unit","dur":9.500,"args":{"unit":"0xa","kind":"thread","stop":"still running"})"));
}

TEST_F(timeline_test, missing_events_never_make_stretches_overlap) {
  record({{100, 0xa, thread_kind, event::run},
          {200, 0xb, thread_kind, event::run},
          {300, 0xc, 0, event::stop_end},
          {400, 0, 0, event::park},
          {500, 0xd, thread_kind, event::run},
          {600, 0, 0, event::unpark},
          {700, 0xd, 0, event::stop_end}});
  write();
  EXPECT_EQ(found_["stop not recorded"], 3);
  EXPECT_EQ(found_["stop end"], 2);
}

TEST_F(timeline_test, dropped_events_are_told_and_nothing_is_made_up_before_the_oldest) {
  for (std::uint64_t i = 0; i < 20; ++i) {
    record({{100 * i, 0xa, 0, i % 2 == 0 ? event::run : event::stop_yield}}, 16);
  }
  write();
  EXPECT_EQ(found_["dropped events"], 4);
  EXPECT_EQ(found_["dropped"], 1);
  EXPECT_TRUE(has(R"("name":"dropped","ts":0.400,"cat":"trace","s":"t","args":{"events":4})"));
  EXPECT_EQ(found_["thread"], 8);
}

} // namespace
