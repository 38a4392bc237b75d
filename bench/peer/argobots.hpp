// SPDX-License-Identifier: MIT
// The Argobots API as the adapters use it: one pool an execution stream, stacks of 16 KiB (its default),
// initialised and finalised with an object. One stream: a private FIFO pool under the basic scheduler, its
// cheapest combination. Several: RANDWS pools under random work stealing. Every argobots.cpp is compiled
// twice: against Argobots, and against Weft's own libabt as the peer weft-abt.
#pragma once

#include <abt.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace weft::bench {

class argobots {
 public:
  enum class sharing { none, stealing, directed, directed_waiting, one_pool, lanes };

  // directed: several streams, each serving its own pool only, which anyone may push to. directed_waiting:
  // the same, and a stream sleeps while its pool is empty. lanes: as directed, and each stream also serves a
  // pool private to it.
  explicit argobots(unsigned workers) : argobots(workers, workers == 1 ? sharing::none : sharing::stealing) {}

  argobots(unsigned workers, sharing how)
      : pools_(how == sharing::one_pool ? 1 : workers), streams_(workers) {
    must(ABT_init(0, nullptr));
    const bool waiting = how == sharing::directed_waiting;
    for (ABT_pool& pool : pools_) {
      const auto kind = how == sharing::stealing ? ABT_POOL_RANDWS
                        : waiting                ? ABT_POOL_FIFO_WAIT
                                                 : ABT_POOL_FIFO;
      const auto access = how == sharing::none ? ABT_POOL_ACCESS_PRIV : ABT_POOL_ACCESS_MPMC;
      must(ABT_pool_create_basic(kind, access, ABT_TRUE, &pool));
    }
    private_pools_.resize(how == sharing::lanes ? workers : 0);
    for (ABT_pool& pool : private_pools_)
      must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &pool));
    for (unsigned rank = 0; rank < workers; ++rank) {
      std::vector<ABT_pool> served;
      for (unsigned k = 0; k < (how == sharing::stealing ? workers : 1); ++k) {
        served.push_back(pools_[(rank + k) % pools_.size()]);
      }
      if (how == sharing::lanes)
        served.push_back(private_pools_[rank]);
      ABT_sched sched;
      const auto predef = how == sharing::stealing ? ABT_SCHED_RANDWS
                          : waiting                ? ABT_SCHED_BASIC_WAIT
                                                   : ABT_SCHED_BASIC;
      const int count = static_cast<int>(served.size());
      must(ABT_sched_create_basic(predef, count, served.data(), ABT_SCHED_CONFIG_NULL, &sched));
      if (rank == 0) {
        must(ABT_xstream_self(&streams_[0]));
        must(ABT_xstream_set_main_sched(streams_[0], sched));
      } else {
        must(ABT_xstream_create(sched, &streams_[rank]));
      }
    }
  }

  ~argobots() {
    for (std::size_t rank = 1; rank < streams_.size(); ++rank) {
      ABT_xstream_join(streams_[rank]);
      ABT_xstream_free(&streams_[rank]);
    }
    ABT_finalize();
  }

  argobots(const argobots&) = delete;
  argobots& operator=(const argobots&) = delete;

  ABT_pool pool(std::size_t i) const { return pools_[pools_.size() == 1 ? 0 : i % pools_.size()]; }

  ABT_pool private_pool(std::size_t i) const { return private_pools_[i]; }

  // The pool of the stream that the caller is on.
  ABT_pool my_pool() const {
    if (pools_.size() == 1)
      return pools_[0];
    int rank = 0;
    ABT_self_get_xstream_rank(&rank);
    return pools_[static_cast<std::size_t>(rank)];
  }

 private:
  static void must(int code) {
    if (code == ABT_SUCCESS)
      return;
    std::fprintf(stderr, "Argobots error %d\n", code);
    std::exit(2);
  }

  std::vector<ABT_pool> pools_, private_pools_;
  std::vector<ABT_xstream> streams_;
};

} // namespace weft::bench
