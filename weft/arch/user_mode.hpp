// SPDX-License-Identifier: MIT
// What preemption asks of the machine: the thread pointer, the interrupted program counter, and the way into
// the runtime. Only the x86-64 port has it so far; elsewhere threads are cooperative.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <sys/auxv.h>
#include <ucontext.h>

#include "weft/arch/arch.hpp"

namespace weft::arch {

#if defined(__x86_64__) && !defined(WEFT_ARCH_PORTABLE)

// Sanitizers keep what they know of a kernel thread in its TLS and put signals off.
inline constexpr bool can_preempt = !sanitizer::watches_frames;

extern "C" {
void* weft_enter_runtime(std::ptrdiff_t here, std::ptrdiff_t current) noexcept;
void* weft_enter_runtime_from_block(std::ptrdiff_t here, std::ptrdiff_t own) noexcept;
}

[[nodiscard]] inline std::uintptr_t program_counter(const ucontext_t& interrupted) noexcept {
  return static_cast<std::uintptr_t>(interrupted.uc_mcontext.gregs[REG_RIP]);
}

// What of a system call a signal has interrupted.
enum class interrupted_call : std::uint8_t {
  none,
  restarts, // it goes on, or starts, when the handler returns
  failed,   // it returns EINTR: read(2) and its like restart, poll(2) and its like do not
};
[[nodiscard]] inline interrupted_call call_interrupted(const ucontext_t& interrupted) noexcept {
  constexpr std::uint16_t syscall_instruction = 0x050f;
  constexpr std::uintptr_t in_page = 4095;
  const auto stands_at = [](std::uintptr_t at) {
    std::uint16_t found;
    __builtin_memcpy(&found, reinterpret_cast<const void*>(at), sizeof found);
    return found == syscall_instruction;
  };
  const std::uintptr_t pc = program_counter(interrupted);
  if ((pc & in_page) != in_page && stands_at(pc))
    return interrupted_call::restarts;
  // The page before this one may not be there.
  if ((pc & in_page) >= sizeof syscall_instruction && interrupted.uc_mcontext.gregs[REG_RAX] == -EINTR &&
      stands_at(pc - sizeof syscall_instruction))
    return interrupted_call::failed;
  return interrupted_call::none;
}
// The number of the call, where it restarts, and its first arguments.
[[nodiscard]] inline std::array<long, 5> call_with_arguments(const ucontext_t& interrupted) noexcept {
  const auto& g = interrupted.uc_mcontext.gregs;
  return {static_cast<long>(g[REG_RAX]), static_cast<long>(g[REG_RDI]), static_cast<long>(g[REG_RSI]),
          static_cast<long>(g[REG_RDX]), static_cast<long>(g[REG_R10])};
}

// Whether the kernel lets user code write the thread pointer (FSGSBASE, Linux 5.9).
[[nodiscard]] inline bool can_set_thread_pointer() noexcept {
  constexpr unsigned long fsgsbase = 1UL << 1;
  return (::getauxval(AT_HWCAP2) & fsgsbase) != 0;
}
[[nodiscard, gnu::always_inline]] inline void* thread_pointer() noexcept {
  void* p;
  asm volatile("movq %%fs:0, %0" : "=r"(p)); // the ABI's: its first word is its own address
  return p;
}
// What the compiler knows of thread-locals must not live across this: callers are not inlined, and touch
// none.
[[gnu::always_inline]] inline void set_thread_pointer(void* p) noexcept {
  asm volatile("wrfsbase %0" : : "r"(p) : "memory");
}

#else

inline constexpr bool can_preempt = false;
// Nobody is in user mode here.
[[noreturn]] inline void* weft_enter_runtime(std::ptrdiff_t, std::ptrdiff_t) noexcept {
  __builtin_trap();
}
[[noreturn]] inline void* weft_enter_runtime_from_block(std::ptrdiff_t, std::ptrdiff_t) noexcept {
  __builtin_trap();
}
[[nodiscard]] inline std::uintptr_t program_counter(const ucontext_t&) noexcept {
  return 0;
}
[[nodiscard]] inline bool can_set_thread_pointer() noexcept {
  return false;
}
enum class interrupted_call : std::uint8_t { none, restarts, failed };
[[nodiscard]] inline interrupted_call call_interrupted(const ucontext_t&) noexcept {
  return interrupted_call::none;
}
[[nodiscard]] inline std::array<long, 5> call_with_arguments(const ucontext_t&) noexcept {
  return {-1};
}
inline void* thread_pointer() noexcept {
  return nullptr;
}
inline void set_thread_pointer(void*) noexcept {}

#endif

} // namespace weft::arch
