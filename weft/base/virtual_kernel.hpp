// SPDX-License-Identifier: MIT
// Who stands in for the kernel while a program is simulated (weft/simulator/simulation.hpp): the code that
// would block, sleep or give its CPU away asks here first. Without a simulation that is one load and a branch
// before a system call.
#pragma once

#include "weft/base/export.hpp"

#include <atomic>
#include <cstdint>

namespace weft::base {

// Waits of the kernel threads that a simulation runs in turn, on one. Contexts of all: that kernel thread;
// not signal handlers. Switches: no thread of Weft, but others of these kernel threads run meanwhile.
class virtual_kernel {
 public:
  // As futex(2): blocks while *word == expected, no later than `until` by now(). 0, EAGAIN or ETIMEDOUT.
  virtual int wait(const void* word, std::uint32_t expected, std::int64_t until) noexcept = 0;
  // Wakes up to `count` that wait on `word`; returns how many. The word may be gone.
  virtual int wake(const void* word, int count) noexcept = 0;
  // Somebody else runs first, if anybody can.
  virtual void yield() noexcept = 0;
  virtual void sleep(std::int64_t ns) noexcept = 0;
  // Nanoseconds; moves with what is done, not with time.
  [[nodiscard]] virtual std::int64_t now() noexcept = 0;

 protected:
  ~virtual_kernel() = default;
};

// Null: nothing is simulated.
extern WEFT_API std::atomic<virtual_kernel*> virtual_kernel_of_process;

// The calling kernel thread is the one on which `kernel` runs the others; null: it is so no more.
WEFT_API void host_virtual_kernel(virtual_kernel* kernel) noexcept;
// Null on every other kernel thread.
WEFT_API virtual_kernel* hosted_virtual_kernel() noexcept;

// The one that stands in for the kernel where the caller runs; null: none does.
[[nodiscard]] inline virtual_kernel* virtual_kernel_here() noexcept {
  // relaxed: what is simulated was started on this kernel thread
  if (virtual_kernel_of_process.load(std::memory_order_relaxed) == nullptr) [[likely]]
    return nullptr;
  return hosted_virtual_kernel();
}

} // namespace weft::base
