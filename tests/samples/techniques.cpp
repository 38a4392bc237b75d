// SPDX-License-Identifier: MIT
// Samples of docs/guide/techniques.md.
#include <weft/pool.hpp>
#include <weft/runtime.hpp>
#include <weft/techniques.hpp>

#include <atomic>
#include <memory>
#include <vector>

#include "tests/samples/check.hpp"

using samples::check;

int main() {
  const weft::runtime::scope runtime;
  std::atomic<int> done{0};
  const auto work = [&done] { ++done; };
  {
    // [sample technique]
    weft::thread_attributes a;
    a.technique = weft::technique_id::roc_lazy;
    weft::thread by_attribute(a, [&] { work(); });  // looked at when it is created and joined
    weft::thread_of<weft::technique_id::roc_lazy> by_type([&] { work(); });  // inlined for it
    by_attribute.join();
    by_type.join();
    // [/sample]
  }
  {
    // [sample pool-default]
    std::shared_ptr<weft::pool> jobs = weft::make_pool(weft::order::fifo, weft::access::mpsc);
    jobs->set_default_technique(weft::technique_id::ss_lazy);
    weft::group_options options;  // one worker for it; a group's own pools have `options.technique`
    options.workers = 1;
    options.pools = weft::arrangement::custom;
    options.make_scheduler = [&](unsigned /*number*/) {
      return std::make_shared<weft::fifo_scheduler>(std::vector{jobs});
    };
    weft::worker_group workers(options);
    weft::thread_attributes in_jobs;
    in_jobs.pool = jobs.get();
    weft::thread t(in_jobs, [&] { work(); });  // SS-L
    t.join();
    // [/sample]
  }
  check(done == 3, "all have run");
}
