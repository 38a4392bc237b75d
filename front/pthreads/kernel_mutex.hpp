// SPDX-License-Identifier: MIT
// Mutexes that give priorities to who has them: by PTHREAD_PRIO_INHERIT that of who waits, which the kernel
// sees to, and by PTHREAD_PRIO_PROTECT the mutex' own, which libc does. Both go by the id of a kernel thread
// that stands in the thread's block. So they are libc's, and a thread of ours that locks one is promoted.
#pragma once

#include "front/pthreads/objects.hpp"
#include "front/pthreads/thread.hpp"

namespace weft::pthreads {

/// Whether a mutex that the caller initialises, and that inherits priorities, is to do so: threads of this
/// process can have priorities (it may ask for real time, or the caller has it), or it is for several
/// processes. Else such a mutex is an ordinary one. *Contexts*: all but signal handlers. *Switches*: never.
/// *Errors*: none.
[[nodiscard]] bool is_to_inherit(int kind) noexcept;

/// In scope: the caller, a thread of ours, is on a kernel thread for itself, and libc takes it for that one.
/// *Contexts*: all but signal handlers. *Switches*: at the first time of a thread, which is promoted.
/// *Errors*: error(): EAGAIN, ENOMEM: no kernel thread could be had, or the caller runs where it must stay.
class [[nodiscard]] as_kernel_thread {
 public:
  as_kernel_thread() noexcept;
  ~as_kernel_thread();
  as_kernel_thread(const as_kernel_thread&) = delete;
  as_kernel_thread& operator=(const as_kernel_thread&) = delete;
  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  int error_;
};

/// `t`, the caller, ends: it may have been cancelled in such a scope. *Contexts*: all. *Switches*: never.
/// *Errors*: none.
void take_own_id_back(thread& t) noexcept;

/// A function of libc's for such a mutex, or for another one of its own.
template <class Call>
int call_libc(int kind, Call call) noexcept {
  if (self == nullptr || !gives_priorities(kind))
    return call();
  const as_kernel_thread here;
  return here.error() != 0 ? here.error() : call();
}

/// When the library is loaded, with what dlsym() knows libc by: looks where libc keeps what it goes by.
/// Where that is not found a mutex that inherits priorities is an ordinary one, and libc refuses to lock one
/// with a priority of its own (ESRCH).
void find_libcs_ids(void* of_libc) noexcept;

} // namespace weft::pthreads
