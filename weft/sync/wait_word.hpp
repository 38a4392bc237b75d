// SPDX-License-Identifier: MIT
// The word of one wait (waiter.hpp), for which its notifier, its timer, its stop request and the waiter's own
// departure race. tests/model/waiter_model_test.cpp explores it.
//
//   value       meaning                                                      set by
//   0 pending   registered; the thread still runs towards its switch         creation
//   1 asleep    it has left its stack, or blocks in the kernel               fall_asleep()
//   2 and more  decided: how the wait ended; stays until it is renewed       decide(), whoever comes first
#pragma once

#include <cstdint>

#include "weft/base/atomic.hpp"

namespace weft::sync {

class wait_word {
 public:
  enum : std::uint32_t { pending = 0, asleep = 1 };

  // What a decision found: too late, a thread that has not left yet (it will not), or one that sleeps and
  // must be woken.
  enum class found : std::uint8_t { decided, running, sleeping };

  // (W3) acq_rel: publishes the left context to the decide() that finds it; pairs with (W4). False: decided
  // already, nobody else will wake the thread. GONE when it returns true: the wait may be over and its frame
  // reused.
  [[nodiscard]] bool fall_asleep() noexcept {
    std::uint32_t expected = pending;
    return word_.cas_strong_acq_rel(expected, asleep);
  }

  // (W1) release: publishes what the caller did to the waiter, pairs with (W2). (W4) acquire: pairs with
  // (W3). GONE: the word, unless `sleeping` (then once the caller has woken it).
  [[nodiscard]] found decide(std::uint32_t how) noexcept {
    std::uint32_t seen = word_.load_relaxed();
    do {
      if (seen > asleep)
        return found::decided;
    } while (!word_.cas_weak_acq_rel(seen, how));
    return seen == pending ? found::running : found::sleeping;
  }

  // (W2) acquire: pairs with (W1). The decision, or pending or asleep.
  [[nodiscard]] std::uint32_t load() const noexcept { return word_.load_acquire(); }

  // For another wait, by the waiter, while nobody can decide. relaxed: who decides the next one learns of it
  // by what kept him away until now.
  void renew() noexcept { word_.store_relaxed(pending); }

  // For a kernel thread, which sleeps on the word while it reads `asleep`.
  [[nodiscard]] const base::atomic<std::uint32_t>& word() const noexcept { return word_; }

 private:
  base::atomic<std::uint32_t> word_{pending};
};

} // namespace weft::sync
