// SPDX-License-Identifier: MIT
// Condition variables: weft::sync's queue of waiters in memory that may be the user's. A waiter stands in the
// queue before it gives the mutex back, so it misses no signal; who has been signalled does not touch the
// condition variable again, which may be freed then.
#include <mutex>

#include "front/abt/mutex.hpp"
#include "front/abt/primitive.hpp"
#include "front/abt/tool.hpp"
#include "weft/door/section.hpp"

namespace weft::abt {
namespace {

// Also laid over an ABT_cond_memory, which nobody constructs or destroys. *Ownership*: `lock_` guards what is
// in `room_`. *Invariant*: while the queue is not empty, all in it came with the mutex `bound`.
class cond {
 public:
  cond() noexcept : how_(static_cast<std::uint32_t>(kind::cond)) {}
  cond(const cond&) = delete;
  cond& operator=(const cond&) = delete;
  ~cond() {
    if (waiting* in = room_.look())
      in->queue.drain(lock_);
    how_.store_release(static_cast<std::uint32_t>(kind::gone)); // read through stale handles, as object::is()
  }

  // Null for null handles, freed ones, and objects of another kind.
  static cond* at(ABT_cond handle) noexcept {
    if (is_null(handle) || reinterpret_cast<std::uintptr_t>(handle) % alignof(cond) != 0)
      return nullptr;
    auto* c = reinterpret_cast<cond*>(handle);
    const std::uint32_t how = c->how_.load_acquire();
    return how == of_user || how == static_cast<std::uint32_t>(kind::cond) ? c : nullptr;
  }
  [[nodiscard]] bool is_made() const noexcept { return how_.load_relaxed() != of_user; } // relaxed: see at()

  int wait(mutex& m, door::deadline until);
  void notify(bool all) noexcept;
  // RACY: somebody may come right afterwards.
  bool is_waited_for() noexcept {
    const std::scoped_lock held(lock_);
    return !room_.get().queue.empty();
  }

 private:
  static constexpr std::uint32_t of_user = 0;
  struct waiting {
    sync::wait_queue queue;
    mutex* bound = nullptr;
  };

  base::atomic<std::uint32_t> how_; // of_user, kind::cond, kind::gone
  base::spin_lock lock_;
  zeroed_room<waiting> room_{};
};
static_assert(sizeof(cond) <= sizeof(ABT_cond_memory) && alignof(cond) <= alignof(ABT_cond_memory));

int cond::wait(mutex& m, door::deadline until) {
  if (!may_wait())
    return ABT_ERR_COND;
  sync::waiter w({unit::wait_kind::abt_condition, 0, this});
  waiting* in = nullptr;
  const bool once = door::passed(until);
  {
    const std::scoped_lock held(lock_);
    in = &room_.get();
    if (!in->queue.empty() && in->bound != &m)
      return ABT_ERR_INV_MUTEX;
    if (!once) {
      in->bound = &m;
      in->queue.enqueue(w);
    }
  }
  const mutex::released meanwhile(m); // its end may switch
  if (once)
    return ABT_ERR_COND_TIMEDOUT;
  // GONE: *this, if notified
  const tool_reason why(ABT_SYNC_EVENT_TYPE_COND, this);
  const sync::wait_result how = in->queue.finish(lock_, w, until, {}); // SWITCH: may resume on another worker
  return how == sync::wait_result::notified ? ABT_SUCCESS : ABT_ERR_COND_TIMEDOUT;
}

void cond::notify(bool all) noexcept {
  // Whoever changed something under the mutex sees the waiter that gave the mutex back before.
  if (waiting* in = room_.look(); in == nullptr || in->queue.looks_empty())
    return;
  const std::scoped_lock held(lock_);
  sync::wait_queue& queue = room_.get().queue;
  all ? static_cast<void>(queue.notify_all()) : static_cast<void>(queue.notify_one());
}

int notify(ABT_cond handle, bool all) noexcept {
  cond* const c = cond::at(handle);
  if (c == nullptr)
    return ABT_ERR_INV_COND;
  c->notify(all);
  return ABT_SUCCESS;
}

} // namespace
} // namespace weft::abt

using namespace weft::abt;

extern "C" {

int ABT_cond_create(ABT_cond* new_cond) {
  const weft::door::runtime_section in_runtime;
  return create<cond>(new_cond, ABT_COND_NULL);
}

int ABT_cond_free(ABT_cond* handle) {
  const weft::door::runtime_section in_runtime;
  cond* const c = cond::at(*handle);
  if (c == nullptr || !c->is_made())
    return ABT_ERR_INV_COND;
  if (c->is_waited_for())
    return ABT_ERR_COND;
  destroy(c);
  *handle = ABT_COND_NULL;
  return ABT_SUCCESS;
}

int ABT_cond_wait(ABT_cond handle, ABT_mutex mutex_handle) {
  const weft::door::runtime_section in_runtime;
  cond* const c = cond::at(handle);
  if (c == nullptr)
    return ABT_ERR_INV_COND;
  mutex* const m = mutex::at(mutex_handle);
  if (m == nullptr)
    return ABT_ERR_INV_MUTEX;
  return guarded([&] { return c->wait(*m, weft::door::no_deadline); });
}

int ABT_cond_timedwait(ABT_cond handle, ABT_mutex mutex_handle, const struct timespec* abstime) {
  const weft::door::runtime_section in_runtime;
  cond* const c = cond::at(handle);
  if (c == nullptr)
    return ABT_ERR_INV_COND;
  mutex* const m = mutex::at(mutex_handle);
  if (m == nullptr)
    return ABT_ERR_INV_MUTEX;
  return timed(abstime, [&](auto until) { return c->wait(*m, until); });
}

int ABT_cond_signal(ABT_cond handle) {
  const weft::door::runtime_section in_runtime;
  return notify(handle, false);
}
int ABT_cond_broadcast(ABT_cond handle) {
  const weft::door::runtime_section in_runtime;
  return notify(handle, true);
}

} // extern "C"
