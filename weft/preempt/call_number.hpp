// SPDX-License-Identifier: MIT
// Which system call a thread has come out of, where the code of the call does not say it. glibc 2.41 and
// newer make all calls in which a thread may be cancelled by one function; its caller has the number on the
// stack.
#pragma once

#include <ucontext.h>

namespace weft::preempt {

// -1: that function did not make the call. SIGNAL-SAFE. Contexts: the handler on that stack.
[[nodiscard]] long number_on_stack(const ucontext_t& interrupted) noexcept;

} // namespace weft::preempt
