// SPDX-License-Identifier: MIT
// A doubly linked list over embedded links, for one owner: no atomics, no allocation, O(1) removal from the
// middle. Every create and join of a private pool passes here, so push and pop carry no branch that they
// can avoid.
#pragma once

#include "weft/queue/link.hpp"

#include <cstddef>

namespace weft::queue {

/// Size policy: counts by walking. No cost per operation.
struct walked_size {
  void grow(std::size_t) noexcept {}
  void grow(walked_size) noexcept {}
  void shrink(std::size_t) noexcept {}
};

/// Size policy: keeps the count. One instruction per operation.
struct kept_size {
  void grow(std::size_t count) noexcept { value += count; }
  void grow(kept_size other) noexcept { value += other.value; }
  void shrink(std::size_t count) noexcept { value -= count; }
  std::size_t value = 0;
};

/// A FIFO (and LIFO) of links.
/// *Ownership*: one owner at a time; it may be any kernel thread, but two need a lock around it.
/// *Invariants*: a circle through the sentinel `ends_`: for each node n, n->next->prev == n; ends_.next is
/// the front, ends_.prev the back; empty iff the sentinel points at itself. The circle spares every test
/// for "first" or "last". All members: *Contexts*: thread, tasklet, foreign kernel thread, signal handler
/// that owns it. *Switches*: never.
/// *Errors*: none. *Undefined*: pushing a link that is in a container; removing one that is not in this
/// one.
/// Source: Knuth, TAOCP 1, 2.2.5.
template <class Size>
class linked_fifo {
 public:
  constexpr linked_fifo() noexcept {
    ends_.next = &ends_;
    ends_.prev = &ends_;
  }
  linked_fifo(const linked_fifo&) = delete;
  linked_fifo& operator=(const linked_fifo&) = delete;

  bool empty() const noexcept { return ends_.next == &ends_; }

  /// The oldest link, or null.
  link* front() const noexcept {
    link* const first = ends_.next;
    return first == &ends_ ? nullptr : first;
  }

  /// The oldest link, or end(): for callers who then take it with pop_first() and need no second test.
  link* first() noexcept { return ends_.next; }
  const link* end() const noexcept { return &ends_; }

  /// Takes `head`, which is first() and not end().
  void pop_first(link* head) noexcept {
    link* const second = head->next;
    ends_.next = second;
    second->prev = &ends_;
    size_.shrink(1);
  }

  /// The youngest link, or null.
  link* back() const noexcept {
    link* const last = ends_.prev;
    return last == &ends_ ? nullptr : last;
  }

  void push_back(link* item) noexcept {
    // The order keeps GCC from merging the item's two words into one vector store: 5 instructions instead
    // of 7.
    link* const last = ends_.prev;
    item->prev = last;
    last->next = item;
    item->next = &ends_;
    ends_.prev = item;
    size_.grow(1);
  }

  void push_front(link* item) noexcept {
    link* const first = ends_.next;
    item->next = first;
    first->prev = item;
    item->prev = &ends_;
    ends_.next = item;
    size_.grow(1);
  }

  /// Takes the oldest link; null if there is none.
  link* pop_front() noexcept {
    link* const first = ends_.next;
    if (first == &ends_) [[unlikely]] {
      return nullptr;
    }
    link* const second = first->next;
    ends_.next = second;
    second->prev = &ends_;
    size_.shrink(1);
    return first;
  }

  /// Takes the youngest link; null if there is none.
  link* pop_back() noexcept {
    link* const last = ends_.prev;
    if (last == &ends_) [[unlikely]] {
      return nullptr;
    }
    link* const second = last->prev;
    ends_.prev = second;
    second->next = &ends_;
    size_.shrink(1);
    return last;
  }

  /// Takes a link out of the middle, in constant time.
  void remove(link* item) noexcept {
    link* const next = item->next;
    link* const prev = item->prev;
    prev->next = next;
    next->prev = prev;
    size_.shrink(1);
  }

  /// Takes a link out of whichever list it is in; only where lists keep no size.
  static void unlink(link* item) noexcept
    requires(!requires { Size::value; })
  {
    link* const next = item->next;
    link* const prev = item->prev;
    prev->next = next;
    next->prev = prev;
  }

  /// Puts `item`, which is in no container, in the place of `old`, which leaves its list: whichever list that
  /// is.
  static void replace(link* old, link* item) noexcept {
    // The order keeps GCC from copying the two words as one vector, as in push_back().
    link* const prev = old->prev;
    item->prev = prev;
    prev->next = item;
    link* const next = old->next;
    next->prev = item;
    item->next = next;
  }

  /// Appends a chain that arrives youngest first (each `next` names an older link; the last one's is null),
  /// so that the list holds it oldest first. One pass; used by mpsc_inbox.
  void append_reversed(link* youngest) noexcept {
    link* const old_back = ends_.prev;
    link* after = &ends_;
    std::size_t count = 0;
    while (youngest != nullptr) {
      link* const older = youngest->next;
      youngest->next = after;
      after->prev = youngest;
      after = youngest;
      youngest = older;
      ++count;
    }
    after->prev = old_back;
    old_back->next = after;
    size_.grow(count);
  }

  /// Moves all of `other` behind the back of this, keeping its order; leaves `other` empty. Constant time.
  void splice_back(linked_fifo& other) noexcept {
    if (other.empty()) {
      return;
    }
    link* const first = other.ends_.next;
    link* const last = other.ends_.prev;
    link* const old_back = ends_.prev;
    old_back->next = first;
    first->prev = old_back;
    last->next = &ends_;
    ends_.prev = last;
    size_.grow(other.size_);
    other.ends_.next = &other.ends_;
    other.ends_.prev = &other.ends_;
    other.size_ = Size{};
  }

  /// Number of links: constant time with kept_size, a walk with walked_size.
  std::size_t size() const noexcept {
    if constexpr (requires { size_.value; }) {
      return size_.value;
    } else {
      return walk();
    }
  }

  /// Checks every invariant, in O(size).
  bool valid() const noexcept {
    std::size_t count = 0;
    const link* node = &ends_;
    do {
      const link* const next = node->next;
      if (next == nullptr || next->prev != node) {
        return false;
      }
      node = next;
      ++count;
    } while (node != &ends_);
    return count - 1 == size();
  }

 private:
  std::size_t walk() const noexcept {
    std::size_t count = 0;
    for (const link* node = ends_.next; node != &ends_; node = node->next) {
      ++count;
    }
    return count;
  }

  link ends_{};
  [[no_unique_address]] Size size_;
};

/// For private pools: nothing is counted per operation.
using intrusive_fifo = linked_fifo<walked_size>;

/// A list before whose end lie nulls: who looks at what lies before a link, as unit::descriptor::prefetch()
/// does, needs no test for the end.
struct guarded_fifo {
  void* nulls[4] = {};
  intrusive_fifo list;
};

/// For pools whose size is asked for.
using counted_fifo = linked_fifo<kept_size>;

} // namespace weft::queue
