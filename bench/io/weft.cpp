// SPDX-License-Identifier: MIT
// io with Weft, over epoll and over io_uring.
#include <atomic>

#include "bench/io/workload.hpp"
#include "bench/peer/weft.hpp"
#include "weft/io.hpp"
#include "weft/thread.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::io::defaults(), {"epoll", "uring"});
  weft::runtime::options o = bench::weft_options(rec.opt().workers, true);
  o.io = rec.form_is("uring") ? weft::io::mechanism::uring : weft::io::mechanism::epoll;
  const weft::runtime::scope runtime(o);
  const bench::io::socket_pairs sockets(rec);
  for (std::size_t i = 0; i < 2 * rec.opt().n; ++i)
    weft::io::adopt(sockets.end(i / 2, i % 2));
  std::atomic<std::size_t> right{0};
  const int result = bench::io::run(rec, [&] {
    std::vector<weft::thread> threads;
    for (std::size_t i = 0; i < 2 * rec.opt().n; ++i) {
      threads.emplace_back([&, i] {
        std::error_code error;
        right += bench::io::ping_pong(
            sockets.end(i / 2, i % 2), i % 2 == 0,
            [&](int d, char& byte) { return weft::io::read(d, &byte, 1, error) == 1; },
            [&](int d, char& byte) { return weft::io::write(d, &byte, 1, error) == 1; });
      });
    }
    for (weft::thread& t : threads)
      t.join();
    rec.check(right == threads.size(), "every pair made its trips");
    right = 0;
  });
  return result;
}
