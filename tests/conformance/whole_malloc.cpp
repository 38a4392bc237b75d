// SPDX-License-Identifier: MIT
// malloc and free in which threads of signal_yield are not preempted. Such a thread shares with the others of
// its worker what libc keeps for a kernel thread, malloc's small blocks among it, so by the guide it may not
// allocate; the cases of the suite, written for every kind, do. Threads of other kinds are preempted in here.
#include <optional>

#include "weft/sched/inherited.hpp"
#include "weft/sched/user_mode.hpp"

namespace {

class around_malloc {
 public:
  around_malloc() noexcept {
    if (weft::sched::inherited_preemption() == weft::sched::preemption::signal_yield)
      held_.emplace();
  }

 private:
  std::optional<weft::sched::no_preemption> held_;
};

} // namespace

#include "tests/conformance/interposed_malloc.hpp"
