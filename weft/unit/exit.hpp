// SPDX-License-Identifier: MIT
// How a unit ends before its function returns: by an exception that unwinds its stack, so that destructors
// run. It is not derived from std::exception; a `catch (...)` that does not rethrow it keeps the unit alive
// (and is the user's choice).
#pragma once

#include "weft/base/assert.hpp"

namespace weft::unit {

struct exit_request {
  bool cancelled = false;
};

// pthread_exit() unwinds past all handlers, and jumps from the end of the stack to where its kernel thread
// began: a worker would be gone, or what lends its TLS block to the thread.
[[noreturn, gnu::cold]] inline void refuse_other_unwinding() noexcept {
  base::panic("pthread_exit(), or a cancellation of the kernel thread, has unwound a thread of Weft; "
              "weft::this_thread::exit() ends one");
}

// Stands around the handler of requests; free where nothing else unwinds.
struct stops_other_unwinding {
  bool none = false;
  ~stops_other_unwinding() {
    if (!none) [[unlikely]]
      refuse_other_unwinding();
  }
};

} // namespace weft::unit
