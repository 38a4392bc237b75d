// SPDX-License-Identifier: MIT
// Names and local storage of units.
#include "weft/unit/extension.hpp"

#include <cstring>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

namespace weft::unit {
namespace {

struct key_slot {
  // Odd while the key is in use; even while free. A value whose generation differs belongs to a deleted key.
  std::uint32_t generation = 0;
  void (*destructor)(void*) = nullptr;
};

std::mutex keys_lock;
key_slot keys[largest_key_count];
std::uint32_t keys_used = 0;

bool in_use(local_key key) noexcept {
  return key.index < largest_key_count && (key.generation & 1) != 0 &&
         keys[key.index].generation == key.generation;
}

// The destructor to run for a value, or null; under the lock only for the look-up, since the destructor is
// the user's.
void (*destructor_of(std::uint32_t index, std::uint32_t generation) noexcept)(void*) {
  std::lock_guard held(keys_lock);
  return keys[index].generation == generation ? keys[index].destructor : nullptr;
}

// A destructor may set values and so move the vector: indices only.
bool run_destructors_once(extension& e) noexcept {
  bool ran = false;
  for (std::uint32_t index = 0; index < e.locals.size(); ++index) {
    local_value slot = e.locals[index];
    if (slot.value == nullptr)
      continue;
    e.locals[index].value = nullptr;
    if (auto* destructor = destructor_of(index, slot.generation)) {
      destructor(slot.value);
      ran = true;
    }
  }
  return ran;
}

} // namespace

namespace {

// A bit as a lock on the pointer to the extension: the unit itself, which may be ending, and somebody who
// asks it to migrate may come at once. acquire/release: pairs with itself.
class extension_lock {
 public:
  explicit extension_lock(descriptor& u) noexcept : unit_(u) {
    // As base::spin_lock: whoever holds it takes memory meanwhile, and may have lost its CPU.
    constexpr unsigned looks_before_yield = base::backend::scaled(64, 1);
    for (unsigned looks = 1; u.has(extending) || (u.traits.fetch_or_acq_rel(extending) & extending) != 0;
         ++looks) {
      if (looks % looks_before_yield != 0) {
        arch::relax();
      } else {
        base::backend::yield_kernel_thread();
      }
    }
  }
  ~extension_lock() { unit_.traits.fetch_and_acq_rel(~std::uint64_t{extending}); }
  extension_lock(const extension_lock&) = delete;

 private:
  descriptor& unit_;
};

// The bit tells whether there is an extension, the pointer alone does not: a request that came after the end
// of the unit before, in the same memory, has left one behind.
extension& extend_locked(descriptor& u) {
  if (!u.has(extended)) {
    auto fresh = std::make_unique<extension>();
    delete u.extension.load_relaxed(); // relaxed, here and below: under the lock
    u.extension.store_relaxed(fresh.release());
    u.traits.fetch_or_acq_rel(extended); // (X1) release: pairs with (X2)
  }
  return *u.extension.load_relaxed();
}

} // namespace

// (X2) acquire: pairs with (X1), so the pointer may be read relaxed.
extension* extension_of(const descriptor& u) noexcept {
  return (u.traits.load_acquire() & extended) != 0 ? u.extension.load_relaxed() : nullptr;
}

extension& extend(descriptor& u) {
  const extension_lock held(u);
  return extend_locked(u);
}

bool request_migration(descriptor& u, const migration& wanted, bool* replaced) {
  const extension_lock held(u);
  if (u.state.load() == state::finished)
    return false;
  extension& e = extend_locked(u);
  const std::lock_guard pending(e.lock);
  e.pending = wanted;
  // Before the lock is free: whoever carries it out reads both under it.
  const std::uint64_t before = u.traits.fetch_or_acq_rel(migration_requested);
  if (replaced != nullptr)
    *replaced = (before & migration_requested) != 0;
  return true;
}

void run_local_destructors(const descriptor& u) noexcept {
  extension* e = extension_of(u);
  for (int round = 0; e != nullptr && round < destructor_rounds && run_destructors_once(*e); ++round) {
  }
}

void drop_extension(descriptor& u) noexcept {
  extension* e = extension_of(u);
  if (e == nullptr)
    return;
  run_local_destructors(u);
  const extension_lock held(u);
  u.traits.fetch_and_relaxed(~std::uint64_t{extended});
  u.extension.store_relaxed(nullptr); // relaxed: under the lock
  delete e;
}

void set_name(descriptor& u, const char* name) {
  const extension_lock held(u);
  if (u.state.load() == state::finished)
    return;
  auto& buffer = extend_locked(u).name;
  std::strncpy(buffer.data(), name, buffer.size() - 1);
  buffer.back() = '\0';
}

const char* name_of(const descriptor& u) noexcept {
  const extension* e = extension_of(u);
  return e != nullptr ? e->name.data() : "";
}

std::array<char, name_size> copy_name(descriptor& u) noexcept {
  const extension_lock held(u);
  const extension* e = extension_of(u);
  return e != nullptr ? e->name : std::array<char, name_size>{};
}

local_key make_key(void (*destructor)(void*)) {
  std::lock_guard held(keys_lock);
  if (keys_used < largest_key_count) {
    for (std::uint32_t index = 0; index < largest_key_count; ++index) {
      if ((keys[index].generation & 1) != 0)
        continue;
      ++keys_used;
      keys[index].destructor = destructor;
      return {index, ++keys[index].generation};
    }
  }
  throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                          "weft: all 1024 keys of thread-specific storage are in use");
}

void delete_key(local_key key) {
  std::lock_guard held(keys_lock);
  if (!in_use(key)) {
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "weft: this key was deleted or never made");
  }
  ++keys[key.index].generation;
  --keys_used;
}

void* get_local(const descriptor& u, local_key key) noexcept {
  const extension* e = extension_of(u);
  if (e == nullptr || key.index >= e->locals.size())
    return nullptr;
  const local_value& slot = e->locals[key.index];
  return slot.generation == key.generation ? slot.value : nullptr;
}

void set_local(descriptor& u, local_key key, void* value) {
  auto& locals = extend(u).locals;
  if (key.index >= locals.size())
    locals.resize(key.index + 1);
  locals[key.index] = {key.generation, value};
}

} // namespace weft::unit
