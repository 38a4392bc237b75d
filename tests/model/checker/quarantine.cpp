// SPDX-License-Identifier: MIT
#include "tests/model/checker/quarantine.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <malloc.h>
#include <new>

namespace weft::model::quarantine {
namespace {

struct block {
  void* start;
  std::size_t size;
};

// Not a std::vector: it would call the operators that it serves.
block* blocks = nullptr;
std::size_t count = 0;
std::size_t capacity = 0;
bool enabled = false;

void keep(void* start) noexcept {
  if (count == capacity) {
    capacity = capacity == 0 ? 1024 : capacity * 2;
    blocks = static_cast<block*>(std::realloc(blocks, capacity * sizeof(block)));
  }
  blocks[count++] = {start, ::malloc_usable_size(start)};
}

} // namespace

void enable(bool on) noexcept {
  enabled = on;
}

bool holds(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (std::size_t i = 0; i < count; ++i) {
    const auto start = reinterpret_cast<std::uintptr_t>(blocks[i].start);
    if (at >= start && at < start + blocks[i].size) {
      return true;
    }
  }
  return false;
}

void release_all() noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    std::free(blocks[i].start);
  }
  count = 0;
}

static void* allocate(std::size_t size, std::size_t alignment) {
  void* const start = ::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (start == nullptr) {
    throw std::bad_alloc();
  }
  return start;
}

static void release(void* start) noexcept {
  if (enabled && start != nullptr) {
    keep(start);
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
