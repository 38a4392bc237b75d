// SPDX-License-Identifier: MIT
#include "weft/memory/fork.hpp"

#include "weft/memory/object_depot.hpp"
#include "weft/memory/stack_depot.hpp"
#include "weft/os/own_heap.hpp"

#include <mutex>

namespace weft::memory {
namespace {

constinit std::mutex depots_mutex;
constinit object_depot* depots = nullptr; // guarded by depots_mutex; grows only

} // namespace

void register_depot(object_depot& depot) noexcept {
  std::scoped_lock guard{depots_mutex};
  if (!depot.registered_) {
    depot.registered_ = true;
    depot.next_depot_ = depots;
    depots = &depot;
  }
}

// Order: the list, the object depots, the stack depot, the slab records (taken inside the stack depot),
// watermarks. Those who wait for one of these sleep in futex(2), where the monitor finds them: a thread that
// was preempted on such a worker, with a lock of malloc's that the fork waits for, goes on without it.
void fork_prepare() noexcept {
  depots_mutex.lock();
  for (object_depot* depot = depots; depot != nullptr; depot = depot->next_depot_) {
    depot->mutex_.lock();
  }
  stack_depot::process().prepare_fork();
  lock_slab_records();
  lock_watermarks();
}

void release_after_fork() noexcept {
  unlock_watermarks();
  unlock_slab_records();
  stack_depot::process().after_fork();
  for (object_depot* depot = depots; depot != nullptr; depot = depot->next_depot_) {
    depot->mutex_.unlock();
  }
  depots_mutex.unlock();
}

void fork_parent() noexcept {
  release_after_fork();
}
void fork_child() noexcept {
  os::forget_own_heap_after_fork();
  release_after_fork();
}

} // namespace weft::memory
