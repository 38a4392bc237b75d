// SPDX-License-Identifier: MIT
// What lies behind an ABT_mutex: weft::sync's mutex word and what a recursive mutex needs besides, valid when
// all bytes are zero, and when the first int is 1: then it is recursive.
#pragma once

#include <cstdint>

#include "front/abt/object.hpp"
#include "front/abt/primitive.hpp"
#include "weft/arch/arch.hpp"
#include "weft/sync/wait_table.hpp"

namespace weft::abt {

// Also laid over an ABT_mutex_memory, which nobody constructs or destroys.
// *Ownership*: `how_` and `origin_` never change while it lives. The holder of `word_` writes the owner and
// `depth_`. Others read the owner: RACY, they find anything but themselves.
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

  // Of a plain mutex: what its word read before, sync::word_free if it is the caller's now.
  [[gnu::always_inline]] std::uint32_t take() noexcept {
    return sync::exchange_word(word_, arch::stack_mark());
  }
  // After a take() in vain.
  void lock_taken(std::uint32_t displaced) { take_or_wait(door::no_deadline, displaced); }
  // Returns ABT_SUCCESS, so that the slow ways can be jumped to and need no frame.
  [[gnu::always_inline]] int release() noexcept {
    bool look = false;
    if (!sync::slot_of(&word_).state.release_quietly(word_, look)) [[unlikely]]
      return release_contended(word_);
    // GONE: *this. Only its address is used below.
    if (look) [[unlikely]]
      return look_again(&word_);
    return ABT_SUCCESS;
  }

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
  using identity = base::atomic<const void*>;

  [[gnu::noinline]] static int release_contended(sync::mutex_word& word) noexcept;
  [[gnu::noinline]] static int look_again(const sync::mutex_word* key) noexcept;
  template <class Take>
  bool enter(Take take_word);
  bool take_or_wait(door::deadline until, std::uint32_t displaced = sync::word_free);
  // Aligned at 8 bytes, wherever the memory is.
  identity& owner() noexcept {
    const auto first = reinterpret_cast<std::uintptr_t>(owner_);
    return *reinterpret_cast<identity*>((first + alignof(identity) - 1) & ~(alignof(identity) - 1));
  }

  base::atomic<std::uint32_t> how_; // plain, reentrant, kind::gone; in other objects their kind
  sync::mutex_word word_;
  std::uint32_t origin_; // 0: memory of the user's
  std::uint32_t depth_ = 0;
  std::uint32_t owner_[3] = {};
};
static_assert(sizeof(mutex) <= sizeof(ABT_mutex_memory) && alignof(mutex) <= alignof(ABT_mutex_memory));

} // namespace weft::abt
