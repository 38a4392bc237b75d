// SPDX-License-Identifier: MIT
// What schedulers are asked to do.
#pragma once

#include "front/abt/scheduler.hpp"

namespace weft::abt {

// While a scheduler is to finish, its pools tell whoever would sleep that the last unit has ended.
inline void add_request(scheduler& s, std::uint32_t bits) noexcept {
  const std::uint32_t before = s.requests.fetch_or(bits, std::memory_order_acq_rel);
  if ((bits & ~before & finish_requested) == 0)
    return;
  for (const auto& p : s.pools)
    p->draining.fetch_add(1, std::memory_order_relaxed);
}

inline void forget_requests(scheduler& s) noexcept {
  if ((s.requests.exchange(0, std::memory_order_acq_rel) & finish_requested) == 0)
    return;
  for (const auto& p : s.pools)
    p->draining.fetch_sub(1, std::memory_order_relaxed);
}

} // namespace weft::abt
