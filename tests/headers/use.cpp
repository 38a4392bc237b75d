// SPDX-License-Identifier: MIT
// Templates warn where they are used: one use of each kind. Compiled behind all public headers, never run.
#include <numeric>
#include <string>
#include <vector>

void use_threads() {
  int sum = 0;
  weft::thread t([&sum](int by) { sum += by; }, 1);
  t.join();
  weft::tasklet small([&sum] { ++sum; });
  small.join();
  weft::thread({.stack_size = 64 << 10, .name = "named"}, [] {}).join();
  auto forked = weft::fork([] { return std::string("text"); });
  static_cast<void>(forked.join());
}

void use_groups() {
  std::vector<int> numbers(100);
  weft::parallel_for(0, 100, [&](int i) { numbers[static_cast<std::size_t>(i)] = i; });
  weft::task_group group;
  group.run([] {});
  group.wait();
}

void use_waiting() {
  weft::mutex mutex;
  weft::condition_variable condition;
  std::unique_lock held(mutex);
  condition.wait(held, [] { return true; });
  weft::channel<int> channel(4);
  weft::promise<int> promise;
  weft::future<int> future = promise.get_future();
  promise.set_value(1);
  static_cast<void>(future.get());
}
