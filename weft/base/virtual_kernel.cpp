// SPDX-License-Identifier: MIT
#include "weft/base/virtual_kernel.hpp"

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

} // namespace weft::base
