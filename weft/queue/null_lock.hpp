// SPDX-License-Identifier: MIT
// A Lockable that does nothing: the lock policy of a container with one owner.
#pragma once

namespace weft::queue {

/// *Contexts*: any. *Switches*: never. *Errors*: none.
struct null_lock {
  void lock() noexcept {}
  bool try_lock() noexcept { return true; }
  void unlock() noexcept {}
};

} // namespace weft::queue
