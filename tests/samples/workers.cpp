// SPDX-License-Identifier: MIT
// Samples of docs/guide/pools-and-schedulers.md: groups of workers, migration, event sources.
#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "tests/samples/check.hpp"

using samples::check;

namespace {

void two_groups() {
  std::atomic<int> ran{0};
  // [sample groups]
  weft::group_options options;
  options.workers = 2;
  options.pools = weft::arrangement::one_pool;  // one FIFO for both
  weft::worker_group together(options);
  options.pools = weft::arrangement::pool_per_worker;  // a FIFO each, nothing is stolen
  weft::worker_group shepherds(options);

  weft::thread_attributes a, b;
  a.pool = &together.next_pool();
  b.pool = &shepherds.next_pool();  // the workers' pools in turn
  weft::thread one(a, [&] { ++ran; });
  weft::thread two(b, [&] { ++ran; });
  one.join();
  two.join();
  // [/sample]
  check(ran == 2, "both groups ran their thread");
}

void more_and_fewer() {
  // [sample resize]
  weft::runtime::set_worker_count(4);
  weft::runtime::set_worker_count(2);
  // [/sample]
  check(weft::runtime::worker_count() == 2, "two workers are left");
}

void migrate() {
  std::shared_ptr<weft::pool> target = weft::make_pool(weft::order::fifo, weft::access::mpmc);
  weft::group_options options;
  options.workers = 1;
  options.pools = weft::arrangement::custom;
  options.make_scheduler = [&](unsigned /*number*/) {
    return std::make_shared<weft::fifo_scheduler>(std::vector{target});
  };
  weft::worker_group there(options);
  std::atomic<bool> moved{false}, over{false}, arrived{false};
  // [sample migrate]
  weft::thread t([&] {
    while (!over) weft::this_thread::yield();
  });
  const auto note = [](auto&, void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); };
  t.migrate_to(*target, note, &moved);
  while (!moved) weft::this_thread::yield();

  weft::thread self([&] {
    weft::this_thread::migrate_to(*target);  // returns on a worker that serves `target`
    arrived = true;
  });
  // [/sample]
  self.join();
  over = true;
  t.join();
  check(arrived, "the thread moved itself");
}

// [sample event-source]
// Threads wait for a doorbell that something outside Weft rings.
class doorbell final : public weft::event_source {
 public:
  void ring() {  // from anywhere
    rung_.store(true);
    weft::runtime::default_group().wake();
  }
  void wait(weft::thread& who) { waiting_.store(&who); }

  int poll() override {  // on an idle or a busy worker, one at a time
    weft::thread* who = waiting_.load();
    if (who == nullptr || !rung_.exchange(false)) return 0;
    who->resume();
    return 1;
  }

 private:
  std::atomic<bool> rung_{false};
  std::atomic<weft::thread*> waiting_{nullptr};
};
// [/sample]

void wait_for_events() {
  bool opened = false;
  // [sample use-event-source]
  auto bell = std::make_shared<doorbell>();
  weft::runtime::default_group().add_event_source(bell);
  weft::thread t([&] {
    weft::this_thread::suspend();
    opened = true;
  });
  bell->wait(t);
  std::thread visitor([&] { bell->ring(); });
  t.join();
  // [/sample]
  visitor.join();
  weft::runtime::default_group().remove_event_source(*bell);
  check(opened, "the doorbell resumed the thread");
}

} // namespace

int main() {
  two_groups();
  more_and_fewer();
  migrate();
  wait_for_events();
  check(weft::runtime::count().units == 0, "every thread was freed");
}
