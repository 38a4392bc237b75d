// SPDX-License-Identifier: MIT
// A timer that is due while every worker computes: whoever waited for it runs at the next decision of one of
// them, not at the next visit of its loop. Each step here computes until the worker has been told, however
// long the machine takes for that, and then makes one decision.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "weft/os/clock.hpp"
#include "weft/runtime.hpp"
#include "weft/sched/default_group.hpp"
#include "weft/weft.hpp"

namespace weft {
namespace {

using namespace std::chrono_literals;

// What is told is a word that is lost at worst to a decision of the same moment, and is then said again.
constexpr int decisions = 4;
constexpr int beats_wanted = 3;
constexpr std::int64_t given_up = 60'000'000'000;

std::atomic<int> beats{0};
std::atomic<bool> began{false};
std::atomic<bool> over{false};

void beat() {
  began = true;
  while (!over) {
    this_thread::sleep_for(2ms);
    ++beats;
  }
}

bool somebody_sleeps() {
  for (unsigned i = 0; i < runtime::worker_count(); ++i) {
    if (sched::default_group().member(i).timing.queue.earliest() != sched::no_deadline)
      return true;
  }
  return false;
}

// Whoever tells writes the bit and then ends the budget: the cheapest decisions read the budget alone.
bool is_told() {
  const sched::worker& w = sched::here();
  return w.attention.any_relaxed(sched::time_passed) && w.budget < 0;
}

// Computes until the worker has been told, or somebody has seen to it.
void compute() {
  const std::int64_t end = os::now_ns() + given_up;
  while (somebody_sleeps() && !is_told() && os::now_ns() < end) {
  }
}

// `step` computes and makes a decision.
void expect_beats(sched::arrangement pools, unsigned workers, const std::function<void()>& step) {
  runtime::start({.workers = workers, .pools = pools});
  beats = 0;
  began = over = false;
  std::vector<thread> busy;
  std::atomic<unsigned> at_work{1};
  for (unsigned i = 1; i < workers; ++i)
    busy.emplace_back([&at_work] {
      ++at_work;
      while (!over) {
      }
    });
  while (at_work < workers) { // without a decision: others take them
  }
  thread heart(&beat);
  while (!began) // and then it sleeps
    this_thread::yield();
  for (int wanted = 1; wanted <= beats_wanted; ++wanted) {
    for (int i = 0; i < decisions && beats < wanted; ++i)
      step();
    EXPECT_GE(beats, wanted);
  }
  over = true;
  heart.join();
  for (auto& b : busy)
    b.join();
  runtime::stop();
}

void fork_and_join() {
  auto offered = fork(&compute);
  offered.join();
}
void create_and_join() {
  thread(&compute).join();
}
void create_full_and_join() {
  thread_attributes a;
  a.technique = technique_id::full;
  thread(a, &compute).join();
}
void compute_and_yield() {
  compute();
  this_thread::yield();
}
void run_group() {
  task_group g;
  g.run(&compute);
  g.wait();
}
void run_tasklet() {
  tasklet(&compute).join();
}
void loop_in_one_piece() {
  parallel_for(0, 2, [](int) { compute(); }, 2);
}
void loop() {
  parallel_for(0, 4, [](int) { compute(); });
}
void reduce() {
  const int sum = parallel_reduce(
      0, 4, 0,
      [](int i) {
        compute();
        return i;
      },
      std::plus<>());
  EXPECT_EQ(sum, 6);
}

using sched::arrangement;

TEST(due_timer, fork_and_join) {
  expect_beats(arrangement::stealing, 1, &fork_and_join);
}
TEST(due_timer, fork_and_join_on_two_workers) {
  expect_beats(arrangement::stealing, 2, &fork_and_join);
}
TEST(due_timer, create_and_join) {
  expect_beats(arrangement::stealing, 1, &create_and_join);
}
TEST(due_timer, create_and_join_with_a_stack_at_once) {
  expect_beats(arrangement::stealing, 1, &create_full_and_join);
}
TEST(due_timer, yield) {
  expect_beats(arrangement::stealing, 1, &compute_and_yield);
}
TEST(due_timer, task_group) {
  expect_beats(arrangement::stealing, 1, &run_group);
}
TEST(due_timer, tasklet) {
  expect_beats(arrangement::stealing, 1, &run_tasklet);
}
TEST(due_timer, parallel_for_in_one_piece) {
  expect_beats(arrangement::stealing, 1, &loop_in_one_piece);
}
TEST(due_timer, parallel_for) {
  expect_beats(arrangement::stealing, 1, &loop);
}
TEST(due_timer, parallel_reduce) {
  expect_beats(arrangement::stealing, 1, &reduce);
}
TEST(due_timer, private_pools_create_and_join) {
  expect_beats(arrangement::pool_per_worker, 1, &create_and_join);
}
TEST(due_timer, private_pools_fork_and_join) {
  expect_beats(arrangement::pool_per_worker, 1, &fork_and_join);
}
TEST(due_timer, private_pools_yield) {
  expect_beats(arrangement::pool_per_worker, 1, &compute_and_yield);
}
TEST(due_timer, one_pool_create_and_join) {
  expect_beats(arrangement::one_pool, 1, &create_and_join);
}
TEST(due_timer, one_pool_yield) {
  expect_beats(arrangement::one_pool, 1, &compute_and_yield);
}
TEST(due_timer, hierarchical_fork_and_join) {
  expect_beats(arrangement::hierarchical, 1, &fork_and_join);
}

// It was made before the loop and has not begun: it begins, and sleeps, before the loop does.
TEST(due_timer, who_was_ready_before_a_loop_begins_first) {
  runtime::start({.workers = 1});
  std::atomic<bool> began{false};
  thread early([&began] { began = true; });
  bool seen = true;
  parallel_for(0, 4, [&](int) { seen = seen && began; }, 1);
  EXPECT_TRUE(seen);
  early.join();
  runtime::stop();
}

// Resumes a thread at the first look after it was told to.
class resumes_one final : public event_source {
 public:
  int poll() override { return is_told.exchange(false) && place.notify() ? 1 : 0; }
  [[nodiscard]] std::chrono::nanoseconds patience() const override { return 1ms; }
  suspended_thread place;
  std::atomic<bool> is_told{false};
};

// The only worker is about to sleep until the timer and tells nobody; then it finds another unit while it
// searches.
TEST(due_timer, only_worker_finds_another_unit_before) {
  runtime::start({.workers = 1});
  beats = 0;
  const auto source = std::make_shared<resumes_one>();
  sched::default_group().add_event_source(source);
  thread wakes([&source] {
    thread sleeps([&source] { // once this one waits: nothing else is ready then
      source->is_told = true;
      this_thread::sleep_for(100ms);
      ++beats;
    });
    source->place.wait_with([] { return true; });
    compute();
    this_thread::yield();
    EXPECT_EQ(beats, 1);
    sleeps.join();
  });
  wakes.join();
  runtime::stop();
}

} // namespace
} // namespace weft
