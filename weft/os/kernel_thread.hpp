// SPDX-License-Identifier: MIT
// Kernel threads: start, join, name. The signal mask is inherited; whoever wants another mask sets it around
// start().
#pragma once

#include "weft/base/export.hpp"
#include "weft/os/guarded_stack.hpp"

#include <cstddef>
#include <pthread.h>
#include <sys/types.h>

namespace weft::os {

// Ownership: a plain handle, copied freely; exactly one join() or detach() for each successful start().
class kernel_thread {
 public:
  // Of one that is started without a size.
  static std::size_t default_stack_bytes() noexcept;
  // The least that pthread_create() takes, with the program's thread-local variables.
  static std::size_t least_stack_bytes() noexcept;

  using function = void* (*)(void*);

  // Starts function(argument) on a kernel thread. `stack_bytes` 0: the system's default, else rounded up to
  // pages and to PTHREAD_STACK_MIN. Contexts: all but signal handlers. Switches: never. Errors: EAGAIN,
  // ENOMEM, EINVAL. Fault site: thread_create.
  int start(function entry, void* argument, std::size_t stack_bytes = 0) noexcept;
  // On a stack that is the caller's, and that he frees after join(): the C library never gives it to another
  // kernel thread, not even in the child of a fork, which has this one's memory but not this one. It holds
  // the thread-local variables as well. Contexts, errors: as above; EINVAL: the stack is too small.
  int start(function entry, void* argument, const guarded_stack& stack) noexcept;

  // Blocks the calling kernel thread until it has ended. Errors: as pthread_join.
  int join() noexcept { return ::pthread_join(handle_, nullptr); }
  // EBUSY: it has not ended.
  int try_join() noexcept { return ::pthread_tryjoin_np(handle_, nullptr); }
  int detach() noexcept { return ::pthread_detach(handle_); }

  pthread_t handle() const noexcept { return handle_; }

 private:
  int start(function entry, void* argument, const pthread_attr_t& attributes) noexcept;

  pthread_t handle_{};
};

// start() with all signals blocked in the new kernel thread. Contexts, errors: as start().
int start_with_signals_blocked(kernel_thread& thread, kernel_thread::function entry, void* argument,
                               std::size_t stack_bytes) noexcept;
int start_with_signals_blocked(kernel_thread& thread, kernel_thread::function entry, void* argument,
                               const guarded_stack& stack) noexcept;

// The name top and gdb show, of the calling kernel thread; cut to the kernel's 15 characters.
int name_this_kernel_thread(const char* name) noexcept;

// The calling kernel thread runs for short times only, and asks for no more than `slice_ns` at once: the
// kernel lets it go first when it wakes, on a CPU that others compute on (Linux 6.12; before that nothing
// changes). Returns 0, or an errno.
int ask_for_short_slices(unsigned long slice_ns) noexcept;

// The kernel's id of the caller; a system call, so callers keep it. SIGNAL-SAFE.
pid_t this_kernel_thread_id() noexcept;

// The stack of the calling kernel thread: lowest address and size, without its guard. For the initial thread
// this follows the current RLIMIT_STACK. Errors: ENOMEM, ENOENT (/proc not mounted).
int this_kernel_thread_stack(void** low, std::size_t* bytes) noexcept;

} // namespace weft::os
