// SPDX-License-Identifier: MIT
// Samples of docs/guide/pools-and-schedulers.md: pools, own pools, own schedulers, stacked schedulers.
#include <weft/weft.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "tests/samples/check.hpp"
#include "weft/base/spin_lock.hpp"
#include "weft/queue/intrusive_fifo.hpp"

using samples::check;

namespace {

void attach_a_pool() {
  std::vector<int> order;
  // [sample priority-pool]
  std::shared_ptr<weft::pool> jobs = weft::make_pool(weft::order::priority, weft::access::mpsc);

  weft::thread_attributes urgent, later;
  urgent.pool = later.pool = jobs.get();
  urgent.level = -10;
  later.level = 10;
  weft::thread second(later, [&] { order.push_back(2); });
  weft::thread first(urgent, [&] { order.push_back(1); });

  // One worker that runs what is in `jobs`, beside the workers of the default runtime.
  weft::group_options options;
  options.workers = 1;
  options.pools = weft::arrangement::custom;
  options.make_scheduler = [&](unsigned /*number*/) {
    return std::make_shared<weft::fifo_scheduler>(std::vector{jobs});
  };
  weft::worker_group workers(options);
  second.join();
  first.join();
  // [/sample]
  check(order == std::vector{1, 2}, "the more urgent thread ran first");
}

// [sample own-pool]
// Hands out units in random order.
class shuffled_pool final : public weft::pool {
 public:
  shuffled_pool() : pool(weft::access::mpmc) {}

  std::size_t size() const noexcept override {
    std::lock_guard held(lock_);
    return units_.size();
  }

 protected:
  void do_push(weft::unit_handle& u) override {
    std::lock_guard held(lock_);
    units_.push_back(&u);
  }
  weft::unit_handle* do_pop(weft::worker&) override {
    std::lock_guard held(lock_);
    if (units_.empty()) return nullptr;
    std::swap(units_[random_() % units_.size()], units_.back());
    weft::unit_handle* u = units_.back();
    units_.pop_back();
    return u;
  }

 private:
  mutable weft::base::spin_lock lock_;  // not a weft::mutex: a pool may not wait
  std::vector<weft::unit_handle*> units_;
  std::minstd_rand random_;
};
// [/sample]

// [sample own-scheduler-concept]
// Two units of the first pool for one of the second.
struct two_to_one {
  unsigned turn = 0;

  weft::unit_handle* next(weft::worker& here, std::span<const std::shared_ptr<weft::pool>> pools) {
    const std::size_t preferred = turn++ % 3 == 2 ? 1 : 0;
    if (weft::unit_handle* u = pools[preferred]->pop(here)) return u;
    return pools[1 - preferred]->pop(here);
  }
};
static_assert(weft::picking_policy<two_to_one>);
// [/sample]

// [sample own-scheduler-virtual]
class fullest_first final : public weft::scheduler {
 public:
  using weft::scheduler::scheduler;

  weft::unit_handle* next(weft::worker& here) override {
    const auto shorter = [](const auto& a, const auto& b) { return a->size() < b->size(); };
    return (*std::max_element(pools().begin(), pools().end(), shorter))->pop(here);
  }
};
// [/sample]

template <class Scheduler>
void run_with() {
  std::atomic<int> ran{0};
  // [sample use-own]
  std::shared_ptr<weft::pool> first = std::make_shared<shuffled_pool>();
  std::shared_ptr<weft::pool> second = weft::make_pool(weft::order::lifo, weft::access::mpmc);
  weft::group_options options;
  options.workers = 2;
  options.pools = weft::arrangement::custom;
  options.make_scheduler = [&](unsigned /*number*/) {
    return std::make_shared<Scheduler>(std::vector{first, second});
  };
  weft::worker_group workers(options);
  // [/sample]
  std::vector<weft::thread> threads;
  for (int i = 0; i < 100; ++i) {
    weft::thread_attributes a;
    a.pool = i % 2 == 0 ? first.get() : second.get();
    threads.emplace_back(a, [&] {
      weft::this_thread::yield();
      ++ran;
    });
  }
  for (weft::thread& t : threads) t.join();
  check(ran == 100, "every thread ran under the scheduler");
}

void stack_a_scheduler() {
  std::atomic<int> ran{0};
  weft::worker_group workers({.workers = 1, .pools = weft::arrangement::one_pool, .make_scheduler = {}});
  weft::pool& parent_pool = workers.next_pool();
  // [sample stacked]
  std::shared_ptr<weft::pool> inner = weft::make_pool(weft::order::lifo, weft::access::mpmc);
  weft::thread_attributes a;
  a.pool = inner.get();
  std::vector<weft::thread> phase;
  for (int i = 0; i < 10; ++i) phase.emplace_back(a, [&] { ++ran; });

  auto child = std::make_shared<weft::fifo_scheduler>(std::vector{inner});
  weft::unit_handle& pushed = weft::push_scheduler(parent_pool, child);
  for (weft::thread& t : phase) t.join();
  // [/sample]
  weft::sched::join(pushed);
  weft::sched::free_unit(weft::sched::here(), pushed);
  check(ran == 10, "the stacked scheduler ran its pool");
}

} // namespace

int main() {
  attach_a_pool();
  run_with<weft::scheduler_of<two_to_one>>();
  run_with<fullest_first>();
  stack_a_scheduler();
  check(weft::runtime::count().units == 0, "every unit was freed");
}
