// SPDX-License-Identifier: MIT
// The same calls for kernel threads that are no workers: they block in the kernel.
#pragma once

#include "weft/io/limit.hpp"
#include "weft/io/request.hpp"

namespace weft::io {

/// `r`: the result, or -errno. Waits by poll(2); a stop token is heard through a bell.
[[nodiscard]] int perform_outside(const request& r, const limit& how_long) noexcept;

} // namespace weft::io
