// SPDX-License-Identifier: MIT
// y[i] = a * y[i], compiled once and by one compiler, so that no peer is judged by its compiler's vectoriser.
#pragma once

#include <cstddef>

namespace weft::bench {

void scal(float* y, std::size_t first, std::size_t last, float a);

} // namespace weft::bench
