// SPDX-License-Identifier: MIT
#include "weft/memory/stack_cache.hpp"

#include "weft/memory/guard.hpp"
#include "weft/memory/watermark.hpp"
#include "weft/memory/wipe.hpp"

#include <cerrno>

namespace weft::memory {
namespace {

// The last stack of a chain of `count`.
stack_record* last_of(stack_record* chain) noexcept {
  while (chain->next != nullptr) {
    chain = chain->next;
  }
  return chain;
}

// Whether the calling code runs on it.
bool is_run_on(const stack_record& stack) noexcept {
  const auto* const here = static_cast<const std::byte*>(__builtin_frame_address(0));
  return here >= stack.low && here < reinterpret_cast<const std::byte*>(&stack);
}

bool something_to_look_at() noexcept {
  return canaries_in_use() || watermark_enabled() || wipe_enabled();
}

void look_at(stack_record& stack) noexcept {
  verify_canary(stack);
  if (watermark_enabled())
    note_usage(stack);
}

} // namespace

// Canaries and high-water marks are looked for at each free, and stacks are cleaned for their next user. So
// that this costs nothing elsewhere, a bin that needs it makes its quick paths fail: no stack is ever in
// head_, and room_ is negative.
bool stack_bin::hook_if_needed() noexcept {
  if (hooked_ || !something_to_look_at()) {
    return hooked_;
  }
  const std::size_t count = cached();
  if (head_ != nullptr) {
    last_of(head_)->next = previous_;
    previous_ = head_;
    head_ = nullptr;
  }
  hooked_ = true;
  previous_count_.store_relaxed(count); // relaxed, here and below: only statistics read from elsewhere
  room_ = -hooked_bias;
  return true;
}

std::size_t stack_bin::cached() const noexcept {
  const std::int32_t room = *const_cast<const volatile std::int32_t*>(&room_);
  const std::int32_t in_use = room < -hooked_bias / 2 ? 0 : limit_ - room;
  return previous_count_.load_relaxed() + static_cast<std::size_t>(in_use > 0 ? in_use : 0);
}

void stack_bin::refill(stack_record* chain, std::size_t count) noexcept {
  head_ = chain;
  room_ = limit_ - static_cast<std::int32_t>(count);
}

stack_record* stack_bin::take_from_depot(std::size_t& count) noexcept {
  int error = 0;
  stack_record* chain = depot_->take(size_class_, count, error);
  if (chain == nullptr) {
    *error_ = error;
  }
  return chain;
}

stack_record* stack_bin::pop_slowly() noexcept {
  if (hook_if_needed()) {
    return pop_hooked();
  }
  if (previous_ != nullptr) {
    refill(previous_, previous_count_.load_relaxed());
    previous_ = nullptr;
    previous_count_.store_relaxed(0);
    return pop();
  }
  std::size_t count = 0;
  stack_record* chain = take_from_depot(count);
  if (chain == nullptr) {
    return nullptr;
  }
  // The first canary may just have been made; the chain counts as ours either way.
  refill(chain, count);
  return hook_if_needed() ? pop_hooked() : pop();
}

void stack_bin::push_slowly() noexcept {
  stack_record* newest = head_;
  if (hooked_) {
    head_ = nullptr;
    room_ = -hooked_bias;
    push_hooked(newest);
    return;
  }
  if (something_to_look_at()) {
    head_ = newest->next;
    ++room_;
    hook_if_needed();
    push_hooked(newest);
    return;
  }
  // room_ + length == limit, and the newest stays: it may still be run on.
  const auto older = static_cast<std::size_t>(limit_ - room_ - 1);
  if (previous_ != nullptr) {
    depot_->give(size_class_, previous_, previous_count_.load_relaxed());
  }
  previous_ = newest->next;
  previous_count_.store_relaxed(older);
  newest->next = nullptr;
  refill(newest, 1);
}

void stack_bin::push_hooked(stack_record* stack) noexcept {
  look_at(*stack);
  stack->next = previous_;
  previous_ = stack;
  const std::size_t count = previous_count_.load_relaxed() + 1;
  previous_count_.store_relaxed(count);
  if (count > 2 * static_cast<std::size_t>(limit_)) {
    flush(static_cast<std::size_t>(limit_));
  }
}

// Not the stack that was freed last where its thread still runs on it and looks for the next: to clean it
// would take the ground from under the caller.
stack_record* stack_bin::pop_hooked() noexcept {
  const bool cleans = watermark_enabled() || wipe_enabled();
  const bool newest_is_run_on = cleans && previous_ != nullptr && is_run_on(*previous_);
  stack_record** from = newest_is_run_on ? &previous_->next : &previous_;
  if (*from == nullptr) {
    std::size_t count = 0;
    *from = take_from_depot(count);
    if (*from == nullptr) {
      return nullptr;
    }
    previous_count_.store_relaxed(previous_count_.load_relaxed() + count);
  }
  stack_record* stack = *from;
  *from = stack->next;
  previous_count_.store_relaxed(previous_count_.load_relaxed() - 1);
  annotate::unpoison(stack->low, stack->usable());
  if (cleans) {
    clean(*stack); // here and not at free: whoever freed it was still running on it
  }
  return stack;
}

void stack_bin::flush(std::size_t keep) noexcept {
  const std::size_t count = cached();
  if (count <= keep) {
    return;
  }
  stack_record* all = previous_;
  if (head_ != nullptr) {
    last_of(head_)->next = previous_;
    all = head_;
  }
  stack_record* rest = all;
  stack_record* last_kept = nullptr;
  for (std::size_t kept = 0; kept < keep; ++kept) {
    last_kept = rest;
    rest = rest->next;
  }
  if (last_kept != nullptr) {
    last_kept->next = nullptr;
  }
  stack_record* kept_chain = keep == 0 ? nullptr : all;
  depot_->give(size_class_, rest, count - keep);
  if (hooked_) {
    previous_ = kept_chain;
    previous_count_.store_relaxed(keep);
  } else {
    previous_ = nullptr;
    previous_count_.store_relaxed(0);
    refill(kept_chain, keep);
  }
}

stack_cache::stack_cache(stack_depot& depot) : others_(stack_options::class_count - 1), depot_{&depot} {
  for (unsigned size_class = 0; size_class < stack_options::class_count; ++size_class) {
    stack_bin& bin = bin_of(size_class);
    bin.size_class_ = static_cast<std::uint16_t>(size_class);
    bin.depot_ = &depot;
    bin.error_ = &last_error_;
    bin.limit_ = depot.chain_limit(size_class);
    bin.room_ = bin.limit_;
    bin.hook_if_needed();
  }
  depot.join(*this);
}

stack_cache::~stack_cache() {
  flush(0);
  depot_->leave(*this);
}

stack_record* stack_cache::allocate(std::size_t size) noexcept {
  const std::size_t usual = depot_->options().default_size;
  if (size == 0 || size == usual) {
    return allocate();
  }
  if (size > stack_options::max_size) {
    last_error_ = EINVAL;
    return nullptr;
  }
  const unsigned size_class = stack_options::class_of(size);
  if (size < usual && size_class == stack_options::class_of(usual)) {
    return allocate();
  }
  return bin_of(size_class).pop();
}

void stack_cache::free_other(stack_record* stack) noexcept {
  bin_of(stack->size_class).push(stack);
}

void stack_cache::flush(std::size_t keep) noexcept {
  default_.flush(keep);
  for (stack_bin& bin : others_)
    bin.flush(0);
}

std::size_t stack_cache::trim(std::size_t keep) noexcept {
  flush(keep);
  return depot_->settle();
}

std::size_t stack_cache::cached() const noexcept {
  std::size_t sum = default_.cached();
  for (const stack_bin& bin : others_) {
    sum += bin.cached();
  }
  return sum;
}

void give_to_depot(stack_record& stack) noexcept {
  if (something_to_look_at())
    look_at(stack);
  stack.next = nullptr;
  stack_depot::process().give(stack.size_class, &stack, 1);
}

} // namespace weft::memory
