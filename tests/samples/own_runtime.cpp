// SPDX-License-Identifier: MIT
// Samples of docs/guide/own-runtime.md; their pages are in own_runtime.hpp.
#include "tests/samples/own_runtime.hpp"

#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/samples/check.hpp"

using samples::check;

namespace {

// [sample my-page]
struct my_page : weft::compose::default_policies {
  using techniques = weft::compose::technique_set<weft::compose::child_first>;
};
using rt = weft::compose::runtime<my_page>;

long fib(int n) {
  if (n < 2) return n;
  long a = 0;
  rt::thread left([&a, n] { a = fib(n - 1); });
  long b = fib(n - 2);
  left.join();
  return a + b;
}
// [/sample]

void first_page() {
  // [sample run-my-page]
  long answer = rt::run([] { return fib(20); }, {.workers = 2});
  // [/sample]
  check(answer == 6765, "fib on a runtime of one's own");
}

void deque() {
  using rt = weft::compose::runtime<samples::own_deque_page>;
  long sum = 0;
  rt::run([&] {
    rt::mutex lock;
    std::vector<rt::thread> threads;
    for (long i = 1; i <= 100; ++i) {
      threads.emplace_back([&, i] {
        std::scoped_lock held(lock);
        sum += i;
      });
    }
    for (rt::thread& t : threads) t.join();
  });
  check(sum == 5050, "threads in a deque of one's own");
}

void scheduler() {
  // [sample use-key-scheduler]
  using rt = weft::compose::runtime<samples::earliest_first_page>;
  std::vector<long> order;
  rt::run(
      [&] {
        std::vector<rt::thread> jobs;
        for (long deadline : {30, 10, 20})
          jobs.emplace_back(rt::attributes{deadline}, [&order, deadline] { order.push_back(deadline); });
        for (rt::thread& job : jobs) job.join();
      },
      {.workers = 1});
  // [/sample]
  check(order == std::vector<long>{10, 20, 30}, "the earliest deadline ran first");
}

void recorder() {
  // [sample use-recorder]
  using rt = weft::compose::runtime<samples::tracing_page>;
  rt::run([] { rt::thread([] { rt::yield(); }).join(); }, {.workers = 1});

  int ended = 0;
  for (const auto& worker : samples::tracing_recorder::all)
    for (const auto& entry : worker) ended += entry.what == weft::trace::event::stop_end;
  // [/sample]
  check(ended == 2, "the ends of the thread and of main were recorded");
}

void mutex() {
  using rt = weft::compose::runtime<samples::spin_mutex_page>;
  int turn = 0;
  rt::run([&] {
    rt::mutex lock;
    rt::condition_variable changed;
    rt::thread second([&] {
      std::unique_lock held(lock);
      changed.wait(held, [&] { return turn == 1; });
      turn = 2;
    });
    rt::yield();
    {
      std::scoped_lock held(lock);
      turn = 1;
    }
    changed.notify_one();
    second.join();
  });
  check(turn == 2, "a condition variable over a mutex of one's own");
}

void kernel_threads() {
  // [sample use-kernel-threads]
  using rt = weft::compose::runtime<samples::kernel_thread_page>;
  rt::run([&] {
    std::thread::id mine = std::this_thread::get_id(), others;
    rt::thread second([&] { others = std::this_thread::get_id(); });
    second.join();
    check(others != mine, "each thread has a kernel thread of its own");
  });
  // [/sample]
}

void sequential() {
  // [sample use-sequential]
  using rt = weft::compose::runtime<samples::sequential_page>;
  bool found = false;
  rt::run([&] {
    rt::mutex lock;
    lock.lock();
    rt::thread child([&] {
      try {
        lock.lock();  // held by the one who waits for this thread
      } catch (const std::system_error& e) {
        found = e.code() == std::errc::resource_deadlock_would_occur;
      }
    });
    child.join();
    lock.unlock();
  });
  // [/sample]
  check(found, "the deadlock was found");
}

} // namespace

int main() {
  first_page();
  deque();
  scheduler();
  recorder();
  mutex();
  kernel_threads();
  sequential();
}
