// SPDX-License-Identifier: MIT
// Runs a function on one of our stacks, by ucontext: the room under test has no switch of its own.
#pragma once

#include "weft/memory/stack_record.hpp"

#include <gtest/gtest.h>
#include <ucontext.h>

namespace weft::memory::testing {

inline void (*function_on_stack)() = nullptr;

inline void run_on(stack_record& stack, void (*function)()) {
  ucontext_t back = {};
  ucontext_t there = {};
  ASSERT_EQ(getcontext(&there), 0);
  there.uc_stack.ss_sp = stack.low;
  there.uc_stack.ss_size = stack.usable();
  there.uc_link = &back;
  function_on_stack = function;
  makecontext(&there, [] { function_on_stack(); }, 0);
  ASSERT_EQ(swapcontext(&back, &there), 0);
}

} // namespace weft::memory::testing
