// SPDX-License-Identifier: MIT
// What preemption asks of the machine: the thread pointer, the interrupted program counter, and the way into
// the runtime. Only the x86-64 port has it so far; elsewhere threads are cooperative.
#pragma once

#include <array>
#include <cerrno>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <sys/auxv.h>
#include <ucontext.h>

#include "weft/arch/arch.hpp"

namespace weft::arch {

// A system call that has just returned: nothing was executed since.
struct returned_call {
  long number; // -1: the code before it does not say
  std::array<long, 6> arguments;
  long result;
};

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
// Copies code of another page than the one that runs, if it may be read: by process_vm_readv(2), which does
// not fault. SIGNAL-SAFE; touches no errno.
[[nodiscard]] bool read_other_page(std::uintptr_t from, void* to, std::size_t bytes) noexcept;

// Copies code from beside `pc`, which runs, so that its page may be read.
[[nodiscard]] inline bool read_code(std::uintptr_t pc, std::uintptr_t from, void* to,
                                    std::size_t bytes) noexcept {
  constexpr std::uintptr_t page = 4096;
  if (from / page != pc / page || (from + bytes - 1) / page != pc / page) [[unlikely]]
    return read_other_page(from, to, bytes);
  __builtin_memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return true;
}
inline constexpr std::size_t syscall_bytes = 2;
[[nodiscard]] inline bool is_syscall(std::uintptr_t pc, std::uintptr_t at) noexcept {
  constexpr std::uint16_t syscall_instruction = 0x050f;
  std::uint16_t found;
  static_assert(sizeof found == syscall_bytes);
  return read_code(pc, at, &found, sizeof found) && found == syscall_instruction;
}

[[nodiscard]] inline interrupted_call call_interrupted(const ucontext_t& interrupted) noexcept {
  const std::uintptr_t pc = program_counter(interrupted);
  if (is_syscall(pc, pc))
    return interrupted_call::restarts;
  if (interrupted.uc_mcontext.gregs[REG_RAX] == -EINTR && is_syscall(pc, pc - syscall_bytes))
    return interrupted_call::failed;
  return interrupted_call::none;
}
// Whether the last `syscall` instruction was the one that ends there: it leaves its end in rcx and the flags
// in r11, where nothing keeps them for long.
[[nodiscard]] inline bool last_syscall_ends_at(const ucontext_t& interrupted, std::uintptr_t end) noexcept {
  const auto& g = interrupted.uc_mcontext.gregs;
  return static_cast<std::uintptr_t>(g[REG_RCX]) == end && g[REG_R11] == g[REG_EFL];
}
// Of one that restarts: whether the kernel has been in it, and it is not one that is only to be made.
[[nodiscard]] inline bool has_been_in_kernel(const ucontext_t& interrupted) noexcept {
  return last_syscall_ends_at(interrupted, program_counter(interrupted) + syscall_bytes);
}
// The number of the call, where it restarts, and its first arguments.
[[nodiscard]] inline std::array<long, 5> call_with_arguments(const ucontext_t& interrupted) noexcept {
  const auto& g = interrupted.uc_mcontext.gregs;
  return {static_cast<long>(g[REG_RAX]), static_cast<long>(g[REG_RDI]), static_cast<long>(g[REG_RSI]),
          static_cast<long>(g[REG_RDX]), static_cast<long>(g[REG_R10])};
}

// The number that stands in the code before the `syscall` of a call that has returned to `pc`, as compilers
// place it: `mov $number, %eax` is the last instruction, or only the first argument is loaded after it
// (`mov 8(%rsp), %edi`). -1: it is not there.
[[nodiscard]] inline long number_before(std::uintptr_t pc) noexcept {
  constexpr unsigned char mov_to_eax = 0xb8, load_edi[] = {0x8b, 0x7c, 0x24};
  constexpr std::size_t mov_bytes = 5, load_bytes = 4;
  const std::uintptr_t syscall_at = pc - syscall_bytes;
  std::array<unsigned char, load_bytes> load;
  const bool loads = read_code(pc, syscall_at - load_bytes, load.data(), load.size()) &&
                     __builtin_memcmp(load.data(), load_edi, sizeof load_edi) == 0;
  std::array<unsigned char, mov_bytes> mov;
  if (!read_code(pc, syscall_at - (loads ? load_bytes : 0) - mov_bytes, mov.data(), mov.size()) ||
      mov[0] != mov_to_eax)
    return -1;
  std::int32_t number;
  __builtin_memcpy(&number, &mov[1], sizeof number);
  return number;
}

// Whether the code before the `syscall` is that of glibc's function for all calls in which a thread may be
// cancelled (`__syscall_cancel_arch`, 2.41 and newer): `mov %r11, 8(%rsp)` is its last instruction.
[[nodiscard]] inline bool makes_any_call(std::uintptr_t pc) noexcept {
  constexpr unsigned char keep_r11[] = {0x4c, 0x89, 0x5c, 0x24, 0x08};
  std::array<unsigned char, sizeof keep_r11> last;
  return read_code(pc, pc - syscall_bytes - last.size(), last.data(), last.size()) &&
         __builtin_memcmp(last.data(), keep_r11, last.size()) == 0;
}

// Nothing: what was interrupted has not just come out of a system call.
[[nodiscard]] inline std::optional<returned_call> call_returned(const ucontext_t& interrupted) noexcept {
  const auto& g = interrupted.uc_mcontext.gregs;
  const std::uintptr_t pc = program_counter(interrupted);
  if (!last_syscall_ends_at(interrupted, pc) || !is_syscall(pc, pc - syscall_bytes))
    return std::nullopt;
  return returned_call{number_before(pc),
                       {static_cast<long>(g[REG_RDI]), static_cast<long>(g[REG_RSI]),
                        static_cast<long>(g[REG_RDX]), static_cast<long>(g[REG_R10]),
                        static_cast<long>(g[REG_R8]), static_cast<long>(g[REG_R9])},
                       static_cast<long>(g[REG_RAX])};
}
[[nodiscard]] inline bool is_repeated_by_caller(const ucontext_t& interrupted) noexcept {
  constexpr unsigned char mark[] = {0x0f, 0x1f, 0x80, 'W', 'E', 'F', 'T'}; // nopl 0x54464557(%rax)
  const std::uintptr_t pc = program_counter(interrupted);
  std::array<unsigned char, sizeof mark> next;
  return read_code(pc, pc, next.data(), next.size()) && __builtin_memcmp(next.data(), mark, sizeof mark) == 0;
}
// What it shall have returned instead.
inline void set_result(ucontext_t& interrupted, long result) noexcept {
  interrupted.uc_mcontext.gregs[REG_RAX] = result;
}
// A call that the kernel makes again when the handler returns (interrupted_call::restarts) returns that.
inline void end_call(ucontext_t& interrupted, long result) noexcept {
  interrupted.uc_mcontext.gregs[REG_RIP] += static_cast<greg_t>(syscall_bytes);
  set_result(interrupted, result);
}
// Touches no errno, and says its number as call_returned() reads it: on one page, so that this works where
// process_vm_readv(2) is forbidden too. IsRepeated: says also that its caller sees himself to signals of ours
// that end it (is_repeated_by_caller()), by a nop behind it.
template <int Number, bool IsRepeated = false>
[[gnu::always_inline]] inline long system_call(const std::array<long, 6>& arguments) noexcept {
  register long fourth asm("r10") = arguments[3];
  register long fifth asm("r8") = arguments[4];
  register long sixth asm("r9") = arguments[5];
  long result;
  asm volatile(".balign 16\n\tmovl %[number], %%eax\n\tsyscall\n\t"
               ".if %c[repeated]\n\tnopl 0x54464557(%%rax)\n\t.endif"
               : "=&a"(result)
               : [number] "i"(Number), [repeated] "i"(IsRepeated), "D"(arguments[0]), "S"(arguments[1]),
                 "d"(arguments[2]), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  return result;
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

// Makes a jmp_buf of libc's whose stack stands above every other: what unwinds by force (pthread_exit(3))
// stops where a stack ends, not here. Registers that libc keeps there are mangled with a word of the TCB.
inline void point_above_all_stacks(std::jmp_buf& there) noexcept {
  constexpr std::size_t stack_pointer = 6; // the word of rsp
  std::uintptr_t above_all = ~std::uintptr_t{0} - 15;
  asm volatile("xorq %%fs:0x30, %0\n\trolq $17, %0" : "+r"(above_all));
  __builtin_memcpy(reinterpret_cast<std::byte*>(&there) + stack_pointer * sizeof above_all, &above_all,
                   sizeof above_all);
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
[[nodiscard]] inline bool has_been_in_kernel(const ucontext_t&) noexcept {
  return false;
}
[[nodiscard]] inline std::array<long, 5> call_with_arguments(const ucontext_t&) noexcept {
  return {-1};
}
[[nodiscard]] inline std::optional<returned_call> call_returned(const ucontext_t&) noexcept {
  return std::nullopt;
}
inline void set_result(ucontext_t&, long) noexcept {}
inline void end_call(ucontext_t&, long) noexcept {}
[[nodiscard]] inline bool makes_any_call(std::uintptr_t) noexcept {
  return false;
}
[[nodiscard]] inline bool is_repeated_by_caller(const ucontext_t&) noexcept {
  return false;
}
template <int Number, bool IsRepeated = false>
inline long system_call(const std::array<long, 6>&) noexcept {
  return -ENOSYS;
}
inline void* thread_pointer() noexcept {
  return nullptr;
}
inline void set_thread_pointer(void*) noexcept {}
inline void point_above_all_stacks(std::jmp_buf&) noexcept {}

#endif

} // namespace weft::arch
