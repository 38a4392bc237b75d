// SPDX-License-Identifier: MIT
// The switch over ucontext: the contract of weft/arch/README.md in its most readable form, for every CPU
// glibc knows. Slow, because swapcontext saves the signal mask by a system call, which the contract does not
// ask for.
#pragma once

#include <atomic>
#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <ucontext.h>

#include "weft/arch/publication.hpp"
#include "weft/arch/sanitizer.hpp"
#include "weft/base/atomic.hpp"
#include "weft/base/export.hpp"

namespace weft::arch {

inline constexpr const char* port_name = "portable";
#if defined(__s390x__)
inline constexpr std::size_t cache_line = 256;
#elif defined(__powerpc64__)
inline constexpr std::size_t cache_line = 128;
#else
inline constexpr std::size_t cache_line = 64;
#endif

using entry_function = void (*)(void*);
using arrival_function = void (*)(void*);
using conditional_function = bool (*)(void*);

// ucontext cannot run a function on the target's stack on the way, so the one that leaves writes it here, and
// the target runs it when it has control and before it goes on.
struct context {
  enum class request : unsigned char { none, arrive, ask, call };

  context() = default;
  context(const context&) = delete; // ucontext_t points into itself
  context& operator=(const context&) = delete;

  // All is set from the start: a context that was never made, as a worker's loop or an inlined fork, may be
  // left and come back to; and static ones must be constants.
  ucontext_t machine{};
  request pending = request::none;
  bool cancelled = false; // as `from` of a cond_swap: the answer was no
  arrival_function arrive = nullptr;
  conditional_function ask = nullptr;
  void* argument = nullptr;
  context* asker = nullptr;             // where `ask` and `call` go back to
  const std::fenv_t* control = nullptr; // the caller's FP control, for `call`
  entry_function entry = nullptr;
  void* entry_argument = nullptr;
  std::fenv_t kept_control{}; // of who created what will run here
  [[no_unique_address]] sanitizer::fiber fiber;
};

// For debuggers: the registers are in a ucontext_t, whose layout is the C library's.
inline constexpr bool has_walkable_contexts = false;
inline constexpr unsigned dwarf_sp = 0;
inline constexpr unsigned dwarf_fp = 0;

// Asked only where threads can be preempted, which is not here.
[[nodiscard]] inline bool is_mark(const context&) noexcept {
  return false;
}

// Of a suspended context, for display. Null: this port cannot tell.
inline const void* stack_pointer_of(const context&) noexcept {
  return nullptr;
}

// The first frame of every thread. Not to be called.
extern "C" WEFT_API void weft_arch_thread_base(unsigned high, unsigned low);

WEFT_API void swap(context& from, context& to) noexcept;
WEFT_API void swap_with(context& from, context& to, arrival_function arrive, void* argument) noexcept;
// As swap; once `from` is complete, stores `value` to `word`, with release.
WEFT_API void swap_publishing(context& from, context& to, base::atomic<std::uint8_t>& word,
                              std::uint8_t value) noexcept;
// The two as the last thing that a function does which returns an int.
inline int swap_and_return(context& from, context& to) noexcept {
  swap(from, to);
  return 0;
}
inline int swap_publishing_and_return(context& from, context& to, base::atomic<std::uint8_t>& word,
                                      std::uint8_t value) noexcept {
  swap_publishing(from, to, word, value);
  return 0;
}
WEFT_API bool cond_swap(context& from, context& to, conditional_function arrive, void* argument) noexcept;
[[noreturn]] WEFT_API void begin(context& fresh, void* top, std::size_t size, entry_function entry,
                                 void* argument) noexcept;
[[noreturn]] WEFT_API void restore(context& to) noexcept;
[[noreturn]] WEFT_API void restore_with(context& to, arrival_function arrive, void* argument) noexcept;
WEFT_API void save(context& from, context& fresh, void* top, std::size_t size, entry_function entry,
                   void* argument) noexcept;
WEFT_API void make(context& fresh, void* top, std::size_t size, entry_function entry,
                   void* argument) noexcept;
WEFT_API void call_on(context& below, entry_function function, void* argument) noexcept;

// Whether call_marked() may be left through its mark: here it has none.
inline constexpr bool has_marks = false;
inline bool call_marked(context*&, void*&, entry_function function, void* argument) noexcept {
  function(argument);
  return true;
}

inline bool call_marked_on(context*&, void*&, void*, entry_function, void*) noexcept {
  __builtin_unreachable(); // asks has_marks first
}
inline void call_on_fresh(void*, entry_function, void*) noexcept {
  __builtin_unreachable();
}
inline void*& idle_word(context& idle) noexcept {
  return idle.entry_argument;
}

// The low half of the frame's address with bit 0 set, never 0: tells a debugger whose stack the caller is on.
[[gnu::always_inline]] inline std::uint32_t stack_mark() noexcept {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))) | 1;
}

[[gnu::always_inline]] inline bool stack_is_above(const std::byte* const& floor) noexcept {
  return static_cast<const std::byte*>(__builtin_frame_address(0)) > floor;
}

[[gnu::always_inline]] inline std::ptrdiff_t stack_above(const std::byte* floor) noexcept {
  return reinterpret_cast<std::intptr_t>(__builtin_frame_address(0)) - reinterpret_cast<std::intptr_t>(floor);
}

// Whether `value` is 0 (x86-64 has it in a form of its own).
[[gnu::always_inline]] inline bool is_zero(std::uint32_t value) noexcept {
  return value == 0;
}

inline bool count_down(std::int32_t& count) noexcept {
  return --count < 0;
}
// The same for a word that the caller alone counts with. What others store at this very moment may be lost.
inline bool count_down(std::atomic<std::int32_t>& count) noexcept {
  const std::int32_t left = count.load(std::memory_order_relaxed) - 1;
  count.store(left, std::memory_order_relaxed);
  return left < 0;
}

// The rounding direction of the running code, to come back to; all that <cfenv> knows of FP control.
class fp_control {
 public:
  fp_control() noexcept : rounding_(std::fegetround()) {}
  void restore() const noexcept {
    if (std::fegetround() != rounding_)
      std::fesetround(rounding_);
  }
  // Gives the running code, whose control this is, what keep_in(fresh) stored.
  void become_that_of(const context& fresh) const noexcept { std::fesetenv(&fresh.kept_control); }
  void restore_quickly() const noexcept { restore(); }
  void become_that_of_quickly(const context& fresh) const noexcept { become_that_of(fresh); }
  // Whether that would change anything for the running code; what cannot be compared might.
  static bool differs_from(const context&) noexcept { return true; }
  // Stores the caller's in a context that nobody may continue.
  static void keep_in(context& idle) noexcept { std::fegetenv(&idle.kept_control); }

 private:
  int rounding_;
};

// ucontext follows shadow stacks, so there is nothing to refuse.
inline bool shadow_stack_active() noexcept {
  return false;
}

inline void relax() noexcept {
  asm volatile("" ::: "memory");
}

// Nanoseconds of CLOCK_MONOTONIC.
WEFT_API std::uint64_t ticks() noexcept;

// Exports `inner` under the name of a C function that switches.
#define WEFT_EXPORT_SWITCHING(name, inner)                                                                   \
  asm(".globl " #name "\n.type " #name ", @function\n.set " #name ", " #inner)

// Reads a pointer-sized thread-local, opaque to the compiler: a function of its own, whose code the caller
// cannot see through, so neither the value nor the address is kept across a switch.
#define WEFT_READ_TLS(result, symbol)                                                                        \
  (result) = []() __attribute__((noinline)) -> decltype(symbol) {                                            \
    asm volatile("" ::: "memory");                                                                           \
    return symbol;                                                                                           \
  }()

} // namespace weft::arch
