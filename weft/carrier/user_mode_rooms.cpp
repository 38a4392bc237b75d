// SPDX-License-Identifier: MIT
#include "weft/carrier/user_mode_rooms.hpp"

#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "weft/base/spin_lock.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/os/fault.hpp"
#include "weft/os/own_heap.hpp"

namespace weft::sched {
namespace {

// An odd number of cache lines: the first line of each, which each switch reads, is in a set of its own. In
// blocks of 4 KiB all would be in a few.
constexpr std::size_t line = 64;
constexpr std::size_t lines = (sizeof(user_mode) + line - 1) / line | 1;
constexpr std::size_t room_bytes = lines * line;
constexpr std::size_t chunk_bytes = 128 << 10;
static_assert(alignof(user_mode) <= line);

struct free_room {
  free_room* next;
};

// Ownership: both, whoever holds the lock. Chunks stay.
constinit base::spin_lock lock;
constinit free_room* free_rooms = nullptr;

void* take() noexcept {
  const std::scoped_lock held(lock);
  free_room* const room = free_rooms;
  if (room != nullptr)
    free_rooms = room->next;
  return room;
}

} // namespace

void* take_user_mode_room() noexcept {
  if (os::fault(os::fault_site::memory) != 0)
    return nullptr;
  if (void* const room = take())
    return room;
  auto* const chunk = static_cast<std::byte*>(os::own_allocate(chunk_bytes)); // zero: it is new
  if (chunk == nullptr)
    return nullptr;
  for (std::size_t at = room_bytes; at + room_bytes <= chunk_bytes; at += room_bytes)
    give_user_mode_room(chunk + at);
  return chunk;
}

void give_user_mode_room(void* room) noexcept {
  const std::scoped_lock held(lock);
  free_rooms = ::new (room) free_room{free_rooms};
}

void forget_user_mode_rooms_after_fork() noexcept {
  ::new (static_cast<void*>(&lock)) base::spin_lock;
  free_rooms = nullptr;
}

} // namespace weft::sched
