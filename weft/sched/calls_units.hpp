// SPDX-License-Identifier: MIT
// Which of our functions stand between the code of two units on one stack.
#pragma once

// Of a function that calls a unit, or the code of the user's that a unit is, and uses nothing afterwards that
// it knew of its worker before: the unit may have left it. A thread may leave its worker in the kernel if the
// innermost function of ours on its stack is one of these, and not if it is any other
// (preempt/user_code.hpp). So what such a function calls and that may wait in the kernel must not be inlined
// into it.
#define WEFT_CALLS_UNITS [[gnu::section("weft_calls_units")]]
