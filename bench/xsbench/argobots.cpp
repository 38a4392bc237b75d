// SPDX-License-Identifier: MIT
// xsbench against abt.h, for Argobots and for Weft's front, as the paper describes it: a scheduler with a
// loop of its own takes what is in its stream's pool, at most 8,192, runs it in the order of energies, and
// steals from the pools of others when its own is empty. unsorted: the same without the sort.
#include <abt.h>

#include <cstdio>
#include <cstdlib>

#include "bench/xsbench/workload.hpp"

namespace bench = weft::bench;
namespace xs = weft::bench::xsbench;

namespace {

void must(int code) {
  if (code == ABT_SUCCESS)
    return;
  std::fprintf(stderr, "abt.h: error %d\n", code);
  std::exit(2);
}

// What a unit is called with. Creators have the highest key, so that they come last.
struct unit {
  double key = 2; // above all energies
  xs::lookups* data = nullptr;
  std::size_t i = 0;
  ABT_thread handle = ABT_THREAD_NULL; // or a tasklet's
};

void look_up(void* argument) {
  const unit& u = *static_cast<unit*>(argument);
  u.data->look_up(u.i);
}

bool sorted = true; // written before the streams begin

struct ready {
  double key;
  ABT_thread handle;
};

double key_of(ABT_thread handle) {
  ABT_bool primary = ABT_FALSE;
  must(ABT_thread_is_primary(handle, &primary)); // has no argument
  void* argument = nullptr;
  if (primary == ABT_FALSE)
    must(ABT_thread_get_arg(handle, &argument));
  return argument == nullptr ? unit().key : static_cast<const unit*>(argument)->key;
}

// The loop of a scheduler; pools[0] is its stream's.
class loop {
 public:
  explicit loop(const std::vector<ABT_pool>& pools) : pools_(pools), handles_(xs::batch + 1) {}

  void run(ABT_sched sched) {
    for (;;) {
      std::size_t count = 0;
      must(ABT_pool_pop_threads(pools_[0], handles_.data(), handles_.size(), &count));
      if (count != 0)
        run_in_order(count);
      else
        steal();
      ABT_bool stop = ABT_FALSE;
      must(ABT_xstream_check_events(sched));
      must(ABT_sched_has_to_stop(sched, &stop));
      if (stop == ABT_TRUE)
        return;
    }
  }

 private:
  void run_in_order(std::size_t count) {
    batch_.clear();
    for (std::size_t k = 0; k < count; ++k)
      batch_.push_back({sorted ? key_of(handles_[k]) : 0, handles_[k]});
    if (sorted)
      std::sort(batch_.begin(), batch_.end(), [](const ready& a, const ready& b) { return a.key < b.key; });
    for (const ready& each : batch_)
      must(ABT_self_schedule(each.handle, ABT_POOL_NULL));
  }
  void steal() {
    for (std::size_t k = 1; k < pools_.size(); ++k) {
      std::size_t count = 0;
      must(ABT_pool_pop_threads(pools_[k], handles_.data(), 1, &count));
      if (count != 0) {
        must(ABT_self_schedule(handles_[0], ABT_POOL_NULL));
        return;
      }
    }
  }

  const std::vector<ABT_pool> pools_;
  std::vector<ABT_thread> handles_;
  std::vector<ready> batch_;
};

int init(ABT_sched, ABT_sched_config) {
  return ABT_SUCCESS;
}
void run_loop(ABT_sched sched) {
  int count = 0;
  must(ABT_sched_get_num_pools(sched, &count));
  std::vector<ABT_pool> pools(static_cast<std::size_t>(count));
  must(ABT_sched_get_pools(sched, count, 0, pools.data()));
  loop(pools).run(sched);
}
int free_nothing(ABT_sched) {
  return ABT_SUCCESS;
}

class streams {
 public:
  explicit streams(unsigned count) : pools_(count), streams_(count) {
    must(ABT_init(0, nullptr));
    for (ABT_pool& pool : pools_)
      must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
    ABT_sched_config automatic; // freed with its stream
    must(ABT_sched_config_create(&automatic, ABT_sched_config_automatic, 1, ABT_sched_config_var_end));
    ABT_sched_def def = {ABT_SCHED_TYPE_ULT, init, run_loop, free_nothing, nullptr};
    for (unsigned k = 0; k < count; ++k) {
      std::vector<ABT_pool> served = pools_;
      std::rotate(served.begin(), served.begin() + k, served.end());
      ABT_sched sched;
      must(ABT_sched_create(&def, static_cast<int>(count), served.data(), automatic, &sched));
      if (k == 0) {
        must(ABT_xstream_self(&streams_[0]));
        must(ABT_xstream_set_main_sched(streams_[0], sched));
      } else {
        must(ABT_xstream_create(sched, &streams_[k]));
      }
    }
    must(ABT_sched_config_free(&automatic));
  }
  ~streams() {
    for (std::size_t k = 1; k < streams_.size(); ++k) {
      ABT_xstream_join(streams_[k]);
      ABT_xstream_free(&streams_[k]);
    }
    ABT_finalize();
  }
  streams(const streams&) = delete;
  streams& operator=(const streams&) = delete;

  [[nodiscard]] const std::vector<ABT_pool>& pools() const { return pools_; }

 private:
  std::vector<ABT_pool> pools_;
  std::vector<ABT_xstream> streams_;
};

// Makes the tasklets of a part.
struct creator : unit {
  creator(ABT_pool its_pool, std::size_t its_part, std::size_t all_parts)
      : pool(its_pool), part(its_part), parts(all_parts) {}
  ABT_pool pool;
  std::size_t part, parts;
  std::vector<unit> units{xs::batch};
};

void create_part(void* argument) {
  creator& c = *static_cast<creator*>(static_cast<unit*>(argument));
  c.data->in_batches(
      c.part, c.parts,
      [&c](std::size_t j, std::size_t i) {
        unit& u = c.units[j];
        u = {c.data->energy_of(i), c.data, i};
        must(ABT_task_create(c.pool, look_up, &u, &u.handle));
      },
      [&c](std::size_t j) { must(ABT_task_free(&c.units[j].handle)); });
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, xs::defaults(), xs::forms({"sorted", "unsorted"}));
  sorted = xs::how(rec) == "sorted";
  const streams all(rec.opt().workers);
  std::vector<creator> creators;
  for (std::size_t k = 0; k < rec.opt().workers; ++k)
    creators.emplace_back(all.pools()[k], k, rec.opt().workers);
  return xs::run(rec, [&creators](xs::lookups& l) {
    for (creator& c : creators) {
      c.data = &l;
      must(ABT_thread_create(c.pool, create_part, static_cast<unit*>(&c), ABT_THREAD_ATTR_NULL, &c.handle));
    }
    for (creator& c : creators)
      must(ABT_thread_free(&c.handle));
  });
}
