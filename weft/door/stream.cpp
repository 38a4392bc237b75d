// SPDX-License-Identifier: MIT
#include "weft/door/stream.hpp"

#include "weft/sched/default_group.hpp"

#include <atomic>

namespace weft::door {

weft::pool& pool_of_default_runtime() {
  return sched::default_group().next_pool();
}

unsigned next_stream_number() noexcept {
  static constinit std::atomic<unsigned> next{0};
  return next.fetch_add(1);
}

} // namespace weft::door
