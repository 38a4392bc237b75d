// SPDX-License-Identifier: MIT
#include "weft/preempt/preparation.hpp"

#include <atomic>
#include <mutex>
#include <new>

#include "weft/arch/user_mode.hpp"
#include "weft/base/immortal.hpp"
#include "weft/base/refuse.hpp"
#include "weft/carrier/leaving.hpp"
#include "weft/memory/annotate.hpp"
#include "weft/preempt/creator.hpp"
#include "weft/preempt/donors.hpp"
#include "weft/preempt/made_blocks.hpp"
#include "weft/preempt/set_user.hpp"
#include "weft/preempt/spares.hpp"
#include "weft/preempt/ticks.hpp"
#include "weft/preempt/user_code.hpp"
#include "weft/sched/timekeeper.hpp"
#include "weft/simulator/simulation.hpp"
#include "weft/workers/worker.hpp"

namespace weft::preempt {
namespace {

using base::refuse;

// Ownership: `now`, whoever holds the lock. stop() holds it from its look to its end, so that nobody begins
// to make a thread with what is about to end. A worker takes it in its loop, in the child of a fork(), and
// cannot let others run while it waits: whoever has it is not preempted.
struct preparations {
  std::mutex lock;
  unsigned now = 0;
};

preparations& of_process() noexcept {
  return base::immortal<preparations>();
}

bool has_workers() noexcept {
  bool any = false;
  sched::for_each_worker([](sched::worker&, void* seen) { *static_cast<bool*>(seen) = true; }, &any);
  return any;
}

// Frames on stacks that a sanitizer or valgrind follows cannot be left by a handler.
bool follows_frames() noexcept {
  return arch::sanitizer::watches_frames || memory::annotate::runs_in_valgrind();
}

bool is_cooperative_here() noexcept {
  if (sched::simulation::is_active()) {
    static std::atomic<bool> told{false};
    if (!told.exchange(true))
      base::warn("in a simulation preemptible threads are cooperative");
    return true;
  }
  if (follows_frames()) {
    static std::atomic<bool> said{false};
    if (!said.exchange(true))
      base::warn("under sanitizers and valgrind preemptible threads are cooperative");
    return true;
  }
  return false;
}

// Whether the thread may be preempted.
bool prepare(sched::preemption kind, std::size_t workers) {
  if (is_cooperative_here())
    return false;
  if (!arch::can_preempt)
    refuse(std::errc::not_supported, "weft: preemption is not ported to this machine");
  if (kind == sched::preemption::own_tls || kind == sched::preemption::bound_tls) {
    if (!arch::can_set_thread_pointer())
      refuse(std::errc::not_supported, "weft: this kernel does not let programs set their thread pointer");
    provide_donors(kind == sched::preemption::own_tls ? workers + 2 : 0);
    serve_set_user(); // libc has a kernel thread now
  }
  // Of the others only those need spares that wait in the kernel: one a worker, for who makes more may wait
  // for a lock that they hold.
  const bool leaves = sched::leaves_when() != sched::leave_when::never;
  provide_spares(kind == sched::preemption::own_kernel_thread ? workers + 2 : leaves ? workers : 0);
  sched::timekeeper::start();
  start_monitor();
  sched::leaving_is_watched.store_relaxed(tells_user_code());
  return true;
}

} // namespace

preparation::counted::counted() noexcept {
  const sched::no_preemption here;
  const std::scoped_lock held(of_process().lock);
  ++of_process().now;
}

preparation::counted::~counted() {
  const sched::no_preemption here;
  const std::scoped_lock held(of_process().lock);
  --of_process().now;
}

preparation::preparation(sched::preemption kind, std::size_t workers)
    : may_be_preempted_(prepare(kind, workers)) {}

void watch_leaving() {
  if (!arch::can_preempt || follows_frames() || !tells_user_code())
    return;
  const sched::no_preemption here;
  const std::scoped_lock held(of_process().lock); // no stop() meanwhile
  try {
    start_monitor();
    provide_spares(0);
  } catch (...) {
    if (of_process().now == 0 && sched::user_mode::live().load_relaxed() == 0) {
      stop_monitor();
      stop_creator();
    }
    throw;
  }
  sched::leaving_is_watched.store_relaxed(true);
  sched::rest_of_monitor.rouse();
}

void stop() noexcept {
  const sched::no_preemption here;
  const std::scoped_lock held(of_process().lock);
  // Another group's threads need all of it; and a worker without any may stand on a spare, and keeps some,
  // and some TLS blocks, for its next threads.
  if (of_process().now != 0 || sched::user_mode::live().load_relaxed() != 0 || has_workers())
    return;
  sched::leaving_is_watched.store_relaxed(false);
  stop_monitor();
  stop_serving_set_user();
  stop_creator();
  end_donors();
  forget_spares_of_made();
  end_spares();
}

void forget_preparations_after_fork() noexcept {
  sched::leaving_is_watched.store_relaxed(false);
  ::new (static_cast<void*>(&of_process())) preparations;
}

} // namespace weft::preempt
