// SPDX-License-Identifier: MIT
// What is rare: claiming a stack, the first and the last step of a context, and everything that is refused.
#include "weft/context.hpp"

#include "weft/base/assert.hpp"
#include "weft/base/refuse.hpp"

#include <algorithm>

namespace weft {
namespace {

using base::refuse;

constexpr std::size_t alignment = 16; // of a stack's end, on every CPU
/// What aligning may cost at both ends of a stack that has just least_stack bytes.
constexpr std::size_t slack = 256;

std::byte* aligned_up(std::byte* p) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  return p + ((alignment - at % alignment) % alignment);
}

} // namespace

namespace detail {

__thread arch::exception_globals* weft_exception_globals __attribute__((tls_model("initial-exec"))) = nullptr;

arch::exception_globals* find_exception_globals() noexcept {
  return weft_exception_globals = arch::globals_of_this_kernel_thread();
}

claimed_stack::claimed_stack(std::span<std::byte> stack) {
  if (stack.data() == nullptr) {
    refuse(std::errc::invalid_argument, "weft: the stack is null");
  }
  if (stack.size() < least_stack) {
    refuse(std::errc::invalid_argument, "weft: the stack is smaller than weft::least_stack");
  }
  low_ = aligned_up(stack.data());
  std::byte* const end = stack.data() + stack.size();
  top_ = end - reinterpret_cast<std::uintptr_t>(end) % alignment;
  if (holds_caller()) {
    refuse(std::errc::device_or_resource_busy, "weft: the caller runs on the stack");
  }
  *reinterpret_cast<std::uintptr_t*>(low_) = mark();
}

claimed_stack::~claimed_stack() {
  arch::sanitizer::forget_frames(top_, size());
}

void* claimed_stack::take(std::size_t size, std::size_t align) {
  const std::size_t wanted = std::max(align, alignment);
  const std::size_t room = this->size() - std::min(this->size(), least_stack - slack);
  if (size > room || wanted > room || size + wanted > room) {
    refuse(std::errc::invalid_argument, "weft: the function leaves less than weft::least_stack of the stack");
  }
  top_ -= size;
  top_ -= reinterpret_cast<std::uintptr_t>(top_) % wanted;
  return top_;
}

void claimed_stack::overflowed() const noexcept {
  base::panic("the stack at %p, of %zu bytes, has overflowed", static_cast<const void*>(low_), size());
}

} // namespace detail

context::~context() {
  switch (state_) {
  case state::fresh:
    arch::sanitizer::discard_fiber(machine_.fiber);
    call_(*this);
    return;
  case state::suspended:
    goes_on_as_ = state::unwinding;
    static_cast<void>(run());
    return;
  case state::ended:
    return;
  case state::running:
  case state::unwinding:
    base::panic("a context (%p) is destroyed while it runs", static_cast<const void*>(this));
  }
}

void context::enter(void* argument) noexcept {
  arch::sanitizer::first_arrival();
  auto& self = *static_cast<context*>(argument);
  try {
    self.call_(self);
  } catch (const abandoned&) { // by its destructor, which waits for it
  } catch (...) {
    self.failure_ = std::current_exception();
  }
  self.stack_.check();
  self.state_ = state::ended;
  self.back_->ended = &self;
  arch::restore(self.back_->machine);
}

void context::pass_failure_of(const context& ended) {
  if (ended.failure_) {
    std::rethrow_exception(ended.failure_);
  }
}

void context::refuse_to_continue() const {
  if (state_ == state::ended) {
    refuse(std::errc::operation_not_permitted, "weft: the context has ended");
  }
  refuse(std::errc::resource_deadlock_would_occur, "weft: the context runs already");
}

void context::refuse_to_leave() const {
  if (state_ == state::unwinding && stack_.holds_caller()) {
    throw abandoned();
  }
  refuse(std::errc::operation_not_permitted, "weft: only its own function may leave a context");
}

} // namespace weft
