// SPDX-License-Identifier: MIT
// One forked thread of Weft a node, joined by its parent in the reverse order. Children go out in chunks that
// nest, as in the other adapters.
#pragma once

#include <weft/weft.hpp>

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

#include "apps/uts/tree.hpp"

namespace weft::uts {

/// A tree whose nodes are all visited here.
struct nothing_is_given_away {
  static bool gives(const node&) noexcept { return false; }
};

/// Visits of one tree. `Giver::gives(node)` is asked as the thread of a node begins: true: the node has been
/// given away, with all below it, and is not counted here.
template <class Giver>
class forked_visits {
 public:
  /// `giver` is a reference where several threads share it.
  forked_visits(const tree& in, Giver giver) : tree_(in), giver_(std::forward<Giver>(giver)) {}

  /// The counts of the node and of all below it that was not given away. *Contexts*: thread. *Switches*: may.
  counts visit(const node& n) {
    counts sum{1, 0, n.depth};
    const int children = tree_.child_count(n);
    if (children == 0) {
      sum.leaves = 1;
    } else {
      sum += visit_children(n, 0, children);
    }
    return sum;
  }

 private:
  struct child_visit {
    forked_visits* of;
    const node* parent;
    int index;

    counts operator()() const {
      const node n = tree::child(*parent, index);
      return of->giver_.gives(n) ? counts{} : of->visit(n);
    }
  };

  // Up to four forked children in place: such a handle can neither be moved nor made empty. Four, because
  // most nodes that have children have about five, and a deep tree pays for each place on each of its 17,844
  // levels.
  class chunk {
   public:
    using child = decltype(weft::fork(child_visit{}));
    static constexpr int capacity = 4;

    chunk() = default;
    chunk(const chunk&) = delete;
    chunk& operator=(const chunk&) = delete;
    ~chunk() {
      while (size_ > 0) {
        at(--size_)->~child();
      }
    }

    void fork(const child_visit& work) {
      new (static_cast<void*>(storage_ + sizeof(child) * static_cast<std::size_t>(size_)))
          child(weft::fork(child_visit(work)));
      ++size_;
    }

    counts join_all() {
      counts sum;
      for (int i = size_; i-- > 0;) {
        sum += at(i)->join();
      }
      return sum;
    }

   private:
    child* at(int i) {
      return std::launder(reinterpret_cast<child*>(storage_ + sizeof(child) * static_cast<std::size_t>(i)));
    }

    alignas(child) std::byte storage_[sizeof(child) * capacity];
    int size_ = 0;
  };

  counts visit_children(const node& parent, int first, int children) {
    chunk forked;
    const int last = std::min(first + chunk::capacity, children);
    for (int i = first; i < last; ++i) {
      forked.fork({this, &parent, i});
    }
    counts sum;
    if (last < children) {
      sum = visit_children(parent, last, children);
    }
    sum += forked.join_all();
    return sum;
  }

  const tree& tree_;
  Giver giver_;
};

template <class Giver>
forked_visits(const tree&, Giver&&) -> forked_visits<Giver>;

} // namespace weft::uts
