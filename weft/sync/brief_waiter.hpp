// SPDX-License-Identifier: MIT
// One wait of one thread for something that another one is probably about to do: 16 bytes, no time limit, no
// stop request, no list. What waits for a delegator.
#pragma once

#include "weft/base/export.hpp"
#include "weft/sync/wait_word.hpp"
#include "weft/unit/descriptor.hpp"
#include "weft/unit/wait_record.hpp"

namespace weft::sync {

/// As waiter (weft/sync/waiter.hpp), with the same word and the same labels (W1) to (W4). Small, so that it
/// shares a cache line with the request it belongs to: the line moves to whoever serves it, and back.
/// *Ownership*: the waiting thread's frame; GONE for the notifier when notify() has decided the word.
class brief_waiter {
 public:
  WEFT_API brief_waiter() noexcept;
  brief_waiter(const brief_waiter&) = delete;
  brief_waiter& operator=(const brief_waiter&) = delete;

  /// Returns when somebody has notified it. Before it sleeps it looks once more after a microsecond, unless
  /// the group has one worker, on which the notifier could not run meanwhile. Once, unless it is renewed.
  /// `why`: for debuggers. *Contexts*: thread, foreign kernel thread. *Switches*: may. *Errors*: none.
  WEFT_API void wait(const unit::wait_record& why) noexcept;
  /// *Contexts*: all but signal handlers. *Switches*: never. *Errors*: none. GONE: *this, when it returns.
  WEFT_API void notify() noexcept;
  /// The same; `publish()` runs before a waiter that sleeps is woken. GONE: *this, from publish() on.
  template <class Publish>
  void notify(Publish publish) noexcept {
    unit::descriptor* const u = unit_; // read before the word is set: the frame may be gone then
    const base::atomic<std::uint32_t>& word = word_.word();
    const bool sleeps = word_.decide(notified) == wait_word::found::sleeping; // (W1), (W4)
    publish();
    if (sleeps)
      wake(u, word);
  }
  /// After wait(): for one more, by the waiter, while nobody may notify it.
  void renew() noexcept { word_.renew(); }

 private:
  enum : std::uint32_t { notified = wait_word::asleep + 1 };
  WEFT_API static void wake(unit::descriptor* u, const base::atomic<std::uint32_t>& word) noexcept;
  [[nodiscard]] bool is_notified() const noexcept { return word_.load() > wait_word::asleep; } // (W2)
  [[nodiscard]] bool is_notified_soon() const noexcept;
  void sleep_on_kernel_thread() noexcept;

  wait_word word_;
  unit::descriptor* const unit_; // null: a kernel thread that is no worker
};

} // namespace weft::sync
