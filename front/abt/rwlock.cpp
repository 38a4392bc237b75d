// SPDX-License-Identifier: MIT
// Read-write locks.
#include <chrono>

#include "front/abt/abtx.h"
#include "front/abt/primitive.hpp"
#include "front/abt/tool.hpp"
#include "weft/door/deadline.hpp"
#include "weft/door/section.hpp"
#include "weft/shared_mutex.hpp"

namespace weft::abt {
namespace {

// *Ownership*: who holds `mutex_` for writing writes `written_`; who holds it in either way may read it.
class rwlock : public object {
 public:
  static constexpr kind own_kind = kind::rwlock;
  rwlock() noexcept : object(own_kind) {}

  bool try_write() noexcept {
    if (!mutex_.try_lock())
      return false;
    written_ = true;
    return true;
  }
  bool try_read() noexcept { return mutex_.try_lock_shared(); }

  // False: the time has passed.
  bool write(door::deadline until) {
    if (until == door::no_deadline) {
      mutex_.lock(); // SWITCH: may resume on another worker
    } else if (door::passed(until) ? !mutex_.try_lock()
                                   : !mutex_.try_lock_until(moment(until))) { // SWITCH: as above
      return false;
    }
    written_ = true;
    return true;
  }
  bool read(door::deadline until) {
    if (until == door::no_deadline) {
      mutex_.lock_shared(); // SWITCH: may resume on another worker
      return true;
    }
    return door::passed(until) ? mutex_.try_lock_shared()
                               : mutex_.try_lock_shared_until(moment(until)); // SWITCH: as above
  }

  void unlock() noexcept {
    if (written_) {
      written_ = false;
      mutex_.unlock();
    } else {
      mutex_.unlock_shared();
    }
  }

 private:
  static std::chrono::steady_clock::time_point moment(door::deadline until) noexcept {
    return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(until));
  }

  bool written_ = false;
  weft::shared_mutex mutex_;
};

using locking = bool (rwlock::*)(door::deadline);
using trying = bool (rwlock::*)() noexcept;

// A tasklet is refused also where it would not have to wait: whether it would is a matter of luck.
int lock(ABT_rwlock handle, locking how, door::deadline until = door::no_deadline) noexcept {
  auto* const l = checked<rwlock>(handle);
  if (l == nullptr)
    return ABT_ERR_INV_RWLOCK;
  if (!may_wait())
    return ABT_ERR_RWLOCK;
  return guarded([&] {
    const tool_reason why(ABT_SYNC_EVENT_TYPE_RWLOCK, handle);
    return (l->*how)(until) ? ABT_SUCCESS : ABT_ERR_COND_TIMEDOUT;
  });
}

int try_lock(ABT_rwlock handle, trying how) noexcept {
  auto* const l = checked<rwlock>(handle);
  if (l == nullptr)
    return ABT_ERR_INV_RWLOCK;
  return (l->*how)() ? ABT_SUCCESS : ABT_ERR_RWLOCK;
}

} // namespace
} // namespace weft::abt

using namespace weft::abt;

extern "C" {

int ABT_rwlock_create(ABT_rwlock* new_rwlock) {
  const weft::door::runtime_section in_runtime;
  return create<rwlock>(new_rwlock, ABT_RWLOCK_NULL);
}

int ABT_rwlock_free(ABT_rwlock* handle) {
  const weft::door::runtime_section in_runtime;
  return free_object<rwlock>(handle, ABT_RWLOCK_NULL, ABT_ERR_INV_RWLOCK);
}

int ABT_rwlock_rdlock(ABT_rwlock handle) {
  const weft::door::runtime_section in_runtime;
  return lock(handle, &rwlock::read);
}
int ABT_rwlock_wrlock(ABT_rwlock handle) {
  const weft::door::runtime_section in_runtime;
  return lock(handle, &rwlock::write);
}

int ABTX_rwlock_tryrdlock(ABT_rwlock handle) {
  const weft::door::runtime_section in_runtime;
  return try_lock(handle, &rwlock::try_read);
}
int ABTX_rwlock_trywrlock(ABT_rwlock handle) {
  const weft::door::runtime_section in_runtime;
  return try_lock(handle, &rwlock::try_write);
}

int ABTX_rwlock_timedrdlock(ABT_rwlock handle, const struct timespec* abstime) {
  const weft::door::runtime_section in_runtime;
  return timed(abstime, [=](auto until) { return lock(handle, &rwlock::read, until); });
}
int ABTX_rwlock_timedwrlock(ABT_rwlock handle, const struct timespec* abstime) {
  const weft::door::runtime_section in_runtime;
  return timed(abstime, [=](auto until) { return lock(handle, &rwlock::write, until); });
}

int ABT_rwlock_unlock(ABT_rwlock handle) {
  const weft::door::runtime_section in_runtime;
  auto* const l = checked<rwlock>(handle);
  if (l == nullptr)
    return ABT_ERR_INV_RWLOCK;
  l->unlock();
  return ABT_SUCCESS;
}

} // extern "C"
