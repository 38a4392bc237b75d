// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>

namespace weft::door {

/// What a program finds in errno after a call of a front's that waits is what it left there: the kernel's
/// answers are none of its business. In user mode, of the thread's own errno: a thread whose errno is the
/// kernel thread's may come back on another one. *Contexts*: all. *Switches*: never. *Errors*: none.
class errno_kept {
 public:
  errno_kept() noexcept : value_(errno) {}
  ~errno_kept() { errno = value_; }
  errno_kept(const errno_kept&) = delete;
  errno_kept& operator=(const errno_kept&) = delete;

 private:
  const int value_;
};

} // namespace weft::door
