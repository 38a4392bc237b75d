// SPDX-License-Identifier: MIT
// compose: the four operations whose cost composition must not change. One operation is: one thread created
// and joined at once; one of n threads that are created, then joined; one yield of two threads; one lock and
// unlock.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "bench/common/bench.hpp"

namespace weft::bench::compose {

inline options defaults() {
  return {.n = 1000, .rounds = 100, .repeats = 5, .workers = 1, .form = {}};
}

template <class Runtime>
[[gnu::noinline]] void fork_join(std::size_t n, std::size_t& count) {
  for (std::size_t i = 0; i < n; ++i) {
    typename Runtime::thread t([&count] { ++count; });
    t.join();
  }
}
template <class Runtime>
[[gnu::noinline]] void create_join(std::vector<typename Runtime::thread>& threads, std::size_t& count) {
  for (auto& t : threads)
    t = typename Runtime::thread([&count] { ++count; });
  for (auto t = threads.rbegin(); t != threads.rend(); ++t)
    t->join();
}
template <class Runtime>
[[gnu::noinline]] void yield(std::size_t n, std::size_t& count) {
  const auto part = [n, &count] {
    for (std::size_t i = 0; i < n; ++i) {
      ++count;
      Runtime::yield();
    }
  };
  typename Runtime::thread one(part), two(part);
  one.join();
  two.join();
}
template <class Runtime>
[[gnu::noinline]] void lock(std::size_t n, std::size_t& count) {
  typename Runtime::mutex m;
  for (std::size_t i = 0; i < n; ++i) {
    m.lock();
    asm volatile("" : "+m"(count)); // the protected datum lives in memory
    ++count;
    m.unlock();
  }
}

// Inside of Runtime's run().
template <class Runtime>
void measure(recorder& rec, std::string_view what) {
  const std::size_t n = rec.opt().n;
  std::vector<typename Runtime::thread> threads(what == "create_join" ? n : 0);
  std::size_t count = 0;
  const std::size_t each = what == "yield" ? 2 * n : n;
  const auto round = [&] {
    if (what == "fork_join")
      fork_join<Runtime>(n, count);
    else if (what == "create_join")
      create_join<Runtime>(threads, count);
    else if (what == "yield")
      yield<Runtime>(n, count);
    else
      lock<Runtime>(n, count);
  };
  round();
  rec.time_rounds(each, round);
  rec.check(count == each * (1 + rec.opt().rounds * rec.opt().repeats), "every operation was done once");
}

} // namespace weft::bench::compose
