// SPDX-License-Identifier: MIT
#include "weft/sync/shared_mutex.hpp"
#include "weft/sched/user_mode.hpp"
#include "weft/sync/wait_told.hpp"

namespace weft::sync {

void shared_mutex::set_writer() noexcept {
  mark_.store_relaxed(arch::stack_mark()); // relaxed: nobody decides by it, as where it is cleared
}

bool shared_mutex::take_locked() noexcept {
  if (writing_ || reading_ != 0) {
    return false;
  }
  writing_ = true;
  set_writer();
  return true;
}

bool shared_mutex::take_shared_locked() noexcept {
  if (writing_ || !writers_.empty()) {
    return false;
  }
  ++reading_;
  return true;
}

void shared_mutex::admit_readers() noexcept {
  reading_ += readers_waiting_.notify_all();
}

// writing_ is set once the wake has succeeded; the new owner cannot release before, for want of lock_.
void shared_mutex::admit_writer() noexcept {
  writing_ = writers_.notify_one();
}

bool shared_mutex::try_lock() noexcept {
  const sched::runtime_section in;
  const std::scoped_lock held(lock_);
  return take_locked();
}

bool shared_mutex::try_lock_shared() noexcept {
  const sched::runtime_section in;
  const std::scoped_lock held(lock_);
  return take_shared_locked();
}

void shared_mutex::tell_release() const noexcept {
  if (!writers_.empty() || !readers_waiting_.empty())
    sched::note_here(trace::event::lock_pass, this);
}

void shared_mutex::unlock() noexcept {
  const sched::runtime_section in;
  const std::scoped_lock held(lock_);
  tell_release();
  mark_.store_relaxed(0);
  writing_ = false;
  admit_readers();
  if (reading_ == 0) {
    admit_writer();
  }
}

void shared_mutex::unlock_shared() noexcept {
  const sched::runtime_section in;
  const std::scoped_lock held(lock_);
  if (--reading_ != 0) {
    return;
  }
  tell_release();
  admit_writer();
  if (!writing_) {
    admit_readers();
  }
}

// Readers stood behind it that need not wait any longer. Not held: the mutex is gone.
void shared_mutex::writer_gave_up(const held_lock& held) noexcept {
  if (held.owns_lock() && !writing_ && writers_.empty()) {
    admit_readers();
  }
}

bool shared_mutex::wait(sched::deadline until, const std::stop_token& stop) {
  const sched::runtime_section in;
  held_lock held(lock_);
  if (take_locked()) {
    return true;
  }
  waiter w({unit::wait_kind::shared_mutex, 0, this});
  const wait_told told(this);
  try {
    if (writers_.wait(held, w, until, stop) ==
        wait_result::notified) { // SWITCH: may resume on another worker
      set_writer();
      return true;
    }
  } catch (...) {
    writer_gave_up(held);
    throw;
  }
  writer_gave_up(held);
  return false;
}

bool shared_mutex::wait_shared(sched::deadline until, const std::stop_token& stop) {
  const sched::runtime_section in;
  held_lock held(lock_);
  if (take_shared_locked()) {
    return true;
  }
  waiter w({unit::wait_kind::shared_reader, 0, this});
  const wait_told told(this);
  return readers_waiting_.wait(held, w, until, stop) ==
         wait_result::notified; // SWITCH: may resume on another worker
}

} // namespace weft::sync
