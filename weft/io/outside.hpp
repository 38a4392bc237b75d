// SPDX-License-Identifier: MIT
// The same calls for kernel threads that are no workers: they block in the kernel.
#pragma once

#include "weft/io/limit.hpp"
#include "weft/io/request.hpp"

namespace weft::io {

/// `r`, which would have to wait, by poll(2): the result, or -errno. A stop token is heard through a bell.
/// `is_connecting`: it is a connect(2) that has begun.
[[nodiscard]] int perform_outside(const request& r, const limit& how_long, bool is_connecting) noexcept;

} // namespace weft::io
