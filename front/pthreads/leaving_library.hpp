// SPDX-License-Identifier: MIT
// A thread that ends where frames of this library or the runtime lie on its stack, in a handler of a signal
// or where it was interrupted: nothing may unwind those, so it leaves them as they are.
#pragma once

/// A function of this library's that calls the program's code, or what of libc's cleans up when it is
/// unwound, and may be unwound itself.
#define WEFT_PTHREADS_CALLS_OTHERS gnu::section("weft_calls_others"), gnu::noinline

namespace weft::pthreads {

/// Calls `function`. False: the thread has ended in it; its frames are unwound, with their cleanups and
/// destructors, and those of the caller are still there. *Contexts*: thread, in user mode. *Switches*: as the
/// function. *Errors*: as the function.
[[nodiscard]] bool call_to_its_end(void (*function)(void*), void* argument);

/// After that: unwinds the frames of the caller and those above.
[[noreturn]] void go_on_ending();

/// Calls `function` as if the innermost frame of the program's above `frame` had called it there: one that
/// has called this library, or that a signal has interrupted. All below is left, as by longjmp().
/// *Contexts*: thread, in user mode; handlers of signals. *Switches*: never. *Errors*: none; ends the process
/// if there is no such frame.
[[noreturn]] void call_from_program(const void* frame, void (*function)()) noexcept;

} // namespace weft::pthreads
