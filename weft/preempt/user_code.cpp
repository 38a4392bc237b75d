// SPDX-License-Identifier: MIT
#include "weft/preempt/user_code.hpp"

#include <unwind.h>

#include <cstddef>
#include <cstdint>

#include "weft/arch/user_mode.hpp"
#include "weft/sched/calls_units.hpp"

// By the linker, of the sections of these names in this program or library.
extern "C" {
extern const char __start_weft_text[] __attribute__((weak, visibility("hidden")));
extern const char __stop_weft_text[] __attribute__((weak, visibility("hidden")));
extern const char __start_weft_calls_units[] __attribute__((weak, visibility("hidden")));
extern const char __stop_weft_calls_units[] __attribute__((weak, visibility("hidden")));
}

namespace weft::preempt {
namespace {

bool is_between(std::uintptr_t at, const char* begin, const char* end) noexcept {
  return at >= reinterpret_cast<std::uintptr_t>(begin) && at < reinterpret_cast<std::uintptr_t>(end);
}
bool calls_units(std::uintptr_t at) noexcept {
  return is_between(at, __start_weft_calls_units, __stop_weft_calls_units);
}
bool keeps_worker(std::uintptr_t at) noexcept {
  return is_between(at, __start_weft_text, __stop_weft_text);
}

struct way_up {
  std::uintptr_t begin; // what is above is the handler, or the function that asks
  bool begins_interrupted;
  bool begun = false;
  bool found = false; // user code
  unsigned left = 1024;
};

_Unwind_Reason_Code look_at(_Unwind_Context* frame, void* argument) noexcept {
  way_up& w = *static_cast<way_up*>(argument);
  int is_before = 0;
  const std::uintptr_t at = _Unwind_GetIPInfo(frame, &is_before);
  const bool is_first = !w.begun && at == w.begin;
  w.begun = w.begun || is_first;
  if (!w.begun)
    return _URC_NO_REASON;
  const std::uintptr_t in_call = at - (is_before != 0 ? 0 : 1);
  // A handler of the program's, which may have interrupted inlined code of ours between any two instructions.
  const bool in_handler = is_before != 0 && !(is_first && w.begins_interrupted);
  w.found = !in_handler && (at == 0 || calls_units(in_call)); // 0: behind the outermost frame
  const bool decided = w.found || in_handler || keeps_worker(in_call) || --w.left == 0;
  return decided ? _URC_END_OF_STACK : _URC_NO_REASON;
}

bool is_user_code_from(std::uintptr_t begin, bool is_interrupted) noexcept {
  if (!tells_user_code())
    return false;
  way_up w{begin, is_interrupted};
  _Unwind_Backtrace(&look_at, &w);
  return w.found;
}

WEFT_CALLS_UNITS [[gnu::noinline]] bool one_that_calls_units_is_known() noexcept {
  return calls_units(reinterpret_cast<std::uintptr_t>(&one_that_calls_units_is_known));
}

} // namespace

bool tells_user_code() noexcept {
  return keeps_worker(reinterpret_cast<std::uintptr_t>(&is_user_code_from)) &&
         one_that_calls_units_is_known();
}

bool was_in_user_code(const ucontext_t& interrupted) noexcept {
  return is_user_code_from(arch::program_counter(interrupted), true);
}

bool is_called_by_user_code(const void* to) noexcept {
  return is_user_code_from(reinterpret_cast<std::uintptr_t>(to), false);
}

} // namespace weft::preempt
