// SPDX-License-Identifier: MIT
// Samples of docs/guide/first-steps.md.
#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/samples/check.hpp"

using samples::check;

namespace {

int work() { return 21; }

void two_results() {
  // [sample fork-one]
  auto half = weft::fork([] { return work(); });  // somebody may run it meanwhile
  int other = work();
  int both = half.join() + other;
  // [/sample]
  check(both == 42, "fork and join");
}

void explicit_start() {
  // [sample runtime-scope]
  weft::runtime::options wanted;
  wanted.workers = 2;
  wanted.pools = weft::arrangement::one_pool;
  const weft::runtime::scope runtime(wanted);  // started here, stopped at the end of the block
  weft::thread([] { work(); }).join();
  // [/sample]
  check(weft::runtime::running(), "running inside the scope");
  check(weft::runtime::worker_count() == 2, "two workers as asked");
}

void never_stop_the_worker() {
  std::atomic<bool> ready{false};
  weft::thread other([&] { ready = true; });
  // [sample spin]
  while (!ready) weft::this_thread::yield();  // not an empty loop: others need this worker
  // [/sample]
  other.join();
  using namespace std::chrono_literals;
  // [sample sleep]
  weft::this_thread::sleep_for(1ms);  // this thread waits
  std::this_thread::sleep_for(1ms);   // the whole worker waits, with all that is ready on it
  // [/sample]
}

} // namespace

int main() {
  explicit_start();
  check(!weft::runtime::running(), "the scope has stopped what it started");
  two_results();
  never_stop_the_worker();
}
