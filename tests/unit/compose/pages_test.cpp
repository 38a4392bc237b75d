// SPDX-License-Identifier: MIT
// What is special about a page, and the errors of composed runtimes.
#include "tests/unit/compose/pages.hpp"

#include <system_error>
#include <vector>

namespace weft::compose::testing {
namespace {

// One place decides, and a page that replaces nothing is libweft whatever it is called.
struct renamed : default_policies {};
static_assert(std::is_same_v<runtime<renamed>::thread, weft::thread>);
static_assert(std::is_same_v<runtime<renamed>::mutex, weft::mutex>);
static_assert(std::is_same_v<runtime<templates_page>, composed<templates_page>>);
static_assert(sizeof(unit<templates_page>) == 128 || sizeof(arch::context) != 32, "two cache lines");

// Every eleventh push fails: the unit must not be lost.
template <class Unit>
class full_queue : public stealing_deque<Unit> {
 public:
  bool push(Unit& u) noexcept { return ++pushes_ % 11 != 0 && stealing_deque<Unit>::push(u); }

 private:
  unsigned pushes_ = 0;
};
struct full_queue_page : default_policies {
  template <class Unit>
  using ready_queue = full_queue<Unit>;
};

template <class F>
std::error_code error_of(F&& f) {
  try {
    f();
  } catch (const std::system_error& e) {
    return e.code();
  }
  return {};
}

template <class P>
class composed_only : public page_test<P> {};
using composed_pages = ::testing::Types<templates_page, child_first_page, samples::kernel_thread_page,
                                        samples::sequential_page, heap_stacks_page, scarce_stacks_page>;
TYPED_TEST_SUITE(composed_only, composed_pages, page_names);

TYPED_TEST(composed_only, outside_of_run_is_an_error) {
  using rt = runtime<TypeParam>;
  EXPECT_EQ(error_of([] { typename rt::thread t([] {}); }), std::errc::operation_not_permitted);
  EXPECT_EQ(error_of([] { rt::yield(); }), std::errc::operation_not_permitted);
  typename rt::suspended_thread place;
  EXPECT_EQ(error_of([&] { place.wait_with([] { return true; }); }), std::errc::operation_not_permitted);
  EXPECT_FALSE(static_cast<bool>(place));
  rt::run([] {});
  EXPECT_EQ(error_of([] { rt::yield(); }), std::errc::operation_not_permitted);
}

TYPED_TEST(composed_only, another_runtimes_thread_is_outside) {
  runtime<TypeParam>::run([] {
    EXPECT_EQ(error_of([] { runtime<all_techniques_page>::thread t([] {}); }),
              std::errc::operation_not_permitted);
  });
}

TYPED_TEST(composed_only, a_runtime_runs_once_at_a_time) {
  using rt = runtime<TypeParam>;
  rt::run([] { EXPECT_EQ(error_of([] { rt::run([] {}); }), std::errc::device_or_resource_busy); });
}

TYPED_TEST(composed_only, two_runtimes_run_side_by_side) {
  std::thread other([] {
    for (int i = 0; i < 20; ++i)
      runtime<private_fifo_page>::run([] { runtime<private_fifo_page>::thread([] {}).join(); },
                                      {.workers = 2});
  });
  for (int i = 0; i < 20; ++i)
    runtime<TypeParam>::run([] { typename runtime<TypeParam>::thread([] {}).join(); }, {.workers = 2});
  other.join();
}

TYPED_TEST(composed_only, run_waits_for_detached_threads) {
  static std::atomic<int> ended; // detached threads outlive main's frame
  ended = 0;
  this->on_each_count([] {
    using rt = runtime<TypeParam>;
    for (int i = 0; i < 50; ++i) {
      typename rt::thread t([] {
        rt::yield();
        typename rt::thread inner([] { ended.fetch_add(1); });
        inner.detach();
        ended.fetch_add(1);
      });
      if (i % 2 == 0)
        rt::yield();
      t.detach();
    }
  });
  EXPECT_EQ(ended.load(), 3 * 50 * 2);
}

// The tests that need one page only.
class pages : public page_test<templates_page> {};

TEST_F(pages, the_sequential_back_end_finds_deadlocks) {
  using rt = runtime<samples::sequential_page>;
  rt::run([] {
    rt::mutex lock;
    rt::condition_variable changed;
    std::unique_lock held(lock);
    EXPECT_EQ(error_of([&] { lock.lock(); }), std::errc::resource_deadlock_would_occur);
    EXPECT_EQ(error_of([&] { changed.wait(held); }), std::errc::resource_deadlock_would_occur);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_FALSE(lock.try_lock()); // the failed wait has not given it back
    rt::barrier two(2);
    EXPECT_EQ(error_of([&] { two.arrive_and_wait(); }), std::errc::resource_deadlock_would_occur);
    EXPECT_EQ(error_of([&] { two.arrive_and_wait(); }), std::errc::resource_deadlock_would_occur);
    rt::suspended_thread place;
    EXPECT_EQ(error_of([&] { place.wait_with([] { return true; }); }),
              std::errc::resource_deadlock_would_occur);
    EXPECT_FALSE(static_cast<bool>(place));
    place.wait_with([&] { return place.notify(); }); // ended before it began
    held.unlock();
    changed.notify_all();
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
  });
}

TEST_F(pages, the_sequential_back_end_runs_in_one_order) {
  using rt = runtime<samples::sequential_page>;
  std::vector<int> order;
  rt::run([&] {
    rt::thread outer([&] {
      order.push_back(1);
      rt::thread inner([&] { order.push_back(2); });
      order.push_back(3);
      inner.join();
    });
    order.push_back(4);
    outer.join();
  });
  EXPECT_EQ(order, (std::vector{1, 2, 3, 4}));
}

TEST_F(pages, child_first_runs_the_child_first) {
  using rt = runtime<all_techniques_page>;
  std::vector<int> order;
  rt::run(
      [&] {
        auto first = rt::thread::fork<child_first>([&] { order.push_back(1); });
        order.push_back(2);
        auto lazy = rt::thread::fork<full_lazy>([&] { order.push_back(4); });
        auto inlined = rt::thread::fork<inline_join>([&] { order.push_back(5); });
        order.push_back(3);
        lazy.join();
        inlined.join();
        first.join();
      },
      {.workers = 1});
  ASSERT_EQ(order.size(), 5U);
  EXPECT_EQ(order[0], 1);
  EXPECT_EQ(order[1], 2);
  EXPECT_EQ(order[2], 3);
}

// Where a thread runs: on its joiner's stack, or on one of its own.
TEST_F(pages, techniques_say_whose_stack_it_is) {
  using rt = runtime<all_techniques_page>;
  rt::run(
      [] {
        const auto distance = [](const char* a, const char* b) { return a < b ? b - a : a - b; };
        const char* joiners = static_cast<const char*>(__builtin_frame_address(0));
        const char* childs = nullptr;
        const auto body = [&childs] { childs = static_cast<const char*>(__builtin_frame_address(0)); };
        rt::thread::fork<inline_join>(body).join();
        if (!arch::sanitizer::watches_frames) {
          EXPECT_LT(distance(joiners, childs), 4096);
        }
        rt::thread::fork<full_lazy>(body).join();
        EXPECT_GT(distance(joiners, childs), 4096);
      },
      {.workers = 1});
}

TEST_F(pages, event_sources_end_waits) {
  using rt = runtime<ticking_page>;
  rt::run(
      [] {
        rt::suspended_thread place;
        const unsigned before = rt::event_sources().polls;
        for (int i = 0; i < 5; ++i)
          rt::event_sources().wait(place);
        EXPECT_GE(rt::event_sources().polls, before + 5 * 8 - 7);
      },
      {.workers = 1});
}

TEST_F(pages, a_full_queue_refuses_forks_and_loses_nobody) {
  using rt = runtime<full_queue_page>;
  int refused = 0, ran = 0;
  rt::run(
      [&] {
        for (int i = 0; i < 100; ++i) {
          try {
            rt::thread t([&] {
              ++ran;
              rt::yield();
              rt::yield();
            });
            rt::yield();
            t.join();
          } catch (const std::bad_alloc&) {
            ++refused;
          }
        }
      },
      {.workers = 1});
  EXPECT_GT(refused, 0);
  EXPECT_EQ(ran + refused, 100);
}

TEST_F(pages, the_runtimes_words_are_of_the_pages_atomic) {
  using rt = runtime<counting_atomics_page>;
  const unsigned before = counting_atomic<std::uintptr_t>::exchanges;
  rt::run([] {
    rt::thread t([] { rt::yield(); });
    rt::yield();
    t.join();
  });
  EXPECT_GT(counting_atomic<std::uintptr_t>::exchanges.load(), before);
}

TEST_F(pages, the_kernel_thread_back_end_gives_each_thread_one) {
  using rt = runtime<samples::kernel_thread_page>;
  rt::run(
      [] {
        const auto mine = std::this_thread::get_id();
        std::vector<std::thread::id> ids(10);
        std::vector<rt::thread> threads;
        rt::mutex lock;
        lock.lock(); // so that all are alive at once
        for (auto& id : ids) {
          threads.emplace_back([&lock, &id] {
            id = std::this_thread::get_id();
            const std::scoped_lock held(lock);
            EXPECT_EQ(id, std::this_thread::get_id());
          });
        }
        for (std::size_t started = 0; started < ids.size();) {
          rt::yield();
          started = 0;
          for (const auto& id : ids)
            started += id != std::thread::id();
        }
        lock.unlock();
        for (auto& t : threads)
          t.join();
        for (std::size_t i = 0; i < ids.size(); ++i) {
          EXPECT_NE(ids[i], mine);
          for (std::size_t j = 0; j < i; ++j)
            EXPECT_NE(ids[i], ids[j]);
        }
        EXPECT_EQ(std::this_thread::get_id(), mine);
      },
      {.workers = 1});
}

} // namespace
} // namespace weft::compose::testing
