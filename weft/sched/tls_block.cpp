// SPDX-License-Identifier: MIT
// Thread-local storage of kernel threads that lend it: see user_mode.hpp.
#include "weft/arch/user_mode.hpp"
#include "weft/sched/user_mode.hpp"

namespace weft::sched {

constinit std::atomic<tls_lender*> lender_of_tls{nullptr};

[[gnu::noinline]] void describe_tls_block(tls_block& block) noexcept {
  block.thread_pointer = arch::thread_pointer();
  block.exceptions = arch::globals_of_this_kernel_thread();
  block.current = &weft_current_worker;
  block.here = &weft_worker_here;
}

} // namespace weft::sched
