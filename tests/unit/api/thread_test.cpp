// SPDX-License-Identifier: MIT
// weft::thread and its kin from main, on the default runtime.
#include "weft/thread.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <unordered_set>

#include "tests/unit/api/fixture.hpp"
#include "weft/pool.hpp"
#include "weft/runtime.hpp"
#include "weft/sleep.hpp"
#include "weft/thread_specific.hpp"

namespace weft::test {
namespace {

using namespace std::chrono_literals;

WEFT_API_SUITE(thread_test);

// Only its own worker can run the primary thread, so it may not be left in a pool that this one serves no
// more.
TEST(primary_thread, follows_the_scheduler_of_its_worker) {
  ASSERT_TRUE(runtime::start({.workers = 2,
                              .pools = sched::arrangement::pool_per_worker,
                              .bind = false,
                              .make_scheduler = nullptr}));
  sched::group& g = sched::default_group();
  for (int i = 0; i < 3; ++i) {
    g.set_scheduler(g.member(0),
                    std::make_shared<sched::fifo_scheduler>(std::vector<std::shared_ptr<sched::pool>>{
                        sched::make_pool(sched::order::fifo, sched::access::mpsc)}));
    for (int k = 0; k < 10; ++k)
      this_thread::yield();
    bool ran = false;
    thread t([&ran] { ran = true; });
    t.join();
    EXPECT_TRUE(ran);
    this_thread::sleep_for(1ms);
  }
  EXPECT_TRUE(runtime::stop());
}

TEST_P(thread_test, arguments_are_decayed_copies) {
  std::string text = "abc";
  std::string seen;
  thread t([](std::string a, std::string& out, std::unique_ptr<int> p) { out = a + std::to_string(*p); },
           text, std::ref(seen), std::make_unique<int>(5));
  text = "changed";
  t.join();
  EXPECT_EQ(seen, "abc5");
}

TEST_P(thread_test, handles_move) {
  std::atomic<int> ran{0};
  thread a([&ran] { ++ran; });
  const thread::id id = a.get_id();
  thread b(std::move(a));
  EXPECT_FALSE(a.joinable());
  EXPECT_EQ(b.get_id(), id);
  swap(a, b);
  EXPECT_EQ(a.get_id(), id);
  b = std::move(a);
  b.join();
  EXPECT_EQ(b.get_id(), thread::id());
  EXPECT_EQ(ran, 1);
}

TEST_P(thread_test, ids) {
  std::unordered_set<thread::id> ids{this_thread::get_id()};
  thread::id own;
  thread a([&own] { own = this_thread::get_id(); });
  thread b([] {});
  const thread::id id = a.get_id();
  ids.insert(id);
  ids.insert(b.get_id());
  EXPECT_EQ(ids.size(), 3U);
  EXPECT_NE(a.get_id() <=> b.get_id(), std::strong_ordering::equal);
  std::ostringstream out;
  out << a.get_id();
  EXPECT_FALSE(out.str().empty());
  a.join();
  b.join();
  EXPECT_EQ(own, id);
  EXPECT_EQ(thread::hardware_concurrency(), GetParam());
}

// main, which yields and never waits, must not keep the others from running.
TEST_P(thread_test, main_yields) {
  std::atomic<bool> done{false};
  thread t([&done] { done = true; });
  while (!done)
    this_thread::yield();
  t.join();
}

TEST_P(thread_test, main_sleeps_on_a_timed_join_while_others_yield) {
  std::atomic<bool> stop{false};
  thread t([&stop] {
    while (!stop)
      this_thread::yield();
  });
  EXPECT_FALSE(t.try_join_for(1ms));
  stop = true;
  EXPECT_TRUE(t.try_join_for(60s));
}

TEST_P(thread_test, jthread_stops_and_joins) {
  std::atomic<int> ended{0};
  {
    jthread a([&ended](std::stop_token stop) {
      while (!stop.stop_requested())
        this_thread::yield();
      ++ended;
    });
    jthread b([&ended] { ++ended; });
    jthread c;
    EXPECT_FALSE(c.joinable());
    c = std::move(b);
    EXPECT_TRUE(c.joinable());
  }
  EXPECT_EQ(ended, 2);
}

TEST_P(thread_test, errors) {
  thread t;
  EXPECT_THROW(t.join(), std::system_error);
  EXPECT_THROW(t.detach(), std::system_error);
  EXPECT_THROW(t.cancel(), std::system_error);
  EXPECT_THROW(t.resume(), std::system_error);
  EXPECT_THROW(this_thread::exit(), std::system_error);
  thread_attributes a;
  a.level = -33;
  EXPECT_THROW(thread(a, [] {}), std::system_error);
  EXPECT_THROW(thread(a, [p = std::make_shared<int>(1),
                          filling = std::array<char, 100>{}] { static_cast<void>(filling); }),
               std::system_error);
}

TEST_P(thread_test, a_copy_that_throws_leaves_nothing_behind) {
  struct throws {
    throws() = default;
    throws(const throws&) { throw std::runtime_error("copy"); }
    throws(throws&&) { throw std::runtime_error("move"); }
    void operator()() const {}
  };
  const throws f;
  EXPECT_THROW(thread t(f), std::runtime_error);
  EXPECT_THROW(tasklet t(f), std::runtime_error);
}

TEST_P(thread_test, names_and_local_storage_of_main) {
  EXPECT_STREQ(this_thread::name(), "");
  this_thread::set_name("main");
  EXPECT_STREQ(this_thread::name(), "main");
  static int destroyed;
  destroyed = 0;
  thread_specific<int> mine([](void*) { ++destroyed; });
  int value = 3;
  EXPECT_EQ(mine.reset(&value), nullptr);
  thread t([&mine] { EXPECT_FALSE(mine); });
  t.join();
  EXPECT_EQ(*mine, 3);
  EXPECT_EQ(mine.reset(), &value);
  EXPECT_EQ(destroyed, 0);
}

TEST_P(thread_test, uncaught_exceptions_end_the_process) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        thread t([] { throw std::runtime_error("nobody catches it"); });
        t.join();
      },
      "nobody catches it");
  EXPECT_DEATH({ thread forgotten([] {}); }, "");
}

} // namespace
} // namespace weft::test
