// SPDX-License-Identifier: MIT
#include "weft/os/affinity.hpp"
#include "weft/os/fault.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/os/signal.hpp"

#include <cerrno>
#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <unistd.h>

namespace {

using namespace weft::os;

struct facts {
  pid_t id = 0;
  std::string name;
  void* low = nullptr;
  std::size_t bytes = 0;
  std::uintptr_t local = 0;
  sigset_t mask = {};
};

void* collect(void* argument) {
  auto& seen = *static_cast<facts*>(argument);
  seen.id = this_kernel_thread_id();
  name_this_kernel_thread("a name longer than fifteen");
  char name[32] = {};
  ::pthread_getname_np(::pthread_self(), name, sizeof name);
  seen.name = name;
  this_kernel_thread_stack(&seen.low, &seen.bytes);
  seen.local = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  ::pthread_sigmask(SIG_SETMASK, nullptr, &seen.mask);
  return nullptr;
}

TEST(kernel_thread, runs_with_name_stack_and_the_creators_mask) {
  sigset_t old;
  ASSERT_EQ(block_all_signals(&old), 0);
  facts seen;
  kernel_thread started;
  const int error = started.start(collect, &seen, 1 << 20);
  restore_signal_mask(old);
  ASSERT_EQ(error, 0);
  ASSERT_EQ(started.join(), 0);
  EXPECT_NE(seen.id, 0);
  EXPECT_NE(seen.id, this_kernel_thread_id());
  EXPECT_EQ(seen.name, "a name longer t");
  EXPECT_GE(seen.bytes, std::size_t{1} << 19);
  EXPECT_GE(seen.local, reinterpret_cast<std::uintptr_t>(seen.low));
  EXPECT_LT(seen.local, reinterpret_cast<std::uintptr_t>(seen.low) + seen.bytes);
  EXPECT_EQ(sigismember(&seen.mask, SIGUSR1), 1);
}

TEST(kernel_thread, tiny_stacks_are_rounded_up) {
  facts seen;
  kernel_thread started;
  ASSERT_EQ(started.start(collect, &seen, 1), 0);
  ASSERT_EQ(started.join(), 0);
  EXPECT_GT(seen.bytes, 4096U);
}

TEST(kernel_thread, runs_on_a_stack_that_is_given) {
  guarded_stack stack;
  ASSERT_EQ(stack.allocate(kernel_thread::default_stack_bytes()), 0);
  kernel_thread t;
  void* local = nullptr;
  ASSERT_EQ(t.start(
                [](void* where) -> void* {
                  *static_cast<void**>(where) = __builtin_frame_address(0);
                  return nullptr;
                },
                &local, stack),
            0);
  EXPECT_EQ(t.join(), 0);
  EXPECT_GT(local, stack.low());
  EXPECT_LT(local, stack.top());
  stack.free();
  guarded_stack small;
  ASSERT_EQ(small.allocate(1), 0);
  EXPECT_EQ(t.start([](void*) -> void* { return nullptr; }, nullptr, small), EINVAL);
}

TEST(kernel_thread, a_stack_that_cannot_be_made_leaves_nothing) {
  for (const fault_site site : {fault_site::mmap, fault_site::mprotect}) {
    guarded_stack stack;
    fail_nth(site, 1, ENOMEM);
    EXPECT_EQ(stack.allocate(1 << 16), ENOMEM);
    disarm_faults();
    EXPECT_EQ(stack.low(), nullptr);
  }
}

TEST(kernel_thread, creation_can_be_made_to_fail) {
  facts seen;
  kernel_thread started;
  fail_nth(fault_site::thread_create, 1, EAGAIN);
  EXPECT_EQ(started.start(collect, &seen), EAGAIN);
  disarm_faults();
  EXPECT_EQ(seen.id, 0);
}

TEST(kernel_thread, main_is_the_process) {
  EXPECT_EQ(this_kernel_thread_id(), ::getpid());
}

TEST(affinity, can_be_narrowed_and_restored) {
  cpu_list before;
  ASSERT_EQ(current_affinity(before), 0);
  ASSERT_FALSE(before.empty());
  EXPECT_EQ(affinity_count(), static_cast<int>(before.size()));
  const cpu_list one{before.back()};
  ASSERT_EQ(set_affinity(one), 0);
  cpu_list now;
  EXPECT_EQ(current_affinity(now), 0);
  EXPECT_EQ(now, one);
  EXPECT_EQ(affinity_count(), 1);
  EXPECT_EQ(current_cpu(), one.front());
  EXPECT_EQ(set_affinity(before), 0);
  EXPECT_EQ(set_affinity({}), EINVAL);
  EXPECT_EQ(set_affinity({-1}), EINVAL);
  EXPECT_EQ(set_affinity({100000}), EINVAL);
}

volatile sig_atomic_t signals_seen = 0;
volatile std::uintptr_t handler_frame = 0;

void on_signal(int, siginfo_t*, void*) {
  signals_seen = signals_seen + 1;
  handler_frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

void on_signal_chaining(int number, siginfo_t* information, void* context) {
  struct sigaction old = {};
  old.sa_flags = SA_SIGINFO;
  old.sa_sigaction = on_signal;
  chain_signal(number, information, context, old);
}

TEST(signal, handlers_run_on_the_alternative_stack_and_chain) {
  const std::size_t bytes = signal_stack_bytes(16384);
  const auto stack = std::make_unique<char[]>(bytes);
  // A sanitizer's runtime gives the initial thread an alternative stack of its own.
  stack_t before = {};
  ::sigaltstack(nullptr, &before);
  clear_signal_stack();
  ASSERT_EQ(set_signal_stack(stack.get(), bytes), 0);
  EXPECT_EQ(set_signal_stack(stack.get(), bytes), EEXIST);
  struct sigaction old;
  ASSERT_EQ(set_signal_handler(SIGUSR1, on_signal_chaining, 0, nullptr, &old), 0);
  signals_seen = 0;
  ::raise(SIGUSR1);
  EXPECT_EQ(signals_seen, 1);
  EXPECT_GE(handler_frame, reinterpret_cast<std::uintptr_t>(stack.get()));
  EXPECT_LT(handler_frame, reinterpret_cast<std::uintptr_t>(stack.get()) + bytes);
  EXPECT_EQ(restore_signal_action(SIGUSR1, old), 0);
  EXPECT_EQ(clear_signal_stack(), 0);
  ::sigaltstack(&before, nullptr);
  EXPECT_EQ(set_signal_handler(SIGKILL, on_signal, 0, nullptr, nullptr), EINVAL);
}

TEST(signal_death, chaining_to_the_default_dies_of_the_signal) {
  EXPECT_EXIT(
      {
        set_signal_handler(
            SIGSEGV,
            [](int number, siginfo_t* information, void* context) {
              struct sigaction none = {};
              none.sa_handler = SIG_DFL;
              chain_signal(number, information, context, none);
              ::raise(number);
            },
            SA_NODEFER, nullptr, nullptr);
        ::raise(SIGSEGV);
      },
      testing::KilledBySignal(SIGSEGV), "");
}

} // namespace
