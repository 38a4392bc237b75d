// SPDX-License-Identifier: MIT
// A condition variable in memory that starts as zeros and may end as soon as everybody has been notified. It
// knows nothing of the mutex but its address: the front gives it back and takes it again.
#pragma once

#include "weft/door/waiting.hpp"
#include "weft/door/zeroed.hpp"

namespace weft::door {

/// *Ownership*: `lock_` guards what is in `room_`. *Invariant*: while the queue is not empty, all in it came
/// with the mutex `bound`. A waiter stands in the queue before it gives the mutex back, so it misses no
/// signal.
class condition {
 public:
  enum class outcome { notified, timed_out, other_mutex };

  /// `release()` gives back the mutex, which is at the address `mutex`, and what it returns takes it again
  /// when it is destroyed. Not called for other_mutex: others wait, and with another mutex. GONE: *this, if
  /// notified. *Contexts*: who may_wait(). *Switches*: may. *Errors*: what `release` throws; std::bad_alloc,
  /// std::system_error: no timer could be had; not for no_deadline.
  template <class Release>
  outcome wait(const void* mutex, deadline until, const wait_reason& why, Release release) {
    sync::waiter w(why);
    waiting* in = nullptr;
    const bool once = passed(until);
    {
      const std::scoped_lock held(lock_);
      in = &room_.get();
      if (!in->queue.empty() && in->bound != mutex)
        return outcome::other_mutex;
      if (!once) {
        in->bound = mutex;
        in->queue.enqueue(w);
      }
    }
    [[maybe_unused]] const auto meanwhile = release(); // its end may switch
    if (once)
      return outcome::timed_out;
    // GONE: *this, if notified. SWITCH: may resume on another worker
    return in->queue.finish(lock_, w, until, {}) == sync::wait_result::notified ? outcome::notified
                                                                                : outcome::timed_out;
  }

  /// *Contexts*: in the runtime; all but signal handlers. *Switches*: never. *Errors*: none.
  void notify(bool all) noexcept {
    // Whoever changed something under the mutex sees the waiter that gave the mutex back before.
    if (waiting* in = room_.look(); in == nullptr || in->queue.looks_empty())
      return;
    const std::scoped_lock held(lock_);
    wait_queue& queue = room_.get().queue;
    all ? static_cast<void>(queue.notify_all()) : static_cast<void>(queue.notify_one());
  }

  /// RACY: somebody may come right afterwards. *Contexts*, *Switches*, *Errors*: as notify().
  [[nodiscard]] bool is_waited_for() noexcept {
    const std::scoped_lock held(lock_);
    return !room_.get().queue.empty();
  }

  /// For destructors of what has one: waits until nobody is on the way out of the queue. *Contexts*,
  /// *Switches*, *Errors*: as notify().
  void drain() noexcept {
    if (waiting* in = room_.look())
      in->queue.drain(lock_);
  }

 private:
  struct waiting {
    wait_queue queue;
    const void* bound = nullptr;
  };

  spin_lock lock_;
  zeroed<waiting> room_{};
};

} // namespace weft::door
