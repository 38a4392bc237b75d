// SPDX-License-Identifier: MIT
// Futures: filled part by part.
#include <memory>
#include <mutex>

#include "front/abt/abtx.h"
#include "front/abt/primitive.hpp"
#include "front/abt/tool.hpp"
#include "weft/door/section.hpp"
#include "weft/door/waiting.hpp"

namespace weft::abt {
namespace {

using callback = void (*)(void** values);

// *Ownership*: `lock_` guards `taken_`, the values and the queue; when all values are there they are the last
// setter's, until it has made the future ready. *Ordering*: (F1) publishes what the setters and the callback
// did to (F2).
class future : public object {
 public:
  static constexpr kind own_kind = kind::future;
  future(std::uint32_t compartments, callback c)
      : object(own_kind), compartments_(compartments), callback_(c), ready_(compartments == 0),
        values_(compartments != 0 ? new void*[compartments] : nullptr) {}
  ~future() { waiters_.drain(lock_); } // also waits until the setter that let the caller through has left

  [[nodiscard]] bool is_ready() const noexcept {
    return ready_.load_acquire();
  } // (F2) acquire: pairs with (F1)

  // False: the time has passed.
  bool wait(door::deadline until) {
    if (is_ready())
      return true;
    door::held_lock held(lock_);
    return is_ready() || door::wait_in(waiters_, held, until, {door::wait_kind::abt_future, 0, this});
    // SWITCH: may have resumed on another worker
  }

  int set(void* value) {
    {
      const std::scoped_lock held(lock_);
      if (taken_ == compartments_)
        return ABT_ERR_FUTURE;
      values_[taken_++] = value;
      if (taken_ != compartments_)
        return ABT_SUCCESS;
    }
    // Without the lock: user code may use the future, and may switch.
    if (callback_ != nullptr)
      callback_(values_.get()); // SWITCH: may resume on another worker
    const std::scoped_lock held(lock_);
    ready_.store_release(true); // (F1) release: publishes all that was done; pairs with (F2)
    waiters_.notify_all();
    return ABT_SUCCESS;
  }

  void reset() noexcept {
    const std::scoped_lock held(lock_);
    taken_ = 0;
    ready_.store_relaxed(compartments_ == 0); // relaxed: nobody may set or wait meanwhile
  }

 private:
  door::spin_lock lock_;
  const std::uint32_t compartments_;
  std::uint32_t taken_ = 0;
  const callback callback_;
  door::atomic<bool> ready_;
  const std::unique_ptr<void*[]> values_;
  door::wait_queue waiters_;
};

int wait(ABT_future handle, door::deadline until) {
  auto* const f = checked<future>(handle);
  if (f == nullptr)
    return ABT_ERR_INV_FUTURE;
  if (!may_wait()) // also where it would not have to: whether it would is a matter of luck
    return ABT_ERR_FUTURE;
  const tool_reason why(ABT_SYNC_EVENT_TYPE_FUTURE, handle);
  return f->wait(until) ? ABT_SUCCESS : ABT_ERR_COND_TIMEDOUT;
}

} // namespace
} // namespace weft::abt

using namespace weft::abt;

extern "C" {

int ABT_future_create(uint32_t num_compartments, void (*callback)(void** values), ABT_future* new_future) {
  const weft::door::runtime_section in_runtime;
  return create_or_leave<future>(new_future, num_compartments, callback);
}

int ABT_future_free(ABT_future* handle) {
  const weft::door::runtime_section in_runtime;
  return free_object<future>(handle, ABT_FUTURE_NULL, ABT_ERR_INV_FUTURE);
}

int ABT_future_wait(ABT_future handle) {
  const weft::door::runtime_section in_runtime;
  return guarded([=] { return wait(handle, weft::door::no_deadline); });
}
int ABTX_future_timedwait(ABT_future handle, const struct timespec* abstime) {
  const weft::door::runtime_section in_runtime;
  return timed(abstime, [=](auto until) { return wait(handle, until); });
}

int ABT_future_test(ABT_future handle, ABT_bool* is_ready) {
  const weft::door::runtime_section in_runtime;
  auto* const f = checked<future>(handle);
  if (f == nullptr)
    return ABT_ERR_INV_FUTURE;
  *is_ready = f->is_ready() ? ABT_TRUE : ABT_FALSE;
  return ABT_SUCCESS;
}

// Not guarded: what the callback throws is the caller's, and may be the end of the thread that calls it.
int ABT_future_set(ABT_future handle, void* value) {
  const weft::door::runtime_section in_runtime;
  auto* const f = checked<future>(handle);
  return f != nullptr ? f->set(value) : ABT_ERR_INV_FUTURE;
}

int ABT_future_reset(ABT_future handle) {
  const weft::door::runtime_section in_runtime;
  auto* const f = checked<future>(handle);
  if (f == nullptr)
    return ABT_ERR_INV_FUTURE;
  f->reset();
  return ABT_SUCCESS;
}

} // extern "C"
