// SPDX-License-Identifier: MIT
// What a promise and its futures share: the result, who waits for it, and how many refer to it.
#pragma once

#include "weft/base/export.hpp"
#include "weft/sync/wait_queue.hpp"

#include <cstdint>
#include <exception>
#include <future>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <variant>

namespace weft::sync {

[[noreturn]] WEFT_API void throw_future_error(std::future_errc why);

/// *Ownership*: who claims the state may write the result, once; after `ready_` it is read only (get() moves
/// it out, for which the only future is responsible). `lock_` guards the queue and the step to ready.
/// *Ordering*: (P1) ready_ publishes the result. Whoever has got the result may let go of promise and future
/// at once, while the other side is still in set_value(): the destructor takes the lock.
class WEFT_API shared_state_base {
 public:
  shared_state_base(const shared_state_base&) = delete;
  shared_state_base& operator=(const shared_state_base&) = delete;

  void refer() noexcept { references_.fetch_add_relaxed(1); } // relaxed: the caller holds a reference
  void forget() noexcept {
    if (references_.fetch_sub_acq_rel(1) == 1) { // acq_rel: all uses before the destruction
      delete this;
    }
  }

  [[nodiscard]] bool ready() const noexcept { return ready_.load_acquire(); } // (P1)
  bool wait(sched::deadline until, const std::stop_token& stop);
  void wait_and_rethrow();

  /// Once each; false afterwards.
  bool claim() noexcept { return !claimed_.exchange_acq_rel(true); }
  void unclaim() noexcept { claimed_.store_release(false); }
  bool retrieve() noexcept { return !retrieved_.exchange_acq_rel(true); }

  void set_exception(std::exception_ptr e) {
    if (!claim()) {
      throw_future_error(std::future_errc::promise_already_satisfied);
    }
    exception_ = std::move(e);
    publish();
  }
  /// The promise is gone: broken_promise for the futures unless there is a result.
  void abandon() noexcept;
  void publish() noexcept;

 protected:
  shared_state_base() = default;
  /// Who found the result may have let go of the last reference while publish() is still on its way out.
  virtual ~shared_state_base() { waiters_.drain(lock_); }

 private:
  base::atomic<std::uint32_t> references_{1};
  base::atomic<bool> claimed_{false};
  base::atomic<bool> ready_{false};
  base::atomic<bool> retrieved_{false};
  base::spin_lock lock_;
  wait_queue waiters_;
  std::exception_ptr exception_;
};

/// How a result is kept: references as pointers, void as nothing.
template <class R>
using stored_result = std::conditional_t<
    std::is_void_v<R>, std::monostate,
    std::conditional_t<std::is_reference_v<R>, std::add_pointer_t<R>, std::remove_cv_t<R>>>;

template <class R>
class shared_state final : public shared_state_base {
 public:
  template <class... Value>
  void set_value(Value&&... value) {
    if (!claim()) {
      throw_future_error(std::future_errc::promise_already_satisfied);
    }
    if constexpr (std::is_nothrow_constructible_v<stored_result<R>, Value...>) {
      result_.emplace(std::forward<Value>(value)...);
    } else {
      try {
        result_.emplace(std::forward<Value>(value)...);
      } catch (...) {
        unclaim();
        throw;
      }
    }
    publish();
  }

  stored_result<R>& result() noexcept { return *result_; }

 private:
  std::optional<stored_result<R>> result_;
};

/// A counted reference to a shared_state. Empty: no state.
template <class R>
class state_reference {
 public:
  state_reference() noexcept = default;
  explicit state_reference(shared_state<R>* adopted) noexcept : state_(adopted) {}
  state_reference(const state_reference& other) noexcept : state_(other.state_) {
    if (state_ != nullptr) {
      state_->refer();
    }
  }
  state_reference(state_reference&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  state_reference& operator=(state_reference other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~state_reference() {
    if (state_ != nullptr) {
      state_->forget();
    }
  }

  explicit operator bool() const noexcept { return state_ != nullptr; }
  /// *Errors*: std::future_error(no_state) if empty.
  shared_state<R>* operator->() const {
    if (state_ == nullptr) {
      throw_future_error(std::future_errc::no_state);
    }
    return state_;
  }

 private:
  shared_state<R>* state_ = nullptr;
};

} // namespace weft::sync
