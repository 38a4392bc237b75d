// SPDX-License-Identifier: MIT
// A tasklet handle has one owner.
// expect: deleted
#include "weft/weft.hpp"

void misuse(weft::tasklet& t) {
#ifdef CORRECT
  weft::tasklet other = std::move(t);
#else
  weft::tasklet other = t;
#endif
  other.join();
}
