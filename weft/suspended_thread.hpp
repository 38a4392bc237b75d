// SPDX-License-Identifier: MIT
// The primitive under everything that waits, for those who write their own.
#pragma once

#include "weft/sync/suspended_thread.hpp"

namespace weft {

using sync::suspended_thread;
using sync::wait_result;

} // namespace weft
