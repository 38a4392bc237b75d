// SPDX-License-Identifier: MIT
// A priority queue with 64 levels: one FIFO a level and a bitmap of those that are not empty.
#pragma once

#include "weft/base/atomic.hpp"
#include "weft/base/spin_lock.hpp"
#include "weft/queue/intrusive_fifo.hpp"
#include "weft/queue/null_lock.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace weft::queue {

/// Links in order of level (0 is the most urgent, 63 the least), FIFO within a level.
/// *Ownership*: everything under `Lock`; `occupied_` may be read by anyone.
/// *Invariants*: bit k of `occupied_` is set iff `levels_[k]` is not empty, whenever the lock is free.
/// *Ordering*: the lock's; `occupied_` orders nothing (it is atomic for the readers of empty() only).
/// All members: *Contexts*: thread, tasklet, foreign kernel thread; with null_lock the owner only; not a
/// signal handler. *Switches*: never. *Errors*: none. *Undefined*: a level above 63; pushing a link that is
/// in a container.
/// Source: the run queues of 4.4BSD and Linux 2.6 (bitmap over FIFOs).
template <class Lock>
class priority_buckets {
 public:
  static constexpr unsigned level_count = 64;

  priority_buckets() noexcept = default;
  priority_buckets(const priority_buckets&) = delete;
  priority_buckets& operator=(const priority_buckets&) = delete;

  void push_back(link* item, unsigned level) noexcept {
    const std::scoped_lock guard(lock_);
    levels_[level].push_back(item);
    mark_locked(level);
  }

  /// Ahead of the others of its level.
  void push_front(link* item, unsigned level) noexcept {
    const std::scoped_lock guard(lock_);
    levels_[level].push_front(item);
    mark_locked(level);
  }

  /// Takes the oldest link of the most urgent level; null if all are empty.
  link* pop_front() noexcept {
    if (empty()) {
      return nullptr;
    }
    const std::scoped_lock guard(lock_);
    const std::uint64_t occupied = occupied_.load_relaxed(); // relaxed: under the lock
    if (occupied == 0) {
      return nullptr;
    }
    const auto level = static_cast<unsigned>(std::countr_zero(occupied));
    link* const item = levels_[level].pop_front();
    unmark_if_empty_locked(level);
    return item;
  }

  /// Takes a link out of the middle; `level` is the one it was pushed with. The caller knows that it is
  /// here.
  void remove(link* item, unsigned level) noexcept {
    const std::scoped_lock guard(lock_);
    levels_[level].remove(item);
    unmark_if_empty_locked(level);
  }

  /// RACY unless called by the owner: one load.
  bool empty() const noexcept { return occupied_.load_relaxed() == 0; }

  /// The most urgent level that is occupied, level_count if none. RACY as empty().
  unsigned most_urgent() const noexcept {
    return static_cast<unsigned>(std::countr_zero(occupied_.load_relaxed()));
  }

  /// Number of links: the sum of what each level counts. Takes the lock.
  std::size_t size() const noexcept {
    const std::scoped_lock guard(lock_);
    std::size_t sum = 0;
    for (std::uint64_t rest = occupied_.load_relaxed(); rest != 0; rest &= rest - 1) {
      sum += levels_[static_cast<unsigned>(std::countr_zero(rest))].size();
    }
    return sum;
  }

  /// Checks every invariant, under the lock.
  bool valid() const noexcept {
    const std::scoped_lock guard(lock_);
    for (unsigned level = 0; level < level_count; ++level) {
      const bool marked = (occupied_.load_relaxed() >> level & 1U) != 0;
      if (!levels_[level].valid() || marked == levels_[level].empty()) {
        return false;
      }
    }
    return true;
  }

 private:
  // relaxed loads and stores: writers hold the lock
  void mark_locked(unsigned level) noexcept {
    occupied_.store_relaxed(occupied_.load_relaxed() | std::uint64_t{1} << level);
  }

  void unmark_if_empty_locked(unsigned level) noexcept {
    if (levels_[level].empty()) {
      occupied_.store_relaxed(occupied_.load_relaxed() & ~(std::uint64_t{1} << level));
    }
  }

  [[no_unique_address]] mutable Lock lock_;
  base::atomic<std::uint64_t> occupied_ = 0;
  std::array<counted_fifo, level_count> levels_;
};

/// For a pool that one worker owns.
using private_priority_buckets = priority_buckets<null_lock>;

/// For a pool that many workers use.
using locked_priority_buckets = priority_buckets<base::spin_lock>;

} // namespace weft::queue
