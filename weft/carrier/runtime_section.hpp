// SPDX-License-Identifier: MIT
// The border between user code and the runtime, for functions that inlined code calls.
#pragma once

#include "weft/base/export.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched {

class user_mode;

// Stands at the start of every function that inlined code calls and that uses the worker or holds a spin
// lock: the calling thread is in the runtime until the scope ends. May be nested; costs four instructions
// where the thread is cooperative. Contexts: all but signal handlers. Switches: at its end, if a tick came.
class [[nodiscard]] runtime_section {
 public:
  runtime_section() noexcept {
    worker_face& face = sched::here();
    if (face.attention.any_relaxed(user_code | simulated)) [[unlikely]]
      thread_ = enter(face);
  }
  ~runtime_section() {
    if (thread_ != nullptr) [[unlikely]]
      leave(*thread_);
  }
  runtime_section(const runtime_section&) = delete;
  runtime_section& operator=(const runtime_section&) = delete;

 private:
  // In a simulation both are points where another worker may go on (simulation.hpp), and what stands for the
  // thread is nobody.
  WEFT_API static user_mode* enter(worker_face& face) noexcept;
  WEFT_API static void leave(user_mode& thread) noexcept;
  user_mode* thread_ = nullptr;
};

// For what does not return: into the runtime for good.
WEFT_API void enter_runtime_slowly(worker_face& face) noexcept;
inline void enter_runtime_for_good() noexcept {
  worker_face& face = here();
  if (face.attention.any_relaxed(user_code)) [[unlikely]]
    enter_runtime_slowly(face);
}

} // namespace weft::sched
