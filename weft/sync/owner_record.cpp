// SPDX-License-Identifier: MIT
#include "weft/sync/owner_record.hpp"

#include "weft/workers/worker.hpp"

namespace weft::sync {

// Not inlined: the address of a thread-local must be read afresh after every switch.
[[gnu::noinline]] const void* caller_identity() noexcept {
  static thread_local char foreign;
  if (!sched::on_worker()) {
    return &foreign;
  }
  const sched::worker& w = sched::here();
  return w.current != nullptr ? static_cast<const void*>(w.current) : &w;
}

} // namespace weft::sync
