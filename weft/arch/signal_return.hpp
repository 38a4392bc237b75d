// SPDX-License-Identifier: MIT
// Back from a signal handler in user space: a system call less, and the kernel thread keeps its own signal
// mask and alternate stack, where rt_sigreturn would install those of the kernel thread that the signal came
// to. For handlers that run on the interrupted stack, with SA_NODEFER and an empty mask: there is no mask to
// restore.
#pragma once

#include <cstdint>

#include <ucontext.h>

#include "weft/arch/arch.hpp"

namespace weft::arch {

#if defined(__x86_64__) && !defined(WEFT_ARCH_PORTABLE)

extern "C" [[noreturn]] void weft_return_from_signal(const greg_t* registers, const void* vectors,
                                                     std::uint64_t features) noexcept;

// Which vector state the kernel's frame holds, as XCR0 counts it; 0: unknown, so only rt_sigreturn will do
// (valgrind's frames; FXSAVE alone). SIGNAL-SAFE.
[[nodiscard]] inline std::uint64_t features_of_frame(const ucontext_t& interrupted) noexcept {
  struct described { // what the kernel writes to the end of the FXSAVE area
    std::uint32_t magic;
    std::uint32_t extended_size;
    std::uint64_t features;
  };
  constexpr std::uint32_t xsave_follows = 0x46505853;  // FP_XSTATE_MAGIC1
  constexpr std::size_t place = 464, compaction = 520; // of that, and of XCOMP_BV: 0 in the standard format
  const auto* const frame = reinterpret_cast<const std::byte*>(interrupted.uc_mcontext.fpregs);
  if (frame == nullptr || reinterpret_cast<std::uintptr_t>(frame) % 64 != 0)
    return 0;
  described says;
  std::uint64_t compacted;
  __builtin_memcpy(&says, frame + place, sizeof says);
  if (says.magic != xsave_follows)
    return 0;
  __builtin_memcpy(&compacted, frame + compaction, sizeof compacted);
  return compacted == 0 ? says.features : 0;
}

// Continues what `interrupted` says, with all its registers. Call it last: what the handler's frame holds is
// not unwound. Contexts: a handler on the interrupted stack. Undefined: `features` 0; an active shadow stack.
[[noreturn]] inline void return_from_signal(const ucontext_t& interrupted, std::uint64_t features) noexcept {
  weft_return_from_signal(interrupted.uc_mcontext.gregs, interrupted.uc_mcontext.fpregs, features);
}

#else

[[nodiscard]] inline std::uint64_t features_of_frame(const ucontext_t&) noexcept {
  return 0;
}
[[noreturn]] inline void return_from_signal(const ucontext_t&, std::uint64_t) noexcept {
  __builtin_trap();
}

#endif

} // namespace weft::arch
