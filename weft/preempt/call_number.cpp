// SPDX-License-Identifier: MIT
#include "weft/preempt/call_number.hpp"

#include <unwind.h>

#include <cstdint>

#include "weft/arch/user_mode.hpp"

namespace weft::preempt {
namespace {

// The frames, from the interrupted one: the function that makes the call, the one that calls it with eight
// arguments, and who calls that with seven: six are in registers, the number is on the stack.
struct way_to_number {
  std::uintptr_t begin;
  unsigned frames = 0;
  long number = -1;
};

_Unwind_Reason_Code look_for_number(_Unwind_Context* frame, void* argument) noexcept {
  constexpr unsigned frame_of_caller = 3;
  way_to_number& w = *static_cast<way_to_number*>(argument);
  if (w.frames == 0 && _Unwind_GetIP(frame) != w.begin)
    return _URC_NO_REASON; // the handler's
  if (++w.frames != frame_of_caller)
    return _URC_NO_REASON;
  // What libgcc calls the frame's address is where its stack pointer was at the call.
  w.number = *reinterpret_cast<const long*>(_Unwind_GetCFA(frame));
  return _URC_END_OF_STACK;
}

} // namespace

long number_on_stack(const ucontext_t& interrupted) noexcept {
  constexpr long too_large = 4096; // for a number: this libc's functions are others
  const std::uintptr_t pc = arch::program_counter(interrupted);
  if (!arch::makes_any_call(pc))
    return -1;
  way_to_number w{pc};
  _Unwind_Backtrace(&look_for_number, &w);
  return w.number >= 0 && w.number < too_large ? w.number : -1;
}

} // namespace weft::preempt
