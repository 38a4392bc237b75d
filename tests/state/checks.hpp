// SPDX-License-Identifier: MIT
// What belongs to a thread, looked at on both sides of a migration. docs/guide/thread-state.md has the
// contract; what is promised for which kind is in promises_of().
#pragma once

#include <atomic>
#include <cstdint>

#include "weft/preemption.hpp"
#include "weft/thread.hpp"

namespace weft::thread_state {

// What a kind of thread keeps, beyond what all keep: registers, floating-point control.
struct promises {
  bool errno_if_preempted = true;
  bool thread_local_if_preempted = true; // and the address that was taken of one
  bool thread_local_for_life = false;
  bool runtime_of_the_language = true; // malloc, exceptions: it may use them at all
};
[[nodiscard]] promises promises_of(preemption kind) noexcept;

// Where threads go to, and what was found.
struct course {
  weft::pool* there[2] = {};
  promises kept{};
  bool changes_kernel_thread = true; // with its worker, at a migration
  std::atomic<std::int64_t> migrations{0};
  std::atomic<const char*> broken{nullptr}; // the first promise that was

  void check(bool kept_it, const char* what) noexcept {
    const char* none = nullptr;
    if (!kept_it)
      broken.compare_exchange_strong(none, what);
  }
};

// Each moves the calling thread once or more, and counts that. `who` and `round` make its values its own.
void check_registers(course& c, unsigned who, unsigned round);
void check_floating_point(course& c, unsigned who, unsigned round);
void check_exceptions(course& c, unsigned who, unsigned round);
void check_unwinding(course& c, unsigned who, unsigned round);
void check_memory(course& c, unsigned who, unsigned round);
void check_thread_locals(course& c, unsigned who, unsigned round);
void check_errno(course& c, unsigned who, unsigned round);

// Goes to the other place. In a file of its own: what the compiler knows of the caller ends here, but under
// LTO.
void move(course& c, unsigned round);
// Some 10 us without a call.
void compute(unsigned rounds);

} // namespace weft::thread_state
