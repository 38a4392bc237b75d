// SPDX-License-Identifier: MIT
// priorities with Weft: a low thread that is preemptible spins on the only worker. kick: it is interrupted
// when the high one becomes ready; tick: when the monitor next looks; none: it polls
// weft::this_thread::yield() after each microsecond or so, as cooperative threads must.
#include <cstdlib>

#include "bench/peer/weft.hpp"
#include "bench/priorities/workload.hpp"
#include "weft/preemption.hpp"
#include "weft/semaphore.hpp"
#include "weft/thread.hpp"

namespace bench = weft::bench;
namespace work = bench::priorities;

namespace {

weft::thread_attributes of(weft::priority p) {
  weft::thread_attributes a;
  a.priority = p;
  return a;
}

void run_politely() {
  while (!work::low_work::over.load(std::memory_order_relaxed)) {
    for (int i = 0; i < 1000; ++i)
      work::low_work::steps.store(work::low_work::steps.load(std::memory_order_relaxed) + 1,
                                  std::memory_order_relaxed);
    weft::this_thread::yield();
  }
}

int run(bench::recorder& rec) {
  weft::runtime::options o;
  o.workers = 1;
  o.pools = weft::arrangement::priorities;
  work::use_cpu(0); // and the worker with it
  const weft::runtime::scope runtime(o);
  work::use_cpu(1);
  const bool creates = rec.opt().form.ends_with(".create");
  const bool polite = rec.opt().form.starts_with("none");
  weft::thread_attributes low = of(weft::priority::low);
  low.preemption = polite                                                     ? weft::preemption::none
                   : rec.opt().form.find("signal_yield") != std::string::npos ? weft::preemption::signal_yield
                                                                              : weft::preemption::own_tls;
  weft::thread spinner(low, polite ? &run_politely : &work::low_work::run);
  weft::counting_semaphore<> wanted(0);
  std::atomic<bool> ended{false};
  weft::thread waiter(of(weft::priority::high), [&] {
    for (;;) {
      wanted.acquire();
      if (ended)
        return;
      work::arrival::mark();
    }
  });
  weft::thread made;
  const auto create = [&made] {
    made = weft::thread(of(weft::priority::high), [] { work::arrival::mark(); });
  };
  const int result = creates ? work::run(rec, create, [&made] { made.join(); })
                             : work::run(rec, [&wanted] { wanted.release(); }, [] {});
  work::low_work::over = true;
  ended = true;
  wanted.release();
  waiter.join();
  spinner.join();
  return result;
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, work::defaults(),
                      {"kick.own_tls", "kick.own_tls.create", "kick.signal_yield", "kick.signal_yield.create",
                       "tick.own_tls", "tick.signal_yield", "none"});
  if (rec.opt().form.starts_with("tick"))
    ::setenv("WEFT_PREEMPTION_KICKS", "0", 1);
  int result = 0;
  std::thread outside([&] { result = run(rec); }); // main would become a thread on worker 0
  outside.join();
  return result;
}
