// SPDX-License-Identifier: MIT
// An eventfd with which a kernel thread that sleeps in epoll_wait(2) or io_uring_enter(2) is called. Bells
// are recycled and their descriptors never closed: who has won the right to ring may do so late, when the one
// called is gone, and a late ring must not meet a descriptor that is somebody else's by then. It may meet
// another sleeper, who is then called without cause.
#pragma once

#include "weft/base/export.hpp"

#include <memory>

namespace weft::os {

class WEFT_API doorbell {
 public:
  struct recycler {
    void operator()(doorbell* bell) const noexcept;
  };
  using lease = std::unique_ptr<doorbell, recycler>;

  // A bell that nobody has. Errors: std::system_error (EMFILE, ENFILE, ENOMEM); std::bad_alloc. Fault site:
  // descriptor. Contexts: thread, foreign kernel thread. Switches: never.
  static lease take();

  // Becomes readable with each ring. It is never read from: who waits for it does so for edges, and the count
  // of rings has 64 bits.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  // Contexts: all. SIGNAL-SAFE. Switches: never. Errors: none. errno is preserved.
  void ring() noexcept;

  doorbell(const doorbell&) = delete;
  doorbell& operator=(const doorbell&) = delete;

 private:
  explicit doorbell(int descriptor) noexcept : descriptor_(descriptor) {}

  const int descriptor_;
  doorbell* next_idle_ = nullptr;
};

// In the child of fork(): the bells in stock are the parent's as well, and nobody's here.
void forget_doorbells() noexcept;

} // namespace weft::os
