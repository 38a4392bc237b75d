// SPDX-License-Identifier: MIT
// The group that serves everybody who names none. Declared here, since units are created from this room;
// defined by the runtime room, which knows how a runtime is composed (dependency inversion at link time, as
// heavy_fence()).
#pragma once

#include "weft/base/export.hpp"

namespace weft::sched {

class group;

// Starts the runtime if it is not running. Contexts: all but signal handlers. Switches: never.
// Errors: std::system_error if workers cannot be started.
WEFT_API group& default_group();

} // namespace weft::sched
