// SPDX-License-Identifier: MIT
// Under sanitizers nothing is preempted, and what malloc gives is watched.
#include <cstdlib>

#include "weft/os/fault.hpp"
#include "weft/os/own_heap.hpp"

namespace weft::os {

void* own_allocate(std::size_t bytes) noexcept {
  if (fault(fault_site::memory) != 0)
    return nullptr;
  constexpr std::size_t page = 4096;
  std::size_t alignment = 32;
  while (alignment < bytes && alignment < page)
    alignment *= 2;
  void* block = nullptr;
  return ::posix_memalign(&block, alignment, bytes) == 0 ? block : nullptr;
}

void own_free(void* block, std::size_t) noexcept {
  std::free(block);
}

void forget_own_heap_after_fork() noexcept {}

} // namespace weft::os
