// SPDX-License-Identifier: MIT
// wakeup with Weft: a thread pushed into the pool of an idle worker, and a thread that waits on a semaphore,
// notified. The pusher is a kernel thread that Weft did not start.
#include "bench/peer/weft.hpp"
#include "bench/wakeup/workload.hpp"
#include "weft/semaphore.hpp"
#include "weft/thread.hpp"

namespace bench = weft::bench;

namespace {

int run(bench::recorder& rec) {
  weft::runtime::options o = bench::weft_options(1, true);
  const weft::runtime::scope runtime(o);
  if (rec.form_is("push")) {
    weft::thread thread;
    return bench::wakeup::run(rec, [&] {
      return bench::wakeup::latency([&] { thread = weft::thread([] { bench::wakeup::arrival::mark(); }); },
                                    [&] { thread.join(); });
    });
  }
  weft::counting_semaphore<> wanted(0);
  std::atomic<bool> ended{false};
  weft::thread waiter([&] {
    for (;;) {
      wanted.acquire();
      if (ended)
        return;
      bench::wakeup::arrival::mark();
    }
  });
  const int result =
      bench::wakeup::run(rec, [&] { return bench::wakeup::latency([&] { wanted.release(); }, [] {}); });
  ended = true;
  wanted.release();
  waiter.join();
  return result;
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::wakeup::defaults(), {"push", "notify"});
  int result = 0;
  std::thread outside([&] { result = run(rec); }); // main would become a thread on worker 0, and keep it busy
  outside.join();
  return result;
}
