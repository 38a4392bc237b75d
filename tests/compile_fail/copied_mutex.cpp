// SPDX-License-Identifier: MIT
// A mutex is where it is.
// expect: deleted
#include "weft/weft.hpp"

void misuse() {
  weft::mutex m;
#ifndef CORRECT
  weft::mutex other = m;
#endif
  m.lock();
  m.unlock();
}
