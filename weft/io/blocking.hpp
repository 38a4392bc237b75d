// SPDX-License-Identifier: MIT
// Calls that block: they run on a spare kernel thread while the calling thread is suspended and its worker
// runs others.
#pragma once

#include "weft/base/export.hpp"
#include "weft/io/request.hpp"
#include "weft/sync/waiter.hpp"

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

namespace weft::sched {
class group;
} // namespace weft::sched

namespace weft::io {

/// One call for a spare thread. *Ownership*: the caller's frame; the pool's lock guards `next`. The spare
/// thread touches it last by waking the caller. GONE: *this, then.
class WEFT_API spare_call {
 public:
  /// Runs `function(this)` on a spare thread. *Contexts*: thread; on a foreign kernel thread it runs in
  /// place. *Switches*: may. *Errors*: std::system_error: operation_not_permitted from a tasklet;
  /// resource_unavailable_try_again if there is no spare thread and none can be started. It has not run then.
  void perform();

 protected:
  using function = void (*)(spare_call& self) noexcept;
  explicit spare_call(function f) noexcept : function_(f) {}
  ~spare_call() = default;
  spare_call(const spare_call&) = delete;

 private:
  friend class spare_threads;
  function function_;
  spare_call* next_ = nullptr;
  sched::group* group_ = nullptr; // the caller's; it does not end before the caller is ready
  sync::waiter done_{{unit::wait_kind::blocking_call, 0, nullptr}};
};

/// What the knobs say, or the program: at most `most` spare threads, each of which ends after `idle` without
/// work. A lower number is reached as threads come back from what they do. 0: what WEFT_BLOCKING_THREADS
/// says.
void limit_spare_threads(unsigned most, std::chrono::milliseconds idle = std::chrono::seconds(5));
/// How many there are, at work or waiting for some. RACY.
[[nodiscard]] WEFT_API unsigned spare_thread_count() noexcept;
/// In the child of fork(), which has none of them.
void forget_spare_threads() noexcept;

/// `r`, which blocks, on a spare thread: the result, or -errno.
[[nodiscard]] int perform_on_spare_thread(const request& r) noexcept;

namespace detail {

template <class F, class R>
class returning_call final : public spare_call {
 public:
  explicit returning_call(F& f) noexcept : spare_call(&run), f_(f) {}

  R result() {
    if (thrown_ != nullptr)
      std::rethrow_exception(std::move(thrown_));
    if constexpr (std::is_reference_v<R>) {
      return static_cast<R>(**result_);
    } else if constexpr (!std::is_void_v<R>) {
      return std::move(*result_);
    }
  }

 private:
  static void run(spare_call& c) noexcept {
    auto& self = static_cast<returning_call&>(c);
    try {
      if constexpr (std::is_void_v<R>) {
        std::invoke(std::forward<F>(self.f_));
      } else if constexpr (std::is_reference_v<R>) {
        R referred = std::invoke(std::forward<F>(self.f_));
        self.result_.emplace(std::addressof(referred));
      } else {
        self.result_.emplace(std::invoke(std::forward<F>(self.f_)));
      }
    } catch (...) {
      self.thrown_ = std::current_exception();
    }
  }

  using stored =
      std::conditional_t<std::is_void_v<R>, bool,
                         std::conditional_t<std::is_reference_v<R>, std::remove_reference_t<R>*, R>>;
  F& f_;
  std::optional<stored> result_;
  std::exception_ptr thrown_;
};

} // namespace detail
} // namespace weft::io

namespace weft {

/// Runs `f()`, which may block, on a spare kernel thread, and returns what it returns or throws what it
/// throws. The worker runs other threads meanwhile. In `f` the caller is a foreign kernel thread: its
/// `thread_local` objects are that one's, weft::this_thread is nobody. At most WEFT_BLOCKING_THREADS calls
/// run at once, the others wait in order of arrival; so calls that wait for each other can hang where there
/// are more of them. A spare thread ends when it had nothing to do for five seconds. Stopping the runtime
/// waits for calls that are under way. *Contexts*: thread; a foreign kernel thread runs `f` itself.
/// *Switches*: may. *Errors*: std::system_error (operation_not_permitted from a tasklet;
/// resource_unavailable_try_again if there is no spare thread and none can be started); `f` has not run then.
template <class F>
std::invoke_result_t<F> blocking(F&& f) {
  io::detail::returning_call<F, std::invoke_result_t<F>> call(f);
  call.perform(); // SWITCH: may resume on another worker
  return call.result();
}

} // namespace weft
