// SPDX-License-Identifier: MIT
#include "weft/memory/overflow.hpp"

#include "tests/unit/memory/on_stack.hpp"
#include "weft/memory/stack_cache.hpp"
#include "weft/memory/stack_slab.hpp"
#include "weft/os/mapping.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

namespace weft::memory {

// External linkage, so that dladdr may know it.
int dig_without_end(int depth) {
  volatile char frame[200];
  frame[0] = static_cast<char>(depth);
  frame[199] = frame[0];
  return depth < 0 ? 0 : dig_without_end(depth + 1) + frame[199];
}

namespace {

volatile int sink;
int* volatile nowhere = nullptr;
std::byte* volatile foreign_guard = nullptr;

void dig() {
  sink = dig_without_end(1);
}
__attribute__((no_sanitize("undefined"))) void dereference_null() {
  sink = *nowhere;
}
void touch_foreign_guard() {
  sink = static_cast<int>(*foreign_guard);
}

void name(void* owner, char* buffer, std::size_t bytes) {
  std::snprintf(buffer, bytes, "'%s' (dig)", static_cast<const char*>(owner));
}

void run(guard_mode mode, void (*function)(), void (*previous)(int) = SIG_DFL) {
  std::signal(SIGSEGV, previous); // whatever a sanitizer has put there
  std::signal(SIGBUS, SIG_DFL);
  stack_options options;
  options.default_size = 16 << 10;
  options.guard = mode;
  stack_depot depot{options};
  stack_cache cache{depot};
  stack_record* other = cache.allocate();
  foreign_guard = other->low - 8;
  stack_record* stack = cache.allocate();
  static char thread_name[] = "miner";
  stack->owner = thread_name;
  set_describe_function(name);
  if (install_handler() != 0 || install_alternate_stack() != 0) {
    std::exit(2);
  }
  testing::run_on(*stack, function);
  std::exit(3);
}

#define MESSAGE                                                                                              \
  "stack overflow in thread 'miner' \\(dig\\): its stack has 16384 bytes.*WEFT_STACK_SIZE.*stack_size"

TEST(overflow, is_named_with_madvise_guards) {
  if (!os::guards_supported()) {
    GTEST_SKIP() << "no MADV_GUARD_INSTALL here";
  }
  EXPECT_EXIT(run(guard_mode::madvise, dig), ::testing::KilledBySignal(SIGSEGV), MESSAGE);
}

TEST(overflow, is_named_with_mprotect_guards) {
  EXPECT_EXIT(run(guard_mode::mprotect, dig), ::testing::KilledBySignal(SIGSEGV), MESSAGE);
}

// Nothing at all is printed, except that ASan remarks on makecontext.
#define SILENCE "^(==[0-9]+==WARNING: ASan[^\n]*\n)?$"

TEST(overflow, a_null_dereference_is_not_one) {
  EXPECT_EXIT(run(guard_mode::automatic, dereference_null), ::testing::KilledBySignal(SIGSEGV), SILENCE);
}

TEST(overflow, a_wild_access_to_another_stacks_guard_is_not_one) {
  EXPECT_EXIT(run(guard_mode::automatic, touch_foreign_guard), ::testing::KilledBySignal(SIGSEGV), SILENCE);
}

TEST(overflow, a_signal_sent_by_kill_ends_the_process) {
  EXPECT_EXIT(run(guard_mode::automatic, [] { std::raise(SIGSEGV); }), ::testing::KilledBySignal(SIGSEGV),
              SILENCE);
}

void previous_handler(int) {
  std::fprintf(stderr, "previous handler\n");
  std::_Exit(7);
}

TEST(overflow, other_faults_go_to_the_previous_handler) {
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, previous_handler);
        install_handler();
        install_alternate_stack();
        dereference_null();
      },
      ::testing::ExitedWithCode(7), "previous handler");
}

TEST(overflow, is_told_to_the_previous_handler_as_well) {
  EXPECT_EXIT(run(guard_mode::automatic, dig, previous_handler), ::testing::ExitedWithCode(7),
              MESSAGE ".*\n.*previous handler");
}

void returning_handler(int) {
  std::fprintf(stderr, "returns\n");
}

// Once: the fault comes again, and then ends the process.
TEST(overflow, ends_the_process_if_the_previous_handler_returns) {
  EXPECT_EXIT(run(guard_mode::automatic, dig, returning_handler), ::testing::KilledBySignal(SIGSEGV),
              MESSAGE ".*\nreturns\n$");
}

TEST(overflow, remove_handler_restores) {
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, previous_handler);
        install_handler();
        remove_handler();
        std::exit(std::signal(SIGSEGV, SIG_DFL) == previous_handler ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(overflow, alternate_stacks_come_and_go) {
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(install_alternate_stack(), 0);
    EXPECT_EQ(install_alternate_stack(), 0) << "a second time does nothing";
    remove_alternate_stack();
  }
}

TEST(overflow, addresses_are_described) {
  char text[256];
  describe_address(reinterpret_cast<void*>(&std::abort), text, sizeof text);
  EXPECT_STREQ(text, "abort");
  describe_address(reinterpret_cast<void*>(16), text, sizeof text);
  EXPECT_STREQ(text, "0x10");
  describe_address(reinterpret_cast<void*>(&dig_without_end), text, sizeof text);
  EXPECT_NE(std::string{text}.find_first_of("+:"), std::string::npos) << text;
}

} // namespace
} // namespace weft::memory
