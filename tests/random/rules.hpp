// SPDX-License-Identifier: MIT
// The rules by which a program has one outcome; see program.hpp.
#pragma once

#include <string>

#include "tests/random/program.hpp"

namespace weft::random_programs {

// Channels 0 and 1 have one sender and hold so many; the others hold all.
constexpr bool is_unbounded(unsigned channel) noexcept {
  return channel >= 2;
}

// How many objects or threads the instruction may name.
[[nodiscard]] unsigned objects_of(op what) noexcept;

// Whether a thread of this make may carry it out, at the outermost level or in a body.
[[nodiscard]] bool may_use(const thread_spec& t, const instruction& i) noexcept;

// Empty: none.
[[nodiscard]] std::string broken_rule(const program& p);

} // namespace weft::random_programs
