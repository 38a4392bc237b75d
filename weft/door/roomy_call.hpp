// SPDX-License-Identifier: MIT
// Calls of libraries that were written for kernel threads, whose stacks are large.
#pragma once

#include "weft/arch/arch.hpp"
#include "weft/base/export.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/memory/stack_record.hpp"
#include "weft/workers/worker.hpp"

#include <cstddef>
#include <exception>
#include <utility>

namespace weft::door {

namespace detail {

// In scope: the calling thread owns another stack, and is taken to be on it.
class borrowed_stack {
 public:
  // Borrows none for who is no thread, has `least` bytes left, or where there is no memory.
  borrowed_stack(std::size_t least, std::size_t bytes) noexcept {
    if constexpr (arch::sanitizer::watches_frames)
      return; // it knows of no thread with two stacks
    const sched::runtime_section in;
    if (!sched::on_worker())
      return;
    sched::worker& w = sched::here();
    unit::descriptor& self = *w.current;
    if (self.kind() != unit::kind_thread || self.stack == nullptr)
      return;
    const auto* here = static_cast<const std::byte*>(__builtin_frame_address(0));
    if (here - self.stack->low >= static_cast<std::ptrdiff_t>(least))
      return;
    taken_ = w.caches.stacks.allocate(bytes);
    if (taken_ == nullptr)
      return;
    taken_->owner = self.stack->owner;
    taken_->function = self.stack->function;
    self_ = &self;
    own_ = std::exchange(self.stack, taken_);
  }
  ~borrowed_stack() {
    if (taken_ == nullptr)
      return;
    const sched::runtime_section in;
    self_->stack = own_;
    sched::here().caches.stacks.free(taken_); // SWITCH: the call may have moved to another worker
  }
  borrowed_stack(const borrowed_stack&) = delete;
  borrowed_stack& operator=(const borrowed_stack&) = delete;

  void call(void (*function)(void*), void* argument) noexcept {
    if (taken_ == nullptr)
      return function(argument);
    arch::context there{}; // nobody continues it: it only says where the stack begins
    arch::make(there, taken_->initial_stack_pointer(), taken_->usable(), function, argument);
    arch::call_on(there, function, argument);
  }

 private:
  memory::stack_record *taken_ = nullptr, *own_ = nullptr;
  unit::descriptor* self_ = nullptr;
};

} // namespace detail

/// Calls `call()`: on the caller's stack if that has `least` bytes left, or the caller is no thread of
/// Weft's; else on one of `bytes`, which is the thread's own until the call returns. The thread stays who it
/// is, so the call may do what the thread may, and wait too. Without memory for a stack, and in builds with a
/// sanitizer, it is made on the caller's. *Contexts*: all but signal handlers; a thread that may be preempted
/// keeps that off meanwhile (no_preemption). *Switches*: where the call does. *Errors*: what the call throws.
template <class Call>
void call_with_room(std::size_t least, std::size_t bytes, Call&& call) {
  struct on_other_stack {
    std::remove_reference_t<Call>& call;
    std::exception_ptr thrown;
  } made{call, nullptr};
  {
    detail::borrowed_stack room(least, bytes);
    room.call(
        [](void* argument) {
          auto& m = *static_cast<on_other_stack*>(argument);
          try {
            m.call();
          } catch (...) {
            m.thrown = std::current_exception();
          }
        },
        &made);
  }
  if (made.thrown != nullptr)
    std::rethrow_exception(std::move(made.thrown));
}

/// Calls `function(argument)` as a part of the runtime: a thread that waits in the kernel meanwhile does not
/// leave its worker, as it would in user code, for which code of other libraries is taken. For what the
/// runtime or a front is in the middle of: on a borrowed stack nothing else says so. *Contexts*: all but
/// signal handlers. *Switches*: where the call does. *Errors*: what the call throws.
WEFT_API void call_keeping_worker(void (*function)(void*), void* argument);

} // namespace weft::door
