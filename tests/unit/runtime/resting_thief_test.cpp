// SPDX-License-Identifier: MIT
// A worker that rests after thefts that brought little is called for what is its own. Run with rests of
// minutes too (WEFT_IDLE_REST), which the test does not wait for.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <thread>

#include "weft/pool.hpp"
#include "weft/sched/default_group.hpp"
#include "weft/thread.hpp"
#include "weft/workers/group.hpp"
#include "weft/workers/worker.hpp"

namespace weft {
namespace {

bool rests(const sched::worker& w) {
  return w.recording.counters.rests != 0 && w.parking.spot.load() == park::idle_state::parked;
}

// The other of two workers, once it rests. Until then it is left every thread, and each is a short one: also
// where both share a CPU, as the one that waits lets it go (sched_yield() of a cooperative thread is the
// kernel's).
sched::worker& make_the_other_rest(worker_group& g) {
  for (;;) {
    sched::worker& other = g.member(g.member(0).is_here() ? 1 : 0);
    std::atomic<bool> has_run{false};
    thread child([&has_run] { has_run = true; });
    while (!has_run && !rests(other))
      ::sched_yield();
    const bool found = rests(other);
    child.join(); // SWITCH: may go on on the other worker
    if (found && !other.is_here())
      return other;
  }
}

template <class F>
void in_a_thread_of_two_workers(F f) {
  group_options two;
  two.workers = 2;
  worker_group g(std::move(two));
  thread_attributes there;
  there.pool = &g.next_pool();
  thread(there, [&] { f(g); }).join();
} // and a worker that rests ends at once

// `start(attributes, function)` makes a thread in the pool of the worker that rests, and returns who is to be
// joined. The caller's worker looks at nothing until that has run.
template <class Start>
void runs_on_the_one_that_rests(Start start) {
  in_a_thread_of_two_workers([&start](worker_group& g) {
    thread_attributes its_own;
    its_own.pool = make_the_other_rest(g).main_pool.load_acquire();
    std::atomic<bool> has_run{false};
    auto started = start(its_own, [&has_run] { has_run = true; });
    while (!has_run)
      ::sched_yield();
    started.join();
  });
}

TEST(resting_thief, is_called_for_a_thread_of_its_own) {
  runs_on_the_one_that_rests([](const thread_attributes& a, auto f) { return thread(a, f); });
}

TEST(resting_thief, is_called_from_a_foreign_kernel_thread) {
  runs_on_the_one_that_rests(
      [](const thread_attributes& a, auto f) { return std::thread([a, f] { thread(a, f).join(); }); });
}

TEST(resting_thief, ends_with_its_group) {
  in_a_thread_of_two_workers([](worker_group& g) { make_the_other_rest(g); });
}

} // namespace
} // namespace weft
