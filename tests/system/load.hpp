// SPDX-License-Identifier: MIT
// A mix of everything that waits or starts kernel threads, for tests that disturb the process meanwhile: with
// its invariants checked on the way, and nothing left at the end. The calling thread becomes worker 0's.
#pragma once

#include <chrono>
#include <functional>

namespace weft::tests {

struct load_options {
  std::chrono::milliseconds length{500};
  unsigned workers = 3;
  bool kernel_threads = true; // std::thread and weft::blocking() too
  bool preempted = false;     // also threads of the kinds own_tls and own_kernel_thread that compute
};

// Runs the mix; ends the process with a message (require) if an invariant breaks, a timed wait ends early, a
// kind of work did not get on at all or something is left. Returns how many steps were made.
long run_load(const load_options& options = {});

// Seconds of each long test: 0.7, or WEFT_SOAK's value.
std::chrono::milliseconds load_length();
// Whether `./do soak` asks for the long variants (WEFT_SOAK).
bool soaking();

} // namespace weft::tests
