// SPDX-License-Identifier: MIT
// Between threads and the coroutines of C++20: a coroutine awaits a future, a thread waits for a coroutine.
// Not part of weft.hpp. Guide: docs/guide/io.md.
#pragma once

#include "weft/future.hpp"
#include "weft/thread.hpp"

#include <coroutine>
#include <exception>
#include <type_traits>
#include <utility>

namespace weft {
namespace detail {

template <class Future>
class future_awaiter {
 public:
  explicit future_awaiter(Future f) noexcept : future_(std::move(f)) {}

  [[nodiscard]] bool await_ready() const { return future_.ready(); }
  void await_suspend(std::coroutine_handle<> waiting) {
    thread([this, waiting] {
      future_.wait();
      waiting.resume(); // GONE: *this
    }).detach();
  }
  decltype(auto) await_resume() { return future_.get(); }

 private:
  Future future_;
};

// As the language looks for it: member, function, or the thing itself.
template <class Awaitable>
decltype(auto) awaiter_of(Awaitable&& a) {
  if constexpr (requires { std::forward<Awaitable>(a).operator co_await(); }) {
    return std::forward<Awaitable>(a).operator co_await();
  } else if constexpr (requires { operator co_await(std::forward<Awaitable>(a)); }) {
    return operator co_await(std::forward<Awaitable>(a));
  } else {
    return std::forward<Awaitable>(a);
  }
}

template <class Awaitable>
using await_result = decltype(awaiter_of(std::declval<Awaitable>()).await_resume());

// A coroutine that nobody waits for; it starts at once and frees itself.
struct driver {
  struct promise_type {
    driver get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); } // drive() lets none out
  };
};

// Whoever waits goes on once the promise is fulfilled, and `awaited` may be gone then: it is not touched
// after.
template <class Awaitable, class R>
driver drive(Awaitable& awaited, promise<R> result) {
  std::exception_ptr thrown;
  try {
    if constexpr (std::is_void_v<R>) {
      co_await static_cast<Awaitable&&>(awaited);
      result.set_value();
    } else {
      R value = co_await static_cast<Awaitable&&>(awaited);
      result.set_value(std::forward<R>(value));
    }
  } catch (...) {
    thrown = std::current_exception();
  }
  if (thrown != nullptr)
    result.set_exception(std::move(thrown));
}

} // namespace detail

namespace sync {

/// `co_await std::move(f)`, `co_await shared`: suspends the coroutine until the result is there, and goes on
/// with it on a thread of Weft's, started for that; at once if it is there already. *Contexts*: all but
/// signal handlers. *Errors*: std::bad_alloc, out of the co_await; what the future holds.
template <class R>
auto operator co_await(future<R>&& f) {
  return weft::detail::future_awaiter<future<R>>(std::move(f));
}
template <class R>
auto operator co_await(const shared_future<R>& f) {
  return weft::detail::future_awaiter<shared_future<R>>(f);
}

} // namespace sync

/// Starts what `awaitable` stands for (a lazy task, say) and waits for its result; returns it, or throws what
/// it throws. The coroutine runs on the caller until it first suspends, and then wherever it is resumed.
/// *Contexts*: thread, foreign kernel thread. *Switches*: may. *Errors*: std::bad_alloc;
/// std::system_error(operation_not_permitted) from a tasklet that would have to wait.
template <class Awaitable>
detail::await_result<Awaitable&&> await(Awaitable&& awaitable) {
  using result = detail::await_result<Awaitable&&>;
  promise<result> p;
  future<result> f = p.get_future();
  detail::drive<std::remove_reference_t<Awaitable>, result>(awaitable, std::move(p));
  return f.get(); // SWITCH: may resume on another worker
}

} // namespace weft
