// SPDX-License-Identifier: MIT
// A cell of the conformance suite: a kind of pool, a kind of scheduler, a number of workers. Its fixture runs
// a group of that make, and ends by counting what is left: units, stacks, timers, kernel threads.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "weft/os/clock.hpp"
#include "weft/pool.hpp"
#include "weft/runtime/runtime.hpp"
#include "weft/simulation.hpp"
#include "weft/sleep.hpp"
#include "weft/thread.hpp"

namespace weft::conformance {

using namespace std::chrono_literals;

enum class pool_kind {
  fifo_private,
  fifo_mpsc,
  fifo_mpmc,
  lifo_private,
  lifo_mpsc,
  lifo_mpmc,
  priority_private,
  priority_mpsc,
  priority_mpmc,
  deque,
  high_class,
  low_class,
  user
};
enum class scheduler_kind {
  fifo,
  priority,
  random_stealing,
  hierarchical,
  classes,
  by_concept,
  by_interface
};

struct cell {
  pool_kind pools;
  scheduler_kind scheduler;
  unsigned workers;

  [[nodiscard]] bool single_consumer() const;
  [[nodiscard]] bool lifo() const;
  // A thread that yields lets every other one run. Not so where a scheduler of the user's takes the newest
  // unit each time: that is his policy.
  [[nodiscard]] bool fair() const;
};

std::ostream& operator<<(std::ostream& out, const cell& c);
std::string name_of(const ::testing::TestParamInfo<cell>& info);
std::vector<cell> all_cells();
std::vector<pool_kind> all_pool_kinds();
std::shared_ptr<pool> make_pool_of(pool_kind kind); // threads have the default technique there

// `n` scaled by WEFT_CONFORMANCE_SCALE (percent; less under ThreadSanitizer), at least 1.
int scaled(int n);
// Long enough never to pass unless something hangs.
inline constexpr auto never = 60s;

// Deadlines are for failing, not for measuring. Virtual time under simulation, where a wait lets others run.
template <class Condition>
bool eventually(Condition condition) {
  const auto give_up = simulation::now() + never;
  while (!condition()) {
    if (simulation::now() > give_up)
      return false;
    this_thread::sleep_for(200us); // a worker that waits lets others run
  }
  return true;
}

// WEFT_CONFORMANCE_PREEMPTION: none (the default), signal_yield, own_tls, own_kernel_thread or
// bound_tls. Nearly all threads of the suite are of that kind then, under ticks at 200 us.
preemption kind_of_preemption();

// What WEFT_TECHNIQUE says: the default technique of all pools of the suite.
technique_id default_technique();

// Counts units, stacks, timers and kernel threads before and after.
class counted : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  [[nodiscard]] std::size_t units_before() const { return before_.units; }

 private:
  runtime::census before_{};
  std::size_t kernel_threads_before_ = 0;
};

class cell_fixture : public counted, public ::testing::WithParamInterface<cell> {
 protected:
  void SetUp() override;
  void TearDown() override;

  worker_group& group() { return *group_; }
  [[nodiscard]] unsigned workers() const { return GetParam().workers; }
  // The main pool of a worker.
  pool& main_pool(unsigned worker) { return *mains_.at(worker % mains_.size()); }
  std::shared_ptr<scheduler> make_scheduler(unsigned number);
  thread_attributes in_pool(unsigned worker) {
    thread_attributes a = tasklet_in_pool(worker);
    a.preemption = kind_of_preemption();
    return a;
  }
  thread_attributes tasklet_in_pool(unsigned worker) {
    thread_attributes a;
    a.pool = &main_pool(worker);
    return a;
  }

  // Calls f() on a thread of the group and waits for it, for anything in f() is to happen among its workers.
  template <class F>
  void inside(F f) {
    thread root(in_pool(0), std::move(f));
    root.join();
  }
  // One thread for each i in [0, count), over the workers' pools in turn; joined.
  template <class F>
  void for_each_thread(int count, F f) {
    std::vector<thread> threads;
    for (int i = 0; i < count; ++i)
      threads.emplace_back(in_pool(static_cast<unsigned>(i)), f, i);
    for (auto& t : threads)
      t.join();
  }

 private:
  std::vector<std::shared_ptr<pool>> mains_; // one a worker; all the same where they share one
  std::shared_ptr<pool> common_;             // a second pool of every worker, where the kind allows
  std::unique_ptr<worker_group> group_;
};

#define WEFT_CONFORMANCE(topic)                                                                              \
  class topic : public ::weft::conformance::cell_fixture {};                                                 \
  INSTANTIATE_TEST_SUITE_P(cells, topic, ::testing::ValuesIn(::weft::conformance::all_cells()),              \
                           ::weft::conformance::name_of)

} // namespace weft::conformance
