// SPDX-License-Identifier: MIT
// Who holds a mutex, for the builds that diagnose misuse and for recursive mutexes.
#pragma once

#include "weft/base/assert.hpp"
#include "weft/base/atomic.hpp"
#include "weft/base/export.hpp"

#include <type_traits>

namespace weft::sync {

/// Tells callers apart: the address of the running unit's descriptor, or one of its own for each kernel
/// thread that runs none. *Contexts*: any. *Switches*: never. *Errors*: none.
[[nodiscard]] WEFT_API const void* caller_identity() noexcept;

/// Policy: nothing is recorded, at no cost.
struct unrecorded_owner {
  void set() noexcept {}
  void clear() noexcept {}
  void clear_by_other() noexcept {}
  void expect_self() const noexcept {}
  void expect_other() const noexcept {}
};

/// Policy: the owner is recorded; releasing what the caller does not hold, and locking what it holds, end the
/// process with a message.
class recorded_owner {
 public:
  void set() noexcept {
    owner_.store_relaxed(caller_identity());
  } // relaxed, all: only its own mark matters to a caller
  void clear() noexcept {
    expect_self();
    clear_by_other();
  }
  /// Released on the owner's behalf, off its stack.
  void clear_by_other() noexcept { owner_.store_relaxed(nullptr); }
  void expect_self() const noexcept {
    if (owner_.load_relaxed() != caller_identity()) [[unlikely]] {
      base::panic("a mutex (%p) is unlocked by a thread that does not hold it",
                  static_cast<const void*>(this));
    }
  }
  void expect_other() const noexcept {
    if (owner_.load_relaxed() == caller_identity()) [[unlikely]] {
      base::panic("a thread locks a mutex (%p) that it holds already", static_cast<const void*>(this));
    }
  }

 private:
  base::atomic<const void*> owner_{nullptr};
};

using default_owner_record = std::conditional_t<(base::assert_level > 0), recorded_owner, unrecorded_owner>;

} // namespace weft::sync
