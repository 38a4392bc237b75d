// SPDX-License-Identifier: MIT
// A creator a worker, for workloads that compare threading techniques (kmeans, graph500), as in the paper:
// parent first with a private pool each, so that threads stay with their creator's worker; child first with
// work stealing, since there it is the creators that must move.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/peer/weft.hpp"
#include "bench/peer/weft_techniques.hpp"

namespace weft::bench {

template <class Unit>
class creators {
 public:
  // `batch`: units that a creator makes before it joins them.
  creators(unsigned workers, std::size_t batch) : places_(workers), threads_(workers), units_(workers) {
    const worker_group& group = runtime::default_group();
    for (unsigned k = 0; k < workers; ++k) {
      if (group.pools() == arrangement::pool_per_worker)
        places_[k].pool = group.member(k).main_pool.load_acquire();
      units_[k].resize(batch);
    }
  }

  [[nodiscard]] std::size_t count() const noexcept { return threads_.size(); }

  // create(k, its units) by each creator k; returns when all have ended.
  template <class F>
  void run(F create) {
    for (std::size_t k = 0; k < threads_.size(); ++k)
      threads_[k] = thread(places_[k], [this, create, k] { create(k, units_[k]); });
    for (thread& t : threads_)
      t.join();
  }

 private:
  std::vector<thread_attributes> places_;
  std::vector<thread> threads_;
  std::vector<std::vector<Unit>> units_; // of each creator, a batch
};

// f(creators of technique T) in a runtime whose pools suit T, for the technique of that name; what f returns.
template <class F>
int with_creators(unsigned workers, std::string_view technique, std::size_t batch, F f) {
  return with_technique(technique, [&]<technique_id T>() {
    runtime::options options = weft_options(workers);
    if (!unit::is_child_first(T))
      options.pools = arrangement::pool_per_worker;
    const runtime::scope scope(options);
    creators<thread_of<T>> all(workers, batch);
    return f(all);
  });
}

} // namespace weft::bench
