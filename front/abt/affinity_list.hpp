// SPDX-License-Identifier: MIT
// ABT_SET_AFFINITY as a list of sets of CPUs; a parser and nothing else, which the fuzzer runs alone.
#pragma once

#include <vector>

namespace weft::abt {

// {a,b:n:s}:n:s and so on. False: it is no such list, names a CPU beyond 65,536 or too many of them; `sets`
// is as it was then. Contexts: all but signal handlers. Switches: never. Errors: std::bad_alloc.
bool parse_affinity(const char* text, std::vector<std::vector<int>>& sets);

} // namespace weft::abt
