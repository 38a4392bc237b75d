// SPDX-License-Identifier: MIT
// How many workers, and what main() runs on.
#pragma once

#include <cstddef>

namespace weft::compose {

struct run_options {
  unsigned workers = 0;               // 0: as many as the caller may use CPUs
  std::size_t main_stack = 256 << 10; // bytes; of the thread that main() is, in a composed runtime
};

} // namespace weft::compose
