// SPDX-License-Identifier: MIT
// The handlers of fork(). The parent is untouched; the child keeps the worker that the forking thread runs
// on, forgets what stood in its pools, and starts the others anew. From a foreign kernel thread the child has
// no runtime until it uses it.
#include "weft/runtime/fork.hpp"

#include <pthread.h>

#include "weft/io/fork.hpp"
#include "weft/memory/fork.hpp"
#include "weft/os/membarrier.hpp"
#include "weft/runtime/internal.hpp"
#include "weft/sched/fork.hpp"
#include "weft/sync/wait_table.hpp"

namespace weft::runtime {
namespace {

void prepare() {
  state().lock.lock();
  sched::prepare_fork(state().group.load(std::memory_order_relaxed));
  memory::fork_prepare();
}

void parent() {
  memory::fork_parent();
  sched::parent_of_fork(state().group.load(std::memory_order_relaxed));
  state().lock.unlock();
}

void child() {
  memory::fork_child();
  os::reregister_membarrier();
  sync::forget_waiters_after_fork();
  io::child_of_fork();
  sched::group* kept = sched::child_of_fork(state().group.load(std::memory_order_relaxed));
  state().group.store(kept, std::memory_order_relaxed);
  state().lock.unlock();
}

} // namespace

void install_fork_handlers() noexcept {
  ::pthread_atfork(&prepare, &parent, &child);
}

} // namespace weft::runtime
