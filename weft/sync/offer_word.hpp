// SPDX-License-Identifier: MIT
// What is offered instead of handed over, where no lock guards it: the word of the offer, and the word by
// which a waiter that has been woken learns of the next one. No scheduler here, so that the checker runs it.
// The argument, with the labels (O1) to (O4): weft/sync/README.md.
#pragma once

#include "weft/arch/arch.hpp"
#include "weft/base/atomic.hpp"

#include <cstdint>

namespace weft::sync {

/// Whether what is not free is held, or offered to the oldest waiter.
///
///   0 held       by somebody; also where it is free
///   1 prepared   the owner is about to offer it, and wakes the waiter
///   2 offered    nobody's: the waiter's who has been woken, or anybody's who tries
///
/// *Ownership*: the owner's while it reads 0 or 1; who turns it from 2 to 0 is the owner.
class offer_word {
 public:
  /// Takes what is offered, whomever it is offered to. *Contexts*: any. *Switches*: never. *Errors*: none.
  [[nodiscard]] bool try_take() noexcept {
    std::uint32_t seen = word_.load_relaxed(); // relaxed look: the swap decides
    // (O1) acquire: sees the sections of earlier owners; pairs with (O2)
    return seen == offered && word_.cas_strong_acquire(seen, held);
  }
  /// The same by a waiter that has been called: the owner is two instructions short of the offer then, unless
  /// its kernel thread has lost the CPU. *Contexts*, *switches*, *errors*: as try_take().
  [[nodiscard]] bool take() noexcept {
    for (std::size_t looks = 1; word_.load_relaxed() == prepared; ++looks) { // relaxed: as in try_take()
      if (looks % looks_before_yield != 0) {
        arch::relax();
      } else {
        base::backend::yield_kernel_thread();
      }
    }
    return try_take();
  }

  // --- the owner's ---

  /// Before the waiter is called. relaxed: the call (O3) publishes it.
  void prepare() noexcept { word_.store_relaxed(prepared); }
  /// Nobody was there to be called. relaxed: nobody looks at it but who tries, in vain.
  void withdraw() noexcept { word_.store_relaxed(held); }
  /// GONE: all that is offered, and the waiter, unless it sleeps and the caller is to wake it.
  void publish() noexcept {
    word_.store_release(offered); // (O2) release: publishes the section; pairs with (O1)
  }

 private:
  enum : std::uint32_t { held = 0, prepared = 1, offered = 2 };
  static constexpr std::size_t looks_before_yield = base::backend::scaled(64, 1);

  base::atomic<std::uint32_t> word_{held};
};

/// Whether a waiter sleeps, or will look at the offer anyway. All changes are read-modify-writes of this one
/// word, so a call is either read by the waiter before it sleeps, or finds that it must be woken.
///
///   0 standing by   it sleeps, or is about to
///   1 looking       it has been woken and looks at the offer
///   2 called        it has been woken, or will look once more
class call_word {
 public:
  /// By who has prepared an offer. True: the waiter is to be woken. (O3) release: publishes that it is
  /// prepared; pairs with (O4). acquire: sees that the waiter can be woken once more; pairs with stand_by().
  [[nodiscard]] bool call() noexcept { return word_.exchange_acq_rel(called) == standing_by; }

  // --- the waiter's ---

  /// Before it looks at the offer. (O4) acquire: pairs with (O3).
  void look() noexcept { static_cast<void>(word_.exchange_acquire(looking)); }
  /// After it has looked in vain, and can be woken once more. False: it has been called meanwhile, and is to
  /// look again. release: pairs with the acquire in call() (O3).
  [[nodiscard]] bool stand_by() noexcept {
    std::uint32_t expected = looking;
    return word_.cas_strong_release(expected, standing_by);
  }
  /// The same by one who owns what is offered, and lets it go next: nobody calls him meanwhile, and who calls
  /// him afterwards has it from him. He may have been called before he took it. relaxed: for that reason.
  void stand_by_as_owner() noexcept { word_.store_relaxed(standing_by); }

 private:
  enum : std::uint32_t { standing_by = 0, looking = 1, called = 2 };

  base::atomic<std::uint32_t> word_{standing_by};
};

} // namespace weft::sync
