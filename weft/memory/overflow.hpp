// SPDX-License-Identifier: MIT
// A stack overflow told as such: a handler for SIGSEGV and SIGBUS that knows the guards of our stacks. It
// makes a stack executable, too, where libc has made its own so and a thread runs code on one of ours. Every
// other fault, a null dereference first of all, goes to whoever handled it before, or to the default action.
#pragma once

#include "weft/base/export.hpp"
#include "weft/memory/stack_record.hpp"

#include <cstddef>

namespace weft::memory {

// Writes what to call the thread `owner` (stack_record::owner) and its function, cut at `bytes`, with a final
// zero. Runs in a signal handler: may only read and format.
using describe_function = void (*)(void* owner, char* buffer, std::size_t bytes);

// Contexts: any kernel thread, before threads run. Null: messages name the stack alone.
WEFT_API void set_describe_function(describe_function describe) noexcept;

// The stack of the thread that runs on the calling kernel thread; null: none, or unknown. SIGNAL-SAFE.
using running_stack_function = const stack_record* (*)();

// As set_describe_function(). Null: only a stack pointer in the stack itself tells whose fault it is.
WEFT_API void set_running_stack_function(running_stack_function running) noexcept;

// What that function writes of `owner`; nothing if there is none. Contexts: as the function's.
WEFT_API void describe_thread(void* owner, char* buffer, std::size_t bytes) noexcept;

// Writes "symbol" or "symbol+0x12 (object)" or the bare address; demangled where the C++ library offers a way
// that allocates nothing. For use by describe functions. SIGNAL-SAFE (dladdr may wait for a dlopen in another
// thread).
WEFT_API void describe_address(const void* address, char* buffer, std::size_t bytes) noexcept;

// Installs the handler for the process, once; later calls do nothing. The handlers found are chained to. The
// kernel threads that run our stacks need an alternative signal stack. Contexts: any kernel thread. Switches:
// never. Errors: errno value.
WEFT_API int install_handler() noexcept;
// Puts back what was there. For the end of the runtime and for tests.
WEFT_API void remove_handler() noexcept;

// The calling kernel thread's alternative signal stack, with a guard page of its own; does nothing where
// there already is one. Errors: errno value. Contexts: the base stack of a kernel thread. Switches: never.
WEFT_API int install_alternate_stack() noexcept;
// Unmaps what the same kernel thread installed.
WEFT_API void remove_alternate_stack() noexcept;

// Says that this stack was overrun and aborts. For canaries. Contexts: all.
[[noreturn]] WEFT_API void die_of_overflow(const stack_record& stack) noexcept;
// The same where it may have been a thread that ran on this stack before.
[[noreturn]] void die_of_earlier_overflow(const stack_record& stack) noexcept;

} // namespace weft::memory
