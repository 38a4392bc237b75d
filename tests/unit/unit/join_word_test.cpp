// SPDX-License-Identifier: MIT
#include "weft/unit/join_word.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "weft/unit/descriptor.hpp"

namespace weft::unit {
namespace {

class counting_joiner final : public joiner {
 public:
  void on_end() noexcept override { ++ended; }
  int ended = 0;
};

std::uintptr_t tagged(joiner& j) {
  return reinterpret_cast<std::uintptr_t>(&j) | join_word::object_tag;
}

TEST(join_word, nobody_waits) {
  join_word w;
  EXPECT_FALSE(w.has_ended());
  EXPECT_FALSE(w.is_detached());
  EXPECT_EQ(w.committed_waiter(), nullptr);
  EXPECT_EQ(w.finish(), join_word::none);
  EXPECT_TRUE(w.has_ended());
  descriptor waiter{};
  counting_joiner j;
  EXPECT_FALSE(w.wait(waiter)) << "it has ended";
  EXPECT_FALSE(w.wait_object(j));
  EXPECT_FALSE(w.detach()) << "the caller frees it";
  w.reset();
  EXPECT_FALSE(w.has_ended());
}

TEST(join_word, a_thread_waits) {
  join_word w;
  descriptor waiter{};
  descriptor late{};
  ASSERT_TRUE(w.wait(waiter));
  EXPECT_EQ(w.committed_waiter(), &waiter);
  EXPECT_FALSE(w.wait(late)) << "one waiter a unit";
  EXPECT_FALSE(w.detach());
  EXPECT_EQ(w.finish(), reinterpret_cast<std::uintptr_t>(&waiter));
  w.reset();
  w.wait_before_start(late);
  EXPECT_EQ(w.committed_waiter(), &late);
  w.finish_for_committed();
  EXPECT_TRUE(w.has_ended());
}

TEST(join_word, an_object_waits_and_gives_up) {
  join_word w;
  counting_joiner j;
  counting_joiner other;
  ASSERT_TRUE(w.wait_object(j));
  EXPECT_EQ(w.committed_waiter(), nullptr) << "it may withdraw";
  EXPECT_FALSE(w.withdraw(other));
  EXPECT_TRUE(w.withdraw(j));
  EXPECT_FALSE(w.withdraw(j));
  ASSERT_TRUE(w.wait_object(other));
  EXPECT_EQ(w.finish(), tagged(other));
  EXPECT_FALSE(w.withdraw(other)) << "too late";
}

TEST(join_word, detached) {
  join_word w;
  EXPECT_TRUE(w.detach());
  EXPECT_TRUE(w.is_detached());
  descriptor waiter{};
  EXPECT_FALSE(w.wait(waiter));
  EXPECT_EQ(w.finish(), join_word::detached);
}

// The end races with a withdrawal: exactly one of the two wins.
TEST(join_word, end_against_withdrawal) {
  for (int round = 0; round < 300; ++round) {
    join_word w;
    counting_joiner j;
    ASSERT_TRUE(w.wait_object(j));
    std::uintptr_t before = 0;
    std::thread ends([&] { before = w.finish(); });
    const bool withdrawn = w.withdraw(j);
    ends.join();
    EXPECT_EQ(before, withdrawn ? std::uintptr_t{join_word::none} : tagged(j));
  }
}

} // namespace
} // namespace weft::unit
