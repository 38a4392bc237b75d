// SPDX-License-Identifier: MIT
// A mutex that its owner may take again.
#pragma once

#include "weft/sync/mutex.hpp"

#include <chrono>
#include <cstdint>
#include <stop_token>

namespace weft::sync {

/// As std::recursive_timed_mutex, with stop tokens; otherwise as mutex. The owner is a thread of Weft
/// (wherever it runs), a tasklet, or a kernel thread that runs none. Errors besides those of mutex: none (the
/// depth is not checked; it holds 2^32 - 1). *Ownership*: the holder of `mutex_` writes `owner_` and
/// `depth_`. Others read owner_: RACY, they find anything but themselves.
class recursive_mutex {
 public:
  constexpr recursive_mutex() noexcept = default;
  recursive_mutex(const recursive_mutex&) = delete;
  recursive_mutex& operator=(const recursive_mutex&) = delete;

  void lock() {
    const void* const self = caller_identity();
    if (!again(self)) {
      mutex_.lock();
      own(self);
    }
  }
  [[nodiscard]] bool try_lock() noexcept {
    return take([&] { return mutex_.try_lock(); });
  }
  [[nodiscard]] bool lock(const std::stop_token& stop) {
    return take([&] { return mutex_.lock(stop); });
  }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& length,
                                  const std::stop_token& stop = {}) {
    return take([&] { return mutex_.try_lock_for(length, stop); });
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& at,
                                    const std::stop_token& stop = {}) {
    return take([&] { return mutex_.try_lock_until(at, stop); });
  }
  /// *Undefined*: by another than the owner (diagnosed with assertions).
  void unlock() noexcept {
    WEFT_ASSERT(owner_.load_relaxed() == caller_identity(),
                "a recursive mutex is unlocked by a thread that does not hold it");
    if (--depth_ == 0) {
      owner_.store_relaxed(nullptr);
      mutex_.unlock();
    }
  }

 private:
  bool again(const void* self) noexcept {
    if (owner_.load_relaxed() != self) {
      return false;
    }
    ++depth_;
    return true;
  }
  void own(const void* self) noexcept {
    owner_.store_relaxed(self); // relaxed: only its own mark matters to a caller
    depth_ = 1;
  }
  template <class Take>
  bool take(Take from_others) {
    const void* const self = caller_identity();
    if (again(self)) {
      return true;
    }
    if (!from_others()) {
      return false;
    }
    own(self);
    return true;
  }

  stored_release_mutex<unrecorded_owner> mutex_;
  std::uint32_t depth_ = 0;
  base::atomic<const void*> owner_{nullptr};
};

using recursive_timed_mutex = recursive_mutex;

} // namespace weft::sync
