// SPDX-License-Identifier: MIT
// units: n units with an empty body are made and are gone, one after the other but where `unnamed` says
// otherwise, in the ways that create_join leaves out. One operation is one unit.
//   create_to         the new thread runs in place of its creator, who frees it then
//   unnamed           nobody has a handle; a hundred are made between two yields
//   unnamed_tasklet   the same
//   revive            a thread that has ended has another life, and is joined
//   revive_tasklet    the same
//   fifo, randws      made and freed in a pool that other streams may use
//   fifo_tasklet, randws_tasklet   the same
#pragma once

#include <atomic>

#include "bench/common/bench.hpp"

namespace weft::bench::units {

inline constexpr std::size_t between_yields = 100;

inline options defaults() {
  return {.n = 10000, .rounds = 10, .repeats = 5, .workers = 1, .form = {}};
}

inline std::vector<std::string> forms() {
  return {"create_to", "unnamed",      "unnamed_tasklet", "revive",        "revive_tasklet",
          "fifo",      "fifo_tasklet", "randws",          "randws_tasklet"};
}

inline void nothing(void*) {}

inline std::atomic<std::size_t> counted{0};
inline void count(void*) {
  counted.fetch_add(1, std::memory_order_relaxed);
}

} // namespace weft::bench::units
