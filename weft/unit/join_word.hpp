// SPDX-License-Identifier: MIT
// Where a unit that ends meets the one that waits for it: one word, three parties (the unit, its joiner, a
// detach).
//
//   value              meaning                             set by
//   1  none            nobody waits, not ended             creation, withdraw()
//   3  ended           ended; the joiner may free it       finish()
//   5  detached        nobody will join; it frees itself   detach(), begin_detached(); stays to the end
//   pointer            this thread waits                   wait(), wait_before_start()
//   pointer | 7        this `joiner` object waits          wait_object(): kernel threads, timed and stoppable
//   joins
//
// Only a waiting thread is even: the end of a thread, the hot path, has one test.
//
// Ordering. finish() publishes everything the unit did (J1) to whoever sees `ended` (J2). wait() publishes
// the joiner's complete context (J3) to the finish() that finds it (J4).
#pragma once

#include <cstdint>

#include "weft/base/atomic.hpp"

namespace weft::unit {

struct descriptor;

// Something that can be told of an end but is not a suspended thread.
class joiner {
 public:
  virtual void on_end() noexcept = 0;

 protected:
  ~joiner() = default;
};

class join_word {
 public:
  enum : std::uintptr_t { none = 1, ended = 3, detached = 5, object_tag = 7 };

  void reset() noexcept { word_.store_relaxed(none); }

  // (J2) acquire: pairs with (J1) in finish() and finish_for().
  [[nodiscard]] bool has_ended() const noexcept { return word_.load_acquire() == ended; }
  [[nodiscard]] bool is_detached() const noexcept { return word_.load_relaxed() == detached; }

  // The thread that will wait starts the unit itself, so nobody else can look: a plain store. It cannot be
  // withdrawn.
  void wait_before_start(descriptor& waiter) noexcept {
    word_.store_relaxed(reinterpret_cast<std::uintptr_t>(&waiter));
  }

  // Registers a suspended thread. False: the unit has ended already. (J3) release: pairs with (J4).
  [[nodiscard]] bool wait(descriptor& waiter) noexcept {
    return set_waiter(reinterpret_cast<std::uintptr_t>(&waiter));
  }
  [[nodiscard]] bool wait_object(joiner& waiter) noexcept {
    return set_waiter(reinterpret_cast<std::uintptr_t>(&waiter) | object_tag);
  }

  // Takes a registration back (time out, stop). False: the unit ended first and knows the waiter.
  [[nodiscard]] bool withdraw(joiner& waiter) noexcept {
    std::uintptr_t expected = reinterpret_cast<std::uintptr_t>(&waiter) | object_tag;
    return word_.cas_strong_acq_rel(expected, none);
  }

  // Of a new unit, which nobody else knows yet: it frees itself when it ends.
  void begin_detached() noexcept { word_.store_relaxed(detached); }

  // True: the unit frees itself when it ends. False: it has ended already, so the caller frees it.
  [[nodiscard]] bool detach() noexcept {
    std::uintptr_t expected = none;
    return word_.cas_strong_acq_rel(expected, detached);
  }

  // A thread waits and can no longer withdraw; null otherwise. RACY: null may be out of date, a thread may
  // not.
  [[nodiscard]] descriptor* committed_waiter() const noexcept {
    std::uintptr_t value = word_.load_acquire(); // (J4) acquire: pairs with (J3)
    if ((value & 1) != 0)
      return nullptr;
    return reinterpret_cast<descriptor*>(value);
  }

  // Ends a unit whose committed_waiter() was seen: no read-modify-write is needed, nobody else may change the
  // word then.
  void finish_for_committed() noexcept { word_.store_release(ended); } // (J1) release: pairs with (J2)

  // Ends the unit; returns what was there before. GONE: after this the joiner may have freed the unit (unless
  // detached).
  [[nodiscard]] std::uintptr_t finish() noexcept { return word_.exchange_acq_rel(ended); } // (J1), (J4)

 private:
  [[nodiscard]] bool set_waiter(std::uintptr_t value) noexcept {
    std::uintptr_t expected = none;
    return word_.cas_strong_acq_rel(expected, value);
  }

  base::atomic<std::uintptr_t> word_{none};
};

} // namespace weft::unit
