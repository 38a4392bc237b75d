// SPDX-License-Identifier: MIT
// A fork cannot outlive the frame that made it, by way of a container neither.
// expect: deleted|no matching function
#include "weft/weft.hpp"

#include <vector>

void misuse() {
  auto call = [] { return 1; };
  auto forked = weft::fork(call);
#ifndef CORRECT
  std::vector<decltype(forked)> kept;
  kept.push_back(std::move(forked));
#endif
  static_cast<void>(forked.join());
}
