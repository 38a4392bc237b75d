// SPDX-License-Identifier: MIT
// A stack with an inaccessible page below it, for code of the runtime's own. Contexts: all but signal
// handlers. Switches: never.
#pragma once

#include <cstddef>

namespace weft::os {

// Ownership: the object's, until release().
class guarded_stack {
 public:
  guarded_stack() = default;
  ~guarded_stack() { free(); }
  guarded_stack(const guarded_stack&) = delete;
  guarded_stack& operator=(const guarded_stack&) = delete;

  // `bytes` are rounded up to pages; the guard comes on top. Errors: as os::map() and os::protect(); nothing
  // has changed then. Called while there is none.
  int allocate(std::size_t bytes) noexcept;
  void free() noexcept;
  // For the child of a fork: the memory stays for good.
  void release() noexcept { low_ = nullptr, bytes_ = 0; }

  // Without the guard.
  [[nodiscard]] void* low() const noexcept { return low_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  [[nodiscard]] void* top() const noexcept { return static_cast<std::byte*>(low_) + bytes_; }

 private:
  void* low_ = nullptr;
  std::size_t bytes_ = 0;
};

} // namespace weft::os
