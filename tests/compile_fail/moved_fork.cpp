// SPDX-License-Identifier: MIT
// A fork stays in the frame that made it: other workers know its address.
// expect: deleted
#include "weft/weft.hpp"

long misuse() {
  auto forked = weft::fork([] { return 1L; });
#ifndef CORRECT
  auto elsewhere = std::move(forked);
#endif
  return forked.join();
}
