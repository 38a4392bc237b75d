// SPDX-License-Identifier: MIT
#include "weft/os/own_heap.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <utility>

#include "weft/base/spin_lock.hpp"
#include "weft/os/fault.hpp"
#include "weft/os/mapping.hpp"

namespace weft::os {
namespace {

constexpr std::size_t least_bytes = 32, most_bytes = 8192, chunk_bytes = 64 << 10;
constexpr std::size_t classes = std::bit_width(most_bytes / least_bytes);

struct free_block {
  free_block* next;
};

// Ownership: all of it, whoever holds the lock; a block that is out, whoever has it. Chunks stay.
constinit base::spin_lock lock;
constinit std::array<free_block*, classes> free_blocks{};

std::size_t class_of(std::size_t bytes) noexcept {
  return static_cast<std::size_t>(std::bit_width((std::max(bytes, least_bytes) - 1) / least_bytes));
}

void* take(std::size_t c) noexcept {
  const std::scoped_lock held(lock);
  free_block* block = free_blocks[c];
  if (block != nullptr)
    free_blocks[c] = block->next;
  return block;
}

// All blocks of a new chunk but the first, which is the caller's.
void* take_from_new_chunk(std::size_t c) noexcept {
  void* chunk = nullptr;
  if (map(chunk_bytes, page_access::read_write, &chunk) != 0)
    return nullptr;
  const std::size_t each = least_bytes << c;
  auto* const bytes = static_cast<std::byte*>(chunk);
  free_block* list = nullptr;
  free_block* last = nullptr;
  for (std::size_t at = each; at < chunk_bytes; at += each) {
    list = ::new (static_cast<void*>(bytes + at)) free_block{list};
    if (last == nullptr)
      last = list;
  }
  const std::scoped_lock held(lock);
  last->next = std::exchange(free_blocks[c], list);
  return chunk;
}

} // namespace

void* own_allocate(std::size_t bytes) noexcept {
  if (fault(fault_site::memory) != 0)
    return nullptr;
  if (bytes > most_bytes) {
    void* mapping = nullptr;
    if (bytes > std::numeric_limits<std::size_t>::max() / 2 ||
        map(round_up_to_page(bytes), page_access::read_write, &mapping) != 0)
      return nullptr;
    return mapping;
  }
  const std::size_t c = class_of(bytes);
  void* const block = take(c);
  return block != nullptr ? block : take_from_new_chunk(c);
}

void own_free(void* block, std::size_t bytes) noexcept {
  if (block == nullptr)
    return;
  if (bytes > most_bytes) {
    unmap(block, round_up_to_page(bytes));
    return;
  }
  const std::size_t c = class_of(bytes);
  const std::scoped_lock held(lock);
  free_blocks[c] = ::new (block) free_block{free_blocks[c]};
}

void forget_own_heap_after_fork() noexcept {
  ::new (static_cast<void*>(&lock)) base::spin_lock;
  free_blocks = {};
}

} // namespace weft::os
