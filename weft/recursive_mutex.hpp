// SPDX-License-Identifier: MIT
// Mutexes that their owner may take again. Guide: docs/guide/synchronisation.md.
#pragma once

#include "weft/sync/recursive_mutex.hpp"

namespace weft {

using sync::recursive_mutex;
using sync::recursive_timed_mutex;

} // namespace weft
