// SPDX-License-Identifier: MIT
// The handlers of fork(). The parent is untouched; the child keeps the worker that the forking thread runs
// on, forgets what stood in its pools, and starts the others anew. From a foreign kernel thread the child has
// no runtime until it uses it.
#include "weft/runtime/fork.hpp"

#include <pthread.h>

#include "weft/carrier/leaving.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/io/fork.hpp"
#include "weft/memory/fork.hpp"
#include "weft/os/membarrier.hpp"
#include "weft/preempt/ticks.hpp"
#include "weft/runtime/internal.hpp"
#include "weft/sched/fork.hpp"
#include "weft/simulator/simulation.hpp"
#include "weft/sync/futex.hpp"
#include "weft/sync/static_guard.hpp"
#include "weft/sync/wait_table.hpp"

namespace weft::runtime {
namespace {

// A preemptible thread is in the runtime from before the fork until after it.
sched::user_mode* forking_thread = nullptr; // guarded by the lock of state()

void prepare() {
  sched::worker_face& face = sched::here();
  const bool was_in_user_mode = sched::is_in_user_mode(face);
  sched::enter_runtime_for_good();
  state().lock.lock();
  forking_thread = was_in_user_mode ? &sched::user_mode::behind(face) : nullptr;
  sched::forking_unit.store_relaxed(sched::on_worker() ? sched::here().current : nullptr);
  sched::prepare_fork(state().group.load(std::memory_order_relaxed));
  memory::fork_prepare();
}

void end_fork() {
  sched::user_mode* thread = forking_thread;
  sched::forking_unit.store_relaxed(nullptr);
  state().lock.unlock();
  if (thread != nullptr)
    thread->leave_runtime();
}

void parent() {
  memory::fork_parent();
  sched::parent_of_fork(state().group.load(std::memory_order_relaxed));
  end_fork();
}

void child() {
  if (sched::simulation::is_active()) { // all workers are here, but their program is the parent's
    os::reregister_membarrier();
    sched::simulation::end_in_child_of_fork();
    return parent();
  }
  memory::fork_child();
  os::reregister_membarrier();
  sync::forget_waiters_after_fork();
  sync::forget_guard_waits_after_fork();
  sync::forget_futex_waiters_after_fork();
  io::child_of_fork();
  sched::group* kept = sched::child_of_fork(state().group.load(std::memory_order_relaxed));
  state().group.store(kept, std::memory_order_relaxed);
  preempt::forget_after_fork();
  end_fork();
}

} // namespace

void install_fork_handlers() noexcept {
  ::pthread_atfork(&prepare, &parent, &child);
}

} // namespace weft::runtime
