// SPDX-License-Identifier: MIT
// What streams do where they look for events.
#pragma once

#include "front/abt/stack_dump.hpp"

namespace weft::abt {

// Takes part in a dump of all stacks, if one was triggered. Contexts: the loop of a stream. Waits until the
// dump is done.
inline void serve_stack_dump() noexcept {
  if (dump_is_wanted()) [[unlikely]]
    serve_stack_dump_slowly();
}

} // namespace weft::abt
