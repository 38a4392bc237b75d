// SPDX-License-Identifier: MIT
// weft::io: read, write, accept, connect and others that suspend the thread, never its worker. Guide:
// docs/guide/io.md.
#pragma once

#include "weft/io/limit.hpp"      // IWYU pragma: export
#include "weft/io/operations.hpp" // IWYU pragma: export
#include "weft/io/readiness.hpp"  // IWYU pragma: export

namespace weft::io {} // namespace weft::io
