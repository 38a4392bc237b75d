// SPDX-License-Identifier: MIT
// A place on a worker for a model thread: with one, it is a thread of Weft that waits by leaving its worker;
// without, it is a foreign kernel thread, which waits on a futex. What the primitives of weft/sync call of
// the scheduler is doubled in waiting.cpp.
#pragma once

#include "tests/model/checker/model.hpp"
#include "weft/sched/worker.hpp"
#include "weft/unit/descriptor.hpp"

namespace weft::model::runtime {

/// To be said at the start of each execution.
inline void begin() {
  thread_word(&sched::weft_current_worker, &sched::front_of_others());
}

class seat {
 public:
  /// `taken`: false makes it nothing.
  explicit seat(bool taken = true) {
    front_.attention.store_relaxed(0);
    front_.current = &unit_;
    if (taken)
      sched::weft_current_worker = &front_;
  }
  seat(const seat&) = delete;
  seat& operator=(const seat&) = delete;
  ~seat() { sched::weft_current_worker = &sched::front_of_others(); }

  static seat& of(unit::descriptor& u) {
    return *reinterpret_cast<seat*>(reinterpret_cast<std::byte*>(&u) - offset_of_unit());
  }
  static seat& mine() { return of(*sched::weft_current_worker->current); }

  unsigned thread = self();
  var<int> context = 0; // what the thread leaves behind, by whoever resumes it

 private:
  static std::size_t offset_of_unit();
  alignas(64) sched::worker_front front_;
  unit::descriptor unit_{};
};

} // namespace weft::model::runtime
