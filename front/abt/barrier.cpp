// SPDX-License-Identifier: MIT
// Barriers between units, and between streams.
#include <cerrno>
#include <mutex>
#include <pthread.h>

#include "front/abt/abtx.h"
#include "front/abt/primitive.hpp"
#include "front/abt/tool.hpp"
#include "weft/door/section.hpp"
#include "weft/door/waiting.hpp"

namespace weft::abt {
namespace {

// Arrival and standing in the queue are one section of the lock, which sync::phases has apart: so nobody is
// on the way into the barrier when the last one has come, who may free it or give it another number.
// *Ownership*: `lock_` guards all. *Invariant*: between the sections, arrived_ < expected_.
class barrier : public object {
 public:
  static constexpr kind own_kind = kind::barrier;
  explicit barrier(std::uint32_t expected) noexcept : object(own_kind), expected_(expected) {}
  ~barrier() { waiters_.drain(lock_); } // also waits until the one that let the caller through has left

  // False: the time has passed; the arrival counts all the same.
  bool wait(door::deadline until) {
    door::held_lock held(lock_);
    if (++arrived_ != expected_)
      return wait_for_others(held, until); // SWITCH: may resume on another worker
    arrived_ = 0;
    ++rounds_;
    waiters_.notify_all();
    return true;
  }

  void expect(std::uint32_t number) noexcept {
    const std::scoped_lock held(lock_);
    expected_ = number;
    arrived_ = 0;
  }
  std::uint32_t expected() noexcept {
    const std::scoped_lock held(lock_);
    return expected_;
  }

 private:
  // Who could not wait for want of memory has not come, unless the others were faster.
  bool wait_for_others(door::held_lock& held, door::deadline until) {
    const std::uint64_t round = rounds_;
    try {
      return door::wait_in(waiters_, held, until,
                           {door::wait_kind::abt_barrier, 0, this}); // SWITCH: may resume on another worker
    } catch (...) {
      if (rounds_ != round)
        return true;
      --arrived_;
      throw;
    }
  }

  door::spin_lock lock_;
  std::uint32_t expected_;
  std::uint32_t arrived_ = 0;
  std::uint64_t rounds_ = 0;
  door::wait_queue waiters_;
};

// The kernel's: it stops kernel threads, and its destruction waits for those that are about to leave.
class xstream_barrier : public object {
 public:
  static constexpr kind own_kind = kind::xstream_barrier;
  explicit xstream_barrier(std::uint32_t expected) : object(own_kind) {
    if (const int error = ::pthread_barrier_init(&barrier_, nullptr, expected); error != 0)
      throw failure{error == EINVAL ? ABT_ERR_INV_ARG : ABT_ERR_SYS};
  }
  ~xstream_barrier() { ::pthread_barrier_destroy(&barrier_); }

  void wait() noexcept { ::pthread_barrier_wait(&barrier_); }

 private:
  pthread_barrier_t barrier_;
};

int wait(ABT_barrier handle, door::deadline until) {
  auto* const b = checked<barrier>(handle);
  if (b == nullptr)
    return ABT_ERR_INV_BARRIER;
  if (!may_wait()) // also if it were the last: that is a matter of luck
    return ABT_ERR_BARRIER;
  const tool_reason why(ABT_SYNC_EVENT_TYPE_BARRIER, handle);
  return b->wait(until) ? ABT_SUCCESS : ABT_ERR_COND_TIMEDOUT;
}

} // namespace
} // namespace weft::abt

using namespace weft::abt;

extern "C" {

int ABT_barrier_create(uint32_t num_waiters, ABT_barrier* new_barrier) {
  const weft::door::runtime_section in_runtime;
  *new_barrier = ABT_BARRIER_NULL;
  if (num_waiters == 0)
    return ABT_ERR_INV_ARG;
  return create<barrier>(new_barrier, ABT_BARRIER_NULL, num_waiters);
}

int ABT_barrier_reinit(ABT_barrier handle, uint32_t num_waiters) {
  const weft::door::runtime_section in_runtime;
  auto* const b = checked<barrier>(handle);
  if (b == nullptr)
    return ABT_ERR_INV_BARRIER;
  if (num_waiters == 0)
    return ABT_ERR_INV_ARG;
  b->expect(num_waiters);
  return ABT_SUCCESS;
}

int ABT_barrier_free(ABT_barrier* handle) {
  const weft::door::runtime_section in_runtime;
  return free_object<barrier>(handle, ABT_BARRIER_NULL, ABT_ERR_INV_BARRIER);
}

int ABT_barrier_wait(ABT_barrier handle) {
  const weft::door::runtime_section in_runtime;
  return guarded([=] { return wait(handle, weft::door::no_deadline); });
}
int ABTX_barrier_timedwait(ABT_barrier handle, const struct timespec* abstime) {
  const weft::door::runtime_section in_runtime;
  return timed(abstime, [=](auto until) { return wait(handle, until); });
}

int ABT_barrier_get_num_waiters(ABT_barrier handle, uint32_t* num_waiters) {
  const weft::door::runtime_section in_runtime;
  auto* const b = checked<barrier>(handle);
  if (b == nullptr)
    return ABT_ERR_INV_BARRIER;
  *num_waiters = b->expected();
  return ABT_SUCCESS;
}

int ABT_xstream_barrier_create(uint32_t num_waiters, ABT_xstream_barrier* new_barrier) {
  const weft::door::runtime_section in_runtime;
  return create<xstream_barrier>(new_barrier, ABT_XSTREAM_BARRIER_NULL, num_waiters);
}

int ABT_xstream_barrier_free(ABT_xstream_barrier* handle) {
  const weft::door::runtime_section in_runtime;
  return free_object<xstream_barrier>(handle, ABT_XSTREAM_BARRIER_NULL, ABT_ERR_INV_XSTREAM_BARRIER);
}

int ABT_xstream_barrier_wait(ABT_xstream_barrier handle) {
  const weft::door::runtime_section in_runtime;
  auto* const b = checked<xstream_barrier>(handle);
  if (b == nullptr)
    return ABT_ERR_INV_XSTREAM_BARRIER;
  b->wait();
  return ABT_SUCCESS;
}

} // extern "C"
