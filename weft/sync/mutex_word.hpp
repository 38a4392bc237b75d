// SPDX-License-Identifier: MIT
// The protocol by which a mutex is released with a plain store: the word of the mutex, and the state of the
// slot of the wait table in which its waiters announce themselves. No scheduler here, so that the checker
// runs it. The argument, with the labels (M1) to (M5): weft/sync/README.md.
#pragma once

#include "weft/base/atomic.hpp"
#include "weft/base/fence.hpp"

#include <cstdint>

namespace weft::sync {

/// The word of a mutex: 0 free, odd held, else offered. Taken by one exchange, given back by a store.
/// *Offered*: the owner has left it to the oldest waiter, who has been woken and accepts it when he runs;
/// it reads his mark less 1. Until then nobody holds it, and who tries takes it as if it were free: the
/// waiter may be ready on the very worker that the other keeps busy. Who waits does not: (M6). While it is
/// held it reads the mark (arch::stack_mark()) of whoever tried last to take it by an exchange: its owner,
/// or a waiter, which then remembers the mark that it displaced. So whoever can read all waiters, as `weft
/// ps` does, comes from one to the other to the owner, which costs the owner nothing. The library tests for
/// 0 and odd only.
using mutex_word = base::atomic<std::uint32_t>;

inline constexpr std::uint32_t word_free = 0;
inline constexpr std::uint32_t word_held = 1; // by somebody who leaves no mark

constexpr bool is_held(std::uint32_t word) noexcept {
  return word % 2 != 0;
}
constexpr bool is_offered(std::uint32_t word) noexcept {
  return word != word_free && !is_held(word);
}

/// Takes the word if nobody holds it, and leaves `mark` in any case; returns what it read before. *Contexts*:
/// any. *Switches*: never. *Errors*: none.
[[gnu::always_inline]] inline std::uint32_t exchange_word(mutex_word& word, std::uint32_t mark) noexcept {
  // (M1) acquire: sees the sections of earlier owners; pairs with the release in (M2) and under the slot's
  // lock
  return word.exchange_acquire(mark);
}
/// Takes the word if it is free, else leaves it as it is; true if taken. *Contexts*, *switches*, *errors*: as
/// exchange_word().
[[gnu::always_inline]] inline bool take_word(mutex_word& word, std::uint32_t mark) noexcept {
  std::uint32_t expected = word_free;
  return word.cas_strong_acquire(expected, mark); // (M1)
}

/// Takes the word if nobody holds it, offered or not; true if taken. *Contexts*, *switches*, *errors*: as
/// exchange_word().
[[gnu::always_inline]] inline bool try_word(mutex_word& word, std::uint32_t mark) noexcept {
  std::uint32_t seen = word.load_relaxed(); // relaxed look: a taken word is not written to
  return !is_held(seen) && word.cas_strong_acquire(seen, mark); // (M1)
}

/// The two sides of (M3). The model tests take them away one by one.
struct slot_fences {
  [[gnu::always_inline]] static void owner() noexcept { base::unsafe_light_fence(); }
  static void waiter() noexcept { base::heavy_fence(); }
};

/// What a slot of the wait table tells those who release a mutex.
///
///   bit 0      symmetric: no asymmetric fences on this machine; owners fence themselves
///   bit 1      fenced: a heavy fence has been completed since the state was last 0
///   bits 2..   how many have announced themselves and not withdrawn
///
/// *Ownership*: anybody, by the operations below. *Invariant*: 0 only if nobody has announced himself; an
/// owner that reads 0 after its releasing store is seen by every waiter (M3).
template <class Fences = slot_fences>
class slot_state {
 public:
  /// Nobody waits, as far as can be seen. RACY: (M2) and (M3) make the stale answer harmless.
  [[gnu::always_inline]] bool quiet() const noexcept { return state_.load_relaxed() == 0; }

  [[nodiscard]] bool symmetric() const noexcept { return (state_.load_relaxed() & symmetric_bit) != 0; }
  [[nodiscard]] bool anybody() const noexcept { return state_.load_relaxed() >= one; }

  /// (M2) The owner's release. False: the slot is in use, and the word is still held. Else the word is free;
  /// `look` tells whether somebody announced himself meanwhile. GONE: the mutex, after the store.
  [[gnu::always_inline]] bool release_quietly(mutex_word& word, bool& look) const noexcept {
    if (!quiet()) [[unlikely]] {
      return false;
    }
    word.store_release(word_free); // release: publishes the section; pairs with (M1)
    Fences::owner();               // the store before the look; pairs with the heavy fence in announce()
    look = !quiet();
    return true;
  }

  /// The owner's release on machines without asymmetric fences; true: somebody has announced himself. GONE:
  /// the mutex.
  bool release_symmetrically(mutex_word& word) const noexcept {
    word.store_release(word_free); // release: as in (M2)
    base::full_fence();            // the store before the look; pairs with the full fence in announce()
    return anybody();
  }

  /// (M3) The waiter's half: after it, either an owner sees the announcement, or the caller sees its store.
  void announce() noexcept {
    // acquire: a fenced bit brings the fence with it; pairs with the release below
    const std::uint32_t before = state_.fetch_add_acq_rel(one);
    if ((before & fenced_bit) != 0) {
      return;
    }
    Fences::waiter(); // the announcement before the caller's try; pairs with the light fence in (M2)
    if ((before & symmetric_bit) == 0) {
      state_.fetch_or_acq_rel(fenced_bit); // release: pairs with the acquire above
    }
  }

  /// Relaxed: only lets owners look in vain no longer.
  void withdraw() noexcept { state_.fetch_sub_relaxed(one); }

  /// Back to 0 if nobody is announced. Owners go the short way again, and the next waiter fences.
  void calm() noexcept {
    std::uint32_t expected = fenced_bit;
    state_.cas_strong_acq_rel(expected, 0); // in the chain of (M3)
  }

  /// While nobody can wait: at load, and around simulations.
  void set_symmetric() noexcept { state_.store_relaxed(symmetric_bit); }
  void set_asymmetric() noexcept { state_.store_relaxed(0); }
  /// In the child of fork().
  void forget() noexcept { state_.fetch_and_relaxed(symmetric_bit); }

 private:
  static constexpr std::uint32_t symmetric_bit = 1;
  static constexpr std::uint32_t fenced_bit = 2;
  static constexpr std::uint32_t one = 4;

  base::atomic<std::uint32_t> state_{0};
};

} // namespace weft::sync
