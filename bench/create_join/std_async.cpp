// SPDX-License-Identifier: MIT
// create_join with std::async(std::launch::async).
#include <future>

#include "bench/create_join/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  auto defaults = bench::create_join::defaults();
  defaults.n = 64;
  bench::recorder rec(argc, argv, defaults, {"thread"});
  std::vector<std::future<void>> futures(rec.opt().n);
  return bench::create_join::run(rec, [&](auto body) {
    using body_type = decltype(body);
    for (auto& future : futures)
      future = std::async(std::launch::async, [] { body_type::run(); });
    for (auto& future : futures)
      future.get();
  });
}
