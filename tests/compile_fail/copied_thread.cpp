// SPDX-License-Identifier: MIT
// A thread handle has one owner.
// expect: (use of deleted|call to (deleted|implicitly-deleted)|deleted).*
#include "weft/weft.hpp"

void misuse(weft::thread& t) {
#ifdef CORRECT
  weft::thread other = std::move(t);
#else
  weft::thread other = t;
#endif
  other.join();
}
