// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>

#include "tests/random/program.hpp"

namespace weft::random_programs {

// Takes parts out of the program, and makes others plainer, as long as `fails` is true of what is left and
// for no longer than told. Programs that break the rules, or have no end, are not tried. Source: Zeller and
// Hildebrandt, "Simplifying and isolating failure-inducing input"; ours removes what belongs together first
// (a thread and all that names it, an object and all that uses it), since most single removals would break
// the rules.
[[nodiscard]] program shrink(program p, const std::function<bool(const program&)>& fails,
                             std::chrono::milliseconds within);

} // namespace weft::random_programs
