// SPDX-License-Identifier: MIT
// KMP_AFFINITY, by which programs for Intel's and LLVM's runtimes say where threads go:
//   [modifier,...]type[,permute][,offset]
#pragma once

#include "front/openmp/places.hpp"

#include <vector>

namespace weft::openmp {

struct kmp_affinity {
  enum class type { none, compact, scatter, balanced, listed };
  enum class layer { thread, core, socket };
  type order = type::none;
  layer granularity = layer::core;
  unsigned permute = 0; // the innermost levels that count first, of socket, core, thread
  unsigned offset = 0;  // the place that the first thread has
  std::vector<place> list;
  bool verbose = false;
};

/// Reads a value; false: it is none. *Contexts*: all but signal handlers. *Switches*: never. *Errors*: none.
bool read_kmp_affinity(const char* text, kmp_affinity& out);

/// Its places, in the order in which threads get them, of the CPUs that the process may use; empty for
/// `none`. *Contexts*, *Switches*, *Errors*: as above.
std::vector<place> places_of(const kmp_affinity& wanted);

} // namespace weft::openmp
