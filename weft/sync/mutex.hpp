// SPDX-License-Identifier: MIT
// The default mutex: taken by one exchange, released by a plain store; the waiter pays for the fence that the
// owner saves. The protocol and its proof: weft/sync/README.md.
#pragma once

#include "weft/arch/arch.hpp"
#include "weft/sync/owner_record.hpp"
#include "weft/sync/release_action.hpp"
#include "weft/sync/suspended_thread.hpp"
#include "weft/sync/wait_table.hpp"

#include <chrono>
#include <stop_token>

namespace weft::sync {

/// A mutex of one word. Meets Cpp17TimedLockable. Not recursive. Any thread of Weft and any kernel thread
/// may use it; it may be destroyed as soon as nobody holds it, even while the last owner is still in
/// unlock(). Not fair: a thread that runs may overtake one that is being woken, up to hand_off_after times;
/// then those that wait get the mutex in order of arrival. Who tries takes it whenever nobody holds it,
/// also from one that has been woken for it and has not run yet: a loop around try_lock() ends on a single
/// worker too. Requests to cancel a thread are not acted on here. *Ownership*: whoever found `word_` 0, or
/// was handed it. Source: the word as in Linux' futex mutexes (Drepper, "Futexes are tricky"), the table
/// from WebKit's parking lot, the asymmetric release ours. Common to all blocking forms here: *Contexts*:
/// thread, foreign kernel thread; a tasklet as long as it need not wait. *Switches*: may. *Errors*:
/// std::system_error: operation_not_permitted (a tasklet would have to wait), or no timer could be had; the
/// mutex is not held then. *Undefined*: locking it twice, unlocking what one does not hold (both diagnosed
/// with recorded_owner).
template <class OwnerRecord>
class stored_release_mutex : private release_action<stored_release_mutex<OwnerRecord>> {
 public:
  constexpr stored_release_mutex() noexcept = default;
  stored_release_mutex(const stored_release_mutex&) = delete;
  stored_release_mutex& operator=(const stored_release_mutex&) = delete;

  /// Takes the mutex, waiting for it if need be.
  [[gnu::always_inline]] void lock() {
    if (const std::uint32_t displaced = exchange_word(word_, arch::stack_mark()); displaced != word_free)
        [[unlikely]] {
      owner_.expect_other();
      lock_slowly(word_, displaced);
    }
    owner_.set();
  }

  /// Takes the mutex if it is free. *Contexts*: any. *Switches*: never. *Errors*: none.
  [[nodiscard]] bool try_lock() noexcept {
    if (!try_word(word_, arch::stack_mark())) {
      return false;
    }
    owner_.set();
    return true;
  }

  /// As lock(), until a stop is requested; true if taken. A free mutex is taken whatever the token says.
  [[nodiscard]] bool lock(const std::stop_token& stop) {
    return try_lock() || wait(sched::no_deadline, stop);
  }

  /// As lock(), for so long, or until a stop is requested; true if taken.
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& length,
                                  const std::stop_token& stop = {}) {
    return try_lock() || wait(deadline_of(length), stop);
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& at,
                                    const std::stop_token& stop = {}) {
    return try_lock() || wait_by_clock(at, stop, [&](sched::deadline until) { return wait(until, stop); });
  }

  /// Gives the mutex back. *Contexts*: any but signal handlers; the owner. *Switches*: never. *Errors*: none.
  /// GONE: *this may be destroyed by the next owner.
  [[gnu::always_inline]] void unlock() noexcept {
    owner_.clear();
    release();
  }

  /// Suspends the caller into `place` and then, off its stack, gives the mutex back: nobody can take the
  /// mutex before the thread is in the place. Returns when somebody has notified the place; the mutex is not
  /// held. *Contexts*: the owner, a thread or foreign kernel thread. *Switches*: may. *Errors*:
  /// operation_not_permitted from a tasklet; the mutex is held then. Source: unlock_and_wait of the
  /// composable-threads paper.
  void unlock_and_wait(suspended_thread& place) {
    owner_.expect_self();
    place.wait_with(this->action()); // SWITCH: may resume on another worker
  }

 private:
  friend release_action<stored_release_mutex>;

  bool wait(sched::deadline until, const std::stop_token& stop) {
    owner_.expect_other();
    if (!lock_slowly(word_, word_free, until, stop)) {
      return false;
    }
    owner_.set();
    return true;
  }

  void release_for_owner() noexcept {
    owner_.clear_by_other();
    release();
  }

  [[gnu::always_inline]] void release() noexcept {
    bool look = false;
    if (!slot_of(&word_).state.release_quietly(word_, look)) [[unlikely]] {
      release_contended(word_);
      return;
    }
    // GONE: *this. Only its address is used below.
    if (look) [[unlikely]] {
      look_again(&word_);
    }
  }

  mutex_word word_{word_free};
  [[no_unique_address]] OwnerRecord owner_;
};

using mutex = stored_release_mutex<default_owner_record>;
using timed_mutex = mutex;

} // namespace weft::sync
