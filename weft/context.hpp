// SPDX-License-Identifier: MIT
// Calls on stacks that the user supplies, and switches between them: our context alone, without workers and
// without the runtime. Guide: docs/guide/contexts.md.
#pragma once

#include "weft/arch/arch.hpp"
#include "weft/arch/exception_state.hpp"
#include "weft/base/export.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace weft {

namespace detail {

/// Where the calling kernel thread's exception globals are; null until it has been asked for. The language's
/// own question is a call that asks for a thread-local, at each resume().
extern "C" WEFT_API __thread arch::exception_globals* weft_exception_globals
    __attribute__((tls_model("initial-exec")));
WEFT_API arch::exception_globals* find_exception_globals() noexcept;
[[gnu::always_inline]] inline arch::exception_globals* exception_globals_here() noexcept {
  arch::exception_globals* known;
  WEFT_READ_TLS(known, weft_exception_globals);
  return known != nullptr ? known : find_exception_globals();
}

/// A stack of the user's while something runs, or is suspended, on it. Its lowest word tells at each switch
/// whether the stack has overflowed. *Ownership*: the kernel thread that runs on it, or whoever may resume
/// what is suspended there.
class WEFT_API claimed_stack {
 public:
  /// *Errors*: std::system_error: invalid_argument if it is null or smaller than least_stack;
  /// device_or_resource_busy if the caller runs on it. Nothing has been written then.
  explicit claimed_stack(std::span<std::byte> stack);
  claimed_stack(const claimed_stack&) = delete;
  claimed_stack& operator=(const claimed_stack&) = delete;
  ~claimed_stack();

  /// Room for an object at the upper end, below what was taken before. *Errors*: std::system_error,
  /// invalid_argument if less than least_stack would be left.
  void* take(std::size_t size, std::size_t alignment);

  [[nodiscard]] void* top() const noexcept { return top_; } // a multiple of 16
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(top_ - low_); }
  [[nodiscard]] bool holds_caller() const noexcept {
    return static_cast<std::size_t>(arch::stack_above(low_)) < size();
  }
  /// Ends the process if something has written to the lowest word.
  [[gnu::always_inline]] void check() const noexcept {
    if (*reinterpret_cast<const std::uintptr_t*>(low_) != mark()) [[unlikely]] {
      overflowed();
    }
  }

 private:
  [[nodiscard]] std::uintptr_t mark() const noexcept {
    return reinterpret_cast<std::uintptr_t>(low_) ^ static_cast<std::uintptr_t>(0x5745'4654'7374'6b21);
  }
  [[noreturn]] void overflowed() const noexcept;

  std::byte* low_;
  std::byte* top_;
};

/// A call on a stack of its own: what it gives, and where it goes back to.
template <class F>
class call_on_stack {
  using result = std::invoke_result_t<F>;
  using held = std::conditional_t<
      std::is_void_v<result>, char,
      std::conditional_t<std::is_reference_v<result>, std::remove_reference_t<result>*, result>>;

 public:
  explicit call_on_stack(F&& f) noexcept : call_(f) {}
  call_on_stack(const call_on_stack&) = delete;

  result run(claimed_stack& stack) {
    arch::context callee{};
    arch::sanitizer::adopt_current(caller_.fiber, callee.fiber);
    arch::save(caller_, callee, stack.top(), stack.size(), &enter, this); // SWITCH: on this kernel thread
    stack.check();
    if (failure_) {
      std::rethrow_exception(std::move(failure_));
    }
    const std::unique_ptr<held, destroyer> at_end(std::addressof(value_));
    if constexpr (std::is_reference_v<result>) {
      return static_cast<result>(*value_);
    } else if constexpr (!std::is_void_v<result>) {
      return std::move(value_);
    }
  }
  ~call_on_stack() {} // run() has destroyed the value

 private:
  struct destroyer {
    void operator()(held* p) const noexcept { std::destroy_at(p); }
  };

  static void enter(void* argument) noexcept {
    arch::sanitizer::first_arrival();
    auto& self = *static_cast<call_on_stack*>(argument);
    self.call();
    arch::restore(self.caller_);
  }
  void call() noexcept {
    try {
      if constexpr (std::is_void_v<result>) {
        std::forward<F>(call_)();
      } else if constexpr (std::is_reference_v<result>) {
        value_ = std::addressof(std::forward<F>(call_)());
      } else {
        ::new (static_cast<void*>(&value_)) held(std::forward<F>(call_)());
      }
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  std::remove_reference_t<F>& call_;
  arch::context caller_{};
  std::exception_ptr failure_;
  union {
    char nothing_ = 0;
    held value_;
  };
};

} // namespace detail

/// Of a stack for call_on() or a context, beside the function object: what an exception needs to be thrown
/// and caught. What the function calls comes on top; a signal handler without a stack of its own too.
inline constexpr std::size_t least_stack = 4096;

/// Calls `f()` on `stack` and returns what it returned. An exception that leaves f reaches the caller. Below
/// the call the stack is not walked: a backtrace taken in f ends there. *Contexts*: any kernel thread, a
/// thread or tasklet of Weft; no signal handler. *Switches*: never. *Errors*: what f throws;
/// std::system_error: invalid_argument if the stack is null or has less than least_stack bytes,
/// device_or_resource_busy if the caller runs on it. A stack that overflows into its lowest word ends the
/// process with a message, once f has returned. *Undefined*: that f waits, yields or joins as a thread of
/// Weft; a stack on which something else is suspended, or another kernel thread runs. Source: what MENPS
/// takes ComposableThreads for (its paper, 6).
template <std::invocable F>
auto call_on(std::span<std::byte> stack, F&& f) -> std::invoke_result_t<F> {
  detail::claimed_stack claimed(stack);
  return detail::call_on_stack<F>(std::forward<F>(f)).run(claimed);
}

/// A call on a stack of the user's that can stop in the middle and go on later: `f(self)` runs when it is
/// resumed for the first time, calls self.suspend() to go back to whoever resumed it (asymmetric), or
/// self.switch_to(other), which leaves to another context in its place (symmetric). Nothing is allocated: `f`
/// lies at the upper end of the stack, the registers in this object. It may be resumed on another kernel
/// thread than before, one at a time.
/// *Ownership*: whoever may resume it; the stack outlives the object. *Invariants*:
/// `back_` is the frame of resume() that control goes back to, while it runs. *Ordering*: none of its own;
/// who passes it to another kernel thread orders that. Source: the switching primitives of the
/// composable-threads paper (its 3.3), Boost.Context's fiber for the unwinding at the end.
/// Common to all members: *Contexts*: any kernel thread, a thread or tasklet of Weft; no signal handler.
/// *Switches*: from one stack to another on this kernel thread, to no other unit. *Undefined*: that f waits,
/// yields or joins as a thread of Weft.
class WEFT_API context {
 public:
  /// Prepares `f` on `stack`. *Errors*: std::system_error: invalid_argument if the stack is null or has less
  /// than least_stack bytes beside f; device_or_resource_busy if the caller runs on it; what the move of f
  /// throws. *Undefined*: as call_on().
  template <class F>
    requires std::invocable<F&, context&> && std::move_constructible<F>
  context(std::span<std::byte> stack, F f)
      : stack_(stack), function_(::new(stack_.take(sizeof(F), alignof(F))) F(std::move(f))),
        call_([](context& self) {
          const std::unique_ptr<F, destroyer> at_end(static_cast<F*>(self.function_));
          if (self.state_ == state::running) {
            (*at_end)(self);
          } // else it was never started
        }) {
    arch::make(machine_, stack_.top(), stack_.size(), &enter, this);
  }
  context(const context&) = delete;
  context& operator=(const context&) = delete;
  /// If it is suspended, has it unwound: its suspend() or switch_to() throws, so that what lies on its stack
  /// is destroyed. Ends the process if it runs.
  ~context();

  /// Runs it until it suspends or ends, or one to which it has switched does. *Errors*: what its function (or
  /// that of the other one) threw; std::system_error: operation_not_permitted if it has ended,
  /// resource_deadlock_would_occur if it runs, or waits for one that it has resumed.
  [[gnu::always_inline]] void resume() {
    if (state_ > state::suspended) [[unlikely]] {
      refuse_to_continue();
    }
    const context* const ended = run();
    if (ended != nullptr) [[unlikely]] {
      pass_failure_of(*ended);
    }
  }

  /// Goes back to whoever resumed it; returns when it is resumed. *Errors*: std::system_error,
  /// operation_not_permitted unless its own function calls, on its stack; while it is unwound, what unwinds
  /// it.
  [[gnu::always_inline]] void suspend() {
    if (state_ != state::running || !stack_.holds_caller()) [[unlikely]] {
      refuse_to_leave();
    }
    resumption& to = *back_;
    leave(to);
    arch::swap(machine_, to.machine); // SWITCH: on this kernel thread
    arrive();
  }

  /// Goes on with `next`, which may be fresh, in its own place: when that one suspends or ends, whoever
  /// resumed this one goes on. Returns when this one is resumed, or switched to. *Errors*: as suspend() and,
  /// of `next`, resume(); nothing has happened then.
  [[gnu::always_inline]] void switch_to(context& next) {
    if (state_ != state::running || !stack_.holds_caller()) [[unlikely]] {
      refuse_to_leave();
    }
    if (next.state_ > state::suspended) [[unlikely]] {
      next.refuse_to_continue();
    }
    resumption& to = *back_;
    leave(to);
    next.enter_from(to);
    arch::swap(machine_, next.machine_); // SWITCH: on this kernel thread
    arrive();
  }

  /// Whether its function has returned, or thrown.
  [[nodiscard]] bool has_ended() const noexcept { return state_ == state::ended; }

 private:
  enum class state : std::uint8_t { fresh, suspended, running, unwinding, ended };

  /// Thrown into a context that is destroyed while it is suspended.
  struct abandoned {};

  /// In the frame of a resume(): where control goes back to, and what is known of the kernel thread.
  struct resumption {
    arch::context machine; // set by the switch that leaves into it
    arch::exception_globals* globals = detail::exception_globals_here();
    arch::exception_state caught{}; // the resumer's
    const context* ended = nullptr;
  };
  struct destroyer {
    template <class F>
    void operator()(F* f) const noexcept {
      std::destroy_at(f);
    }
  };

  [[gnu::always_inline]] static bool any(const arch::exception_state& s) noexcept {
    return (reinterpret_cast<std::size_t>(s.caught) | s.uncaught) != 0;
  }

  /// Continues it; gives the one that has ended, if that is why control came back.
  [[gnu::always_inline]] const context* run() {
    resumption here;
    if (arch::any(*here.globals)) [[unlikely]] {
      here.caught = arch::save_and_clear(*here.globals);
    }
    arch::sanitizer::adopt_current(here.machine.fiber, machine_.fiber);
    enter_from(here);
    arch::swap(here.machine, machine_); // SWITCH: on this kernel thread
    if (any(here.caught)) [[unlikely]] {
      arch::restore(*here.globals, here.caught);
    }
    return here.ended;
  }
  [[gnu::always_inline]] void enter_from(resumption& here) noexcept {
    if (any(caught_)) [[unlikely]] {
      arch::restore(*here.globals, std::exchange(caught_, {}));
    }
    back_ = &here;
    state_ = goes_on_as_;
  }
  [[gnu::always_inline]] void leave(resumption& to) noexcept {
    stack_.check();
    if (arch::any(*to.globals)) [[unlikely]] {
      caught_ = arch::save_and_clear(*to.globals);
    }
    state_ = state::suspended;
  }
  [[gnu::always_inline]] void arrive() {
    if (state_ == state::unwinding) [[unlikely]] {
      refuse_to_leave();
    }
  }

  static void enter(void* self) noexcept;
  static void pass_failure_of(const context& ended); // if there is one
  [[noreturn]] void refuse_to_continue() const;
  [[noreturn]] void refuse_to_leave() const;

  detail::claimed_stack stack_;
  arch::context machine_{};
  void* function_;
  void (*call_)(context&);
  resumption* back_ = nullptr;
  arch::exception_state caught_{}; // while it is suspended
  std::exception_ptr failure_;
  state state_ = state::fresh;
  state goes_on_as_ = state::running;
};

} // namespace weft
