// SPDX-License-Identifier: MIT
// Promises, futures, packaged tasks. Guide: docs/guide/synchronisation.md.
#pragma once

#include "weft/sync/future.hpp"

namespace weft {

using sync::future;
using sync::packaged_task;
using sync::promise;
using sync::shared_future;

} // namespace weft
