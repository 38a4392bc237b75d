// SPDX-License-Identifier: MIT
// weft::suspend(): wait for a callback. Guide: docs/guide/io.md.
#pragma once

#include "weft/sync/resume_handle.hpp"

namespace weft {

using sync::resume_handle;
using sync::suspend;

} // namespace weft
