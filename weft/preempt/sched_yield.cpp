// SPDX-License-Identifier: MIT
// sched_yield() of a preemptible thread lets other threads run, not other kernel threads: libraries that spin
// until another of their threads has come along (MKL's barriers do) then get there without a tick. So does
// that of a cooperative thread that asked for it. Everybody else makes the system call, for libraries make it
// inside their own spin locks as well. In a simulation it lets another worker run: who spins waits for one.
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "weft/base/virtual_kernel.hpp"
#include "weft/carrier/leaving.hpp"
#include "weft/carrier/loop.hpp"
#include "weft/carrier/user_mode.hpp"

namespace {

// The thread, which is not in the runtime, has said that it may.
bool may_switch(weft::sched::worker_face& face) noexcept {
  if (face.attention.any_relaxed(weft::sched::not_a_worker))
    return false;
  const weft::unit::descriptor* const current = static_cast<weft::sched::worker&>(face).current;
  return current != nullptr && current->has(weft::unit::sched_yields);
}

} // namespace

// Contexts: all. Switches: in user mode of a preemptible thread, and of a cooperative one that asked for it;
// a cancellation does not unwind it here: C code calls this.
extern "C" WEFT_API int sched_yield() noexcept {
  if (weft::base::virtual_kernel* const simulated = weft::base::virtual_kernel_here()) {
    simulated->yield();
    return 0;
  }
  weft::sched::worker_face& face = weft::sched::here();
  if (!face.attention.any_relaxed(weft::sched::user_code)) {
    if (!may_switch(face))
      return static_cast<int>(::syscall(SYS_sched_yield));
    weft::sched::yield_preempted(false, false);
    return 0;
  }
  if (weft::sched::is_away(face)) // it keeps nobody from a worker
    return static_cast<int>(::syscall(SYS_sched_yield));
  weft::sched::user_mode& thread = weft::sched::user_mode::behind(face);
  thread.enter_runtime();
  weft::sched::yield_preempted(false, false);
  thread.leave_runtime();
  return 0;
}
