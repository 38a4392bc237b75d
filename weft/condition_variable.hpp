// SPDX-License-Identifier: MIT
// Condition variables. Guide: docs/guide/synchronisation.md.
#pragma once

#include "weft/sync/condition_variable.hpp"

namespace weft {

using sync::condition_variable;
using sync::condition_variable_any;

} // namespace weft
