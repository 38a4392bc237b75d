// SPDX-License-Identifier: MIT
// setuid(2) and its like. libc has each of its kernel threads make the call, by a signal of its own, and
// sends that again and again until the kernel thread has noted it in its block. A handler that finds the
// block of a thread of Weft there would note it in the wrong one, and the call never end. So while there are
// such threads libc's handler runs on the kernel thread's own block.
#pragma once

namespace weft::preempt {

// Between them; the first may be called again and again, by several at once. Contexts: as preparation and
// stop() (preparation.hpp).
void serve_set_user() noexcept;
void stop_serving_set_user() noexcept;

} // namespace weft::preempt
