// SPDX-License-Identifier: MIT
// Meeting points. Guide: docs/guide/synchronisation.md.
#pragma once

#include "weft/sync/barrier.hpp"

namespace weft {

using sync::barrier;

} // namespace weft
