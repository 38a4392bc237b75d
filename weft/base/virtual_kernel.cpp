// SPDX-License-Identifier: MIT
#include "weft/base/virtual_kernel.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include "weft/base/atomic_backend.hpp"

namespace weft::base {
namespace {

// Read by functions of their own: who calls them may switch stacks.
constinit thread_local virtual_kernel* hosted = nullptr;

} // namespace

constinit std::atomic<virtual_kernel*> virtual_kernel_of_process{nullptr};

[[gnu::noinline]] void host_virtual_kernel(virtual_kernel* kernel) noexcept {
  hosted = kernel;
  virtual_kernel_of_process.store(kernel, std::memory_order_release);
}

[[gnu::noinline]] virtual_kernel* hosted_virtual_kernel() noexcept {
  return hosted;
}

void backend::yield_kernel_thread() noexcept {
  if (virtual_kernel* const simulated = virtual_kernel_here())
    return simulated->yield();
  ::syscall(SYS_sched_yield);
}

} // namespace weft::base
