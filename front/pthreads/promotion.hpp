// SPDX-License-Identifier: MIT
// Promotion: a thread of ours asks for what only a kernel thread has (a policy of real time, certain CPUs, a
// niceness, namespaces, capabilities). It gets a worker of its own, and so a kernel thread for it alone, and
// keeps its handle, its id and its variables.
#pragma once

#include "front/pthreads/thread.hpp"
#include "weft/door/workers.hpp"

#include <memory>
#include <sys/types.h>

namespace weft::pthreads {

/// *Ownership*: its thread's, from the promotion to the thread's end; then in the list of those that
/// end_unused_kernel_threads() ends.
class own_kernel_thread {
 public:
  /// *Errors*: std::bad_alloc, std::system_error: no kernel thread could be had.
  own_kernel_thread();
  [[nodiscard]] weft::pool& pool() const { return door::pool_of(*worker_, 0); }
  [[nodiscard]] pid_t id() const noexcept { return id_; }
  own_kernel_thread* next = nullptr; // in that list

 private:
  std::unique_ptr<weft::worker_group> worker_;
  pid_t id_ = 0;
};

/// Changes something of the kernel thread with that id: 0, or the error's number.
using kernel_thread_change = int (*)(pid_t id, const void* argument);

/// Promotes `t`, if it is not yet, and changes its kernel thread. It goes there at once where it is the
/// caller, and else as soon as it is interrupted. *Contexts*: all but signal handlers; the caller keeps `t`
/// from being freed. *Switches*: yes. *Errors*: what `change` returns; EAGAIN, ENOMEM: no kernel thread could
/// be had; ESRCH: it has ended. All is as before then.
int change_kernel_thread(thread& t, kernel_thread_change change, const void* argument) noexcept;

/// The same, and nothing is changed: `t` is the caller, whose next system calls do that, or is to have one.
/// *Contexts*, *Switches*, *Errors*: as above.
int get_kernel_thread(thread& t) noexcept;

/// Of a promoted thread; 0: it is not. *Contexts*: as above. *Switches*: never. *Errors*: none.
[[nodiscard]] pid_t kernel_thread_of(const thread& t) noexcept;

/// The calling thread goes to its kernel thread, if it is promoted and nothing keeps it where it is.
/// *Contexts*: `t` itself, in user mode. *Switches*: may. *Errors*: none.
void go_to_kernel_thread(thread& t) noexcept;

/// `t` has ended. *Contexts*: in the runtime. *Switches*: never. *Errors*: none.
void give_kernel_thread_back(thread& t) noexcept;
/// Those of threads that have ended. *Contexts*: all but signal handlers. *Switches*: may. *Errors*: none.
void end_unused_kernel_threads() noexcept;

/// In the child of fork().
void forget_unused_kernel_threads() noexcept;

} // namespace weft::pthreads
