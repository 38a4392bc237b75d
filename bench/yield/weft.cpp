// SPDX-License-Identifier: MIT
// yield with Weft: in a private FIFO pool, and under the default work-stealing runtime.
#include "bench/peer/weft.hpp"
#include "bench/yield/workload.hpp"
#include "weft/thread.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::yield::defaults(), {"thread", "stealing"});
  const weft::runtime::scope runtime(bench::weft_options(1, rec.form_is("stealing")));
  const std::size_t n = rec.opt().n;
  return bench::yield::run(rec, [n](auto body) {
    using body_type = decltype(body);
    const auto part = [n](int me) {
      bench::yield::loop<body_type>(n, me,
                                    []() __attribute__((always_inline)) { weft::this_thread::yield(); });
    };
    weft::thread first(part, 0), second(part, 1);
    first.join();
    second.join();
  });
}
