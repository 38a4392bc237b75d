// SPDX-License-Identifier: MIT
// Mutexes: the default one, and mcs_mutex, which serves strictly in order. Guide:
// docs/guide/synchronisation.md.
#pragma once

#include "weft/sync/mcs_mutex.hpp"
#include "weft/sync/mutex.hpp"

namespace weft {

using sync::mcs_mutex;
using sync::mutex;
using sync::timed_mutex;

} // namespace weft
