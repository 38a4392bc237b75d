// SPDX-License-Identifier: MIT
#include "weft/future.hpp"

#include "tests/unit/sync/fixture.hpp"

#include <memory>
#include <stdexcept>
#include <string>

namespace weft::testing {
namespace {

WEFT_SYNC_SUITE(future_test);

template <class F>
std::error_code future_error_of(F call) {
  try {
    call();
  } catch (const std::future_error& e) {
    return e.code();
  }
  return {};
}

TEST_P(future_test, carries_values) {
  promise<std::unique_ptr<int>> p;
  auto f = p.get_future();
  EXPECT_FALSE(f.ready());
  EXPECT_EQ(f.wait_for(1ms), std::future_status::timeout);
  weft::thread t([p = std::move(p)]() mutable { p.set_value(std::make_unique<int>(42)); });
  EXPECT_EQ(*f.get(), 42);
  EXPECT_FALSE(f.valid());
  t.join();

  int target = 1;
  promise<int&> reference;
  reference.set_value(target);
  EXPECT_EQ(&reference.get_future().get(), &target);

  promise<void> nothing;
  auto done = nothing.get_future();
  std::thread([&] { nothing.set_value(); }).join();
  done.get();
}

TEST_P(future_test, carries_exceptions) {
  promise<int> p;
  auto f = p.get_future();
  p.set_exception(std::make_exception_ptr(std::runtime_error("why")));
  EXPECT_THROW(f.get(), std::runtime_error);
}

TEST_P(future_test, reports_misuse) {
  future<int> f;
  EXPECT_EQ(future_error_of([&] { f.wait(); }), std::future_errc::no_state);
  {
    promise<int> p;
    f = p.get_future();
    EXPECT_EQ(future_error_of([&] { static_cast<void>(p.get_future()); }),
              std::future_errc::future_already_retrieved);
  }
  EXPECT_EQ(future_error_of([&] { f.get(); }), std::future_errc::broken_promise);
  promise<int> q;
  q.set_value(1);
  EXPECT_EQ(future_error_of([&] { q.set_value(2); }), std::future_errc::promise_already_satisfied);
  EXPECT_EQ(future_error_of([&] { q.set_exception(nullptr); }), std::future_errc::promise_already_satisfied);
  promise<int> moved = std::move(q);
  EXPECT_EQ(future_error_of([&] { q.set_value(2); }), std::future_errc::no_state);
}

struct throws_once {
  explicit throws_once(bool now) {
    if (now) {
      throw std::runtime_error("now");
    }
  }
};

TEST_P(future_test, a_value_that_cannot_be_made_leaves_the_promise_open) {
  promise<throws_once> p;
  EXPECT_THROW(p.set_value(throws_once(true)), std::runtime_error);
  p.set_value(throws_once(false));
  p.get_future().get();
}

TEST_P(future_test, shared_by_many) {
  promise<std::string> p;
  const shared_future<std::string> f = p.get_future().share();
  crowd c;
  const auto read = [f](int) { EXPECT_EQ(f.get(), "shared"); };
  c.weft_threads(10, read);
  c.kernel_threads(2, read);
  p.set_value("shared");
}

TEST_P(future_test, waits_can_be_given_up) {
  promise<int> p;
  const auto f = p.get_future().share();
  std::stop_source source;
  crowd c;
  const auto wait = [&](int i) {
    if (i % 2 == 0) {
      EXPECT_FALSE(f.wait(source.get_token()));
    } else {
      EXPECT_EQ(f.wait_for(never, source.get_token()), std::future_status::timeout);
    }
  };
  c.weft_threads(4, wait);
  c.kernel_threads(2, wait);
  this_thread::yield();
  source.request_stop();
  c.join();
  p.set_value(1);
  EXPECT_EQ(f.get(), 1);
}

TEST_P(future_test, packaged_task) {
  weft::packaged_task<int(int)> task([](int x) {
    if (x < 0) {
      throw std::invalid_argument("negative");
    }
    return 2 * x;
  });
  auto f = task.get_future();
  weft::thread([&] { task(21); }).join();
  EXPECT_EQ(f.get(), 42);
  EXPECT_EQ(future_error_of([&] { task(1); }), std::future_errc::promise_already_satisfied);
  task.reset();
  f = task.get_future();
  task(-1);
  EXPECT_THROW(f.get(), std::invalid_argument);
  EXPECT_EQ(future_error_of([] { weft::packaged_task<void()>()(); }), std::future_errc::no_state);
}

TEST_P(future_test, a_cancelled_task_breaks_its_promise) {
  auto task = std::make_unique<weft::packaged_task<void()>>([] {
    for (;;) {
      this_thread::yield();
    }
  });
  auto f = task->get_future();
  weft::thread t([&] { (*task)(); });
  this_thread::yield();
  t.cancel();
  t.join();
  task.reset();
  EXPECT_EQ(future_error_of([&] { f.get(); }), std::future_errc::broken_promise);
}

TEST_P(future_test, many_hand_overs) {
  for (int i = 0; i < 100; ++i) {
    promise<int> p;
    auto f = p.get_future();
    weft::thread t([p = std::move(p), i]() mutable { p.set_value(i); });
    EXPECT_EQ(f.get(), i);
    t.join();
  }
}

} // namespace
} // namespace weft::testing
