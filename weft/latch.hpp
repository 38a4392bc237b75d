// SPDX-License-Identifier: MIT
// A count that goes down once. Guide: docs/guide/synchronisation.md.
#pragma once

#include "weft/sync/latch.hpp"

namespace weft {

using sync::latch;

} // namespace weft
