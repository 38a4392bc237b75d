// SPDX-License-Identifier: MIT
// Samples of docs/guide/priorities.md.
#include <weft/preemption.hpp>
#include <weft/runtime.hpp>
#include <weft/semaphore.hpp>
#include <weft/thread.hpp>

#include <atomic>
#include <vector>

#include "tests/samples/check.hpp"

using samples::check;

namespace {

std::atomic<bool> over{false};
std::atomic<int> requests{0};

void crunch() {
  while (!over) {
  }
}

void serve() {
  ++requests;
}

void background() {
  // [sample low]
  weft::thread_attributes a;
  a.priority = weft::priority::low;
  a.preemption = weft::preemption::own_tls;  // leaves at once when a high one comes
  weft::thread cruncher(a, crunch);          // computes, and never yields

  weft::thread request(serve);  // high: the default
  request.join();
  // [/sample]
  over = true;
  cruncher.join();
  check(requests == 1, "the request was served");
}

void in_a_group() {
  // [sample group]
  weft::group_options options;
  options.workers = 2;
  options.pools = weft::arrangement::priorities;
  weft::worker_group workers(options);

  weft::thread_attributes a;
  a.pool = &workers.next_pool();
  a.priority = weft::priority::low;  // the pool of that class beside it
  weft::thread t(a, serve);
  t.join();
  // [/sample]
  check(requests == 2, "it ran");
}

void of_ones_own() {
  std::atomic<int> ran{0};
  // [sample own]
  std::shared_ptr<weft::pool> urgent = weft::make_pool(weft::order::fifo, weft::access::mpmc);
  std::shared_ptr<weft::pool> usual = weft::make_pool(weft::order::fifo, weft::access::mpmc);
  std::shared_ptr<weft::pool> idle = weft::make_pool(weft::order::lifo, weft::access::mpmc);
  weft::group_options options;
  options.workers = 2;
  options.pools = weft::arrangement::custom;
  options.make_scheduler = [&](unsigned /*number*/) {
    return std::make_shared<weft::class_scheduler>(
        std::vector<std::vector<std::shared_ptr<weft::pool>>>{{urgent}, {usual}, {idle}});
  };
  weft::worker_group workers(options);
  // [/sample]
  std::vector<weft::thread> threads;
  for (weft::pool* p : {urgent.get(), usual.get(), idle.get()}) {
    weft::thread_attributes a;
    a.pool = p;
    threads.emplace_back(a, [&ran] { ++ran; });
  }
  for (weft::thread& t : threads) t.join();
  check(ran == 3, "all ran");
}

}  // namespace

int main() {
  // [sample start]
  weft::runtime::options options;
  options.pools = weft::arrangement::priorities;
  const weft::runtime::scope runtime(options);
  // [/sample]
  if (weft::can_preempt(weft::preemption::own_tls))
    background();
  in_a_group();
  of_ones_own();
}
