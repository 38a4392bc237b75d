// SPDX-License-Identifier: MIT
// Everything about chase_lev_deque that can be chosen: its constants, its fences, and what steal() returns.
#pragma once

#include "weft/base/atomic.hpp"
#include "weft/base/fence.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::queue {

/// The constants, in one place. The checker gets small ones, so that growth and windows are reached in a
/// few steps. Rates: a full fence costs the owner some 20 cycles per pop; membarrier costs the thief 0.4-8
/// us and interrupts the owner, some 1,500 cycles to both. They break even at one steal in 64-75 pops;
/// eight times fewer steals bring the asymmetric pair back, so that a deque near the edge does not swing.
struct deque_tuning {
  /// Slots at construction; a power of two.
  static constexpr std::size_t initial_capacity = base::backend::scaled(256, 2);
  /// Pops between two looks at the steal rate while thieves pay.
  static constexpr std::uint32_t thief_pays_window = base::backend::scaled(256, 1 << 20);
  /// Pops between two looks while the owner pays.
  static constexpr std::uint32_t owner_pays_window = base::backend::scaled(1024, 1 << 20);
  /// Net pushes between two looks, for an owner that never pops.
  static constexpr std::int64_t pushes_per_look = base::backend::scaled(256, 1 << 20);
  /// The owner pays from one steal in so many pops (or so many pushes) upwards ...
  static constexpr std::int64_t pops_per_steal_to_owner = 64;
  /// ... and thieves pay again below one steal in so many pops.
  static constexpr std::int64_t pops_per_steal_to_thief = 512;
};

/// The fences of the deque. The model tests take one away at a time and expect to be told.
struct deque_fences {
  /// Whether thieves may pay at all.
  static bool asymmetric() noexcept { return base::asymmetric_fences; }
  static void owner_light() noexcept { base::unsafe_light_fence(); } // only if asymmetric() was true
  static void owner_full() noexcept { base::full_fence(); }
  static void thief_heavy() noexcept { base::heavy_fence(); }
  static void thief_full() noexcept { base::full_fence(); }
};

/// Which side of the deque executes the expensive fence.
enum class fence_payer : unsigned char { owner, thief };

enum class steal_status : unsigned char {
  taken,     ///< `item` is the caller's
  empty,     ///< there was nothing to take
  lost_race, ///< somebody else took that item, or the owner changed who pays: trying again may succeed
};

template <class T>
struct steal_result {
  T* item; ///< null unless taken
  steal_status status;
};

} // namespace weft::queue
