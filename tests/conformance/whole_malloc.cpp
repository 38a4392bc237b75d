// SPDX-License-Identifier: MIT
// malloc and free in which threads of signal_yield are not preempted. Such a thread shares with the others of
// its worker what libc keeps for a kernel thread, malloc's small blocks among it, so by the guide it may not
// allocate; the cases of the suite, written for every kind, do. Threads of other kinds are preempted in here.

#include "weft/carrier/inherited.hpp"
#include "weft/carrier/user_mode.hpp"

namespace {

// A no_preemption where the thread is of that kind (an optional one makes gcc warn of a member that it sets).
class around_malloc {
 public:
  around_malloc() noexcept {
    if (weft::sched::inherited_preemption() != weft::sched::preemption::signal_yield)
      return;
    thread_ = &weft::sched::user_mode::behind(weft::sched::here());
    thread_->hold();
  }
  ~around_malloc() {
    if (thread_ != nullptr)
      thread_->let_go();
  }
  around_malloc(const around_malloc&) = delete;
  around_malloc& operator=(const around_malloc&) = delete;

 private:
  weft::sched::user_mode* thread_ = nullptr;
};

} // namespace

#include "tests/conformance/interposed_malloc.hpp"
