// SPDX-License-Identifier: MIT
#include "weft/os/guarded_stack.hpp"

#include "weft/os/mapping.hpp"

namespace weft::os {

int guarded_stack::allocate(std::size_t bytes) noexcept {
  const std::size_t guard = memory_page_bytes();
  const std::size_t usable = round_up_to_page(bytes);
  void* start = nullptr;
  if (const int error = map(guard + usable, page_access::read_write, &start))
    return error;
  if (const int error = protect(start, guard, page_access::none)) {
    unmap(start, guard + usable);
    return error;
  }
  advise_no_huge(start, guard + usable); // it may be refused: a hint
  low_ = static_cast<std::byte*>(start) + guard;
  bytes_ = usable;
  return 0;
}

void guarded_stack::free() noexcept {
  if (low_ == nullptr)
    return;
  const std::size_t guard = memory_page_bytes();
  unmap(static_cast<std::byte*>(low_) - guard, guard + bytes_);
  release();
}

} // namespace weft::os
