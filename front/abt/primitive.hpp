// SPDX-License-Identifier: MIT
// What the synchronisation objects share: times, memory that starts as zeros, making and freeing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <new>

#include "front/abt/context.hpp"
#include "front/abt/error.hpp"
#include "front/abt/object.hpp"
#include "weft/door/deadline.hpp"
#include "weft/sync/wait_queue.hpp"

namespace weft::abt {

// Waits in the queue, for what `why` tells debuggers; false: the time has passed. `held` as after
// wait_queue::wait().
inline bool wait_in(sync::wait_queue& queue, sync::held_lock& held, door::deadline until,
                    const unit::wait_record& why) {
  if (door::passed(until))
    return false;
  sync::waiter w(why);
  return queue.wait(held, w, until, {}) ==
         sync::wait_result::notified; // SWITCH: may resume on another worker
}

// A timed form of `wait(until)`, which returns a code.
template <class Wait>
int timed(const std::timespec* abstime, Wait wait) noexcept {
  if (abstime == nullptr)
    return ABT_ERR_INV_ARG;
  return guarded([&] { return wait(door::deadline_of(*abstime)); });
}

// A T in memory that starts as zeros and is aligned at 4 bytes only: it lies at the first place that suits it
// and is made when it is first needed. Never destroyed: such memory just ends. *Ownership*: a lock of the
// user's guards get() and what it returns.
template <class T>
class zeroed_room {
  static_assert(alignof(T) <= 8);

 public:
  T& get() noexcept {
    if (built_.load_relaxed() == 0) { // relaxed: the lock orders it
      ::new (place()) T;
      built_.store_release(1); // (Z1) release: publishes the T; pairs with (Z2)
    }
    return *static_cast<T*>(place());
  }
  // Without the lock: the T, or null if there is none yet.
  T* look() noexcept {
    return built_.load_acquire() != 0 ? static_cast<T*>(place()) : nullptr; // (Z2) acquire: pairs with (Z1)
  }

 private:
  void* place() noexcept {
    const auto first = reinterpret_cast<std::uintptr_t>(room_);
    return reinterpret_cast<std::byte*>(room_) + (alignof(T) - first % alignof(T)) % alignof(T);
  }

  base::atomic<std::uint32_t> built_;
  std::uint32_t room_[(sizeof(T) + alignof(T)) / 4 - 1];
};

// Makes a T for a handle that is null if that fails.
template <class T, class Handle, class... Arguments>
int create(Handle* handle, Handle null, Arguments&&... arguments) noexcept {
  *handle = null;
  return guarded([&] {
    *handle = handle_of<Handle>(make<T>(std::forward<Arguments>(arguments)...));
    return ABT_SUCCESS;
  });
}
// The same for handles that are left untouched then.
template <class T, class Handle, class... Arguments>
int create_or_leave(Handle* handle, Arguments&&... arguments) noexcept {
  return guarded([&] {
    *handle = handle_of<Handle>(make<T>(std::forward<Arguments>(arguments)...));
    return ABT_SUCCESS;
  });
}
template <class T, class Handle>
int free_object(Handle* handle, Handle null, int invalid) noexcept {
  T* o = checked<T>(*handle);
  if (o == nullptr)
    return invalid;
  destroy(o);
  *handle = null;
  return ABT_SUCCESS;
}

} // namespace weft::abt
