// SPDX-License-Identifier: MIT
// A FIFO that anyone may push and pop at both ends, under a lock: the pool form for many producers and
// consumers.
#pragma once

#include "weft/base/atomic.hpp"
#include "weft/base/spin_lock.hpp"
#include "weft/queue/intrusive_fifo.hpp"

#include <cstddef>
#include <mutex>

namespace weft::queue {

/// Marks policy: nothing is noted about links.
struct no_marks {
  void enter(link*) const noexcept {}
  void leave(link*) const noexcept {}
};

/// A doubly linked list under a spin lock, with a size that is read without it. `Marks` is told, under the
/// lock, of each link that enters and leaves: so a link that others may move can prove that it is here.
/// *Ownership*: `list_` and writes of `size_`: the holder of `lock_`; reads of `size_`: anyone.
/// *Invariants*: whenever the lock is free, `size_` == number of links in `list_`.
/// *Ordering*: the lock's SL1 hands links over. `size_` orders nothing: whoever decides by it not to look
/// (parking) brings the fence. All members: *Contexts*: thread, tasklet, foreign kernel thread; not a
/// signal handler, the interrupted code may hold the lock. *Switches*: never. *Errors*: none. *Undefined*:
/// pushing a link that is in a container; removing one that is in none.
template <class Marks>
class basic_locked_fifo {
 public:
  basic_locked_fifo() noexcept = default;
  explicit basic_locked_fifo(Marks marks) noexcept : marks_(marks) {}
  basic_locked_fifo(const basic_locked_fifo&) = delete;
  basic_locked_fifo& operator=(const basic_locked_fifo&) = delete;

  void push_back(link* item) noexcept {
    const std::scoped_lock guard(lock_);
    list_.push_back(item);
    marks_.enter(item);
    publish_size_locked();
  }

  void push_front(link* item) noexcept {
    const std::scoped_lock guard(lock_);
    list_.push_front(item);
    marks_.enter(item);
    publish_size_locked();
  }

  /// Takes the oldest link, or null. An empty list is seen without the lock, so pollers do not write its
  /// line.
  link* pop_front() noexcept {
    return take([this] { return list_.pop_front(); });
  }

  /// Takes the youngest link, or null.
  link* pop_back() noexcept {
    return take([this] { return list_.pop_back(); });
  }

  /// Takes a link out of the middle. The caller knows, by the unit's state, that the link is in this list
  /// and that nobody else may take it; where it cannot know, use remove_if().
  void remove(link* item) noexcept {
    const std::scoped_lock guard(lock_);
    list_.remove(item);
    marks_.leave(item);
    publish_size_locked();
  }

  /// Takes a link out if `still_here()`, called under the lock, says that it is in this list; returns what
  /// it said. What it looks at may only change under this lock: marks do.
  template <class Predicate>
  bool remove_if(link* item, Predicate still_here) noexcept {
    const std::scoped_lock guard(lock_);
    if (!still_here()) {
      return false;
    }
    list_.remove(item);
    marks_.leave(item);
    publish_size_locked();
    return true;
  }

  /// Moves at most `limit` of the oldest links to `target`; the number moved. For thieves: one lock, many
  /// links.
  template <class Size>
  std::size_t pop_front_into(linked_fifo<Size>& target, std::size_t limit) noexcept {
    if (empty()) {
      return 0;
    }
    const std::scoped_lock guard(lock_);
    std::size_t moved = 0;
    for (; moved < limit; ++moved) {
      link* const item = list_.pop_front();
      if (item == nullptr) {
        break;
      }
      marks_.leave(item);
      target.push_back(item);
    }
    publish_size_locked();
    return moved;
  }

  /// RACY without the lock: true or false may be out of date when it returns. One load.
  bool empty() const noexcept { return size() == 0; }

  /// RACY as empty(). One load.
  std::size_t size() const noexcept { return size_.load_relaxed(); }

  /// Calls `visit(link&)` for each link, oldest first, under the lock.
  template <class Visit>
  void for_each(Visit visit) {
    const std::scoped_lock guard(lock_);
    for (link* l = list_.first(); l != list_.end(); l = l->next) {
      visit(*l);
    }
  }

  /// Checks every invariant, under the lock.
  bool valid() const noexcept {
    const std::scoped_lock guard(lock_);
    return list_.valid() && list_.size() == size_.load_relaxed();
  }

 private:
  template <class Pop>
  link* take(Pop pop) noexcept {
    if (empty()) {
      return nullptr;
    }
    const std::scoped_lock guard(lock_);
    link* const item = pop();
    if (item != nullptr) {
      marks_.leave(item);
    }
    publish_size_locked();
    return item;
  }

  void publish_size_locked() noexcept {
    size_.store_relaxed(list_.size()); // relaxed: a hint; the lock orders the list
  }

  mutable base::spin_lock lock_;
  [[no_unique_address]] Marks marks_;
  base::atomic<std::size_t> size_ = 0;
  counted_fifo list_;
};

using locked_fifo = basic_locked_fifo<no_marks>;

} // namespace weft::queue
