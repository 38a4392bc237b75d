// SPDX-License-Identifier: MIT
#include "tests/unit/trace/fixture.hpp"
#include "weft/trace/output_file.hpp"

#include <cerrno>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/wait.h>
#include <system_error>

namespace {

using namespace weft::trace;
using session_test = weft::trace::test::tracing;

std::error_code error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::system_error& e) {
    EXPECT_NE(std::string(e.what()).find("weft: "), std::string::npos) << e.what();
    return e.code();
  }
  return {};
}

TEST_F(session_test, turns_workers_on_and_off_also_late_ones) {
  test::fake_worker early(0);
  EXPECT_FALSE(early.tracing);
  session.start(path_);
  EXPECT_TRUE(session.active());
  EXPECT_TRUE(early.tracing);
  test::fake_worker late(1);
  EXPECT_TRUE(late.tracing);
  session.stop();
  EXPECT_FALSE(session.active());
  EXPECT_FALSE(early.tracing);
  EXPECT_FALSE(late.tracing);
  session.stop();
  EXPECT_EQ(early.switched, 2);
  test::fake_worker after(2);
  EXPECT_FALSE(after.tracing);
  EXPECT_EQ(after.switched, 0);
}

TEST_F(session_test, a_second_attach_changes_nothing) {
  test::fake_worker w(0);
  counters other;
  w.recorder.attach(9, other, [](void*, bool) { FAIL() << "the second owner is asked"; }, nullptr);
  session.start(path_);
  EXPECT_EQ(w.switched, 1);
  session.stop();
}

TEST_F(session_test, refuses_a_second_start_and_an_empty_path) {
  EXPECT_EQ(error_of([&] { session.start(""); }), std::errc::invalid_argument);
  EXPECT_FALSE(session.active());
  session.start(path_);
  EXPECT_EQ(error_of([&] { session.start(path_); }), std::errc::operation_in_progress);
  EXPECT_EQ(error_of([&] { session.write(); }), std::errc::operation_in_progress);
  EXPECT_TRUE(session.active());
  session.stop();
}

TEST_F(session_test, keeps_everything_until_a_path_works) {
  test::fake_worker w(0);
  session.start("/nonexistent-folder/trace.json");
  w.note(event::run, 0x10);
  w.note(event::stop_end, 0x10);
  session.stop();
  try {
    session.write();
    ADD_FAILURE() << "wrote into a folder that does not exist";
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code().value(), ENOENT);
    EXPECT_NE(std::string(e.what()).find("/nonexistent-folder/trace.json"), std::string::npos) << e.what();
  }
  EXPECT_EQ(session.kept(), 2u);
  EXPECT_EQ(error_of([&] { session.start(path_); }), std::errc::device_or_resource_busy);
  EXPECT_EQ(error_of([&] { session.write("/dev/full"); }).value(), ENOSPC);
  EXPECT_EQ(session.kept(), 2u);
  session.write(path_);
  EXPECT_EQ(session.kept(), 0u);
  EXPECT_EQ(test::contents(path_)["stop end"], 1);
}

TEST_F(session_test, sessions_do_not_mix) {
  test::fake_worker w(0);
  for (int i = 1; i <= 3; ++i) {
    session.start(path_);
    for (int k = 0; k < i; ++k) {
      w.note(event::steal, 0x10, 1);
    }
    session.stop();
    session.write();
    EXPECT_EQ(test::contents(path_)["steal"], i);
  }
}

TEST_F(session_test, a_child_of_fork_starts_anew) {
  test::fake_worker w(0);
  session.start(path_);
  w.note(event::run, 0x10);
  const pid_t child = ::fork();
  if (child == 0) {
    bool good = !session.active() && session.kept() == 0;
    w.recorder.add(event::run, &w); // its switch is still on
    session.stop();
    good = good && session.kept() == 0;
    w.recorder.attach(0, w.counters, [](void*, bool) {}, &w);
    session.start(path_ + ".child");
    w.recorder.add(event::run, &w);
    session.stop();
    good = good && session.kept() == 1;
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(session.active());
  session.stop();
  EXPECT_EQ(session.kept(), 1u);
  session.discard();
}

// What a program does that knows nothing of tracing: its workers attach, and it returns from main. Run in a
// process of its own by the tests below, since the variable is read once a process.
TEST(program, DISABLED_with_one_worker) {
  static test::fake_worker w(0); // lives longer than the handler at exit
  w.note(event::run, 0x10);
  w.note(event::stop_end, 0x10);
  std::exit(w.tracing ? 0 : 7);
}

// The program's exit status; what it prints goes to `output`.
int run_program(const std::string& file, const std::string& output) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command = "WEFT_TRACE='" + file + "' WEFT_TRACE_EVENTS=16 '" + self +
                              "' --gtest_also_run_disabled_tests --gtest_filter=program.* >'" + output +
                              "' 2>&1";
  return WEXITSTATUS(std::system(command.c_str()));
}

TEST_F(session_test, the_environment_traces_a_whole_run) {
  EXPECT_EQ(run_program(path_, "/dev/null"), 0);
  auto found = test::contents(path_);
  EXPECT_EQ(found["stop end"], 1);
  EXPECT_EQ(found["workers"], 1);
}

TEST_F(session_test, a_bad_path_in_the_environment_is_said_and_no_error_of_the_program) {
  EXPECT_EQ(run_program("/nonexistent-folder/trace.json", path_), 7);
  std::ifstream in(path_);
  const std::string said((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_NE(said.find("WEFT_TRACE=/nonexistent-folder/trace.json: No such file"), std::string::npos) << said;
}

TEST(output_file, tells_the_first_error_at_the_end) {
  output_file missing;
  EXPECT_EQ(missing.create("/nonexistent-folder/x"), ENOENT);
  missing.print("x");
  EXPECT_EQ(missing.close(), ENOENT);
  output_file full;
  EXPECT_EQ(full.create("/dev/full"), 0);
  for (int i = 0; i < 100'000; ++i) {
    full.print("%d ", i);
  }
  EXPECT_EQ(full.close(), ENOSPC);
}

} // namespace
