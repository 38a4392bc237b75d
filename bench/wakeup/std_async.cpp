// SPDX-License-Identifier: MIT
// wakeup with std::async: from the call to the first instruction of a new kernel thread.
#include <future>

#include "bench/wakeup/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::wakeup::defaults(), {"push"});
  std::future<void> unit;
  return bench::wakeup::run(rec, [&] {
    const auto push = [&] { unit = std::async(std::launch::async, bench::wakeup::arrival::mark); };
    return bench::wakeup::latency(push, [&] { unit.get(); });
  });
}
