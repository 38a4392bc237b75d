// SPDX-License-Identifier: MIT
// See scal.hpp.
#include "bench/common/scal.hpp"

namespace weft::bench {

void scal(float* y, std::size_t first, std::size_t last, float a) {
  for (std::size_t i = first; i < last; ++i)
    y[i] *= a;
}

} // namespace weft::bench
