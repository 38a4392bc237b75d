// SPDX-License-Identifier: MIT
// A thread suspended until a callback resumes it, exactly once: for libraries that tell of the end of an
// operation by calling a function, on whatever kernel thread.
#pragma once

#include "weft/sync/future.hpp"

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace weft::sync {

/// The right to resume one thread, and what it shall find. It moves; whoever destroys it unused resumes the
/// thread with std::future_error(broken_promise), so a callback that never comes because its library has
/// given up is no thread that waits for ever. All: *Contexts*: all but signal handlers, any kernel thread.
/// *Switches*: never. *Errors*: std::future_error(promise_already_satisfied) on a second call.
template <class T>
class resume_handle {
 public:
  explicit resume_handle(promise<T>&& p) noexcept : promise_(std::move(p)) {}

  void operator()()
    requires std::is_void_v<T>
  {
    promise_.set_value();
  }
  template <class Value = T>
    requires(!std::is_void_v<T>)
  void operator()(Value&& value) {
    promise_.set_value(std::forward<Value>(value));
  }
  /// The thread goes on with this exception.
  void fail(std::exception_ptr e) { promise_.set_exception(std::move(e)); }

  /// For callbacks that take a `void*`: the handle as one, to be given to adopt() exactly once. *Errors*:
  /// std::bad_alloc; the handle is unused then.
  [[nodiscard]] void* release() { return new resume_handle(std::move(*this)); }
  [[nodiscard]] static resume_handle adopt(void* released) noexcept {
    const std::unique_ptr<resume_handle> held(static_cast<resume_handle*>(released));
    return std::move(*held);
  }

 private:
  promise<T> promise_;
};

/// Calls `begin(handle)` and suspends the caller until the handle is called; returns what it was called with.
/// The handle may be called before `begin` has returned, or from within. What `begin` throws passes, and the
/// handle then belongs to nobody. *Contexts*: thread, foreign kernel thread. *Switches*: may. *Errors*:
/// std::bad_alloc; std::system_error(operation_not_permitted) from a tasklet that would have to wait.
template <class T = void, class F>
T suspend(F&& begin) {
  promise<T> p;
  future<T> result = p.get_future();
  std::forward<F>(begin)(resume_handle<T>(std::move(p)));
  return result.get(); // SWITCH: may resume on another worker
}

} // namespace weft::sync
