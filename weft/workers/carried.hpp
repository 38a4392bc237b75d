// SPDX-License-Identifier: MIT
// What a worker knows of the kernel threads that it runs on, which are the carrier room's.
#pragma once

#include <sched.h>

#include <memory>

#include "weft/arch/arch.hpp"
#include "weft/base/atomic.hpp"

namespace weft::sched {

class carrier;

// Of a worker: the kernel thread that it runs on, and those that it may go to. Ownership: the worker.
struct carried {
  base::atomic<void*> own_thread_pointer{nullptr}; // of the kernel thread it runs on; read by asm
  // Its id; 0: none. For those who tick, and debuggers.
  base::atomic<int> kernel_thread_id{0};
  carrier* on = nullptr;         // the kernel thread it runs on
  std::unique_ptr<carrier> home; // the one it began on
  carrier* spares = nullptr;     // kernel threads to go on on
  unsigned spare_count = 0;
  struct { // how it goes on on the kernel thread that it is being passed to
    carrier* to = nullptr;
    arch::context* resumes = nullptr;
    arch::arrival_function then = nullptr;
    void* argument = nullptr;
  } passing;
  cpu_set_t affinity{}; // of the kernel threads it runs on
};

} // namespace weft::sched
