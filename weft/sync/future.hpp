// SPDX-License-Identifier: MIT
// promise, future, shared_future, packaged_task: results and exceptions carried from one thread to others.
#pragma once

#include "weft/sync/shared_state.hpp"
#include "weft/unit/exit.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace weft::sync {

template <class R>
class promise;
template <class R>
class shared_future;

/// The waiting side of future and shared_future. All: *Contexts*: thread, foreign kernel thread; a tasklet
/// once the result is there. *Switches*: may. *Errors*: std::future_error(no_state) if !valid();
/// std::system_error (operation_not_permitted from a tasklet that would have to wait; no timer could be had).
/// Requests to cancel a thread are not acted on.
template <class R>
class future_base {
 public:
  [[nodiscard]] bool valid() const noexcept { return static_cast<bool>(state_); }

  /// Whether a wait would return at once. *Contexts*: any. *Switches*: never.
  [[nodiscard]] bool ready() const { return state_->ready(); }
  void wait() const { static_cast<void>(state_->wait(sched::no_deadline, {})); }
  /// True: the result is there. False: a stop was requested before.
  [[nodiscard]] bool wait(const std::stop_token& stop) const {
    return state_->wait(sched::no_deadline, stop);
  }
  /// `timeout` also if a stop was requested before.
  template <class Rep, class Period>
  std::future_status wait_for(const std::chrono::duration<Rep, Period>& length,
                              const std::stop_token& stop = {}) const {
    return status(state_->ready() || state_->wait(deadline_of(length), stop));
  }
  template <class Clock, class Duration>
  std::future_status wait_until(const std::chrono::time_point<Clock, Duration>& at,
                                const std::stop_token& stop = {}) const {
    return status(state_->ready() ||
                  wait_by_clock(at, stop, [&](sched::deadline until) { return state_->wait(until, stop); }));
  }

 protected:
  future_base() noexcept = default;
  explicit future_base(state_reference<R> state) noexcept : state_(std::move(state)) {}

  state_reference<R> state_;

 private:
  static std::future_status status(bool ready) noexcept {
    return ready ? std::future_status::ready : std::future_status::timeout;
  }
};

/// As std::future, with stop tokens; its destructor never waits.
template <class R>
class [[nodiscard]] future : public future_base<R> {
 public:
  future() noexcept = default;
  future(future&&) noexcept = default;
  future& operator=(future&&) noexcept = default;

  /// Waits for the result and takes it: valid() is false afterwards. Rethrows what the other side has set.
  R get() {
    this->wait(); // if that throws, nothing is lost
    const state_reference<R> state = std::move(this->state_);
    state->wait_and_rethrow();
    if constexpr (std::is_reference_v<R>) {
      return static_cast<R>(*state->result());
    } else if constexpr (!std::is_void_v<R>) {
      return std::move(state->result());
    }
  }
  shared_future<R> share() noexcept { return shared_future<R>(std::move(*this)); }

 private:
  friend promise<R>;
  friend shared_future<R>;
  explicit future(state_reference<R> state) noexcept : future_base<R>(std::move(state)) {}
};

/// As std::shared_future, with stop tokens. Copies may be used by several threads at once.
template <class R>
class shared_future : public future_base<R> {
 public:
  shared_future() noexcept = default;
  explicit(false) shared_future(future<R>&& f) noexcept : future_base<R>(std::move(f.state_)) {}

  /// Waits for the result; it stays where it is. Rethrows what the other side has set.
  decltype(auto) get() const {
    this->state_->wait_and_rethrow();
    if constexpr (std::is_reference_v<R>) {
      return static_cast<R>(*this->state_->result());
    } else if constexpr (!std::is_void_v<R>) {
      return std::as_const(this->state_->result());
    }
  }
};

/// As std::promise. set_value_at_thread_exit() and set_exception_at_thread_exit() are not there: a thread of
/// Weft has no end of its kernel thread to tie them to; set the value in the destructor of a thread-local
/// object of Weft's instead. *Errors* as the standard: promise_already_satisfied, no_state,
/// future_already_retrieved; std::bad_alloc from the constructor. Setting: *Contexts*: all but signal
/// handlers. *Switches*: never, unless the move or copy of R does.
template <class R>
class promise {
 public:
  promise() : state_(new shared_state<R>) {}
  promise(promise&&) noexcept = default;
  promise& operator=(promise&& other) noexcept {
    promise(std::move(other)).swap(*this);
    return *this;
  }
  ~promise() {
    if (state_) {
      state_->abandon();
    }
  }
  void swap(promise& other) noexcept { std::swap(state_, other.state_); }
  friend void swap(promise& a, promise& b) noexcept { a.swap(b); }

  [[nodiscard]] future<R> get_future() {
    if (!state_->retrieve()) {
      throw_future_error(std::future_errc::future_already_retrieved);
    }
    return future<R>(state_);
  }

  void set_value()
    requires std::is_void_v<R>
  {
    state_->set_value();
  }
  template <class Value = R>
  void set_value(Value&& value)
    requires(!std::is_void_v<R> && std::is_convertible_v<Value, R>)
  {
    if constexpr (std::is_reference_v<R>) {
      R referred = std::forward<Value>(value);
      state_->set_value(std::addressof(referred));
    } else {
      state_->set_value(std::forward<Value>(value));
    }
  }
  void set_exception(std::exception_ptr e) { state_->set_exception(std::move(e)); }

 private:
  state_reference<R> state_;
};

template <class Signature>
class packaged_task;

namespace detail {
template <class Function>
struct signature_of;
template <class Signature>
struct signature_of<std::function<Signature>> {
  using type = Signature;
};
} // namespace detail

/// As std::packaged_task. A thread that exits or is cancelled inside the call leaves the task unsatisfied:
/// its future reports broken_promise once the task is gone.
template <class R, class... Arguments>
class packaged_task<R(Arguments...)> {
 public:
  packaged_task() noexcept = default;
  /// *Errors*: std::bad_alloc, what the copy of `f` throws.
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, packaged_task> &&
             std::is_invocable_r_v<R, std::decay_t<F>&, Arguments...>)
  explicit packaged_task(F&& f)
      : function_(std::make_unique<model<std::decay_t<F>>>(std::forward<F>(f))), promise_(fresh()) {}
  packaged_task(packaged_task&&) noexcept = default;
  packaged_task& operator=(packaged_task&&) noexcept = default;
  void swap(packaged_task& other) noexcept { std::swap(*this, other); }
  friend void swap(packaged_task& a, packaged_task& b) noexcept { a.swap(b); }

  [[nodiscard]] bool valid() const noexcept { return function_ != nullptr; }
  [[nodiscard]] future<R> get_future() { return current().get_future(); }

  void operator()(Arguments... arguments) {
    promise<R>& p = current();
    if (called_) {
      throw_future_error(std::future_errc::promise_already_satisfied);
    }
    called_ = true;
    try {
      if constexpr (std::is_void_v<R>) {
        function_->call(std::forward<Arguments>(arguments)...);
        p.set_value();
      } else {
        p.set_value(function_->call(std::forward<Arguments>(arguments)...));
      }
    } catch (const unit::exit_request&) {
      throw; // unwinds the thread; not a result
    } catch (...) {
      p.set_exception(std::current_exception());
    }
  }
  /// Ready for another call, with a new future.
  void reset() {
    current();
    promise_ = fresh();
    called_ = false;
  }

 private:
  struct callable {
    virtual ~callable() = default;
    virtual R call(Arguments... arguments) = 0;
  };
  template <class F>
  struct model final : callable {
    template <class G>
    explicit model(G&& g) : f(std::forward<G>(g)) {}
    R call(Arguments... arguments) override {
      if constexpr (std::is_void_v<R>) {
        std::invoke(f, std::forward<Arguments>(arguments)...);
      } else {
        return std::invoke(f, std::forward<Arguments>(arguments)...);
      }
    }
    F f;
  };
  static std::unique_ptr<promise<R>> fresh() { return std::make_unique<promise<R>>(); }

  promise<R>& current() {
    if (promise_ == nullptr) {
      throw_future_error(std::future_errc::no_state);
    }
    return *promise_;
  }

  std::unique_ptr<callable> function_;
  std::unique_ptr<promise<R>> promise_;
  bool called_ = false;
};

/// As std::packaged_task's, and std::function's for function objects.
template <class R, class... Arguments>
packaged_task(R (*)(Arguments...)) -> packaged_task<R(Arguments...)>;
template <class F, class Function = decltype(std::function(std::declval<F>()))>
packaged_task(F) -> packaged_task<typename detail::signature_of<Function>::type>;

} // namespace weft::sync
