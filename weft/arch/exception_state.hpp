// SPDX-License-Identifier: MIT
// The C++ exception state of a kernel thread (Itanium C++ ABI 2.2.2: the chain of caught exceptions and the
// number of uncaught ones), which belongs to the running thread of ours and so must follow it across a
// switch. The switch itself does not do it: its caller knows where the globals of this kernel thread are and
// tests two words, which are zero unless the thread is inside a `catch` or switches in a destructor during
// unwinding.
//
//   if (any(*globals)) [[unlikely]] saved = save_and_clear(*globals);   // else: saved is known to be empty
//   ... switch; SWITCH: may resume on another kernel thread ...
//   globals = <of the kernel thread it is on now>;                      // fetch again, never keep
//   if (was saved) restore(*globals, saved);
//
// Contexts of everything here: all, a signal handler included. Switches: never. Errors: none.
#pragma once

#include <cstddef>
#include <cxxabi.h>

namespace weft::arch {

// The layout of __cxa_eh_globals in libstdc++ and libc++abi, whose headers keep it incomplete.
struct exception_globals {
  void* caught;      // innermost first; linked inside the exceptions, which stay where they are
  unsigned uncaught; // thrown and not yet caught
};
#if defined(__ARM_EABI_UNWINDER__)
#error "32-bit Arm has a third word in __cxa_eh_globals; see its exception handling ABI, 8.2"
#endif

struct exception_state {
  void* caught = nullptr;
  unsigned uncaught = 0;
};

// Where the calling kernel thread keeps them; the same address until it ends. The function is reached through
// a pointer the compiler cannot see through: <cxxabi.h> declares it `const`, so that a direct call made
// before a switch would serve for after it, where the kernel thread may be another.
[[gnu::always_inline]] inline exception_globals* globals_of_this_kernel_thread() noexcept {
  auto get = &abi::__cxa_get_globals;
  asm volatile("" : "+r"(get) : : "memory");
  return reinterpret_cast<exception_globals*>(get());
}

// Is there anything to save? A load, an `or` and a branch.
[[gnu::always_inline]] inline bool any(const exception_globals& globals) noexcept {
  static_assert(offsetof(exception_globals, uncaught) == sizeof(void*));
  return (reinterpret_cast<std::size_t>(globals.caught) | globals.uncaught) != 0;
}

[[gnu::always_inline]] inline exception_state save_and_clear(exception_globals& globals) noexcept {
  const exception_state state{globals.caught, globals.uncaught};
  globals.caught = nullptr;
  globals.uncaught = 0;
  return state;
}

// `globals`: of the kernel thread that runs now, clear.
[[gnu::always_inline]] inline void restore(exception_globals& globals,
                                           const exception_state& state) noexcept {
  globals.caught = state.caught;
  globals.uncaught = state.uncaught;
}

} // namespace weft::arch
