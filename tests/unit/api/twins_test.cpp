// SPDX-License-Identifier: MIT
// Objects that are moved, swapped and copied, and what the user throws.
#include "tests/unit/api/twins.hpp"
#include "weft/arch/sanitizer.hpp"

namespace weft::test {
namespace {

template <class Of>
class twins : public twin_fixture<Of> {};
TYPED_TEST_SUITE(twins, rows, names);

template <class F>
std::error_code error_of(F f) {
  try {
    f();
  } catch (const std::system_error& e) {
    return e.code();
  } catch (const std::future_error& e) {
    return e.code();
  }
  return {};
}

template <class T>
void move_to_itself(T& object) {
  T& same = object; // or the compiler warns
  object = std::move(same);
}
template <class T>
void swap_with_itself(T& object) {
  using std::swap;
  T& same = object;
  object.swap(same);
  swap(object, same);
}

// --- threads ---

TYPED_TEST(twins, threads_move_and_swap) {
  using thread = typename TypeParam::thread;
  thread none;
  move_to_itself(none);
  swap_with_itself(none);
  EXPECT_FALSE(none.joinable());
  EXPECT_EQ(none.get_id(), typename thread::id());
  std::atomic<int> ran = 0;
  thread t([&] { ++ran; });
  const auto id = t.get_id();
  swap_with_itself(t);
  EXPECT_EQ(t.get_id(), id);
  thread other(std::move(t));
  EXPECT_FALSE(t.joinable());
  EXPECT_EQ(error_of([&] { t.join(); }), std::errc::invalid_argument);
  EXPECT_EQ(error_of([&] { t.detach(); }), std::errc::invalid_argument);
  t = std::move(other);
  EXPECT_EQ(t.get_id(), id);
  t.join();
  EXPECT_EQ(error_of([&] { t.join(); }), std::errc::invalid_argument);
  EXPECT_EQ(ran, 1);
}

TYPED_TEST(twins, a_thread_does_not_join_itself) {
  if (arch::sanitizer::watches_atomics && std::is_same_v<TypeParam, of_std>)
    GTEST_SKIP() << "ThreadSanitizer ends the process for it";
  using thread = typename TypeParam::thread;
  std::atomic<bool> ready = false;
  std::atomic<bool> done = false;
  std::error_code error;
  thread t;
  t = thread([&] {
    while (!ready)
      TypeParam::yield();
    error = error_of([&] { t.join(); });
    done = true;
  });
  ready = true;
  while (!done)
    TypeParam::yield();
  t.join();
  EXPECT_EQ(error, std::errc::resource_deadlock_would_occur);
}

/// Callable as an rvalue only, as the copy that a thread makes is called.
struct once_only {
  std::atomic<int>* calls;
  void operator()() && { ++*calls; }
  void operator()(int) && { ++*calls; }
};
struct prefers_rvalue {
  std::atomic<int>* calls;
  void operator()() & { *calls += 100; }
  void operator()() && { ++*calls; }
};

TYPED_TEST(twins, threads_call_their_copies_as_rvalues) {
  using thread = typename TypeParam::thread;
  std::atomic<int> calls = 0;
  thread(once_only{&calls}).join();
  thread(once_only{&calls}, 1).join();
  thread(prefers_rvalue{&calls}).join();
  typename TypeParam::jthread(prefers_rvalue{&calls}).join();
  EXPECT_EQ(calls, 4);
}

struct dear {
  explicit dear(int f) : fails(f) {}
  dear(const dear& other) : fails(other.fails) {
    if (fails == 0)
      throw std::runtime_error("copy");
    ++fails;
  }
  void operator()() const {}
  void operator()(const dear&) const {}
  int fails;
};

TYPED_TEST(twins, copies_that_throw_start_no_thread) {
  using thread = typename TypeParam::thread;
  const dear f(0);
  const dear g(1);
  EXPECT_THROW(thread{f}, std::runtime_error);
  EXPECT_THROW((thread{g, f}), std::runtime_error);
  thread kept;
  EXPECT_THROW(kept = thread(f), std::runtime_error);
  EXPECT_FALSE(kept.joinable());
}

TYPED_TEST(twins, jthreads_move_and_swap) { // LWG 3788
  using jthread = typename TypeParam::jthread;
  std::atomic<int> stopped = 0;
  const auto wait = [&](const std::stop_token& stop) {
    while (!stop.stop_requested())
      TypeParam::yield();
    ++stopped;
  };
  jthread t(wait);
  const auto id = t.get_id();
  move_to_itself(t);
  swap_with_itself(t);
  EXPECT_TRUE(t.joinable());
  EXPECT_EQ(t.get_id(), id);
  EXPECT_FALSE(t.get_stop_token().stop_requested());
  jthread other(wait);
  std::stop_token first = t.get_stop_token();
  t = std::move(other); // stops and joins what it had
  EXPECT_EQ(stopped, 1);
  EXPECT_TRUE(first.stop_requested());
  EXPECT_FALSE(other.joinable());
  EXPECT_FALSE(other.get_stop_token().stop_possible());
  EXPECT_FALSE(other.request_stop());
  EXPECT_FALSE(t.get_stop_token().stop_requested());
  t.request_stop();
  t.join();
  EXPECT_EQ(error_of([&] { t.join(); }), std::errc::invalid_argument);
  EXPECT_FALSE(jthread().get_stop_source().stop_possible());
}

// --- promises, futures, tasks ---

TYPED_TEST(twins, promises_move_and_swap) {
  typename TypeParam::template promise<int> p;
  auto f = p.get_future();
  move_to_itself(p);
  swap_with_itself(p);
  typename TypeParam::template promise<int> q(std::move(p));
  EXPECT_EQ(error_of([&] { p.set_value(1); }), std::future_errc::no_state);
  EXPECT_EQ(error_of([&] { p.set_exception(std::make_exception_ptr(1)); }), std::future_errc::no_state);
  EXPECT_EQ(error_of([&] { static_cast<void>(p.get_future()); }), std::future_errc::no_state);
  q.set_value(7);
  EXPECT_EQ(error_of([&] { q.set_value(8); }), std::future_errc::promise_already_satisfied);
  EXPECT_EQ(error_of([&] { static_cast<void>(q.get_future()); }), std::future_errc::future_already_retrieved);
  q = typename TypeParam::template promise<int>(); // what it had is satisfied: not broken
  EXPECT_EQ(f.get(), 7);
  auto g = q.get_future();
  q = typename TypeParam::template promise<int>();
  EXPECT_EQ(error_of([&] { g.get(); }), std::future_errc::broken_promise);
}

TYPED_TEST(twins, futures_move) {
  typename TypeParam::template promise<std::unique_ptr<int>> p;
  auto f = p.get_future();
  move_to_itself(f);
  EXPECT_TRUE(f.valid());
  auto g = std::move(f);
  EXPECT_FALSE(f.valid());
  move_to_itself(f);
  EXPECT_FALSE(f.valid());
  p.set_value(std::make_unique<int>(3));
  EXPECT_EQ(*g.get(), 3);
  EXPECT_FALSE(g.valid());
  typename TypeParam::template promise<int> number;
  auto shared = number.get_future().share();
  auto same = shared;
  shared = same;
  move_to_itself(shared);
  typename TypeParam::template shared_future<int>& alias = shared;
  shared = alias;
  number.set_value(4);
  EXPECT_EQ(shared.get(), 4);
  EXPECT_EQ(same.get(), 4);
  EXPECT_TRUE(shared.valid());
  static_assert(std::is_nothrow_copy_constructible_v<typename TypeParam::template shared_future<int>>);
  static_assert(!std::is_copy_constructible_v<typename TypeParam::template future<int>>);
}

/// Its copies throw, or its moves.
struct touchy {
  explicit touchy(bool copies, bool moves) : copies_throw(copies), moves_throw(moves) {}
  touchy(const touchy& o) : copies_throw(o.copies_throw), moves_throw(o.moves_throw) {
    if (copies_throw)
      throw std::runtime_error("copy");
  }
  touchy(touchy&& o) : copies_throw(o.copies_throw), moves_throw(o.moves_throw) {
    if (moves_throw)
      throw std::runtime_error("move");
  }
  bool copies_throw;
  bool moves_throw;
};

TYPED_TEST(twins, copies_that_throw_leave_a_promise_unsatisfied) {
  if (arch::sanitizer::watches_atomics && std::is_same_v<TypeParam, of_std>)
    GTEST_SKIP() << "std::call_once() under ThreadSanitizer stays locked after an exception";
  typename TypeParam::template promise<touchy> p;
  auto f = p.get_future();
  const touchy bad(true, false);
  EXPECT_THROW(p.set_value(bad), std::runtime_error);
  EXPECT_THROW(p.set_value(touchy(false, true)), std::runtime_error);
  EXPECT_EQ(f.wait_for(0s), std::future_status::timeout);
  p.set_value(touchy(true, false));
  EXPECT_TRUE(f.get().copies_throw);
}

TYPED_TEST(twins, results_that_throw_when_moved_are_told) {
  typename TypeParam::template packaged_task<touchy()> task([] { return touchy(false, true); });
  auto result = task.get_future();
  task();
  EXPECT_THROW(result.get(), std::runtime_error); // out of the copy into the state
  EXPECT_FALSE(result.valid());
}

TYPED_TEST(twins, tasks_move_swap_and_reset) {
  using task = typename TypeParam::template packaged_task<int(int)>;
  task none;
  EXPECT_FALSE(none.valid());
  EXPECT_EQ(error_of([&] { none(1); }), std::future_errc::no_state);
  EXPECT_EQ(error_of([&] { none.reset(); }), std::future_errc::no_state);
  EXPECT_EQ(error_of([&] { static_cast<void>(none.get_future()); }), std::future_errc::no_state);
  move_to_itself(none);
  swap_with_itself(none);
  task t([calls = 0](int i) mutable { return i + 10 * ++calls; });
  move_to_itself(t);
  swap_with_itself(t);
  ASSERT_TRUE(t.valid());
  auto f = t.get_future();
  EXPECT_EQ(error_of([&] { static_cast<void>(t.get_future()); }), std::future_errc::future_already_retrieved);
  t(1);
  EXPECT_EQ(error_of([&] { t(1); }), std::future_errc::promise_already_satisfied);
  EXPECT_EQ(f.get(), 11);
  t.reset();
  f = t.get_future();
  task u(std::move(t));
  EXPECT_FALSE(t.valid());
  EXPECT_EQ(error_of([&] { t(1); }), std::future_errc::no_state);
  u(1);
  EXPECT_EQ(f.get(), 21);
  u.reset();
  f = u.get_future();
  u.reset(); // nobody has called it
  EXPECT_EQ(error_of([&] { f.get(); }), std::future_errc::broken_promise);
  f = u.get_future();
  u = task();
  EXPECT_EQ(error_of([&] { f.get(); }), std::future_errc::broken_promise);
  t = task([](int) -> int { throw std::runtime_error("told"); });
  f = t.get_future();
  t(1);
  EXPECT_THROW(f.get(), std::runtime_error);
  using throwing = typename TypeParam::template packaged_task<void()>;
  const dear bad(0);
  EXPECT_THROW(throwing{bad}, std::runtime_error);
}

int twice(int i) {
  return 2 * i;
}

// A template's arguments are found from what it is made of; one row is enough for each.
TEST(twins_of_templates, tasks_deduce_their_signature) {
  packaged_task function(twice);
  static_assert(std::is_same_v<decltype(function), packaged_task<int(int)>>);
  packaged_task object([p = std::make_unique<int>(3)](long i) { return i + *p; });
  static_assert(std::is_same_v<decltype(object), packaged_task<long(long)>>);
  packaged_task moved(std::move(object));
  static_assert(std::is_same_v<decltype(moved), packaged_task<long(long)>>);
}

// --- what is there before any constructor has run ---

template <class Of>
constinit typename Of::latch static_latch{1};
constinit weft::counting_semaphore<8> static_semaphore{1}; // as the standard has it; libstdc++ 12 had not
constinit weft::barrier<> static_barrier{1};
template <class Of>
constinit typename Of::mutex static_mutex{};
template <class Of>
constinit typename Of::shared_mutex static_shared_mutex{};

TYPED_TEST(twins, are_made_by_constants) {
  static_latch<TypeParam>.count_down();
  static_semaphore.acquire();
  static_semaphore.release();
  static_barrier.arrive_and_wait();
  static_mutex<TypeParam>.lock();
  static_mutex<TypeParam>.unlock();
  static_shared_mutex<TypeParam>.lock();
  static_shared_mutex<TypeParam>.unlock();
}

// --- locks that are not held, predicates that throw ---

TYPED_TEST(twins, condition_variables_pass_on_what_the_user_throws) {
  typename TypeParam::mutex m;
  typename TypeParam::condition_variable_any any;
  std::unique_lock not_held(m, std::defer_lock);
  EXPECT_EQ(error_of([&] { any.wait(not_held); }), std::errc::operation_not_permitted);
  EXPECT_EQ(error_of([&] { static_cast<void>(any.wait_for(not_held, 1ms)); }),
            std::errc::operation_not_permitted);
  std::unique_lock held(m);
  EXPECT_THROW(any.wait(held, []() -> bool { throw std::runtime_error("told"); }), std::runtime_error);
  EXPECT_TRUE(held.owns_lock());
  any.notify_all(); // who did not wait is not there any more
  EXPECT_EQ(any.wait_for(held, 1ms), std::cv_status::timeout);
}

TYPED_TEST(twins, stop_tokens_of_condition_variables) {
  typename TypeParam::mutex m;
  typename TypeParam::condition_variable_any any;
  std::unique_lock held(m);
  std::stop_source source;
  source.request_stop();
  EXPECT_FALSE(any.wait(held, source.get_token(), [] { return false; }));
  EXPECT_TRUE(any.wait(held, source.get_token(), [] { return true; }));
  EXPECT_FALSE(any.wait_for(held, source.get_token(), 1h, [] { return false; }));
  EXPECT_FALSE(any.wait_until(held, source.get_token(), std::chrono::steady_clock::time_point::max(),
                              [] { return false; }));
}

TYPED_TEST(twins, latches_barriers_and_semaphores_in_corners) {
  typename TypeParam::latch open(0);
  open.wait();
  EXPECT_TRUE(open.try_wait());
  open.count_down(0);
  typename TypeParam::latch two(2);
  two.count_down(0);
  EXPECT_FALSE(two.try_wait());
  two.count_down(1);
  two.arrive_and_wait();
  const typename TypeParam::barrier* constant = nullptr;
  typename TypeParam::barrier alone(1);
  constant = &alone;
  for (int i = 0; i < 3; ++i)
    alone.arrive_and_wait();
  auto token = alone.arrive();
  auto moved = std::move(token);
  constant->wait(std::move(moved));
  alone.arrive_and_drop();
  typename TypeParam::semaphore s(0);
  s.release(0);
  EXPECT_FALSE(s.try_acquire());
  s.release(3);
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(s.try_acquire());
  EXPECT_FALSE(s.try_acquire_for(-1h));
  EXPECT_GE(TypeParam::semaphore::max(), 8);
}

} // namespace
} // namespace weft::test
