// SPDX-License-Identifier: MIT
// memory with kernel threads (what the kernel itself keeps for them is not counted).
#include <pthread.h>

#include <mutex>
#include <thread>

#include "bench/memory/workload.hpp"

namespace bench = weft::bench;
using bench::memory::progress;

namespace {

std::mutex gate;
std::mutex marks;

void* start(void*) {
  {
    const std::scoped_lock lock(marks);
    progress::mark();
  }
  const std::scoped_lock lock(gate);
  return nullptr;
}

std::size_t started() {
  const std::scoped_lock lock(marks);
  return progress::started;
}

} // namespace

int main(int argc, char** argv) {
  auto defaults = bench::memory::defaults();
  defaults.n = 1000;
  bench::recorder rec(argc, argv, defaults, {"blocked"});
  auto threads = bench::memory::resident<pthread_t>(rec.opt().n);
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, bench::memory::stack_size);
  return bench::memory::run(
      rec,
      [&] {
        gate.lock();
        for (pthread_t& thread : threads) {
          if (pthread_create(&thread, &attr, start, nullptr) != 0)
            std::abort();
        }
        while (started() < rec.opt().n)
          std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(50)); // the last ones reach the gate
      },
      [&] {
        gate.unlock();
        for (pthread_t thread : threads)
          pthread_join(thread, nullptr);
      });
}
