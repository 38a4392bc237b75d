// SPDX-License-Identifier: MIT
// Running on the TLS block of another thread, which is suspended: see user_mode.hpp.
#include <utility>

#include "weft/arch/user_mode.hpp"
#include "weft/base/assert.hpp"
#include "weft/carrier/user_mode.hpp"

namespace weft::sched {

// It may have none yet, if it has not started.
bool user_mode::has_bound_block(const descriptor& u) noexcept {
  const user_mode* const mode = of(u);
  return mode != nullptr && mode->kind_ == preemption::bound_tls;
}

// Neither runs on it now: `self` is in the runtime, `other` suspended there.
void user_mode::exchange_bound_blocks(descriptor& self, descriptor& other) noexcept {
  user_mode& mine = *of(self);
  user_mode& others = *of(other);
  WEFT_ASSERT(mine.block_ == nullptr && others.block_ == nullptr,
              "a block was exchanged while a thread runs on it");
  std::swap(mine.bound_, others.bound_);
  std::swap(mine.has_ended_on_block_, others.has_ended_on_block_);
}

// What is found there by whoever asks who runs here is the answer that this kernel thread's own block gives.
// Exceptions stay with the blocks, and so with who threw them.
[[gnu::noinline]] void* user_mode::enter_bound_block(descriptor& other) noexcept {
  const user_mode& others = *of(other);
  WEFT_ASSERT(others.block_ == nullptr, "a block was entered while its thread runs on it");
  const tls_block& block = *others.bound_;
  *block.here = weft_worker_here;
  *block.current = weft_current_worker;
  void* const own = arch::thread_pointer();
  arch::set_thread_pointer(block.thread_pointer);
  return own;
}

[[gnu::noinline]] void user_mode::leave_bound_block(void* own_thread_pointer) noexcept {
  arch::set_thread_pointer(own_thread_pointer);
}

} // namespace weft::sched
