// SPDX-License-Identifier: MIT
// Queues between threads. Guide: docs/guide/synchronisation.md.
#pragma once

#include "weft/sync/channel.hpp"

namespace weft {

using sync::channel;
using sync::channel_status;
using sync::received;

} // namespace weft
