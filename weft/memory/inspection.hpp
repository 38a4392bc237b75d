// SPDX-License-Identifier: MIT
// Where `weft ps` and the gdb commands find slabs, stacks and free lists from outside: offsets of what is
// private otherwise. The table they read is view/inspection.cpp.
#pragma once

#include "weft/memory/object_cache.hpp"
#include "weft/memory/object_depot.hpp"
#include "weft/memory/stack_depot.hpp"
#include "weft/memory/stack_slab.hpp"

#include <cstddef>

namespace weft::memory {

struct inspection {
  // The depot of the process once it is made.
  static base::atomic<stack_depot*> stacks;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored                                                                               \
    "-Winvalid-offsetof" // private parts: not standard layout, one fixed place all the same
  static constexpr std::size_t depot_first = offsetof(object_depot, first_);
  static constexpr std::size_t depot_estates = offsetof(object_depot, estates_);
  static constexpr std::size_t depot_caches = offsetof(object_depot, caches_);
  static constexpr std::size_t depot_link = offsetof(object_depot, link_offset_);
  static constexpr std::size_t cache_free = offsetof(object_cache_base, free_);
  static constexpr std::size_t cache_next = offsetof(object_cache_base, next_);

  static constexpr std::size_t stacks_slabs = offsetof(stack_depot, slabs_);
  static constexpr std::size_t slab_base = offsetof(stack_slab, base_);
  static constexpr std::size_t slab_stride = offsetof(stack_slab, layout_) + offsetof(stack_layout, stride);
  static constexpr std::size_t slab_capacity =
      offsetof(stack_slab, layout_) + offsetof(stack_layout, capacity);
  static constexpr std::size_t slab_stored = offsetof(stack_slab, stored_);
  static constexpr std::size_t slab_next = offsetof(stack_slab, next_);
#pragma GCC diagnostic pop
};

} // namespace weft::memory
