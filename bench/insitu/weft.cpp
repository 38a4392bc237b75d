// SPDX-License-Identifier: MIT
// insitu with Weft. plain: analysis threads as all others; priority: of the low class, cooperative;
// preemptive: of the low class, and interrupted when a simulation thread becomes ready; signal_yield: the
// same, by the cheaper kind; ticks: preemptive, but interrupted by the monitor's ticks only, as in the paper.
#include <cstdlib>
#include <thread>

#include "bench/insitu/workload.hpp"
#include "bench/peer/weft.hpp"
#include "weft/preemption.hpp"
#include "weft/thread.hpp"

namespace bench = weft::bench;
namespace work = bench::insitu;

namespace {

class peer {
 public:
  peer(unsigned workers, weft::thread_attributes of_analysis)
      : workers_(workers), analysis_count_(std::max(workers, 2U) - 1), of_analysis_(of_analysis) {}

  template <class F>
  void for_each_part(F f) {
    for (unsigned part = 0; part < workers_; ++part)
      parts_.emplace_back(f, part);
    join(parts_);
  }
  template <class F>
  void start(F f) {
    for (unsigned part = 0; part < analysis_count_; ++part)
      analyses_.emplace_back(of_analysis_, f, part);
  }
  void finish() { join(analyses_); }

 private:
  static void join(std::vector<weft::thread>& threads) {
    for (weft::thread& t : threads)
      t.join();
    threads.clear();
  }

  unsigned workers_, analysis_count_;
  weft::thread_attributes of_analysis_;
  std::vector<weft::thread> parts_, analyses_;
};

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, work::defaults(),
                      work::forms({"plain", "priority", "preemptive", "signal_yield", "ticks"}));
  const std::string how = work::how(rec);
  if (how == "ticks")
    ::setenv("WEFT_PREEMPTION_KICKS", "0", 1);
  weft::runtime::options o;
  o.workers = rec.opt().workers;
  o.pools = weft::arrangement::priorities;
  const weft::runtime::scope runtime(o);
  weft::thread_attributes low;
  low.priority = how == "plain" ? weft::priority::high : weft::priority::low;
  if (how == "preemptive" || how == "ticks")
    low.preemption = weft::preemption::own_tls;
  if (how == "signal_yield")
    low.preemption = weft::preemption::signal_yield;
  peer p(rec.opt().workers, low);
  return work::run(rec, p);
}
