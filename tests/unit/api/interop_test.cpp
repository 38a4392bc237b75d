// SPDX-License-Identifier: MIT
// Threads beside callbacks and coroutines.
#include "tests/unit/sync/fixture.hpp"

#include "weft/coroutine.hpp"
#include "weft/sleep.hpp"
#include "weft/suspend.hpp"

#include <memory>
#include <stdexcept>
#include <string>

namespace weft::testing {
namespace {

WEFT_SYNC_SUITE(interop);

// A library with callbacks on a kernel thread of its own.
void call_back_later(void (*callback)(void*, int), void* argument, int value, std::thread& on) {
  on = std::thread([=] {
    std::this_thread::sleep_for(1ms);
    callback(argument, value);
  });
}

TEST_P(interop, a_callback_resumes) {
  crowd c;
  const auto ask = [](int i) {
    std::thread library;
    const int answer = weft::suspend<int>([&](resume_handle<int> h) {
      call_back_later([](void* p, int value) { resume_handle<int>::adopt(p)(value); }, h.release(), i,
                      library);
    });
    EXPECT_EQ(answer, i);
    library.join();
  };
  c.weft_threads(10, ask);
  c.kernel_threads(2, ask);
}

TEST_P(interop, a_callback_that_comes_at_once) {
  weft::suspend([](auto handle) { handle(); });
  EXPECT_EQ(*weft::suspend<std::unique_ptr<int>>([](auto handle) { handle(std::make_unique<int>(3)); }), 3);
}

TEST_P(interop, exactly_once) {
  weft::suspend([](auto handle) {
    handle();
    EXPECT_THROW(handle(), std::future_error);
  });
  EXPECT_THROW(weft::suspend([](auto handle) { const auto dropped = std::move(handle); }), std::future_error)
      << "never";
  EXPECT_THROW(weft::suspend([](auto) { throw std::runtime_error("begin"); }), std::runtime_error);
  EXPECT_THROW(weft::suspend<int>(
                   [](auto handle) { handle.fail(std::make_exception_ptr(std::logic_error("failed"))); }),
               std::logic_error);
}

// A lazy task, as libraries of coroutines have it.
template <class T>
class task {
 public:
  struct promise_type {
    T value{};
    std::exception_ptr thrown;
    std::coroutine_handle<> after;
    task get_return_object() { return task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct resume_after {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept {
          return h.promise().after;
        }
        void await_resume() noexcept {}
      };
      return resume_after{};
    }
    void return_value(T v) { value = std::move(v); }
    void unhandled_exception() { thrown = std::current_exception(); }
  };
  explicit task(std::coroutine_handle<promise_type> h) : handle_(h) {}
  task(task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  ~task() {
    if (handle_)
      handle_.destroy();
  }
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) {
    handle_.promise().after = waiting;
    return handle_;
  }
  T await_resume() {
    if (handle_.promise().thrown)
      std::rethrow_exception(handle_.promise().thrown);
    return std::move(handle_.promise().value);
  }

 private:
  std::coroutine_handle<promise_type> handle_;
};

task<int> add(future<int> a, shared_future<int> b) {
  const int first = co_await std::move(a);
  co_return first + co_await b;
}

task<std::string> fail(future<int> f) {
  co_await std::move(f);
  co_return "not reached";
}

TEST_P(interop, a_coroutine_awaits_futures) {
  promise<int> a, b;
  thread giver([&] {
    this_thread::yield();
    a.set_value(40);
    this_thread::sleep_for(1ms);
    b.set_value(2);
  });
  EXPECT_EQ(weft::await(add(a.get_future(), b.get_future().share())), 42);
  giver.join();
  promise<int> ready;
  ready.set_value(1);
  EXPECT_EQ(weft::await(ready.get_future()), 1) << "a future is awaitable itself";
}

TEST_P(interop, exceptions_pass_through_coroutines) {
  promise<int> p;
  thread giver([&] { p.set_exception(std::make_exception_ptr(std::runtime_error("x"))); });
  EXPECT_THROW(weft::await(fail(p.get_future())), std::runtime_error);
  giver.join();
}

TEST_P(interop, many_coroutines) {
  crowd c;
  c.weft_threads(50, [](int i) {
    promise<int> a, b;
    auto first = a.get_future();
    auto second = b.get_future().share();
    thread giver([&, i] {
      a.set_value(i);
      b.set_value(i);
    });
    EXPECT_EQ(weft::await(add(std::move(first), std::move(second))), 2 * i);
    giver.join();
  });
}

} // namespace
} // namespace weft::testing
