// SPDX-License-Identifier: MIT
// Kernel threads of the program's beside threads of ours: main, and those that it has made with what only the
// kernel has. They wait for the same objects; who cancels one ends its wait there, and main's kernel thread
// outlives them too.
#pragma once

#include "front/pthreads/objects.hpp"

#include <pthread.h>

namespace weft::pthreads {

/// As libc.pthread_create(), of a thread that is counted in alive() until its function has ended.
int create_native(pthread_t* handle, const pthread_attr_t* how, void* (*function)(void*),
                  void* argument) noexcept;

/// In scope: the calling kernel thread waits for `word` in a cancellation point. Nothing for others than
/// those above. *Ownership*: in the frame of the wait. *Contexts*: foreign kernel thread. *Switches*: never.
/// *Errors*: none.
class [[nodiscard]] native_wait {
 public:
  explicit native_wait(const futex_word& word) noexcept;
  ~native_wait();
  native_wait(const native_wait&) = delete;
  native_wait& operator=(const native_wait&) = delete;
};

/// libc has noted that the kernel thread with that handle is cancelled: if it is in such a wait it leaves it.
/// *Contexts*: all but signal handlers. *Switches*: may. *Errors*: none.
void end_native_wait(pthread_t handle) noexcept;

/// In the child of fork(), whose kernel thread is the only one.
void forget_native_threads() noexcept;

} // namespace weft::pthreads
