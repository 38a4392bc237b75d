// SPDX-License-Identifier: MIT
// Mutexes. Locking and unlocking a free one that is not recursive is inlined into the exported functions; all
// else is behind calls that these make last.
#include "front/abt/mutex.hpp"

#include <algorithm>

#include "front/abt/abtx.h"
#include "front/abt/mutex_attr.hpp"
#include "front/abt/tool.hpp"
#include "weft/arch/arch.hpp"
#include "weft/door/section.hpp"
#include "weft/sync/owner_record.hpp"

namespace weft::abt {
namespace {

constexpr int looks_before_yield = 64; // as base::spin_lock

// Also what is offered to a waiter: it may be ready on this very stream.
bool try_take(sync::mutex_word& word) noexcept {
  return sync::try_word(word, arch::stack_mark());
}

// For callers that keep the CPU.
void spin(sync::mutex_word& word) noexcept {
  for (int looks = 0; !try_take(word);) {
    if (++looks < looks_before_yield) {
      arch::relax();
    } else {
      base::backend::yield_kernel_thread();
      looks = 0;
    }
  }
}

// For callers that may not wait: a tasklet has no stack to leave, and a stream's loop cannot be suspended. It
// stands in no queue: the wait table's waiters suspend. The pauses bound both the load and the delay.
bool block(sync::mutex_word& word, door::deadline until) noexcept {
  constexpr std::int64_t longest = 50'000;
  for (int looks = 0; looks < looks_before_yield; ++looks) {
    if (try_take(word))
      return true;
    arch::relax();
  }
  for (std::int64_t pause = 500; !try_take(word); pause = std::min(2 * pause, longest)) {
    const std::int64_t left = until == door::no_deadline ? longest : until - door::now();
    if (left <= 0)
      return false;
    door::block_for(std::min(pause, left));
  }
  return true;
}

} // namespace

int mutex::release_contended(sync::mutex_word& word) noexcept {
  sync::release_contended(word);
  return ABT_SUCCESS;
}
int mutex::look_again(const sync::mutex_word* key) noexcept {
  sync::look_again(key);
  return ABT_SUCCESS;
}

bool mutex::take_or_wait(door::deadline until, std::uint32_t displaced) {
  // relaxed look: a taken word is not written to
  if (!sync::is_offered(displaced) && word_.load_relaxed() == sync::word_free &&
      sync::take_word(word_, arch::stack_mark()))
    return true;
  if (door::passed(until))
    return try_take(word_);
  if (!may_wait())
    return sync::is_offered(displaced) || block(word_, until);
  const tool_reason why(ABT_SYNC_EVENT_TYPE_MUTEX, this);
  return sync::lock_slowly(word_, displaced, until, {}); // SWITCH: may resume on another worker
}

// `take_word()` takes the word, if the mutex is not the caller's already.
template <class Take>
bool mutex::enter(Take take_word) {
  if (!is_recursive())
    return take_word();
  const void* const self = sync::caller_identity();
  if (owner().load_relaxed() == self) { // relaxed, both: only its own mark matters to a caller
    ++depth_;
    return true;
  }
  if (!take_word())
    return false;
  owner().store_relaxed(self);
  depth_ = 1;
  return true;
}

bool mutex::lock(door::deadline until) {
  return enter([&] { return take_or_wait(until); });
}
bool mutex::try_lock() noexcept {
  return enter([&] { return try_take(word_); });
}
void mutex::spin_lock() noexcept {
  enter([&] {
    spin(word_);
    return true;
  });
}

void mutex::unlock() noexcept {
  if (is_recursive()) {
    if (--depth_ != 0)
      return;
    owner().store_relaxed(nullptr); // relaxed: as in enter()
  }
  release();
}

mutex::released::released(mutex& m) noexcept : mutex_(m), depth_(1) {
  if (m.is_recursive()) {
    depth_ = m.depth_;
    m.depth_ = 1;
  }
  m.unlock();
}
mutex::released::~released() {
  mutex_.lock(door::no_deadline); // cannot throw: the caller may wait, and needs no timer
  if (mutex_.is_recursive())
    mutex_.depth_ = depth_;
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
  const std::uint32_t displaced = mutex::unsafe_at(handle).take();
  static_assert(sync::word_free == 0 && ABT_SUCCESS == 0);
  if (!arch::is_zero(displaced)) [[unlikely]]
    return lock_taken(handle, displaced);
  return static_cast<int>(displaced);
}
[[gnu::always_inline]] inline int unlock(ABT_mutex handle) noexcept {
  if (is_null(handle) || !mutex::unsafe_at(handle).is_plain()) [[unlikely]]
    return unlock_slowly(handle);
  return mutex::unsafe_at(handle).release();
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
  const weft::door::runtime_section in_runtime;
  mutex* const m = mutex::at(handle);
  if (m == nullptr)
    return ABT_ERR_INV_MUTEX;
  return m->try_lock() ? ABT_SUCCESS : ABT_ERR_MUTEX_LOCKED;
}

int ABT_mutex_spinlock(ABT_mutex handle) {
  const weft::door::runtime_section in_runtime;
  mutex* const m = mutex::at(handle);
  if (m == nullptr)
    return ABT_ERR_INV_MUTEX;
  m->spin_lock();
  return ABT_SUCCESS;
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
