// SPDX-License-Identifier: MIT
// Threads that run at once, while their creator becomes ready and may be stolen: "C-Full" (Fig. 7), "C-RoC"
// (Fig. 18) of the threading-techniques paper, and with -E. C-Full saves the creator and loads it again;
// C-RoC calls the child and returns to the creator if that has not run since. With -E a stack goes back when
// its thread ends, else when it is joined.
//
// The paper's thief patches the child's return address. Ours: a creator that goes on before its child has
// ended marks the child (unit::parent_left). The child looks after it has taken its creator out of the pool,
// so one of the two comes first, and the pool orders them.
//
// `Worker` supplies, beside what full_lazy.hpp asks for, static members
//   descriptor& front_of_list()   // of the worker's own list
//   bool end_before_parent(descriptor& child, descriptor& parent)
//   void end_child(descriptor& child, descriptor& parent)   // does not return
#pragma once

#include "weft/technique/called.hpp"

namespace weft::technique {

struct child_first {
  // Whether the child is called.
  static constexpr bool returns(unit::technique_id t) noexcept {
    return called::possible &&
           (t == unit::technique_id::c_roc || t == unit::technique_id::c_roc_eager_release);
  }

  template <class Worker>
  [[noreturn]] static void entry(void* argument) {
    arch::sanitizer::first_arrival();
    auto& u = *static_cast<unit::descriptor*>(argument);
    unit::descriptor& parent = begin<Worker>();
    full_lazy::run(u);
    Worker::end_child(u, parent);
  }
  template <class Worker>
  static void entry_of_call(void* argument) {
    run_before<Worker>(*static_cast<unit::descriptor*>(argument), begin<Worker>());
  }

  // The same where the creator stands in front of the worker's own list: nobody else looks there, so it could
  // be put there before its context was complete.
  template <class Worker>
  [[noreturn]] static void entry_listed(void* argument) {
    auto& u = *static_cast<unit::descriptor*>(argument);
    unit::descriptor& parent = Worker::front_of_list();
    full_lazy::run(u);
    Worker::end_child(u, parent);
  }
  template <class Worker>
  static void entry_of_listed_call(void* argument) {
    unit::descriptor& parent = Worker::front_of_list();
    run_before<Worker>(*static_cast<unit::descriptor*>(argument), parent);
  }

 private:
  template <class Worker>
  [[gnu::always_inline]] static void run_before(unit::descriptor& u, unit::descriptor& parent) {
    full_lazy::run(u);
    if (!Worker::end_before_parent(u, parent))
      Worker::end_thread();
  }

  // Makes the creator ready, whose context is complete.
  template <class Worker>
  static unit::descriptor& begin() {
    auto& w = Worker::here();
    auto& parent = *static_cast<unit::descriptor*>(w.arrival_argument);
    w.arrival(&parent); // GONE: parent, unless it is taken back
    return parent;
  }
};

} // namespace weft::technique
