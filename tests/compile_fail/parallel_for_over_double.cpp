// SPDX-License-Identifier: MIT
// Ranges are of integers.
// expect: integral|no matching function
#include "weft/weft.hpp"

void misuse() {
#ifdef CORRECT
  weft::parallel_for(0, 10, [](int) {});
#else
  weft::parallel_for(0.0, 10.0, [](double) {});
#endif
}
