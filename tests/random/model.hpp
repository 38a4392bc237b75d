// SPDX-License-Identifier: MIT
// What programs mean, carried out one instruction after the other.
#pragma once

#include <string>

#include "tests/random/program.hpp"
#include "tests/random/record.hpp"

namespace weft::random_programs {

// Why nobody may run the program (program.hpp has the rules); empty: it can be run, and ends.
[[nodiscard]] std::string why_invalid(const program& p);

// What of the record cannot be; empty: it is what the program means.
[[nodiscard]] std::string why_wrong(const program& p, const record& r);

// How many count down a latch, and take part in a barrier.
[[nodiscard]] long downs_of(const program& p, unsigned latch);
[[nodiscard]] long parties_of(const program& p, unsigned barrier);

} // namespace weft::random_programs
