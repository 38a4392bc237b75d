// SPDX-License-Identifier: MIT
// The real one, but that a sleep is a point where other model threads go on (tests/model/runtime/below.cpp).
#pragma once

#define sleep_ns sleep_in_the_kernel
#include_next <weft/os/clock.hpp>
#undef sleep_ns

namespace weft::os {

void sleep_ns(std::int64_t ns) noexcept;

} // namespace weft::os
