// SPDX-License-Identifier: MIT
#include "tests/model/checker/quarantine.hpp"

#include "tests/model/checker/model.hpp"
#include "tests/model/checker/view.hpp"
#include "tests/model/checker/whole_state.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <new>
#include <sys/mman.h>

namespace weft::model::quarantine {
namespace {

struct block {
  void* start;
  std::size_t size;
  bool to_free;
};

constexpr std::size_t region_bytes = std::size_t{64} << 20; // reserved; what is touched is backed
constexpr std::size_t header_bytes = 64; // before each piece: whether it was deleted, and its size

struct state {
  std::byte* regions = nullptr; // one for each model thread
  std::array<std::size_t, max_threads> used{};
  // Not a std::vector: it would call the operators that it serves.
  block* deleted = nullptr;
  std::size_t count = 0;
  std::size_t capacity = 0;
  memory_of whose = memory_of::host;
};

// In the heap: what stands in static variables is put back when an execution is left in the middle.
state& all() noexcept {
  static state* const one = ::new (std::calloc(1, sizeof(state))) state;
  return *one;
}

bool in_regions(const void* address) noexcept {
  const state& s = all();
  const auto* const at = static_cast<const std::byte*>(address);
  return s.regions != nullptr && at >= s.regions && at < s.regions + max_threads * region_bytes;
}

void keep(void* start, std::size_t size) noexcept {
  state& s = all();
  if (s.count == s.capacity) {
    s.capacity = s.capacity == 0 ? 1024 : s.capacity * 2;
    s.deleted = static_cast<block*>(std::realloc(s.deleted, s.capacity * sizeof(block)));
  }
  // What is older than a merged execution is needed again, when static variables are put back.
  s.deleted[s.count++] = {start, size, s.whose == memory_of::execution && !in_regions(start)};
}

} // namespace

void use(memory_of whose) noexcept {
  all().whose = whose;
}

bool merges() noexcept {
  return all().whose == memory_of::merged_execution;
}

bool holds(const void* address) noexcept {
  const state& s = all();
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (std::size_t i = 0; i < s.count; ++i) {
    const auto start = reinterpret_cast<std::uintptr_t>(s.deleted[i].start);
    if (at >= start && at < start + s.deleted[i].size) {
      return true;
    }
  }
  return false;
}

std::uint64_t hash() noexcept {
  const state& s = all();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < s.count; ++i) { // in no order
    if (!in_regions(s.deleted[i].start))
      sum += mix(reinterpret_cast<std::uintptr_t>(s.deleted[i].start), s.deleted[i].size);
  }
  for (std::size_t thread = 0; thread < max_threads; ++thread) {
    if (s.used[thread] != 0)
      sum += mix(thread, hash_of_bytes(s.regions + thread * region_bytes, s.used[thread]));
  }
  return sum;
}

// What is handed out next is as it was the first time.
void release_all() noexcept {
  state& s = all();
  for (std::size_t thread = 0; thread < max_threads; ++thread) {
    if (s.used[thread] != 0)
      std::memset(s.regions + thread * region_bytes, 0, s.used[thread]);
  }
  for (std::size_t i = 0; i < s.count; ++i) {
    if (s.deleted[i].to_free)
      std::free(s.deleted[i].start);
  }
  s.count = 0;
  s.used = {};
}

static void* allocate(std::size_t size, std::size_t alignment) {
  state& s = all();
  if (s.whose != memory_of::merged_execution) {
    void* const start = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (start == nullptr)
      throw std::bad_alloc();
    return start;
  }
  if (s.regions == nullptr) {
    void* const got = ::mmap(nullptr, max_threads * region_bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED)
      throw std::bad_alloc();
    s.regions = static_cast<std::byte*>(got);
  }
  const unsigned thread = self();
  const std::size_t step = std::max(alignment, header_bytes);
  const std::size_t start = (s.used[thread] + header_bytes + step - 1) / step * step;
  if (start + size > region_bytes)
    throw std::bad_alloc();
  s.used[thread] = start + size;
  std::byte* const piece = s.regions + thread * region_bytes + start;
  std::memcpy(piece - sizeof size, &size, sizeof size);
  return piece;
}

static void release(void* start) noexcept {
  if (start == nullptr)
    return;
  const state& s = all();
  if (in_regions(start)) {
    std::size_t size = 0;
    std::memcpy(&size, static_cast<std::byte*>(start) - sizeof size, sizeof size);
    if (s.whose != memory_of::host) {
      keep(start, size);
      std::memset(start, 0xDD, size); // so that what stood there makes no difference
      std::memset(static_cast<std::byte*>(start) - 2 * sizeof size, 1, 1);
    }
  } else if (s.whose != memory_of::host) {
    keep(start, ::malloc_usable_size(start));
  } else {
    std::free(start);
  }
}

} // namespace weft::model::quarantine

using weft::model::quarantine::allocate;
using weft::model::quarantine::release;

void* operator new(std::size_t size) {
  return allocate(size, alignof(std::max_align_t));
}
void* operator new[](std::size_t size) {
  return allocate(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t to) {
  return allocate(size, static_cast<std::size_t>(to));
}
void* operator new[](std::size_t size, std::align_val_t to) {
  return allocate(size, static_cast<std::size_t>(to));
}
void operator delete(void* start) noexcept {
  release(start);
}
void operator delete[](void* start) noexcept {
  release(start);
}
void operator delete(void* start, std::size_t) noexcept {
  release(start);
}
void operator delete[](void* start, std::size_t) noexcept {
  release(start);
}
void operator delete(void* start, std::align_val_t) noexcept {
  release(start);
}
void operator delete[](void* start, std::align_val_t) noexcept {
  release(start);
}
void operator delete(void* start, std::size_t, std::align_val_t) noexcept {
  release(start);
}
void operator delete[](void* start, std::size_t, std::align_val_t) noexcept {
  release(start);
}
