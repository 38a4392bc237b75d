// SPDX-License-Identifier: MIT
// Stacks for kernel threads that are no worker: one cache behind a mutex, safe from any of them.
#pragma once

#include "weft/memory/stack_cache.hpp"

#include <cstddef>
#include <mutex>

namespace weft::memory {

class shared_stack_cache {
 public:
  explicit shared_stack_cache(stack_depot& depot = stack_depot::process()) noexcept : cache_{depot} {}

  // As stack_cache::allocate(size); `error` gets the errno when null is returned.
  // Contexts: foreign kernel thread, thread, tasklet. Switches: never (may block the kernel thread).
  stack_record* allocate(std::size_t size, int& error) noexcept {
    std::scoped_lock guard{mutex_};
    stack_record* stack = cache_.allocate(size);
    error = stack == nullptr ? cache_.last_error() : 0;
    return stack;
  }
  // Not the stack the caller runs on: another kernel thread could be handed it at once.
  void free(stack_record* stack) noexcept {
    std::scoped_lock guard{mutex_};
    cache_.free(stack);
  }
  std::size_t trim(std::size_t keep) noexcept {
    std::scoped_lock guard{mutex_};
    return cache_.trim(keep);
  }

  // For fork: hold the mutex across it, taken before fork_prepare().
  void prepare_fork() noexcept { mutex_.lock(); }
  void after_fork() noexcept { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  stack_cache cache_;
};

} // namespace weft::memory
