// SPDX-License-Identifier: MIT
#pragma once

#include "front/pthreads/thread.hpp"

namespace weft::pthreads {

/// Where `t` has ended in a call that had lent its mask to the kernel thread (system()): that gets its own
/// back. *Contexts*: `t` itself. *Switches*: at its end, if a tick came. *Errors*: none.
void return_mask(thread& t) noexcept;

} // namespace weft::pthreads
