// SPDX-License-Identifier: MIT
// A process with shadow stacks (faked: fault_site::shadow_stack) is refused with a sentence by everything
// that would start workers, and nothing is left of the attempt.
#include <cerrno>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <system_error>

#include "weft/os/fault.hpp"
#include "weft/weft.hpp"

namespace {

class shadow_stack : public ::testing::Test {
 protected:
  void SetUp() override { weft::os::fail_after(weft::os::fault_site::shadow_stack, 0, ENOTSUP); }
  void TearDown() override { weft::os::disarm_faults(); }

  static void expect_refused(const std::function<void()>& operation) {
    try {
      operation();
      ADD_FAILURE() << "it was not refused";
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), std::errc::not_supported);
      EXPECT_NE(std::string(e.what()).find("weft: this process has a shadow stack"), std::string::npos)
          << e.what();
    }
  }
};

TEST_F(shadow_stack, is_refused_at_start_and_at_first_use) {
  expect_refused([] { weft::runtime::start({.workers = 2}); });
  expect_refused([] { weft::thread([] {}).join(); });
  EXPECT_FALSE(weft::runtime::running());
  weft::os::disarm_faults();
  weft::runtime::start({.workers = 2});
  weft::thread([] {}).join();
  EXPECT_TRUE(weft::runtime::stop());
}

TEST_F(shadow_stack, is_refused_by_a_group_of_ones_own) {
  weft::group_options o;
  o.workers = 2;
  expect_refused([&o] { const weft::worker_group g(o); });
  weft::os::disarm_faults();
  EXPECT_NO_THROW(const weft::worker_group g(o));
}

} // namespace
