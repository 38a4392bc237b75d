// SPDX-License-Identifier: MIT
#include "weft/memory/watermark.hpp"

#include "weft/base/atomic.hpp"
#include "weft/base/knob.hpp"
#include "weft/memory/annotate.hpp"
#include "weft/memory/fork.hpp"
#include "weft/os/mapping.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <sys/mman.h>

namespace weft::memory {
namespace {

constinit base::boolean_knob watermark_knob{"WEFT_STACK_WATERMARK", false,
                                            "measure how much of its stack each thread uses"};
const base::knob_list listed{watermark_knob};

// Functions beyond these are counted in the process's mark only.
constexpr std::size_t table_size = 1024;

struct mark_table {
  std::mutex mutex;
  usage_mark marks[table_size] = {};
  std::size_t used = 0;
  std::size_t most = 0;
};
constinit mark_table table;

usage_mark* find_locked(const void* function, bool insert) noexcept {
  for (std::size_t index = 0; index < table.used; ++index) {
    if (table.marks[index].function == function) {
      return &table.marks[index];
    }
  }
  if (!insert || table.used == table_size) {
    return nullptr;
  }
  table.marks[table.used] = {function, 0, 0};
  return &table.marks[table.used++];
}

// The lowest page of [low, top) that the process has; top if none.
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

} // namespace

void lock_watermarks() noexcept {
  table.mutex.lock();
}
void unlock_watermarks() noexcept {
  table.mutex.unlock();
}

bool watermark_enabled() noexcept {
  return watermark_knob.get();
}
void set_watermark(bool enabled) noexcept {
  watermark_knob.set(enabled);
}

// ASan's shadow says nothing about what was written, and freed frames may be poisoned.
__attribute__((no_sanitize("address", "thread"))) std::size_t
current_usage(const stack_record& stack) noexcept {
  const auto* top = reinterpret_cast<const std::byte*>(&stack);
  auto* at = lowest_resident(stack.low, const_cast<std::byte*>(top));
  annotate::define(at, static_cast<std::size_t>(top - at));
  for (; at < top; at += sizeof(std::uint64_t)) {
    if (*reinterpret_cast<const volatile std::uint64_t*>(at) != 0) {
      break;
    }
  }
  return static_cast<std::size_t>(top - at);
}

void note_usage(const stack_record& stack) noexcept {
  const std::size_t bytes = current_usage(stack);
  std::scoped_lock guard{table.mutex};
  table.most = std::max(table.most, bytes);
  if (usage_mark* mark = find_locked(stack.function, true)) {
    mark->bytes = std::max(mark->bytes, bytes);
    ++mark->threads;
  }
}

void clean_for_watermark(stack_record& stack) noexcept {
  const std::size_t page = os::memory_page_bytes();
  auto* top = reinterpret_cast<std::byte*>(&stack);
  auto* last_page = reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(top) & ~(page - 1));
  annotate::define(stack.low, stack.usable());
  if (last_page > stack.low) {
    auto* first = lowest_resident(stack.low, last_page);
    // Explicit huge pages cannot be given back in part, nor can anything when the kernel refuses.
    if (first < last_page && os::discard(first, static_cast<std::size_t>(last_page - first)) != 0) {
      std::memset(first, 0, static_cast<std::size_t>(last_page - first));
    }
  }
  std::memset(last_page, 0, static_cast<std::size_t>(top - last_page));
}

std::size_t watermark() noexcept {
  std::scoped_lock guard{table.mutex};
  return table.most;
}

std::size_t watermark(const void* function) noexcept {
  std::scoped_lock guard{table.mutex};
  const usage_mark* mark = find_locked(function, false);
  return mark == nullptr ? 0 : mark->bytes;
}

std::size_t watermarks(usage_mark* out, std::size_t room) noexcept {
  std::scoped_lock guard{table.mutex};
  std::sort(table.marks, table.marks + table.used,
            [](const usage_mark& left, const usage_mark& right) { return left.bytes > right.bytes; });
  const std::size_t count = std::min(room, table.used);
  std::copy_n(table.marks, count, out);
  return count;
}

void reset_watermarks() noexcept {
  std::scoped_lock guard{table.mutex};
  table.used = 0;
  table.most = 0;
}

} // namespace weft::memory
