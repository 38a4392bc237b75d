// SPDX-License-Identifier: MIT
// Structured parallelism: fork() offers a call to other workers, join() takes it back and makes the call
// itself if nobody took it. The descriptor lives in the caller's frame, so a fork allocates nothing; a fork
// that nobody steals costs about a hundred instructions more than the call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>

#include "weft/carrier/inherited.hpp"
#include "weft/sched/inline_call.hpp"
#include "weft/sched/join.hpp"
#include "weft/sched/switch.hpp"

namespace weft {

namespace detail {

// What the joiner of a call that has a result is told if the call ended by this_thread::exit().
inline std::system_error ended_without_result() {
  return {std::make_error_code(std::errc::operation_canceled),
          "weft: the forked call ended without a result"};
}

// Room for what a call leaves behind when somebody else makes it: a value or an exception. Not constructed by
// a fork: most forks never use it.
template <class T>
class outcome {
 public:
  template <class F>
  void make(F& f) noexcept {
    try {
      if constexpr (std::is_void_v<T>) {
        f();
      } else if constexpr (std::is_reference_v<T>) {
        ::new (room_) pointer(&f());
      } else {
        ::new (room_) T(f());
      }
      failed_ = false;
    } catch (const unit::exit_request&) {
      failed_ = !std::is_void_v<T>;
      if (failed_)
        ::new (room_) std::exception_ptr(std::make_exception_ptr(ended_without_result()));
    } catch (...) {
      ::new (room_) std::exception_ptr(std::current_exception());
      failed_ = true;
    }
  }

  // Once, after make(): takes it out or throws it.
  T take() {
    if (failed_) {
      std::exception_ptr error = std::move(as<std::exception_ptr>());
      as<std::exception_ptr>().~exception_ptr();
      std::rethrow_exception(std::move(error));
    }
    if constexpr (std::is_reference_v<T>) {
      return static_cast<T>(*as<pointer>());
    } else if constexpr (!std::is_void_v<T>) {
      struct destroyer {
        T& value;
        ~destroyer() { value.~T(); }
      } at_end{as<T>()};
      return std::move(at_end.value);
    }
  }

 private:
  using pointer = std::add_pointer_t<std::remove_reference_t<T>>;
  struct nothing {};
  using held =
      std::conditional_t<std::is_void_v<T>, nothing, std::conditional_t<std::is_reference_v<T>, pointer, T>>;

  template <class U>
  U& as() noexcept {
    return *std::launder(reinterpret_cast<U*>(room_));
  }

  alignas(held) alignas(
      std::exception_ptr) std::byte room_[std::max(sizeof(held), sizeof(std::exception_ptr))];
  bool failed_;
};

} // namespace detail

// A call that was offered. Neither copied nor moved: it stays in the frame that made it, which joins it
// before it returns; the destructor joins, and drops the result, if that was forgotten.
template <class F>
class [[nodiscard]] forked {
 public:
  using result_type = std::invoke_result_t<F&>;

  template <class G>
    requires(!std::is_same_v<std::remove_cvref_t<G>, forked>)
  [[gnu::always_inline]] explicit forked(G&& f) : function_(std::forward<G>(f)) {
    unit_.stack = nullptr;
    unit_.extension.store_relaxed(nullptr);
    sched::worker& w = sched::here();
    if (w.current->has(unit::kind_mask)) [[unlikely]]
      sched::refuse_fork();
    unit::initialise(unit_, operations, w.hot, unit::kind_thread | unit::embedded);
    if (auto* deque = w.deque) [[likely]] {
      deque->push_bottom(&unit_);
      w.hot->announce();
    } else if (w.births != nullptr) {
      sched::submit(w, unit_);
    } else {
      offer_slowly(w);
    }
  }
  forked(const forked&) = delete;
  forked& operator=(const forked&) = delete;
  [[gnu::always_inline]] ~forked() {
    if (!joined_) [[unlikely]]
      wait();
  }

  // The result of the call, or its exception. If nobody has taken it, it is made here, on the caller's stack,
  // as a unit of its own: it may wait, and then the caller waits with it. Once only. Contexts: the thread
  // that forked. Switches: may. Errors: what the call throws; std::system_error(operation_canceled) if it
  // owes a result and ended by this_thread::exit().
  [[gnu::always_inline]] result_type join() {
    joined_ = true;
    sched::worker& w = sched::here();
    if (sched::inline_call::may_run(w, unit_)) [[likely]] {
      const sched::inline_call as_unit(w, unit_);
      try {
        return function_();
      } catch (const unit::exit_request&) { // it ends the call, not its joiner
        if constexpr (std::is_void_v<result_type>) {
          return;
        } else {
          throw detail::ended_without_result();
        }
      }
    }
    return join_elsewhere();
  }

 private:
  // From a preemptible thread, whose face has no lists, among others.
  [[gnu::noinline]] void offer_slowly(sched::worker& w) {
    if (const auto kind = sched::inherited_preemption(); kind != sched::preemption::none)
      unit_.operations = &inheriting[static_cast<unsigned>(kind)];
    sched::submit(w, unit_);
  }

  // A fork that was not joined: its result is dropped, and so is its exception, as by std::future's
  // destructor.
  [[gnu::noinline]] void wait() noexcept {
    try {
      static_cast<void>(join());
    } catch (...) {
    }
  }

  [[gnu::noinline]] result_type join_elsewhere() {
    sched::join(unit_);
    return outcome_.take();
  }

  // On a stack of its own, started by whoever took it.
  static void run(unit::descriptor& u) {
    // unit_ is the first member, and the class has no base and no virtual function
    auto& self = *reinterpret_cast<forked*>(&u);
    self.outcome_.make(self.function_);
  }
  // The same, where it shall be preemptible: which operations it has tells how.
  static void run_inheriting(unit::descriptor& u) {
    sched::run_as_preemptible(u, operations, static_cast<sched::preemption>(u.operations - inheriting));
  }
  static constexpr unit::operations operations{&run, nullptr, nullptr};
  static constexpr unit::operations inheriting[sched::preemption_kinds] = {
      {&run_inheriting, nullptr, nullptr},
      {&run_inheriting, nullptr, nullptr},
      {&run_inheriting, nullptr, nullptr},
      {&run_inheriting, nullptr, nullptr},
      {&run_inheriting, nullptr, nullptr}};

  unit::descriptor unit_;
  F function_;
  bool joined_ = false;
  detail::outcome<result_type> outcome_;
};

// Offers f() to other workers. `auto h = weft::fork([&] { return fib(n - 1); }); long b = fib(n - 2); return
// h.join() + b;` Contexts: thread, foreign kernel thread. Switches: never. Errors: std::bad_alloc if the pool
// has to grow and cannot.
template <class F>
[[gnu::always_inline]] inline forked<std::remove_cvref_t<F>> fork(F&& f) {
  return forked<std::remove_cvref_t<F>>(std::forward<F>(f));
}

} // namespace weft
