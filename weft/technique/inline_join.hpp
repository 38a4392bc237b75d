// SPDX-License-Identifier: MIT
// A join that runs the unit by a call on the joiner's own stack: ours, none of the paper's. The joiner could
// do nothing else anyway: if the unit deviates, both wait together, and whoever resumes the unit goes on on
// this stack. So there is no promotion, any scheduler will do, and the price is about RtC's.
//
// The unit keeps its identity: it is `current`, has its own local storage and its own place in pools, and its
// creator's FP control at its start.
#pragma once

#include "weft/arch/arch.hpp"
#include "weft/memory/stack_record.hpp"
#include "weft/unit/descriptor.hpp"
#include "weft/unit/exit.hpp"

namespace weft::technique {

struct inline_join {
  // Whether the default stack size is left below the caller's frame.
  [[gnu::always_inline]] static bool has_room(const memory::stack_record& joiners) noexcept {
    return arch::stack_is_above(joiners.inline_floor);
  }

  // Whether so much is left that a tasklet misses nothing of the worker's stack, which has at least 256 KiB.
  [[gnu::always_inline]] static bool has_room_for_tasklet(const memory::stack_record& joiners) noexcept {
    constexpr std::ptrdiff_t workers = 256 << 10;
    return arch::stack_above(joiners.inline_floor) > workers;
  }

  // Exceptions stop here: one that nobody catches ends the process.
  [[gnu::always_inline]] static void call(unit::descriptor& u) noexcept {
    const arch::fp_control joiners;
    joiners.become_that_of_quickly(u.context);
    unit::stops_other_unwinding only_requests;
    try {
      u.operations->run(u);
    } catch (const unit::exit_request&) {
    }
    only_requests.none = true;
    joiners.restore_quickly();
  }
};

} // namespace weft::technique
