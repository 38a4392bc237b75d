// SPDX-License-Identifier: MIT
// Regions of N threads under Weft's arrangement for packing: as many workers as threads, of which some are
// active.
#pragma once

#include <map>
#include <memory>

#include "weft/packing.hpp"
#include "weft/runtime.hpp"

namespace weft::bench {

// `none`: cooperative threads under Algorithm 1; `signal_yield`, `own_tls`: preempted at the interval;
// `wrap_around`: own_tls, laid out as the last run of the region says.
class weft_regions {
 public:
  weft_regions(const std::string& way, unsigned threads, unsigned active) : runtime_(options(threads)) {
    wanted_.planned = way == "wrap_around" ? packed_region::plan::wrap_around : packed_region::plan::none;
    wanted_.preemption = way == "signal_yield" ? preemption::signal_yield : preemption::own_tls;
    cooperative_ = way == "none";
    runtime::set_active_workers(active);
  }
  static std::vector<std::string> ways() { return {"wrap_around", "own_tls", "signal_yield", "none"}; }

  // Regions of one name are one region of the program.
  template <class F>
  void run(int name, unsigned threads, F&& f) {
    if (cooperative_)
      return run_cooperative(threads, f);
    auto& region = regions_[name];
    if (region == nullptr)
      region = std::make_unique<packed_region>(runtime::default_group(), wanted_);
    region->run(threads, f);
  }

 private:
  static runtime::options options(unsigned threads) {
    runtime::options o;
    o.workers = threads;
    o.pools = arrangement::packing;
    o.bind = true; // the k-th worker to the k-th CPU
    return o;
  }
  template <class F>
  void run_cooperative(unsigned threads, F& f) {
    std::vector<thread> made;
    made.reserve(threads);
    const worker_group& group = runtime::default_group();
    for (unsigned i = 0; i < threads; ++i) {
      thread_attributes a;
      a.pool = group.member(i % group.size()).main_pool.load_acquire();
      made.emplace_back(a, [&f, i] { f(i); });
    }
    for (thread& t : made)
      t.join();
  }

  runtime::scope runtime_;
  packed_region::options wanted_;
  bool cooperative_ = false;
  std::map<int, std::unique_ptr<packed_region>> regions_;
};

} // namespace weft::bench
