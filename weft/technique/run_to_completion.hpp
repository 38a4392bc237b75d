// SPDX-License-Identifier: MIT
// Units without a stack: "RtC" of the threading-techniques paper (its Fig. 9). A tasklet is called on the
// free part of the worker's own stack and may not wait, so whoever starts it has it back when the call
// returns. Its `run` catches exit_request.
#pragma once

#include "weft/arch/arch.hpp"
#include "weft/unit/descriptor.hpp"

namespace weft::technique {

struct run_to_completion {
  // Runs `u` on the stack of `worker_base`, which is suspended.
  [[gnu::always_inline]] static void run(unit::descriptor& u, arch::context& worker_base) {
    // A reference is passed as a pointer is, on every ABI we have; by way of void*, or compilers warn of the
    // cast.
    arch::call_on(worker_base,
                  reinterpret_cast<arch::entry_function>(reinterpret_cast<void*>(u.operations->run)), &u);
  }

  // Where the caller runs on the worker's stack already.
  static void call(unit::descriptor& u) { u.operations->run(u); }
};

} // namespace weft::technique
