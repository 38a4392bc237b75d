// SPDX-License-Identifier: MIT
// Conformance: workers that come and go while threads run, in every arrangement that allows it.
#include <random>

#include "tests/conformance/cell.hpp"
#include "weft/sleep.hpp"

namespace weft::conformance {
namespace {

class resize : public counted, public ::testing::WithParamInterface<std::tuple<arrangement, unsigned>> {
 protected:
  void SetUp() override {
    counted::SetUp();
    group_options o;
    o.workers = std::get<1>(GetParam());
    o.pools = std::get<0>(GetParam());
    group_ = std::make_unique<worker_group>(std::move(o));
  }
  void TearDown() override {
    group_.reset();
    counted::TearDown();
  }
  worker_group& group() { return *group_; }
  template <class F>
  thread start(F f) {
    thread_attributes a;
    a.pool = &group_->next_pool();
    return thread(a, std::move(f));
  }

 private:
  std::unique_ptr<worker_group> group_;
};

std::string resize_name(const ::testing::TestParamInfo<std::tuple<arrangement, unsigned>>& info) {
  constexpr const char* names[] = {"stealing", "hierarchical", "one_pool", "pool_per_worker"};
  return std::string(names[static_cast<int>(std::get<0>(info.param))]) + "_" +
         std::to_string(std::get<1>(info.param));
}
INSTANTIATE_TEST_SUITE_P(groups, resize,
                         ::testing::Combine(::testing::Values(arrangement::stealing,
                                                              arrangement::hierarchical,
                                                              arrangement::one_pool),
                                            ::testing::Values(1U, 2U, 4U)),
                         resize_name);

long tree(int depth) {
  if (depth == 0)
    return 1;
  long left = 0;
  thread a([&left, depth] { left = tree(depth - 1); });
  this_thread::yield();
  const long right = tree(depth - 1);
  a.join();
  return left + right;
}

TEST_P(resize, under_load) {
  const unsigned long seed = std::random_device{}();
  std::printf("seed %lu\n", seed);
  std::mt19937 random(static_cast<unsigned>(seed));
  std::atomic<bool> stop{false};
  std::atomic<long> trees{0};
  std::vector<thread> roots;
  for (int i = 0; i < 4; ++i) {
    roots.push_back(start([&] {
      while (!stop) {
        EXPECT_EQ(tree(4), 16);
        ++trees;
      }
    }));
  }
  for (int k = 0; k < scaled(12); ++k) {
    group().resize(1 + random() % 6);
    const long seen = trees;
    EXPECT_TRUE(eventually([&] { return trees > seen; }));
  }
  stop = true;
  for (auto& t : roots)
    t.join();
}

// Whatever a worker holds when it leaves goes on elsewhere: ready units, blocked ones, sleepers.
TEST_P(resize, nothing_stays_with_a_worker_that_leaves) {
  for (int round = 0; round < scaled(4); ++round) {
    group().resize(4);
    std::atomic<int> ended{0};
    std::atomic<int> waiting{0};
    std::vector<thread> threads;
    for (int i = 0; i < 24; ++i) {
      threads.push_back(start([&, i] {
        ++waiting;
        if (i % 3 == 0)
          this_thread::suspend();
        if (i % 3 == 1)
          this_thread::sleep_for(3ms);
        if (i % 3 == 2) {
          while (waiting < 24)
            this_thread::yield();
        }
        ++ended;
      }));
    }
    EXPECT_TRUE(eventually([&] { return waiting == 24; }));
    group().resize(1);
    for (std::size_t i = 0; i < threads.size(); i += 3)
      threads[i].resume();
    EXPECT_TRUE(eventually([&] { return ended == 24; })) << ended;
    for (auto& t : threads)
      t.join();
  }
}

TEST_P(resize, pushes_from_outside_meanwhile) {
  std::atomic<bool> stop{false};
  std::atomic<int> ran{0};
  std::thread foreign([&] {
    while (!stop) {
      std::vector<thread> threads;
      for (int i = 0; i < 8; ++i)
        threads.push_back(start([&ran] { ++ran; }));
      for (auto& t : threads)
        t.join();
    }
  });
  for (int k = 0; k < scaled(20); ++k)
    group().resize(k % 2 == 0 ? 4 : 1);
  EXPECT_TRUE(eventually([&] { return ran > 8; }));
  stop = true;
  foreign.join();
}

TEST_P(resize, a_stacked_scheduler_goes_to_another_worker) {
  group().resize(2);
  const std::shared_ptr<pool> inner = make_pool(order::fifo, access::mpsc);
  std::atomic<bool> stop{false};
  thread_attributes a;
  a.pool = inner.get();
  thread spins(a, [&stop] {
    while (!stop)
      this_thread::yield();
  });
  auto& u = sched::push_scheduler(*group().member(1).main_pool.load_acquire(),
                                  std::make_shared<fifo_scheduler>(std::vector{inner}));
  EXPECT_TRUE(eventually([&] { return inner->owner() != nullptr; }));
  group().resize(1);
  stop = true;
  spins.join();
  sched::join(u);
  sched::free_unit(sched::here(), u);
}

TEST_P(resize, from_inside_and_its_limits) {
  group().resize(2);
  thread t = start([this] {
    if (&sched::here() == &group().member(0))
      group().resize(3), group().resize(2);
  });
  t.join();
  group().resize(1);
  EXPECT_THROW(group().remove_worker(), std::system_error);
  EXPECT_THROW(group().resize(0), std::system_error);
  EXPECT_EQ(group().size(), 1U);
}

} // namespace
} // namespace weft::conformance
