// SPDX-License-Identifier: MIT
// Whether a kernel thread stands in code of the user's, or of libraries that it has called, and not in a
// function of the runtime's that goes on with the worker that it knows.
//
// The stack tells: the innermost function of ours on it is one that calls units (sched/calls_units.hpp), or
// there is none up to the end. Which functions are ours tells where they stand: all code of libweft is in two
// sections, weft_text and weft_calls_units (cmake/weft_room.cmake). Inlined functions and templates are in
// neither, and count as the user's: they use nothing of a worker after a call of something that is not ours.
#pragma once

#include <ucontext.h>

#include "weft/base/export.hpp"

namespace weft::preempt {

// False: this program's libweft does not stand in its sections (link-time optimisation, -ffunction-sections);
// then nobody is ever found in user code. Contexts: all. Switches: never.
[[nodiscard]] WEFT_API bool tells_user_code() noexcept;

// For the handler of a signal: whether that has interrupted user code. Where the stack cannot be read to its
// end (code without unwind tables), is deeper than 1,024 calls, or has a handler of the program's on it, it
// has not. Allocates nothing. SIGNAL-SAFE:
// takes no lock with glibc 2.35 and newer.
[[nodiscard]] WEFT_API bool was_in_user_code(const ucontext_t& interrupted) noexcept;

// The same for the caller of a function of ours that will return to `to` (__builtin_return_address(0)).
[[nodiscard]] WEFT_API bool is_called_by_user_code(const void* to) noexcept;

} // namespace weft::preempt
