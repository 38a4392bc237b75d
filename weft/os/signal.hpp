// SPDX-License-Identifier: MIT
// Signal actions and alternative signal stacks. Errors: 0 or an errno value. Contexts: all but signal
// handlers. Switches: never.
#pragma once

#include <csignal>
#include <cstddef>
#include <ucontext.h>

#include "weft/base/export.hpp"

namespace weft::os {

using signal_handler = void (*)(int, siginfo_t*, void*);

// Installs `handler` with SA_SIGINFO | SA_ONSTACK | `flags`, with the signals of `block` (may be null)
// blocked while it runs; the old action goes to `old` (may be null).
int set_signal_handler(int number, signal_handler handler, int flags, const sigset_t* block,
                       struct sigaction* old) noexcept;

// Puts an earlier action back.
int restore_signal_action(int number, const struct sigaction& old) noexcept;

// Does what `old` would have done with this signal: calls its handler, or, for SIG_DFL, restores the default
// and returns, so that the faulting instruction raises the signal once more. SIGNAL-SAFE; meant for handlers.
void chain_signal(int number, siginfo_t* information, void* context, const struct sigaction& old) noexcept;

// Bytes an alternative stack needs on this CPU (AVX-512 frames are larger than the header's SIGSTKSZ), plus
// `extra`.
WEFT_API std::size_t signal_stack_bytes(std::size_t extra) noexcept;

// Gives the calling kernel thread an alternative stack, unless it has one: EEXIST then, and nothing changes.
int set_signal_stack(void* low, std::size_t bytes) noexcept;
// Takes it away again. EPERM while running on it.
int clear_signal_stack() noexcept;
// Whether the caller runs on the alternative stack of its kernel thread. A system call. SIGNAL-SAFE.
[[nodiscard]] bool is_on_signal_stack() noexcept;
// The same without one, for the handler of a signal that itself has no SA_ONSTACK, of what it has
// interrupted.
[[nodiscard]] bool is_on_signal_stack(const ucontext_t& interrupted) noexcept;

// Blocks all signals of the calling kernel thread; the old mask goes to `old`. And back. SIGNAL-SAFE.
int block_all_signals(sigset_t* old) noexcept;
int restore_signal_mask(const sigset_t& old) noexcept;

} // namespace weft::os
