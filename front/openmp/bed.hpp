// SPDX-License-Identifier: MIT
// Where a thread of OpenMP sleeps: one for each, whatever it waits for. Who changes what others may wait for
// looks whether they sleep for that, and wakes them; so a wait costs its notifier nothing while nobody
// sleeps, and no list of waiters has to be locked.
#pragma once

#include "weft/door/atomic.hpp"
#include "weft/door/errno_kept.hpp"
#include "weft/suspended_thread.hpp"

#include <cerrno>
#include <cstdint>

namespace weft::openmp {

using door::errno_kept;

/// *Ownership*: the thread sleeps in it, anybody wakes it. *Invariant*: while the word is not 0 the thread is
/// in `place_`, and whoever changes the word from that to 0 must notify it, once. The word has a number that
/// is new for each sleep, since who looks for an earlier one may come late.
/// *Ordering*: (B1) sleeping is announced, full fence, the last look at what is waited for; pairs with (B2):
/// that is changed, full fence, the look for sleepers.
class bed {
 public:
  /// Sleeps until somebody wakes it, or returns at once if `done()`: a short look without locks, which may
  /// run on the stack of whatever the worker runs next. `reason`: what the sleep is for. May be woken for
  /// nothing. *Contexts*: thread, foreign kernel thread. *Switches*: may. *Errors*: none.
  template <class Done>
  void sleep(const void* reason, const Done& done) {
    const errno_kept as_it_was;
    const std::uint64_t mine = word_for(reason, ++sleeps_);
    bool goes_on = false;
    place_.wait_with([this, mine, &done, &goes_on] {
      word_.store_release(mine); // release: the thread is in its place; pairs with the acquire of take()
      door::full_fence();        // (B1) pairs with (B2)
      if (done()) {
        std::uint64_t expected = mine;
        goes_on = word_.cas_strong_acq_rel(expected, 0); // else somebody is about to notify
      }
      const bool stays = !goes_on;
      looked_.store_release(static_cast<std::uint16_t>(mine)); // GONE: the frame; pairs with (B3)
      return stays;
    }); // SWITCH: may resume on another worker
    // (B3) acquire: who was woken during the look above waits until it is over, as that is in this frame
    for (unsigned looks = 0; looked_.load_acquire() != static_cast<std::uint16_t>(mine);)
      door::pause_for_another(looks);
  }

  /// Wakes it if it sleeps for that. True: it did. After (B2). *Contexts*: all but signal handlers.
  /// *Switches*: never. *Errors*: none.
  bool wake(const void* reason) noexcept {
    std::uint64_t seen = word_.load_relaxed(); // relaxed: (B2) orders it
    return seen != 0 && reason_of(seen) == reason_of(word_for(reason, 0)) && take(seen);
  }
  /// Who sleeps in it stays there, and is the caller's, until let_sleep(): nobody else wakes it. Null: nobody
  /// sleeps in it. *Contexts*: all but signal handlers. *Switches*: never. *Errors*: none.
  std::uint64_t hold() noexcept {
    std::uint64_t seen = word_.load_relaxed(); // relaxed: who sees an old one takes nothing
    // acquire: the thread is in its place; pairs with the release in sleep()
    return seen != 0 && word_.cas_strong_acq_rel(seen, 0) ? seen : 0;
  }
  /// `held`: what hold() said. Wakes it if `done()`, which is what the sleeper's is.
  template <class Done>
  void let_sleep(std::uint64_t held, const Done& done) noexcept {
    word_.store_release(held); // as in sleep()
    door::full_fence();        // (B1)
    if (done())
      wake();
  }
  /// The same whatever it sleeps for.
  bool wake() noexcept {
    std::uint64_t seen = word_.load_relaxed(); // relaxed: (B2) orders it
    return seen != 0 && take(seen);
  }

 private:
  // Addresses have 48 bits or fewer that count; what is above is cut.
  static std::uint64_t word_for(const void* reason, std::uint16_t number) noexcept {
    return reinterpret_cast<std::uintptr_t>(reason) << 16 | number;
  }
  static std::uint64_t reason_of(std::uint64_t word) noexcept { return word >> 16; }
  bool take(std::uint64_t seen) noexcept {
    if (!word_.cas_strong_acq_rel(seen, 0))
      return false;
    place_.notify();
    return true;
  }

  door::atomic<std::uint64_t> word_{0};
  door::atomic<std::uint16_t> looked_{0}; // the last sleep whose look is over
  weft::suspended_thread place_;
  std::uint16_t sleeps_ = 0; // the sleeper's
};

} // namespace weft::openmp
