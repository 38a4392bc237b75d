// SPDX-License-Identifier: MIT
#include "weft/trace/summary.hpp"

#include "tests/unit/trace/example.hpp"

#include <gtest/gtest.h>

namespace {

using namespace weft::trace;

class summary_test : public ::testing::Test {
 protected:
  test::example example_;
};

TEST_F(summary_test, an_empty_recording_has_nothing_to_say) {
  const summary s = summarise({});
  EXPECT_TRUE(s.workers.empty());
  EXPECT_NE(to_text(s).find("no worker did anything"), std::string::npos);
}

TEST_F(summary_test, tells_where_the_time_of_each_worker_went) {
  const summary s = summarise(example_.all());
  EXPECT_EQ(s.length_ns, 10'000u);
  EXPECT_EQ(s.events, 19u);
  ASSERT_EQ(s.workers.size(), 2u) << "the world outside is no worker";
  const worker_summary& first = s.workers[0];
  EXPECT_EQ(first.running_ns, 300u + 100u + 1'000u);
  EXPECT_EQ(first.searching_ns, 0u);
  EXPECT_EQ(first.parked_ns, 0u);
  EXPECT_EQ(first.loop_ns, 50u + 50u + 8'500u);
  EXPECT_EQ(first.runs, 3u);
  const worker_summary& second = s.workers[1];
  EXPECT_EQ(second.parked_ns, 600u + 7'500u) << "it slept when the recording began, and when it ended";
  EXPECT_EQ(second.searching_ns, 160u + 500u);
  EXPECT_EQ(second.running_ns, 1'000u);
  EXPECT_EQ(second.loop_ns, 240u);
}

TEST_F(summary_test, tells_how_long_ready_units_waited) {
  const summary s = summarise(example_.all());
  EXPECT_EQ(s.latency.created.count(), 1u); // b; the one from outside never ran
  EXPECT_EQ(s.latency.created.largest(), 250u);
  EXPECT_EQ(s.latency.yielded.count(), 1u);
  EXPECT_EQ(s.latency.yielded.largest(), 200u);
  EXPECT_EQ(s.latency.woken.count(), 1u); // on one worker, and ran on another
  EXPECT_EQ(s.latency.woken.largest(), 200u);
}

TEST_F(summary_test, tells_who_stole_from_whom) {
  const summary s = summarise(example_.all());
  ASSERT_EQ(s.steals.size(), 2u);
  EXPECT_EQ(s.steals[0], (std::vector<std::uint64_t>{0, 0, 0}));
  EXPECT_EQ(s.steals[1], (std::vector<std::uint64_t>{1, 0, 0}));
  example_.second[1].argument = no_track;
  EXPECT_EQ(summarise(example_.all()).steals[1], (std::vector<std::uint64_t>{0, 0, 1}));
}

TEST_F(summary_test, tells_which_locks_held_others_up_and_who_had_them) {
  const summary s = summarise(example_.all());
  ASSERT_EQ(s.locks.size(), 1u);
  const lock_summary& l = s.locks[0];
  EXPECT_EQ(l.address, test::example::lock);
  EXPECT_EQ(l.waits, 1u);
  EXPECT_EQ(l.waiting, 1u) << "the second wait went on at the end";
  EXPECT_EQ(l.total_ns, 400u + 9'100u);
  EXPECT_EQ(l.longest_ns, 9'100u);
  EXPECT_EQ(l.held_by, "reader");
}

TEST_F(summary_test, puts_units_of_one_name_together) {
  const summary s = summarise(example_.all());
  ASSERT_EQ(s.names.size(), 3u);
  EXPECT_EQ(s.names[0].name, "reader");
  EXPECT_EQ(s.names[0].runs, 2u);
  EXPECT_EQ(s.names[0].ended, 1u);
  EXPECT_EQ(s.names[0].running_ns, 1'300u);
  EXPECT_EQ(s.names[0].longest_ns, 1'000u);
  EXPECT_EQ(s.names[1].name, "(not known)");
  EXPECT_EQ(s.names[2].name, "writer");
}

TEST_F(summary_test, counts_from_the_oldest_event_where_some_are_missing) {
  recording all = example_.all();
  all.tracks[1].dropped = 7;
  const summary s = summarise(all);
  const worker_summary& w = s.workers[1];
  EXPECT_EQ(w.dropped, 7u);
  EXPECT_EQ(w.running_ns + w.searching_ns + w.parked_ns + w.loop_ns, 10'000u - 600u);
  EXPECT_EQ(s.dropped, 7u);
  EXPECT_NE(to_text(s).find("7 older ones were dropped"), std::string::npos);
}

TEST_F(summary_test, is_a_text_of_tables) {
  std::strcpy(example_.names[1].text, "\033[31mred\n");
  const std::string text = to_text(summarise(example_.all()));
  for (const char* part : {"example, process 42: 10.0 us, 19 events of 2 workers\n", "from ready to running",
                           "woken", "created", "yielded", "steals: thief", "0x10 ", "reader", "?[31mred?"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in\n" << text;
  }
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    EXPECT_LE(end - begin, 100u) << text.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST_F(summary_test, many_workers_have_a_list_of_pairs_in_place_of_a_matrix) {
  recording all = example_.all();
  for (unsigned i = 0; i < 40; ++i) {
    all.tracks.push_back({10 + i, 20 + i, false, 0, {}, {}, {}});
  }
  const std::string text = to_text(summarise(all));
  EXPECT_NE(text.find("the most frequent"), std::string::npos) << text;
  EXPECT_NE(text.find("1              0        1\n"), std::string::npos) << text;
}

} // namespace
