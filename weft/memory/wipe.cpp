// SPDX-License-Identifier: MIT
#include "weft/memory/wipe.hpp"

#include "weft/base/knob.hpp"
#include "weft/memory/annotate.hpp"
#include "weft/os/mapping.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <sys/mman.h>

namespace weft::memory {
namespace {

constinit base::boolean_knob wipe_knob{"WEFT_STACK_WIPE", false,
                                       "clear each stack before another thread gets it"};
const base::knob_list wipe_knobs{wipe_knob};

} // namespace

bool wipe_enabled() noexcept {
  return wipe_knob.get();
}
void set_wipe(bool enabled) noexcept {
  wipe_knob.set(enabled);
}

std::byte* lowest_resident(std::byte* low, std::byte* top) noexcept {
  constexpr std::size_t window = 256;
  const std::size_t page = os::memory_page_bytes();
  unsigned char present[window];
  for (std::byte* at = low; at < top;) {
    const std::size_t pages = std::min(window, static_cast<std::size_t>(top - at + page - 1) / page);
    if (::mincore(at, pages * page, present) != 0) {
      return at;
    }
    for (std::size_t index = 0; index < pages; ++index) {
      if ((present[index] & 1) != 0) {
        return at + index * page;
      }
    }
    at += pages * page;
  }
  return top;
}

void clean(stack_record& stack) noexcept {
  const std::size_t page = os::memory_page_bytes();
  auto* top = reinterpret_cast<std::byte*>(&stack);
  auto* last_page = reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(top) & ~(page - 1));
  annotate::define(stack.low, stack.usable());
  if (last_page > stack.low) {
    // A page that was swapped out is not resident, and must go as well.
    auto* first = wipe_enabled() ? stack.low : lowest_resident(stack.low, last_page);
    // Explicit huge pages cannot be given back in part, nor can anything when the kernel refuses.
    if (first < last_page && os::discard(first, static_cast<std::size_t>(last_page - first)) != 0) {
      std::memset(first, 0, static_cast<std::size_t>(last_page - first));
    }
  }
  std::memset(last_page, 0, static_cast<std::size_t>(top - last_page));
}

} // namespace weft::memory
