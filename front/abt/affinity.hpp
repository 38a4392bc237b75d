// SPDX-License-Identifier: MIT
// Which CPUs streams run on.
#pragma once

#include <vector>

#include "front/abt/xstream.hpp"

namespace weft::abt {

// As ABT_SET_AFFINITY says for its rank, if it says anything. Errors: none: a stream runs unbound as well.
void bind_by_environment(xstream& es);
// CPU numbers beyond the machine wrap around. Empty: anywhere. Errors: an ABT_ERR_ code.
int bind_stream(xstream& es, std::vector<int> cpus);
// Unbinds a stream that ends, if it is bound. Errors: none: then it stays as it is.
void free_cpus(xstream& es) noexcept;

} // namespace weft::abt
