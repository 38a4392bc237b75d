// SPDX-License-Identifier: MIT
#include "weft/door/mutex.hpp"

#include <algorithm>

namespace weft::door {
namespace {

constexpr int looks_before_yield = 64; // as base::spin_lock

} // namespace

int lock_word::release_contended(sync::mutex_word& word) noexcept {
  sync::release_contended(word);
  return 0;
}
int lock_word::look_again(const sync::mutex_word* key) noexcept {
  sync::look_again(key);
  return 0;
}

void lock_word::spin() noexcept {
  for (int looks = 0; !try_lock();) {
    if (++looks < looks_before_yield) {
      arch::relax();
    } else {
      base::backend::yield_kernel_thread();
      looks = 0;
    }
  }
}

// For callers that may not wait: a tasklet has no stack to leave, and a worker's loop cannot be suspended. It
// stands in no queue: the wait table's waiters suspend. The pauses bound both the load and the delay.
bool lock_word::block(deadline until) noexcept {
  constexpr std::int64_t longest = 50'000;
  for (int looks = 0; looks < looks_before_yield; ++looks) {
    if (try_lock())
      return true;
    arch::relax();
  }
  for (std::int64_t pause = 500; !try_lock(); pause = std::min(2 * pause, longest)) {
    const std::int64_t left = until == no_deadline ? longest : until - now();
    if (left <= 0)
      return false;
    block_for(std::min(pause, left));
  }
  return true;
}

} // namespace weft::door
