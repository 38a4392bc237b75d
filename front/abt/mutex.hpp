// SPDX-License-Identifier: MIT
// What lies behind an ABT_mutex: the door's mutex and what a recursive one needs besides, valid when all
// bytes are zero, and when the first int is 1: then it is recursive.
#pragma once

#include <cstdint>

#include "front/abt/object.hpp"
#include "weft/door/atomic.hpp"
#include "weft/door/deadline.hpp"
#include "weft/door/mutex.hpp"

namespace weft::abt {

// Also laid over an ABT_mutex_memory, which nobody constructs or destroys.
// *Ownership*: `how_` and `origin_` never change while it lives.
class mutex {
 public:
  explicit mutex(bool recursive) noexcept
      : how_(recursive ? reentrant : plain), origin_(static_cast<std::uint32_t>(kind::mutex)) {}
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  // Read through stale handles, as object::is().
  ~mutex() { how_.store_release(static_cast<std::uint32_t>(kind::gone)); }

  // The mutex at a handle; null for null handles, freed ones, and objects of another kind.
  static mutex* at(ABT_mutex handle) noexcept {
    if (is_null(handle) || reinterpret_cast<std::uintptr_t>(handle) % alignof(mutex) != 0)
      return nullptr;
    mutex& m = unsafe_at(handle);
    return m.how_.load_acquire() <= reentrant ? &m : nullptr;
  }
  // The same for handles that are known not to be null; only is_plain() may be asked then.
  static mutex& unsafe_at(ABT_mutex handle) noexcept { return *reinterpret_cast<mutex*>(handle); }

  // One comparison for live, of the right kind, and not recursive. Relaxed: whoever has the handle has seen
  // it made.
  [[gnu::always_inline]] bool is_plain() const noexcept { return how_.equals_relaxed(plain); }
  bool is_recursive() const noexcept { return how_.load_relaxed() == reentrant; } // relaxed: as is_plain()
  // Made by ABT_mutex_create(), and not in memory of the user's.
  bool is_made() const noexcept { return origin_ == static_cast<std::uint32_t>(kind::mutex); }

  // A plain mutex is no more than this.
  [[gnu::always_inline]] door::lock_word& word() noexcept { return word_; }
  // After its take() in vain.
  void lock_taken(std::uint32_t displaced) { take_or_wait(door::no_deadline, displaced); }

  // Of either kind. Contexts: any; what may not wait blocks its kernel thread. Switches: may. False: the time
  // has passed. Errors: std::bad_alloc, std::system_error: no timer could be had; not for no_deadline.
  bool lock(door::deadline until);
  bool try_lock() noexcept;
  void spin_lock() noexcept;
  void unlock() noexcept;

  // Gives the mutex back for as long as it lives, however often the caller has locked it. Contexts: thread,
  // foreign kernel thread.
  class released {
   public:
    explicit released(mutex& m) noexcept;
    released(const released&) = delete;
    released& operator=(const released&) = delete;
    ~released(); // Switches: may

   private:
    mutex& mutex_;
    std::uint32_t depth_;
  };

 private:
  static constexpr std::uint32_t plain = 0;
  static constexpr std::uint32_t reentrant = 1;

  template <class Take>
  bool enter(Take take_word) {
    return is_recursive() ? inside_.enter(take_word) : take_word();
  }
  bool take_or_wait(door::deadline until, std::uint32_t displaced = door::lock_word::free);

  door::atomic<std::uint32_t> how_; // plain, reentrant, kind::gone; in other objects their kind
  door::lock_word word_;
  std::uint32_t origin_; // 0: memory of the user's
  door::recursion inside_;
};
static_assert(sizeof(mutex) <= sizeof(ABT_mutex_memory) && alignof(mutex) <= alignof(ABT_mutex_memory));

} // namespace weft::abt
