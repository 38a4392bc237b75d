// SPDX-License-Identifier: MIT
// Whether there is an event source over io_uring: the build has one of two sources for this header, with
// liburing and without.
#pragma once

#include "weft/io/source.hpp"

#include <memory>

namespace weft::io {

/// Null: the build has no liburing, or the kernel refuses (why_not_uring() tells). *Errors*: std::bad_alloc;
/// std::system_error if there is no descriptor to call its sleeper with.
std::unique_ptr<source> try_make_uring_source();

} // namespace weft::io
