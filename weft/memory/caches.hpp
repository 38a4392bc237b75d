// SPDX-License-Identifier: MIT
// What a worker keeps of memory for the units that it starts and ends. Ownership: the worker.
#pragma once

#include <cstdint>

#include "weft/base/atomic.hpp"
#include "weft/memory/object_cache.hpp"
#include "weft/memory/stack_cache.hpp"

namespace weft::memory {

template <class Descriptor>
struct caches {
  object_cache<Descriptor> descriptors;
  stack_cache stacks;
  bool trimmed = false;                 // memory was given back since the worker last had work
  base::atomic<std::uint32_t> trims{0}; // odd while memory is given back: counts are not exact then
};

} // namespace weft::memory
