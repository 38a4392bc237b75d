// SPDX-License-Identifier: MIT
// Condition variables: the door's, in memory that may be the user's. Who has been signalled does not touch
// the condition variable again, which may be freed then.
#include "front/abt/mutex.hpp"
#include "front/abt/primitive.hpp"
#include "front/abt/tool.hpp"
#include "weft/door/atomic.hpp"
#include "weft/door/condition.hpp"
#include "weft/door/section.hpp"

namespace weft::abt {
namespace {

// Also laid over an ABT_cond_memory, which nobody constructs or destroys.
class cond {
 public:
  cond() noexcept : how_(static_cast<std::uint32_t>(kind::cond)) {}
  cond(const cond&) = delete;
  cond& operator=(const cond&) = delete;
  ~cond() {
    inside_.drain();
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
  void notify(bool all) noexcept { inside_.notify(all); }
  bool is_waited_for() noexcept { return inside_.is_waited_for(); }

 private:
  static constexpr std::uint32_t of_user = 0;

  door::atomic<std::uint32_t> how_; // of_user, kind::cond, kind::gone
  door::condition inside_;
};
static_assert(sizeof(cond) <= sizeof(ABT_cond_memory) && alignof(cond) <= alignof(ABT_cond_memory));

int cond::wait(mutex& m, door::deadline until) {
  if (!may_wait())
    return ABT_ERR_COND;
  struct away { // in this order: the tool hears nothing of the mutex
    mutex::released without;
    tool_reason why;
  };
  // GONE: *this, if notified. SWITCH: may resume on another worker
  switch (inside_.wait(&m, until, {door::wait_kind::abt_condition, 0, this}, [&] {
    return away{mutex::released(m), tool_reason(ABT_SYNC_EVENT_TYPE_COND, this)};
  })) {
  case door::condition::outcome::notified:
    return ABT_SUCCESS;
  case door::condition::outcome::timed_out:
    return ABT_ERR_COND_TIMEDOUT;
  default:
    return ABT_ERR_INV_MUTEX;
  }
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
