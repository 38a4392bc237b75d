// SPDX-License-Identifier: MIT
// Semaphores. Guide: docs/guide/synchronisation.md.
#pragma once

#include "weft/sync/semaphore.hpp"

namespace weft {

using sync::binary_semaphore;
using sync::counting_semaphore;

} // namespace weft
