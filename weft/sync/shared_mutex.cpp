// SPDX-License-Identifier: MIT
#include "weft/sync/shared_mutex.hpp"
#include "weft/carrier/runtime_section.hpp"
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

// True: nobody holds it, but for those to whom it is offered; of a writer, the offer has been taken back.
bool shared_mutex::call_off() noexcept {
  return writing_ ? writers_.take_back() : reading_ == readers_waiting_.offered();
}

bool shared_mutex::take_offered() noexcept {
  if (!call_off()) {
    return false;
  }
  while (readers_waiting_.take_back()) {
  }
  reading_ = 0;
  writing_ = true;
  set_writer();
  return true;
}

// Readers to whom it is offered keep their offers: their phase has begun.
bool shared_mutex::take_offered_shared() noexcept {
  if (!call_off()) {
    return false;
  }
  writing_ = false;
  ++reading_;
  return true;
}

void shared_mutex::admit_readers() noexcept {
  reading_ += readers_waiting_.offer_all();
}

void shared_mutex::admit_writer() noexcept {
  writing_ = writers_.offer_one();
}

bool shared_mutex::try_lock() noexcept {
  const sched::runtime_section in;
  const std::scoped_lock held(lock_);
  return take_locked() || take_offered();
}

bool shared_mutex::try_lock_shared() noexcept {
  const sched::runtime_section in;
  const std::scoped_lock held(lock_);
  return take_shared_locked() || take_offered_shared();
}

bool shared_mutex::try_in_turn() noexcept {
  const sched::runtime_section in;
  const std::scoped_lock held(lock_);
  return take_locked();
}

bool shared_mutex::try_in_turn_shared() noexcept {
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
  if (take_locked() || (has_passed(until) && take_offered())) {
    return true;
  }
  offer_queue::place p({unit::wait_kind::shared_mutex, 0, this});
  const wait_told told(this);
  bool accepted = false;
  try {
    accepted = writers_.wait(held, p, until, stop); // SWITCH: may resume on another worker
  } catch (...) {
    writer_gave_up(held);
    throw;
  }
  if (!accepted) {
    writer_gave_up(held);
  } else if (held.owns_lock()) { // else the mutex is gone
    set_writer();
  }
  return accepted;
}

bool shared_mutex::wait_shared(sched::deadline until, const std::stop_token& stop) {
  const sched::runtime_section in;
  held_lock held(lock_);
  if (take_shared_locked() || (has_passed(until) && take_offered_shared())) {
    return true;
  }
  offer_queue::place p({unit::wait_kind::shared_reader, 0, this});
  const wait_told told(this);
  return readers_waiting_.wait(held, p, until, stop); // SWITCH: may resume on another worker
}

} // namespace weft::sync
