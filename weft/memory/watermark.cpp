// SPDX-License-Identifier: MIT
#include "weft/memory/watermark.hpp"

#include "weft/base/atomic.hpp"
#include "weft/base/knob.hpp"
#include "weft/memory/annotate.hpp"
#include "weft/memory/fork.hpp"
#include "weft/memory/wipe.hpp"

#include <algorithm>
#include <mutex>

namespace weft::memory {
namespace {

constinit base::boolean_knob watermark_knob{"WEFT_STACK_WATERMARK", false,
                                            "measure how much of its stack each thread uses"};
const base::knob_list watermark_knobs{watermark_knob};

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
