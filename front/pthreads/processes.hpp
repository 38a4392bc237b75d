// SPDX-License-Identifier: MIT
// What a new process, and a new kernel thread, takes from the one that makes it.
#pragma once

#include "front/pthreads/libc.hpp"
#include "front/pthreads/promotion.hpp"
#include "front/pthreads/requests.hpp"
#include "front/pthreads/thread.hpp"
#include "weft/preemption.hpp"

namespace weft::pthreads {

/// Calls on a kernel thread that has the mask of the calling thread meanwhile. `call` waits for nothing in
/// Weft. *Contexts*: all but signal handlers. *Switches*: at its end, if a tick came. *Errors*: those of
/// `call`.
template <class Call>
int with_own_mask(Call call) noexcept {
  if (self == nullptr)
    return call();
  int result = 0;
  {
    const no_preemption here;
    const sigset_t wanted = set_of(self->blocked_signals.load_relaxed()); // relaxed: its own
    sigset_t before;
    libc.pthread_sigmask(SIG_SETMASK, &wanted, &before);
    result = call();
    libc.pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  go_to_kernel_thread(*self); // who was asked to meanwhile
  return result;
}

/// Where `t` has ended in a call that had lent its mask to the kernel thread (system()): that gets its own
/// back. *Contexts*: `t` itself. *Switches*: at its end, if a tick came. *Errors*: none.
void return_mask(thread& t) noexcept;

} // namespace weft::pthreads
