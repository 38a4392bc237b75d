// SPDX-License-Identifier: MIT
// Mutexes. Locking and unlocking a free one that is not recursive is inlined into the exported functions; all
// else is behind calls that these make last.
#include "front/abt/mutex.hpp"

#include "front/abt/abtx.h"
#include "front/abt/mutex_attr.hpp"
#include "front/abt/primitive.hpp"
#include "front/abt/tool.hpp"
#include "weft/door/section.hpp"

namespace weft::abt {

bool mutex::take_or_wait(door::deadline until, std::uint32_t displaced) {
  // SWITCH: may resume on another worker
  return word_.lock(until, displaced, [this] { return tool_reason(ABT_SYNC_EVENT_TYPE_MUTEX, this); });
}

bool mutex::lock(door::deadline until) {
  return enter([&] { return take_or_wait(until); });
}
bool mutex::try_lock() noexcept {
  return enter([&] { return word_.try_lock(); });
}
void mutex::spin_lock() noexcept {
  enter([&] {
    word_.spin();
    return true;
  });
}

void mutex::unlock() noexcept {
  if (!is_recursive() || inside_.leave())
    word_.release();
}

mutex::released::released(mutex& m) noexcept : mutex_(m), depth_(1) {
  if (m.is_recursive())
    depth_ = m.inside_.set_aside();
  m.unlock();
}
mutex::released::~released() {
  mutex_.lock(door::no_deadline); // cannot throw: the caller may wait, and needs no timer
  if (mutex_.is_recursive())
    mutex_.inside_.restore(depth_);
}

namespace {

// The slow twins of what is inlined: recursive mutexes and invalid handles, or a mutex that is taken.
[[gnu::noinline]] int lock_slowly(ABT_mutex handle) noexcept {
  const weft::door::runtime_section in_runtime;
  mutex* const m = mutex::at(handle);
  if (m == nullptr)
    return ABT_ERR_INV_MUTEX;
  return guarded([&] {
    m->lock(door::no_deadline);
    return ABT_SUCCESS;
  });
}
[[gnu::noinline]] int lock_taken(ABT_mutex handle, std::uint32_t displaced) noexcept {
  const weft::door::runtime_section in_runtime;
  return guarded([&] {
    mutex::unsafe_at(handle).lock_taken(displaced);
    return ABT_SUCCESS;
  });
}
[[gnu::noinline]] int unlock_slowly(ABT_mutex handle) noexcept {
  const weft::door::runtime_section in_runtime;
  mutex* const m = mutex::at(handle);
  if (m == nullptr)
    return ABT_ERR_INV_MUTEX;
  m->unlock();
  return ABT_SUCCESS;
}

[[gnu::always_inline]] inline int lock(ABT_mutex handle) noexcept {
  if (is_null(handle) || !mutex::unsafe_at(handle).is_plain()) [[unlikely]]
    return lock_slowly(handle);
  const std::uint32_t displaced = mutex::unsafe_at(handle).word().take();
  static_assert(door::lock_word::free == 0 && ABT_SUCCESS == 0);
  if (!door::lock_word::is_free(displaced)) [[unlikely]]
    return lock_taken(handle, displaced);
  return static_cast<int>(displaced);
}
// Only a free one; false: the slow twin is to look.
[[gnu::always_inline]] inline bool take_free(ABT_mutex handle) noexcept {
  return !is_null(handle) && mutex::unsafe_at(handle).is_plain() &&
         mutex::unsafe_at(handle).word().try_lock();
}
[[gnu::noinline]] int try_lock_slowly(ABT_mutex handle) noexcept {
  const weft::door::runtime_section in_runtime;
  mutex* const m = mutex::at(handle);
  if (m == nullptr)
    return ABT_ERR_INV_MUTEX;
  return m->try_lock() ? ABT_SUCCESS : ABT_ERR_MUTEX_LOCKED;
}
[[gnu::noinline]] int spin_lock_slowly(ABT_mutex handle) noexcept {
  const weft::door::runtime_section in_runtime;
  mutex* const m = mutex::at(handle);
  if (m == nullptr)
    return ABT_ERR_INV_MUTEX;
  m->spin_lock();
  return ABT_SUCCESS;
}
[[gnu::always_inline]] inline int unlock(ABT_mutex handle) noexcept {
  if (is_null(handle) || !mutex::unsafe_at(handle).is_plain()) [[unlikely]]
    return unlock_slowly(handle);
  return mutex::unsafe_at(handle).word().release();
}

} // namespace
} // namespace weft::abt

using namespace weft::abt;

extern "C" {

int ABT_mutex_create(ABT_mutex* new_mutex) {
  const weft::door::runtime_section in_runtime;
  return create<mutex>(new_mutex, ABT_MUTEX_NULL, false);
}

int ABT_mutex_create_with_attr(ABT_mutex_attr attr, ABT_mutex* new_mutex) {
  const weft::door::runtime_section in_runtime;
  *new_mutex = ABT_MUTEX_NULL;
  const auto* a = checked<mutex_attr>(attr);
  if (a == nullptr && !is_null(attr))
    return ABT_ERR_INV_MUTEX_ATTR;
  return create<mutex>(new_mutex, ABT_MUTEX_NULL, a != nullptr && a->recursive);
}

int ABT_mutex_free(ABT_mutex* handle) {
  const weft::door::runtime_section in_runtime;
  mutex* const m = mutex::at(*handle);
  if (m == nullptr || !m->is_made())
    return ABT_ERR_INV_MUTEX;
  destroy(m);
  *handle = ABT_MUTEX_NULL;
  return ABT_SUCCESS;
}

int ABT_mutex_lock(ABT_mutex handle) {
  return lock(handle);
}
int ABT_mutex_lock_high(ABT_mutex handle) {
  return lock(handle);
}
int ABT_mutex_lock_low(ABT_mutex handle) {
  return lock(handle);
}

int ABT_mutex_trylock(ABT_mutex handle) {
  return take_free(handle) ? ABT_SUCCESS : try_lock_slowly(handle);
}

int ABT_mutex_spinlock(ABT_mutex handle) {
  return take_free(handle) ? ABT_SUCCESS : spin_lock_slowly(handle);
}

int ABTX_mutex_timedlock(ABT_mutex handle, const struct timespec* abstime) {
  const weft::door::runtime_section in_runtime;
  mutex* const m = mutex::at(handle);
  if (m == nullptr)
    return ABT_ERR_INV_MUTEX;
  return timed(abstime, [m](auto until) { return m->lock(until) ? ABT_SUCCESS : ABT_ERR_COND_TIMEDOUT; });
}

int ABT_mutex_unlock(ABT_mutex handle) {
  return unlock(handle);
}
int ABT_mutex_unlock_se(ABT_mutex handle) {
  return unlock(handle);
}
int ABT_mutex_unlock_de(ABT_mutex handle) {
  return unlock(handle);
}

int ABT_mutex_equal(ABT_mutex a, ABT_mutex b, ABT_bool* result) {
  const weft::door::runtime_section in_runtime;
  *result = a == b || (is_null(a) && is_null(b)) ? ABT_TRUE : ABT_FALSE;
  return ABT_SUCCESS;
}

int ABT_mutex_get_attr(ABT_mutex handle, ABT_mutex_attr* attr) {
  const weft::door::runtime_section in_runtime;
  mutex* const m = mutex::at(handle);
  if (m == nullptr)
    return ABT_ERR_INV_MUTEX;
  return create_or_leave<mutex_attr>(attr, m->is_recursive());
}

} // extern "C"
