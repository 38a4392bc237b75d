// SPDX-License-Identifier: MIT
// System calls that change something of the calling kernel thread alone.
#pragma once

#include <optional>

namespace weft::pthreads {

/// Before the calling thread of ours makes that call by syscall(2): it is promoted if the call is one of
/// these, as a kernel thread that it shares with others would be theirs too. What the call returns instead,
/// if it is one for threads by their ids, or cannot be made. *Contexts*: all but signal handlers. *Switches*:
/// where it promotes. *Errors*: none.
[[nodiscard]] std::optional<long> before_kernel_call(long number, const long (&arguments)[6]) noexcept;

} // namespace weft::pthreads
