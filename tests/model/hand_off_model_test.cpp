// SPDX-License-Identifier: MIT
// How workers go from one kernel thread to another, and threads come back to theirs: the shipped
// weft/carrier/carrier.cpp and user_mode.cpp under the checker, with ticks at any point of user mode.
#include "tests/model/checker/model.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/mutations.hpp"
#include "tests/model/runtime/machine.hpp"

#include "weft/carrier/leaving.hpp"

#include <gtest/gtest.h>

#include <array>

namespace weft {
namespace {

using model::bounds;
using model::check;
using model::exactly;
using model::expect_every_weakening_is_found;
using model::expect_passes;
using model::expect_walks_pass;
using model::runtime::leave_here;
using model::runtime::machine;
using model::runtime::on_tick;
using model::runtime::worker_below;
using sched::preemption;

/// What user code sees. Plain data: the checker tells if two run on one worker, or a hand-off orders too
/// little.
struct seen {
  int ticks = 0; // still to come
  std::array<model::var<int>, 2> of_worker = {0, 0};
  int rounds_done = 0;
};

void use_worker(seen& s) {
  const sched::worker* const w = worker_below();
  if (w != nullptr &&
      w->carried.home != nullptr) // else the thread is away, and something stands for its worker
    ++s.of_worker[w->number];
}

/// A tick comes here or it does not.
void maybe_tick(seen& s, bool in_call = false) {
  if (s.ticks > 0 && model::choose(2) == 1) {
    --s.ticks;
    on_tick(in_call);
  }
}

void compute(seen& s, int rounds, bool stays) {
  for (int i = 0; i < rounds; ++i) {
    const unsigned kernel_thread = model::self();
    use_worker(s);
    maybe_tick(s);
    use_worker(s);
    check(!stays || model::self() == kernel_thread, "a captive goes on on its own kernel thread");
    ++s.rounds_done;
  }
}

void threads_compute(preemption kind, unsigned workers, unsigned spares, machine::list where, int threads,
                     int ticks) {
  seen s;
  s.ticks = ticks;
  {
    machine m(workers, spares, where);
    for (int i = 0; i < threads; ++i)
      m.add(kind, [&s, kind] { compute(s, 2, kind == preemption::own_kernel_thread); });
    m.run();
  }
  check(s.rounds_done == 2 * threads, "somebody did not run to its end");
}

constexpr auto own = preemption::own_kernel_thread;

TEST(hand_off_model, one_worker_through_its_loop) {
  expect_passes(model::one_by_one(bounds(1, 1)),
                [] { threads_compute(own, 1, 2, machine::list::shared, 2, 2); });
}
TEST(hand_off_model, one_worker_from_captive_to_captive) {
  expect_passes(model::one_by_one(bounds(1, 0)),
                [] { threads_compute(own, 1, 2, machine::list::own_fifo, 2, 2); });
}
TEST(hand_off_model, two_workers) {
  expect_passes(model::one_by_one(bounds(1, 0)),
                [] { threads_compute(own, 2, 2, machine::list::shared, 2, 1); });
}
TEST(hand_off_model, more_threads_than_kernel_threads) {
  expect_passes(model::one_by_one(bounds(1, 0)),
                [] { threads_compute(own, 1, 1, machine::list::shared, 3, 3); });
}
TEST(hand_off_model, random_walks) {
  expect_walks_pass({}, 20'000, [] { threads_compute(own, 1, 3, machine::list::own_fifo, 3, 4); });
  expect_walks_pass({}, 20'000, [] { threads_compute(own, 2, 3, machine::list::shared, 3, 4); });
}

// --- system calls: the worker goes, the thread comes back by itself or by a tick ---

void threads_block(unsigned workers, unsigned spares, int ticks) {
  seen s;
  s.ticks = ticks;
  {
    machine m(workers, spares, machine::list::shared);
    for (int i = 0; i < 2; ++i) {
      m.add(preemption::own_kernel_thread, [&s] {
        maybe_tick(s, true);
        maybe_tick(s, false);
        use_worker(s);
        {
          const sched::runtime_section in; // comes back, if it is away
        }
        use_worker(s);
        ++s.rounds_done;
      });
    }
    m.run();
  }
  check(s.rounds_done == 2, "somebody did not come back");
}

TEST(hand_off_model, a_thread_blocks_and_comes_back) {
  expect_passes(model::one_by_one(bounds(1, 0)), [] { threads_block(1, 2, 3); });
}
TEST(hand_off_model, a_thread_blocks_and_another_worker_fetches_it) {
  expect_passes(model::one_by_one(bounds(1, 0)), [] { threads_block(2, 2, 1); });
  expect_walks_pass({}, 20'000, [] { threads_block(2, 3, 4); });
}

// --- cooperative threads: away on homes too, and back by themselves ---

void leave_and_come_back(seen& s) {
  use_worker(s);
  const unsigned kernel_thread = model::self();
  if (leave_here())
    check(worker_below() == nullptr && model::self() == kernel_thread, "it is away, where it was");
  use_worker(s);
  {
    const sched::runtime_section in; // comes back, if it is away
  }
  use_worker(s);
  ++s.rounds_done;
}

void cooperative_threads_leave(unsigned workers, unsigned spares, int threads, int preemptible = 0) {
  seen s;
  s.ticks = preemptible;
  {
    machine m(workers, spares, machine::list::shared);
    for (int i = 0; i < threads; ++i)
      m.add(preemption::none, [&s] { leave_and_come_back(s); });
    for (int i = 0; i < preemptible; ++i)
      m.add(preemption::own_kernel_thread, [&s] { compute(s, 1, true); });
    m.run();
  }
  check(s.rounds_done == threads + preemptible, "somebody did not come back");
}

TEST(hand_off_model, a_cooperative_thread_leaves_from_home) {
  expect_passes(model::one_by_one(bounds(1, 1)), [] { cooperative_threads_leave(1, 1, 2); });
}
// The second finds no spare: it goes to the home that the first had, or keeps the worker.
TEST(hand_off_model, a_home_is_free_again) {
  expect_passes(model::one_by_one(bounds(1, 0)), [] { cooperative_threads_leave(1, 1, 3); });
}
TEST(hand_off_model, cooperative_threads_of_two_workers) {
  expect_passes(model::one_by_one(bounds(1, 0)), [] { cooperative_threads_leave(2, 1, 2); });
  expect_walks_pass({}, 20'000, [] { cooperative_threads_leave(2, 2, 4); });
}
TEST(hand_off_model, beside_one_that_is_captive) {
  expect_passes(model::one_by_one(bounds(1, 0)), [] { cooperative_threads_leave(1, 2, 1, 1); });
  expect_walks_pass({}, 20'000, [] { cooperative_threads_leave(2, 2, 3, 1); });
}

TEST(hand_off_weakened, carrier_and_user_mode) {
  expect_every_weakening_is_found(
      {{model::one_by_one(exactly(1, 1)), [] { threads_compute(own, 1, 2, machine::list::shared, 2, 1); }},
       {model::one_by_one(exactly(1, 0)), [] { threads_block(1, 2, 2); }},
       {model::one_by_one(exactly(1, 1)), [] { cooperative_threads_leave(1, 1, 2); }}},
      {{"pool.cpp: pool::~pool: store -> relaxed", "before the threads start and after they have ended"},
       {"pool.cpp: pool::attach: store -> relaxed", "before the threads start and after they have ended"},
       {"pool.cpp: pool::publish_servers: store -> relaxed",
        "before the threads start and after they have ended"},
       {"watcher_rest.hpp: watcher_rest::rouse: fence -> dropped", "tells the monitor; rest_weakened has it"},
       {"away.cpp: user_mode::let_worker_go: store -> relaxed", "tells the monitor, which is not here"},
       {"worker.hpp: worker::ask: rmw -> acquire", "before the threads start and after they have ended"},
       {"worker.hpp: worker::ask: rmw -> release", "before the threads start and after they have ended"},
       {"extension.cpp: unit::extension_of: load -> relaxed", "no thread has local storage here"},
       {"descriptor.hpp: pool_reference::get: load -> relaxed",
        "nobody migrates; migration_weakened has it"}});
}

} // namespace
} // namespace weft
