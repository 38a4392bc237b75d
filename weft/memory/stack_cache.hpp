// SPDX-License-Identifier: MIT
// A worker's stacks. Taking and returning the default size is a pop and a push of a list of this worker
// alone.
//
// The scheme is Bonwick's magazines (USENIX 2001), with chains of free stacks as magazines: a bin holds the
// chain in use and one full or empty chain beside it; whole chains go to and come from the depot in O(1), so
// bouncing at a boundary costs nothing and what one worker frees another can use. trim() takes chains apart
// and sends each stack to its slab.
//
// The stack that was freed last is never handed on: the thread that frees its own stack still runs on it
// until it switches away. Whatever is freed later on this worker proves that it has.
//
// Ownership: one worker at a time; no member but statistics reads from elsewhere.
// Invariant: room_ + length of the chain in use == limit; hooked bins keep room_ so low that every free is a
// slow one.
#pragma once

#include "weft/base/atomic.hpp"
#include "weft/base/export.hpp"
#include "weft/memory/annotate.hpp"
#include "weft/memory/stack_depot.hpp"
#include "weft/memory/stack_options.hpp"
#include "weft/memory/stack_record.hpp"
#include "weft/os/own_heap.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::memory {

// Free stacks of one size class in one cache.
class WEFT_API stack_bin {
 public:
  [[gnu::always_inline]] stack_record* pop() noexcept {
    stack_record* stack = head_;
    if (stack == nullptr) [[unlikely]] {
      return pop_slowly();
    }
    head_ = stack->next;
    ++room_;
    annotate::unpoison(stack->low, stack->usable());
    return stack;
  }

  [[gnu::always_inline]] void push(stack_record* stack) noexcept {
    stack->next = head_;
    head_ = stack;
    if (--room_ < 0) [[unlikely]] {
      push_slowly();
    }
  }

 private:
  friend class stack_cache;

  stack_record* pop_slowly() noexcept;
  void push_slowly() noexcept;
  void push_hooked(stack_record* stack) noexcept;
  stack_record* pop_hooked() noexcept;
  bool hook_if_needed() noexcept;
  stack_record* take_from_depot(std::size_t& count) noexcept;
  // Contexts: any kernel thread; exact while the owner does not run.
  __attribute__((no_sanitize("thread"))) std::size_t cached() const noexcept;
  // All but the newest `keep` go to the depot.
  void flush(std::size_t keep) noexcept;
  void refill(stack_record* chain, std::size_t count) noexcept;

  // Far below zero, so that hooked bins stay negative whatever is popped and pushed.
  static constexpr std::int32_t hooked_bias = 1 << 30;

  stack_record* head_ = nullptr;
  // RACY: cached() reads it from other kernel threads; plain all the same, because compilers do not fold a
  // relaxed load, an addition and a relaxed store into one instruction.
  std::int32_t room_ = 0;
  std::int32_t limit_ = 0;
  stack_record* previous_ = nullptr; // a second chain, older; in a hooked bin: all stacks
  base::atomic<std::size_t> previous_count_ = 0;
  bool hooked_ = false; // canaries, marks or wiping need a look at each stack
  std::uint16_t size_class_ = 0;
  stack_depot* depot_ = nullptr;
  int* error_ = nullptr;
};

class WEFT_API stack_cache {
 public:
  // A cache over `depot`, the process's own by default. Contexts: any kernel thread. Switches: never. Errors:
  // std::bad_alloc.
  explicit stack_cache(stack_depot& depot = stack_depot::process());
  // Returns everything to the depot. Not from a stack of this cache.
  ~stack_cache();
  stack_cache(const stack_cache&) = delete;
  stack_cache& operator=(const stack_cache&) = delete;

  // A stack of the default size (WEFT_STACK_SIZE), or null when memory is out; last_error() tells. Nothing
  // has changed then. `owner` and `function` of the record hold anything. 6 instructions when a stack is
  // cached. Contexts: thread, tasklet, by this cache's worker, not preemptible. Switches: never. Errors:
  // null.
  [[gnu::always_inline]] stack_record* allocate() noexcept { return default_.pop(); }

  // A stack with at least `size` usable bytes; 0 means the default. Sizes are rounded up to a size class
  // (stack_options.hpp). Errors: null; last_error() is EINVAL above stack_options::max_size, else ENOMEM or
  // EAGAIN.
  stack_record* allocate(std::size_t size) noexcept;

  // Whether `stack`, in use, goes from one thread to the next by a free_default() and an allocate(): it has
  // the default size, and nothing is to be looked at when a thread is done with it. Contexts: as allocate().
  [[nodiscard]] bool may_hand_on(const stack_record& stack) const noexcept {
    return stack.size_class == 0 && stack.flags == 0 && !default_.hooked_;
  }

  // Takes `stack` back, always into this worker's own list; it may be the stack the caller runs on. The
  // caller must have switched away from it before the next free(), trim() or destruction. 7 instructions.
  // Contexts: as allocate(). Switches: never. Errors: a smashed canary ends the process with a message.
  [[gnu::always_inline]] void free(stack_record* stack) noexcept {
    if (stack->size_class != 0) [[unlikely]] {
      free_other(stack);
      return;
    }
    default_.push(stack);
  }

  // As free(), for a stack that is known to come from allocate(): 5 instructions.
  [[gnu::always_inline]] void free_default(stack_record* stack) noexcept { default_.push(stack); }

  // Gives memory back: all stacks but the `keep` newest of the default size go back to their slabs, as does
  // all that is in the depot; wholly free slabs are unmapped, and the pages of free stacks in others
  // discarded. For idle workers. Contexts: the worker, on a stack that has not been freed. Switches: never.
  // Returns bytes unmapped.
  std::size_t trim(std::size_t keep) noexcept;

  // errno of the last allocation that returned null.
  int last_error() const noexcept { return last_error_; }

  // Stacks this cache holds; exact while its worker does not run. Contexts: any kernel thread.
  std::size_t cached() const noexcept;

  stack_depot& depot() const noexcept { return *depot_; }

 private:
  friend class stack_depot;

  void free_other(stack_record* stack) noexcept;
  void flush(std::size_t keep) noexcept;

  [[nodiscard]] stack_bin& bin_of(unsigned size_class) noexcept {
    return size_class == 0 ? default_ : others_[size_class - 1];
  }

  stack_bin default_; // class 0
  // Elsewhere, as none of the quick paths reads them: what stands for a worker in user mode is as large as
  // one (carrier/user_mode.hpp), and there is one for each preemptible thread.
  std::vector<stack_bin, os::own_allocator<stack_bin>> others_;
  stack_depot* depot_ = nullptr;
  int last_error_ = 0;
  stack_cache* next_ = nullptr; // in the depot's list of caches
};

// Takes back a stack of the process's depot that nobody runs on, where there is no cache. Contexts: any
// kernel thread. Switches: never. Errors: as stack_cache::free().
void give_to_depot(stack_record& stack) noexcept;

} // namespace weft::memory
