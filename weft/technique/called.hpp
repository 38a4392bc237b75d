// SPDX-License-Identifier: MIT
// Threads that are called on a stack of their own and return to who started them: "RoC", "RoC-L" (Fig. 11,
// 12) and "SS", "SS-L" (Fig. 13, 14) of the threading-techniques paper. The name before -L takes the stack
// when the thread is created, with -L when it starts.
//
// RoC leaves a mark where the starter is called back from: the starter may be continued there before the
// thread ends, which then must not return. SS saves nothing of the starter.
//
// The paper patches the return address of a thread that deviates. Ours asks at the end instead, by one
// comparison, whether the starter is still in the call (sched: worker::called): deviations write nothing, the
// CPU's return predictor is right, and shadow stacks would be.
#pragma once

#include "weft/technique/full_lazy.hpp"

namespace weft::technique {

struct called {
  // Where a call across stacks can be made; else the thread is jumped into, as Full is.
  static constexpr bool possible = arch::has_marks;

  // Whether a thread of this technique is started by a call.
  static constexpr bool includes(unit::technique_id t) noexcept {
    return t == unit::technique_id::roc || t == unit::technique_id::roc_lazy || t == unit::technique_id::ss ||
           t == unit::technique_id::ss_lazy || t == unit::technique_id::sc;
  }
  // Whether its starter need not be saved. One that may leave its frames without unwinding them (the C API's)
  // has to find its starter again.
  static bool saves_nothing(const unit::descriptor& u, unit::technique_id t) noexcept {
    return t != unit::technique_id::roc && t != unit::technique_id::roc_lazy && u.operations->end == nullptr;
  }

  // With a mark in `starter`. True: the thread returned; false: somebody continued the starter. `u` stays in
  // a register.
  [[gnu::always_inline]] static bool call_marked(arch::context& starter, unit::descriptor*& u,
                                                 arch::entry_function entry) noexcept {
    arch::context* mark = &starter;
    void* kept = u;
    const bool returned = arch::call_marked_on(mark, kept, u->stack->initial_stack_pointer(), entry, u);
    u = static_cast<unit::descriptor*>(kept);
    return returned;
  }
  // Without; FP control is the starter's afterwards.
  [[gnu::always_inline]] static void call(unit::descriptor& u, arch::entry_function entry) noexcept {
    const arch::fp_control starters;
    arch::call_on_fresh(u.stack->initial_stack_pointer(), entry, &u);
    starters.restore();
  }

  // The first function of one whose starter waits for it whatever it does: its joiner.
  static void entry_from_joiner(void* argument) { full_lazy::run(*static_cast<unit::descriptor*>(argument)); }
  // Of one whose starter may go on: returns if that is still in the call.
  template <class Worker>
  static void entry(void* argument) {
    auto& u = *static_cast<unit::descriptor*>(argument);
    full_lazy::run(u);
    if (Worker::here().called != &u || !u.is_plain())
      Worker::end_thread();
  }
};

} // namespace weft::technique
