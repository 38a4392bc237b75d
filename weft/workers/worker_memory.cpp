// SPDX-License-Identifier: MIT
// The memory of workers is only ever a worker's again: a timer's signal that names a worker may come when
// that one has just gone.
#include <mutex>
#include <new>
#include <utility>

#include "weft/base/spin_lock.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched {
namespace {

struct free_worker {
  free_worker* next;
};
constinit base::spin_lock free_workers_lock;
constinit free_worker* free_workers = nullptr; // under the lock

} // namespace

void* worker::operator new(std::size_t bytes) {
  {
    const std::scoped_lock held(free_workers_lock);
    if (free_workers != nullptr)
      return std::exchange(free_workers, free_workers->next);
  }
  return ::operator new(bytes, std::align_val_t{alignof(worker)});
}

void worker::operator delete(void* room) noexcept {
  const std::scoped_lock held(free_workers_lock);
  free_workers = ::new (room) free_worker{free_workers};
}

} // namespace weft::sched
