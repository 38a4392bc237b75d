// SPDX-License-Identifier: MIT
// Runs programs in child processes: one that crashes or hangs takes nothing else along, and is known by its
// seed.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "tests/random/generator.hpp"
#include "tests/random/program.hpp"
#include "tests/random/stage.hpp"

namespace weft::random_programs {

enum class ending : std::uint8_t { right, wrong, crashed, hung };
[[nodiscard]] const char* name_of(ending e) noexcept;

struct verdict {
  ending how = ending::right;
  std::uint64_t seed = 0; // where it did not end right
  std::string why{};
};

struct conditions {
  preempted who = preempted::nobody;
  std::chrono::milliseconds limit{60'000}; // of one program; beyond that it hangs
  sabotage broken = sabotage::none;
  unsigned every = 50; // see saboteur
};

// The programs of so many seeds, in one child and on one runtime.
[[nodiscard]] verdict run_seeds(std::uint64_t first, unsigned count, std::uint64_t set_up_seed,
                                const conditions& c);

// One program, so many times, or as often as it can be within so long.
[[nodiscard]] verdict run_program(const program& p, unsigned times, std::chrono::milliseconds within,
                                  const conditions& c);

} // namespace weft::random_programs
