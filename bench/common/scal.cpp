// SPDX-License-Identifier: MIT
// See scal.hpp.
#include "bench/common/scal.hpp"

// Where the linker happens to put a loop of five instructions decides half of its speed: everywhere the same.
#pragma GCC optimize("align-functions=64", "align-loops=64")

namespace weft::bench {

void scal(float* y, std::size_t first, std::size_t last, float a) {
  for (std::size_t i = first; i < last; ++i)
    y[i] *= a;
}

} // namespace weft::bench
