// SPDX-License-Identifier: MIT
// Conformance: what one asks of another. Cancel; migrate, asked by others, by itself, with a callback, and
// waited for.
#include "tests/conformance/cell.hpp"

namespace weft::conformance {
namespace {

class request : public cell_fixture {
 protected:
  // A second group, so that there is a pool that no worker of the first one serves.
  void SetUp() override {
    cell_fixture::SetUp();
    away_ = make_pool(order::fifo, access::mpsc);
    group_options o;
    o.workers = 1;
    o.pools = arrangement::custom;
    o.make_scheduler = [this](unsigned) { return std::make_shared<fifo_scheduler>(std::vector{away_}); };
    other_ = std::make_unique<worker_group>(std::move(o));
  }
  void TearDown() override {
    other_.reset();
    cell_fixture::TearDown();
    away_.reset();
  }
  pool& away() { return *away_; }
  static bool is_of(const worker_group& g) {
    const sched::runtime_section in;
    return &sched::here().owner_group == &g;
  }
  worker_group& other() { return *other_; }

 private:
  std::shared_ptr<pool> away_;
  std::unique_ptr<worker_group> other_;
};

INSTANTIATE_TEST_SUITE_P(cells, request, ::testing::ValuesIn(all_cells()), name_of);

TEST_P(request, cancel_before_start) {
  auto held = std::make_shared<int>(0);
  inside([&] {
    // The worker is ours and does not switch: nothing of its own pool can start. (Others may serve the pool
    // too.)
    thread t([held] {});
    tasklet s([held] {});
    t.cancel();
    s.cancel();
    t.join();
    s.join();
    thread detached([held] {});
    detached.cancel();
    detached.detach();
  });
  EXPECT_TRUE(eventually([&] { return held.use_count() == 1; }));
  if (workers() == 1) {
    bool ran = false;
    inside([&] {
      thread t([&ran] { ran = true; });
      t.cancel();
      t.join();
    });
    EXPECT_FALSE(ran);
  }
}

TEST_P(request, cancel_while_yielding) {
  auto held = std::make_shared<int>(0);
  std::vector<thread> threads;
  std::atomic<int> started{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(in_pool(static_cast<unsigned>(i)), [held, &started] {
      ++started;
      for (;;)
        this_thread::yield();
    });
  }
  if (GetParam().fair()) {
    EXPECT_TRUE(eventually([&] { return started == 4; }));
  }
  for (auto& t : threads)
    t.cancel();
  for (auto& t : threads)
    t.join();
  EXPECT_EQ(held.use_count(), 1);
}

TEST_P(request, cancel_while_suspended_and_in_a_destructor) {
  struct waits_on_its_way_out {
    std::atomic<int>* ended;
    ~waits_on_its_way_out() {
      this_thread::yield();
      thread t([] {});
      t.join();
      ++*ended;
    }
  };
  std::atomic<int> started{0};
  std::atomic<int> ended{0};
  thread t(in_pool(0), [&] {
    const waits_on_its_way_out guard{&ended};
    ++started;
    this_thread::suspend();
    ADD_FAILURE() << "went on after a cancellation";
  });
  EXPECT_TRUE(eventually([&] { return started == 1; }));
  t.cancel();
  t.resume();
  t.join();
  EXPECT_EQ(ended, 1);
}

TEST_P(request, migration_by_itself) {
  for_each_thread(6, [this](int) {
    EXPECT_TRUE(is_of(group()));
    this_thread::migrate_to(away());
    EXPECT_TRUE(is_of(other()));
    this_thread::yield();
    EXPECT_TRUE(is_of(other()));
    this_thread::migrate_to(main_pool(workers() - 1));
    EXPECT_TRUE(is_of(group()));
  });
}

TEST_P(request, migration_asked_by_others_with_a_callback) {
  static std::atomic<int> called;
  called = 0;
  static int five = 5;
  std::atomic<bool> arrived{false};
  thread t(in_pool(0), [&] {
    while (!is_of(other()))
      this_thread::yield();
    arrived = true;
  });
  t.migrate_to(away(), [](unit_handle&, void* argument) { called += *static_cast<int*>(argument); }, &five);
  t.join();
  EXPECT_TRUE(arrived);
  EXPECT_EQ(called, 5);
}

TEST_P(request, migration_of_those_who_wait_in_a_pool_or_elsewhere) {
  std::atomic<int> moved{0};
  static std::atomic<int> called;
  called = 0;
  const auto note = [](unit_handle&, void*) { ++called; };
  const auto body = [&] {
    this_thread::suspend();
    if (is_of(other()))
      ++moved;
  };
  thread suspended(in_pool(0), body);
  thread fresh(in_pool(workers() - 1), [&] {
    if (is_of(other()))
      ++moved;
  });
  try {
    fresh.migrate_to(away(), note);
  } catch (const std::system_error& e) { // it has ended by now
    EXPECT_EQ(e.code(), std::errc::invalid_argument);
  }
  suspended.migrate_to(away(), note);
  suspended.resume();
  suspended.join();
  fresh.join();
  EXPECT_GE(moved, 1); // the suspended one
  EXPECT_LE(moved, called);
  thread ended(in_pool(0), [] {});
  EXPECT_TRUE(eventually([&] { return ended.state() == unit::state::finished; }));
  EXPECT_THROW(ended.migrate_to(away()), std::system_error);
  ended.join();
}

TEST_P(request, migration_waited_for) {
  std::atomic<bool> stop{false};
  thread t(in_pool(0), [&] {
    while (!stop)
      this_thread::yield();
    EXPECT_TRUE(is_of(other()));
  });
  t.migrate_to_and_wait(away());
  stop = true;
  t.join();
  // One that ends before it moves ends the wait as well; one that has ended cannot move.
  thread brief(in_pool(0), [] {});
  try {
    brief.migrate_to_and_wait(away());
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), std::errc::invalid_argument);
  }
  brief.join();
}

TEST_P(request, migration_to_and_fro_under_load) {
  std::atomic<bool> stop{false};
  std::vector<thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(in_pool(static_cast<unsigned>(i)), [&] {
      while (!stop)
        this_thread::yield();
    });
  }
  for (int k = 0; k < scaled(40); ++k) {
    for (auto& t : threads)
      t.migrate_to(k % 2 == 0 ? away() : main_pool(static_cast<unsigned>(k)));
  }
  stop = true;
  for (auto& t : threads)
    t.join();
}

} // namespace
} // namespace weft::conformance
