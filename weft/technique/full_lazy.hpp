// SPDX-License-Identifier: MIT
// Parent-first threads with a stack from start to end: "Full-L" of the threading-techniques paper (its Fig.
// 6). A thread that has not started is a descriptor and nothing else; it takes a stack when it starts and
// gives it back when it ends.
//
// `Worker` supplies: stacks (a stack cache), current, arrival, arrival_argument, and the static members
//   static auto& here();            // the worker of the calling code
//   static void end_returned();     // ends `current`, whose function has returned; does not return
#pragma once

#include <utility>

#include "weft/arch/arch.hpp"
#include "weft/base/export.hpp"
#include "weft/memory/stack_cache.hpp"
#include "weft/unit/descriptor.hpp"
#include "weft/unit/exit.hpp"
#include "weft/unit/extension.hpp"

namespace weft::technique {

struct full_lazy {
  // Gives `u` a stack. False: no memory; `u` is as before.
  template <class Worker>
  [[gnu::always_inline]] static bool take_stack(Worker& w, unit::descriptor& u) noexcept {
    const std::size_t size = u.stack_size();
    memory::stack_record* stack = u.has(unit::technique_mask) ? take_reserved(u) : nullptr;
    if (stack == nullptr)
      stack = size == 0 ? w.caches.stacks.allocate() : take_sized(w, u, size);
    return hold(u, stack);
  }

  // The same for a thread of technique `t`, known when the caller is compiled, with the default size.
  template <class Worker>
  [[gnu::always_inline]] static bool take_default_stack(Worker& w, unit::descriptor& u,
                                                        unit::technique_id t) noexcept {
    // Whoever holds a stack does not look at what was reserved: it need not be cleared.
    memory::stack_record* stack = unit::has_stack_at_creation(t) ? reserved(u) : nullptr;
    return hold(u, stack != nullptr ? stack : w.caches.stacks.allocate());
  }

  template <class Worker>
  static memory::stack_record* take_sized(Worker& w, unit::descriptor& u, std::size_t size) noexcept {
    return u.has(unit::supplied_stack) ? unit::extension_of(u)->stack : w.caches.stacks.allocate(size);
  }
  // What was taken at the creation, once.
  static memory::stack_record* take_reserved(unit::descriptor& u) noexcept {
    if (!unit::has_stack_at_creation(u.technique()))
      return nullptr;
    memory::stack_record* stack = reserved(u);
    arch::idle_word(u.context) = nullptr;
    return stack;
  }
  template <class Worker>
  static void give_stack_back(Worker& w, unit::descriptor& u) noexcept {
    memory::stack_record* stack = u.stack;
    u.stack = nullptr;
    if (!u.has(unit::supplied_stack))
      w.caches.stacks.free(stack);
  }

  // An exception that nobody catches ends the process with the stack intact: the unwinder finds no handler
  // and calls std::terminate before it unwinds.
  [[gnu::always_inline]] static void run(unit::descriptor& u) {
    arch::fp_control().become_that_of(u.context); // nobody has left it yet
    unit::stops_other_unwinding only_requests;
    try {
      u.operations->run(u);
    } catch (const unit::exit_request&) {
    }
    only_requests.none = true;
  }

  // The first function on a new stack, where the thread's joiner starts it.
  template <class Worker>
  [[noreturn]] WEFT_API static void entry_from_joiner(void* argument) {
    arch::sanitizer::first_arrival();
    run_to_end<Worker>(*static_cast<unit::descriptor*>(argument));
  }

  // The same, where whoever ran before has nothing to do with it.
  template <class Worker>
  [[noreturn]] static void entry(void* argument) {
    arch::sanitizer::first_arrival();
    run_to_end<Worker>(*static_cast<unit::descriptor*>(argument));
  }

  // The same, and the thread that was left must still be published.
  template <class Worker>
  [[noreturn]] static void entry_with_arrival(void* argument) {
    arch::sanitizer::first_arrival();
    auto& w = Worker::here();
    w.arrival(w.arrival_argument);
    run_to_end<Worker>(*static_cast<unit::descriptor*>(argument));
  }

 private:
  static memory::stack_record* reserved(unit::descriptor& u) noexcept {
    return static_cast<memory::stack_record*>(arch::idle_word(u.context));
  }
  [[gnu::always_inline]] static bool hold(unit::descriptor& u, memory::stack_record* stack) noexcept {
    if (stack == nullptr) [[unlikely]]
      return false;
    stack->owner = &u;
    u.stack = stack;
    return true;
  }

  template <class Worker>
  [[noreturn, gnu::always_inline]] static void run_to_end(unit::descriptor& u) {
    run(u);
    Worker::end_returned();
  }
};

} // namespace weft::technique
