// SPDX-License-Identifier: MIT
// io with kernel threads that block in read(2), bound to as many CPUs as the others have workers.
#include <atomic>
#include <sched.h>
#include <thread>

#include "bench/io/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::io::defaults(), {"thread"});
  const bench::io::socket_pairs sockets(rec);
  if (rec.opt().workers == 1)
    bench::pin_to_cpu(0);
  std::atomic<std::size_t> right{0};
  return bench::io::run(rec, [&] {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < 2 * rec.opt().n; ++i) {
      threads.emplace_back([&, i] {
        right += bench::io::ping_pong(
            sockets.end(i / 2, i % 2), i % 2 == 0, [](int d, char& byte) { return ::read(d, &byte, 1) == 1; },
            [](int d, char& byte) { return ::write(d, &byte, 1) == 1; });
      });
    }
    for (std::thread& t : threads)
      t.join();
    rec.check(right == threads.size(), "every pair made its trips");
    right = 0;
  });
}
