// SPDX-License-Identifier: MIT
// The table of wait_slots behind every stored_release_mutex, and the slow ways in and out of such a mutex.
#pragma once

#include "weft/base/export.hpp"
#include "weft/events/timer_queue.hpp"
#include "weft/sync/wait_slot.hpp"
#include "weft/sync/waiter.hpp"

#include <cstddef>
#include <cstdint>
#include <stop_token>

namespace weft::sync {

/// 64 KiB of address space, of which only pages with a waiter become resident. Two mutexes in one slot cost
/// each other something only while one of them has waiters: 1024 slots make that rare for as many contended
/// mutexes as there are workers.
inline constexpr std::size_t wait_slots = 1024;

extern WEFT_API wait_slot<waiter> wait_table[wait_slots];

/// Multiplicative hashing (Knuth, TAOCP 3, 6.4) of the low half of the address: mutexes at one offset of many
/// stacks or pages must not meet.
[[gnu::always_inline]] inline wait_slot<waiter>& slot_of(const mutex_word* word) noexcept {
  const auto low = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(word));
  return wait_table[(low * 0x9E3779B1U) >> 22];
}
static_assert(wait_slots == std::size_t{1} << (32 - 22));

/// Waits for the word; false: timed out or stopped. `displaced`: what the caller's exchange found in the
/// word and replaced: a mark, for debuggers, or an offer; word_free if it made none. *Contexts*: thread,
/// foreign kernel thread. *Switches*: may. *Errors*: std::system_error: operation_not_permitted from a
/// tasklet, or no timer could be had.
WEFT_API bool lock_slowly(mutex_word& word, std::uint32_t displaced, sched::deadline until,
                          const std::stop_token& stop);
WEFT_API void lock_slowly(mutex_word& word, std::uint32_t displaced);

/// The two slow ways to release: the slot was in use before the store, or only after it. *Contexts*: all but
/// signal handlers. *Switches*: never.
WEFT_API void release_contended(mutex_word& word) noexcept;
WEFT_API void look_again(const mutex_word* key) noexcept;

/// For the runtime, in the child of fork(): nobody waits there.
WEFT_API void forget_waiters_after_fork() noexcept;

/// Checks every slot. For tests.
[[nodiscard]] WEFT_API bool wait_table_valid() noexcept;

} // namespace weft::sync
