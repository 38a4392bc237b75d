// SPDX-License-Identifier: MIT
#include "weft/door/mutex.hpp"

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

// For callers that may not wait: they stand in no queue, since the wait table's waiters suspend.
bool lock_word::block(deadline until) noexcept {
  for (int looks = 0; looks < looks_before_yield; ++looks) {
    if (try_lock())
      return true;
    arch::relax();
  }
  return poll_until([this] { return try_lock(); }, until);
}

} // namespace weft::door
