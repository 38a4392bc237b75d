// SPDX-License-Identifier: MIT
// A fork that nobody names would be joined at once.
// expect: nodiscard|unused|warn_unused
#include "weft/weft.hpp"

#pragma GCC diagnostic error "-Wunused-result"
#pragma GCC diagnostic error "-Wunused-value"
void misuse() {
#ifdef CORRECT
  auto forked = weft::fork([] {});
  forked.join();
#else
  weft::fork([] {});
#endif
}
