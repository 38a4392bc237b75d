// SPDX-License-Identifier: MIT
// What few units need: a name, local storage, a migration under way. Allocated at the first need, so that the
// others pay one pointer that is null.
//
// Ownership: the running unit itself, or whoever holds it while it is not running. The name: under the unit's
// lock bit (extension.cpp). Requests from others (migration): under `lock`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "weft/base/export.hpp"
#include "weft/base/spin_lock.hpp"
#include "weft/os/own_heap.hpp"
#include "weft/unit/descriptor.hpp"

namespace weft::unit {

// Local storage: one slot a key; a key is an index with a generation, so that a deleted key's old values are
// not found.
struct local_value {
  std::uint32_t generation = 0;
  void* value = nullptr;
};

using migration_callback = void (*)(descriptor& moved, void* argument);

struct migration {
  base::plain<sched::pool*> target = nullptr;
  base::plain<migration_callback> callback = nullptr;
  base::plain<void*> argument = nullptr;
};

inline constexpr std::size_t name_size = 32; // with the terminator

struct extension : os::on_own_heap {
  std::array<char, name_size> name{}; // written and copied under the lock bit
  std::vector<local_value, os::own_allocator<local_value>> locals;
  base::spin_lock lock;
  migration pending;
  base::atomic<std::uint32_t> migrations_done{0};
  base::plain<sched::pool*> left = nullptr; // by the last migration, for its callback
  memory::stack_record* stack = nullptr;    // unit::supplied_stack
};

// The extension of `u`, made if needed. The caller holds the unit (or is its creator). Errors:
// std::bad_alloc.
WEFT_API extension& extend(descriptor& u);

// Notes what is asked of `u`, in its extension, and sets migration_requested. Anyone with a valid handle may
// call it, also while the unit ends: the extension cannot go meanwhile. False: it has ended. Errors:
// std::bad_alloc, not if there is an extension. `replaced`: whether a request that nobody had begun to carry
// out has given way to this one.
WEFT_API bool request_migration(descriptor& u, const migration& wanted, bool* replaced = nullptr);

// The extension of `u`, or null. Contexts: as extend().
[[nodiscard]] WEFT_API extension* extension_of(const descriptor& u) noexcept;

// Runs the destructors of its local storage, which may be done before drop_extension(): they are the user's
// code, and may switch. Contexts: the unit itself.
WEFT_API void run_local_destructors(const descriptor& u) noexcept;

// Runs local-storage destructors and frees the extension, if there is one. On the unit's own stack, while it
// is still running.
WEFT_API void drop_extension(descriptor& u) noexcept;

// For whoever holds a valid handle, as request_migration(): nothing for a unit that has ended. Errors:
// std::bad_alloc, not if there is an extension.
WEFT_API void set_name(descriptor& u, const char* name);
// For whoever holds a valid handle: the unit may end meanwhile.
[[nodiscard]] WEFT_API std::array<char, name_size> copy_name(descriptor& u) noexcept;
// For the unit itself and whoever holds it: valid until it is renamed or ends.
[[nodiscard]] WEFT_API const char* name_of(const descriptor& u) noexcept;

// Keys of local storage, as pthread_key_create: `destructor` runs for each non-null value when a unit ends,
// at most `destructor_rounds` times over, since destructors may set values again.
inline constexpr std::uint32_t largest_key_count = 1024;
inline constexpr int destructor_rounds = 4;

struct local_key {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
};

// Errors: std::system_error(resource_unavailable_try_again) when all keys are taken.
WEFT_API local_key make_key(void (*destructor)(void*));
// Values of units alive are forgotten without a destructor. Errors: std::system_error(invalid_argument) for a
// deleted key.
WEFT_API void delete_key(local_key key);
[[nodiscard]] WEFT_API void* get_local(const descriptor& u, local_key key) noexcept;
WEFT_API void set_local(descriptor& u, local_key key, void* value);

} // namespace weft::unit
