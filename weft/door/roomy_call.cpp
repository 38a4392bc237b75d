// SPDX-License-Identifier: MIT
#include "weft/door/roomy_call.hpp"

namespace weft::door {

// Its frame stands between the runtime's and the call's: who walks the stack finds it, and takes the rest for
// the runtime's (preempt/user_code.cpp), also where the walk would end at the end of a borrowed stack.
[[gnu::noinline]] void call_keeping_worker(void (*function)(void*), void* argument) {
  function(argument);
  asm volatile("" : : : "memory"); // no jump, which would leave no frame
}

} // namespace weft::door
