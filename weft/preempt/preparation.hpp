// SPDX-License-Identifier: MIT
// From when to when the process has what preemptible threads need: the monitor, the signal, donors, spares.
#pragma once

#include <cstddef>

#include "weft/base/export.hpp"
#include "weft/carrier/user_mode.hpp"

namespace weft::preempt {

// Stands where a preemptible thread is made, until it is attached (carrier/user_mode.hpp), which may switch:
// what it needs is there, and stop() leaves it. Starts the monitor, takes the signal, and has donors for the
// workers there are. Contexts: thread, foreign kernel thread; in the runtime. Switches: never. Errors:
// std::system_error: not_supported where preemption is not ported or the kernel does not let programs set
// their thread pointer; invalid_argument for a signal that cannot be used; what stands in the way of a kernel
// thread.
class WEFT_API preparation {
 public:
  [[nodiscard]] preparation(sched::preemption kind, std::size_t workers);
  // False under sanitizers, valgrind and simulation: the thread must be cooperative.
  explicit operator bool() const noexcept { return may_be_preempted_; }

 private:
  struct counted { // also while the constructor throws
    counted() noexcept;
    ~counted();
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
  };
  const counted in_;
  const bool may_be_preempted_;
};

// What groups need whose threads leave their workers: the monitor, which finds them, and who makes spares.
// Nothing where threads cannot leave (sanitizers, valgrind, ports without preemption). Contexts, errors: as
// above.
void watch_leaving();

// Ends monitor, donors and spares, and gives the signal back; the last group that ends does. Nothing while
// there are workers or preemptible threads, or one is made. Contexts: as runtime::stop().
WEFT_API void stop() noexcept;
void forget_preparations_after_fork() noexcept;

} // namespace weft::preempt
