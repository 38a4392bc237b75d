// SPDX-License-Identifier: MIT
// A system call made by a function that makes any of them, as in glibc 2.41 and newer: its code does not say
// which one it is, and a tick that cuts it short is hidden all the same.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>

#include <chrono>

#include "tests/unit/preempt/cut_poll.hpp"
#include "tests/unit/preempt/fixture.hpp"
#include "weft/preempt/tick_sources.hpp"

#if defined(__x86_64__) && !defined(WEFT_ARCH_PORTABLE)

extern "C" long weft_test_call(long first, long second, long third, long fourth, long fifth, long sixth,
                               long number);

// The function above, and the one that makes the call for it, which is told the number as its first argument.
// The stack pointer stands elsewhere than where the frame begins, and registers are kept, as in libc.
asm(R"(
  .pushsection .text
  .type weft_test_any_call, @function
weft_test_any_call:
  .cfi_startproc
  mov %rdi, %rax
  mov %rsi, %rdi
  mov %rdx, %rsi
  mov %rcx, %rdx
  mov %r8, %r10
  mov 16(%rsp), %r8
  mov %r11, 8(%rsp)
  syscall
  ret
  .cfi_endproc
  .size weft_test_any_call, . - weft_test_any_call

  .globl weft_test_call
  .type weft_test_call, @function
weft_test_call:
  .cfi_startproc
  push %r12
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %r12, 0
  sub $32, %rsp
  .cfi_adjust_cfa_offset 32
  mov %r8, 8(%rsp)
  mov %rcx, %r8
  mov %rdx, %rcx
  mov %rsi, %rdx
  mov %rdi, %rsi
  mov 48(%rsp), %rdi
  call weft_test_any_call
  add $32, %rsp
  .cfi_adjust_cfa_offset -32
  pop %r12
  .cfi_adjust_cfa_offset -8
  .cfi_restore %r12
  ret
  .cfi_endproc
  .size weft_test_call, . - weft_test_call
  .popsection
)");

namespace weft::test {
namespace {

class call_number : public ::testing::TestWithParam<preemption> {
 protected:
  void TearDown() override {
    runtime_.stop();
    preempt::set_tick_source(preempt::tick_source::monitor);
  }
  ticked_runtime runtime_;
};

INSTANTIATE_TEST_SUITE_P(each, call_number,
                         ::testing::Values(preemption::signal_yield, preemption::own_tls,
                                           preemption::own_kernel_thread, preemption::bound_tls),
                         [](const auto& info) { return name_of(info.param); });

// A timer's tick comes from nobody who knows the call.
TEST_P(call_number, is_found_on_the_stack) {
  if (!can_preempt(GetParam()))
    GTEST_SKIP() << "not on this machine";
  preempt::set_tick_source(preempt::tick_source::creation_time);
  runtime_.start(sched::arrangement::pool_per_worker, 1, std::chrono::microseconds(500));
  expect_a_poll_to_go_on(runtime_, GetParam(), [](pollfd* descriptors, long count, long limit) {
    return weft_test_call(reinterpret_cast<long>(descriptors), count, limit, 0, 0, 0, SYS_poll);
  });
}

} // namespace
} // namespace weft::test

#endif
