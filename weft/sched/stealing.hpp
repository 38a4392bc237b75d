// SPDX-License-Identifier: MIT
// A victim at random, then the others in turn. For schedulers; fronts' too.
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/base/random.hpp"
#include "weft/simulator/simulation.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched {

WEFT_API void note_steal(worker& thief, const descriptor& u, const pool& victim) noexcept;

// One unit from pools[first, last), pointers of any kind, beginning at a random one. `seed`: 0 at first.
template <class Pools>
descriptor* steal_among(worker& thief, const Pools& pools, std::size_t first, std::size_t last,
                        std::uint64_t& seed) {
  const std::size_t count = last - first;
  if (count == 0)
    return nullptr;
  if (seed == 0)
    seed = base::seed_of(thief.number) ^ simulation::salt();
  std::size_t at = base::next_random(seed) % count;
  for (std::size_t tried = 0; tried < count; ++tried, at = at + 1 == count ? 0 : at + 1) {
    pool& victim = *pools[first + at];
    if (victim.empty())
      continue;
    if (descriptor* u = victim.steal(thief)) {
      note_steal(thief, *u, victim);
      return u;
    }
  }
  return nullptr;
}

} // namespace weft::sched
