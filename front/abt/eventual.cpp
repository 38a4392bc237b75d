// SPDX-License-Identifier: MIT
// Eventuals: a state word, the value, and a queue of waiters, in memory that may be the user's.
#include <cstring>
#include <memory>
#include <mutex>

#include "front/abt/primitive.hpp"
#include "front/abt/tool.hpp"
#include "weft/door/section.hpp"
#include "weft/door/waiting.hpp"
#include "weft/door/zeroed.hpp"

namespace weft::abt {
namespace {

// Also laid over an ABT_eventual_memory, which nobody constructs or destroys and which has no buffer.
// *Ownership*: `lock_` guards what is in `room_` and the steps to and from `ready`; whoever turned `state_`
// from `unset` to `setting` writes the buffer, until `ready`. *Ordering*: (E1) publishes the value to (E2).
class eventual {
 public:
  explicit eventual(std::uint32_t bytes) : how_(static_cast<std::uint32_t>(kind::eventual)), bytes_(bytes) {
    if (bytes != 0)
      room_.get().buffer = ::operator new(bytes);
  }
  eventual(const eventual&) = delete;
  eventual& operator=(const eventual&) = delete;
  ~eventual() {
    if (inside* in = room_.look()) {
      in->waiters.drain(lock_); // also waits until the setter that let the caller through has left
      ::operator delete(in->buffer);
    }
    how_.store_release(static_cast<std::uint32_t>(kind::gone)); // read through stale handles, as object::is()
  }

  // Null for null handles, freed ones, and objects of another kind.
  static eventual* at(ABT_eventual handle) noexcept {
    if (is_null(handle) || reinterpret_cast<std::uintptr_t>(handle) % alignof(eventual) != 0)
      return nullptr;
    auto* e = reinterpret_cast<eventual*>(handle);
    const std::uint32_t how = e->how_.load_acquire();
    return how == of_user || how == static_cast<std::uint32_t>(kind::eventual) ? e : nullptr;
  }
  [[nodiscard]] bool is_made() const noexcept { return how_.load_relaxed() != of_user; } // relaxed: see at()

  bool is_ready() noexcept;
  // False: the time has passed.
  bool wait(door::deadline until);
  int set(const void* value, int bytes) noexcept;
  void reset() noexcept {
    const std::scoped_lock held(lock_);
    state_.store_relaxed(unset); // relaxed: nobody may set or wait meanwhile
  }
  // Once it is ready.
  void* value() noexcept { return bytes_ != 0 ? room_.look()->buffer : nullptr; }

 private:
  static constexpr std::uint32_t of_user = 0;
  enum : std::uint32_t { unset, setting, ready };
  struct inside {
    door::wait_queue waiters;
    void* buffer = nullptr;
  };

  void let_setter_leave(bool made) noexcept;

  door::atomic<std::uint32_t> how_; // of_user, kind::eventual, kind::gone
  door::spin_lock lock_;
  door::atomic<std::uint32_t> state_{unset};
  std::uint32_t bytes_;
  door::zeroed<inside> room_{};
};
static_assert(sizeof(eventual) <= sizeof(ABT_eventual_memory) &&
              alignof(eventual) <= alignof(ABT_eventual_memory));

// Memory of the user's may end as soon as the wait has, and no destructor waits for a setter that still holds
// the lock.
void eventual::let_setter_leave(bool made) noexcept {
  if (!made) {
    const std::scoped_lock passing_through(lock_);
  }
}

bool eventual::is_ready() noexcept {
  if (state_.load_acquire() != ready) // (E2) acquire: pairs with (E1)
    return false;
  let_setter_leave(is_made());
  return true;
}

bool eventual::wait(door::deadline until) {
  if (is_ready())
    return true;
  const bool made = is_made();
  {
    door::held_lock held(lock_);
    if (state_.load_acquire() == ready) // (E2)
      return true;
    const door::wait_reason why{door::wait_kind::eventual, 0, this};
    if (!door::wait_in(room_.get().waiters, held, until, why)) // SWITCH: may resume on another worker
      return false;
  }
  let_setter_leave(made); // GONE: *this, if made: another waiter may have freed it
  return true;
}

int eventual::set(const void* value, int bytes) noexcept {
  if (bytes < 0)
    return ABT_ERR_INV_ARG;
  if (static_cast<std::uint32_t>(bytes) > bytes_)
    return ABT_ERR_INV_EVENTUAL;
  std::uint32_t expected = unset;
  if (!state_.cas_strong_acquire(expected, setting)) // acquire: after whatever came before reset()
    return ABT_ERR_EVENTUAL;
  if (bytes != 0)
    std::memcpy(room_.look()->buffer, value,
                static_cast<std::size_t>(bytes)); // without the lock: it may be long
  const std::scoped_lock held(lock_);
  state_.store_release(ready); // (E1) release: publishes the value; pairs with (E2)
  room_.get().waiters.notify_all();
  return ABT_SUCCESS;
}

int wait(ABT_eventual handle, void** value, door::deadline until) {
  eventual* const e = eventual::at(handle);
  if (e == nullptr)
    return ABT_ERR_INV_EVENTUAL;
  if (!may_wait()) // also where it would not have to: whether it would is a matter of luck
    return ABT_ERR_EVENTUAL;
  void* const where = e->value();
  const tool_reason why(ABT_SYNC_EVENT_TYPE_EVENTUAL, handle);
  if (!e->wait(until))
    return ABT_ERR_COND_TIMEDOUT;
  // GONE: *e
  if (value != nullptr)
    *value = where;
  return ABT_SUCCESS;
}

} // namespace
} // namespace weft::abt

using namespace weft::abt;

extern "C" {

int ABT_eventual_create(int nbytes, ABT_eventual* new_eventual) {
  const weft::door::runtime_section in_runtime;
  if (nbytes < 0)
    return ABT_ERR_INV_ARG;
  return create_or_leave<eventual>(new_eventual, static_cast<std::uint32_t>(nbytes));
}

int ABT_eventual_free(ABT_eventual* handle) {
  const weft::door::runtime_section in_runtime;
  eventual* const e = eventual::at(*handle);
  if (e == nullptr || !e->is_made())
    return ABT_ERR_INV_EVENTUAL;
  destroy(e);
  *handle = ABT_EVENTUAL_NULL;
  return ABT_SUCCESS;
}

int ABT_eventual_wait(ABT_eventual handle, void** value) {
  const weft::door::runtime_section in_runtime;
  return guarded([&] { return wait(handle, value, weft::door::no_deadline); });
}
int ABT_eventual_timedwait(ABT_eventual handle, void** value, const struct timespec* abstime) {
  const weft::door::runtime_section in_runtime;
  return timed(abstime, [&](auto until) { return wait(handle, value, until); });
}

int ABT_eventual_test(ABT_eventual handle, void** value, ABT_bool* is_ready) {
  const weft::door::runtime_section in_runtime;
  eventual* const e = eventual::at(handle);
  if (e == nullptr)
    return ABT_ERR_INV_EVENTUAL;
  void* const where = e->value();
  const bool ready = e->is_ready();
  if (ready && value != nullptr)
    *value = where;
  *is_ready = ready ? ABT_TRUE : ABT_FALSE;
  return ABT_SUCCESS;
}

int ABT_eventual_set(ABT_eventual handle, void* value, int nbytes) {
  const weft::door::runtime_section in_runtime;
  eventual* const e = eventual::at(handle);
  return e != nullptr ? e->set(value, nbytes) : ABT_ERR_INV_EVENTUAL;
}

int ABT_eventual_reset(ABT_eventual handle) {
  const weft::door::runtime_section in_runtime;
  eventual* const e = eventual::at(handle);
  if (e == nullptr)
    return ABT_ERR_INV_EVENTUAL;
  e->reset();
  return ABT_SUCCESS;
}

} // extern "C"
