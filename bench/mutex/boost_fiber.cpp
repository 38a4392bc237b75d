// SPDX-License-Identifier: MIT
// mutex with boost::fibers::mutex.
#include <boost/fiber/all.hpp>

#include "bench/mutex/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::mutex::defaults(), {"mutex"});
  boost::fibers::mutex mutex;
  return bench::mutex::run(rec, [&] { mutex.lock(); }, [&] { mutex.unlock(); });
}
