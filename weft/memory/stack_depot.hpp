// SPDX-License-Identifier: MIT
// What the stack caches of a process share: the slabs stacks are carved from, and chains of free stacks on
// their way between caches. One mutex; caches come here once in some hundred operations.
//
// A stack is live (handed out), cached (in a chain: in a cache or here) or stored (a bit in its slab; its
// pages may be gone, its record with them). Stacks are stored only in settle().
#pragma once

#include "weft/base/atomic.hpp"
#include "weft/base/export.hpp"
#include "weft/memory/stack_options.hpp"
#include "weft/memory/stack_record.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace weft::memory {

class stack_cache;

class WEFT_API stack_depot {
 public:
  explicit stack_depot(const stack_options& options) noexcept;
  // Unmaps everything; no stack may be live and no cache left.
  ~stack_depot();
  stack_depot(const stack_depot&) = delete;
  stack_depot& operator=(const stack_depot&) = delete;

  // The process's own depot, made from the knobs at first use; never destroyed.
  static stack_depot& process() noexcept;

  const stack_options& options() const noexcept { return options_; }
  // What automatic guard and page choices came to.
  guard_mode guard() const noexcept { return guard_; }

  struct statistics {
    std::size_t live;
    std::size_t cached; // in caches and chains
    std::size_t stored; // in slabs
    std::size_t slabs;
    std::size_t mapped_bytes;
  };
  // Exact while no cache is in use, else off by what moves meanwhile. Contexts: any kernel thread.
  statistics count() noexcept;

  // Sends every chain in the depot back to its slabs and gives memory back: wholly free slabs are unmapped
  // but for one of the default size, pages of free stacks elsewhere discarded. Returns bytes unmapped.
  // Contexts: thread, foreign kernel thread.
  std::size_t settle() noexcept;

  // For fork: prepare takes the mutex, parent and child release it.
  void prepare_fork() noexcept { mutex_.lock(); }
  void after_fork() noexcept { mutex_.unlock(); }

  // --- for stack_cache and stack_bin ---

  // A chain of free stacks of this class, or one fresh stack; null with an errno in `error`.
  stack_record* take(unsigned size_class, std::size_t& count, int& error) noexcept;
  // Takes a chain of `count` stacks of one class, none of which anything runs on.
  void give(unsigned size_class, stack_record* chain, std::size_t count) noexcept;
  void join(stack_cache& cache) noexcept;
  void leave(stack_cache& cache) noexcept;
  // How many stacks of this class make a chain.
  std::int32_t chain_limit(unsigned size_class) const noexcept;
  std::size_t nominal_size(unsigned size_class) const noexcept {
    return size_class == 0 ? options_.default_size : stack_options::class_size(size_class);
  }

 private:
  friend struct inspection;

  struct shelf {                     // one size class
    stack_record* batches = nullptr; // linked by next_batch
    std::size_t batched = 0;         // stacks in them
    stack_slab* open = nullptr;      // slabs with stored stacks
  };

  stack_slab* open_slab_locked(unsigned size_class, int& error) noexcept;
  bool store_batch_locked() noexcept;
  void store_locked(stack_record* chain) noexcept;
  void link_open_locked(stack_slab& slab) noexcept;
  void unlink_open_locked(stack_slab& slab) noexcept;
  void forget_locked(stack_slab& slab) noexcept;
  bool clean_one_locked(stack_slab*& free_slab) noexcept;

  stack_options options_;
  guard_mode guard_;
  stack_pages pages_;
  std::mutex mutex_;
  shelf shelves_[stack_options::class_count];
  stack_slab* slabs_ = nullptr;  // all, doubly linked
  stack_slab* soiled_ = nullptr; // have stacks that came back and whose pages are still there
  stack_slab* kept_ = nullptr;   // a wholly free slab of the default size that settle() leaves
  stack_cache* caches_ = nullptr;
};

} // namespace weft::memory
