// SPDX-License-Identifier: MIT
// Tells a recording that a lock is waited for.
#pragma once

#include "weft/sync/owner_record.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sync {

/// Lives as long as the caller waits. Costs one test of a word at either end while nothing is recorded.
/// *Contexts*: thread, foreign kernel thread. *Errors*: none.
class wait_told {
 public:
  explicit wait_told(const void* lock) noexcept : lock_(lock) { note(trace::event::lock_wait); }
  ~wait_told() { note(trace::event::lock_got); }
  wait_told(const wait_told&) = delete;
  wait_told& operator=(const wait_told&) = delete;

 private:
  void note(trace::event what) const noexcept {
    sched::worker& w = sched::here();
    if ((w.attention.load_relaxed() & sched::tracing) != 0) [[unlikely]] {
      w.note(what, lock_, trace::mark_of(caller_identity()));
    }
  }

  const void* lock_;
};

} // namespace weft::sync
