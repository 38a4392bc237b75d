// SPDX-License-Identifier: MIT
#include "weft/door/caller.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "weft/door/section.hpp"
#include "weft/thread.hpp"

namespace {

using weft::door::caller;

caller ask() {
  const weft::door::runtime_section in_runtime;
  return weft::door::who();
}

TEST(door_caller, is_told_apart) {
  caller thread{};
  caller tasklet{};
  caller foreign{};
  weft::thread([&] { thread = ask(); }).join();
  weft::tasklet([&] { tasklet = ask(); }).join();
  std::thread([&] { foreign = ask(); }).join();
  EXPECT_EQ(thread, caller::thread);
  EXPECT_EQ(tasklet, caller::tasklet);
  EXPECT_EQ(foreign, caller::foreign);
}

TEST(door_caller, a_tasklet_may_not_wait) {
  bool thread = false;
  bool tasklet = true;
  bool foreign = false;
  weft::thread([&] { thread = weft::door::may_wait(); }).join();
  weft::tasklet([&] { tasklet = weft::door::may_wait(); }).join();
  std::thread([&] { foreign = weft::door::may_wait(); }).join();
  EXPECT_TRUE(thread);
  EXPECT_FALSE(tasklet);
  EXPECT_TRUE(foreign);
}

TEST(door_caller, polls_until_it_is_done) {
  int left = 3;
  weft::door::poll_until([&] { return --left == 0; });
  EXPECT_EQ(left, 0);
}

} // namespace
