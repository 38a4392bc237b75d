// SPDX-License-Identifier: MIT
// Mutexes for one writer or many readers. Guide: docs/guide/synchronisation.md.
#pragma once

#include "weft/sync/shared_mutex.hpp"

namespace weft {

using sync::shared_mutex;
using sync::shared_timed_mutex;

} // namespace weft
