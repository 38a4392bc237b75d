// SPDX-License-Identifier: MIT
#pragma once

#include "tests/random/program.hpp"
#include "tests/random/stage.hpp"

namespace weft::random_programs {

// Which threads others may preempt.
enum class preempted : std::uint8_t { nobody, some };

// The same seed gives the same program. It obeys the rules, and ends: what it waits for was there in the
// order in which it was made up.
[[nodiscard]] program make_program(std::uint64_t seed, const set_up& where, const dialect& d, preempted who);
// Of programs that share a runtime.
[[nodiscard]] set_up make_set_up(std::uint64_t seed, const dialect& d);

} // namespace weft::random_programs
