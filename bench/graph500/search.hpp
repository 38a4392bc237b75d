// SPDX-License-Identifier: MIT
// A breadth-first search by visits, each of which is a thread: that of vertex v from u. The vertices belong
// to eight parts, as to the ranks of a distributed graph. A visit goes into the buffer of the part that v
// belongs to; the visit that fills a buffer delivers it, and meanwhile has the part for itself. Both have a
// lock; a visit that finds it taken yields until it has it, and was promoted then.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "bench/graph500/tree.hpp"

namespace weft::bench::graph500 {

inline constexpr std::size_t parts = 8;
// How many threads a creator has alive at a time; as in kmeans.
inline constexpr std::size_t batch = 8192;
// How many vertices of the frontier a creator takes at a time: some have very many neighbours.
inline constexpr std::size_t share = 16;

// `Lock` has try_lock() and unlock().
template <class Lock>
class search {
 public:
  search(const graph& g, std::size_t buffer_length)
      : graph_(g), buffer_length_(buffer_length), tree_(g.vertices()), level_(g.vertices()) {}

  void start(vertex root) {
    std::fill(tree_.begin(), tree_.end(), nobody);
    depth_ = 0;
    tree_[root] = root;
    level_[root] = 0;
    frontier_ = {root};
  }

  // Before the visits of a level. False: there is nothing left to visit.
  bool begin_level() {
    ++depth_;
    taken_.store(0, std::memory_order_relaxed);
    return !frontier_.empty();
  }

  // A creator's part of the visits of a level: create(j, u, v) makes the j-th thread of a batch, which calls
  // visit(u, v), and join(j) joins it. Any number of creators at a time.
  template <class Create, class Join>
  void create_visits(Create create, Join join) {
    std::size_t alive = 0;
    const auto join_all = [&] {
      for (std::size_t j = 0; j < alive; ++j)
        join(j);
      alive = 0;
    };
    for (;;) {
      const std::size_t first = taken_.fetch_add(share, std::memory_order_relaxed);
      if (first >= frontier_.size())
        break;
      for (std::size_t k = first; k < std::min(first + share, frontier_.size()); ++k) {
        for (const vertex v : graph_.neighbours(frontier_[k])) {
          create(alive, frontier_[k], v);
          if (++alive == batch)
            join_all();
        }
      }
    }
    join_all();
  }

  // SWITCH: yield() may resume on another worker.
  template <class Yield>
  void visit(vertex u, vertex v, Yield yield) {
    part& mine = parts_[v % parts];
    bool promoted = false;
    take(mine.filling, yield, promoted);
    mine.buffer.push_back({u, v});
    if (mine.buffer.size() >= buffer_length_) [[unlikely]] {
      std::vector<edge> full;
      full.reserve(buffer_length_);
      full.swap(mine.buffer);
      mine.filling.unlock();
      take(mine.delivering, yield, promoted);
      deliver(mine, full);
      mine.delivering.unlock();
    } else {
      mine.filling.unlock();
    }
    if (promoted) [[unlikely]]
      promoted_.fetch_add(1, std::memory_order_relaxed);
  }

  // When all visits of the level have ended: delivers what is left in the buffers.
  void end_level() {
    frontier_.clear();
    for (part& each : parts_) {
      deliver(each, each.buffer);
      each.buffer.clear();
      frontier_.insert(frontier_.end(), each.next.begin(), each.next.end());
      each.next.clear();
    }
  }

  [[nodiscard]] const parents& tree() const { return tree_; }
  // Of all visits since the last call.
  std::size_t take_promoted() { return promoted_.exchange(0, std::memory_order_relaxed); }

 private:
  // Ownership: `buffer` is of whoever has `filling`, `next` of whoever has `delivering`, who also has the
  // tree and the levels of the part's vertices.
  struct part {
    alignas(64) Lock filling;
    std::vector<edge> buffer;
    alignas(64) Lock delivering;
    std::vector<vertex> next;
  };

  template <class Yield>
  static void take(Lock& lock, Yield yield, bool& promoted) {
    while (!lock.try_lock()) [[unlikely]] {
      promoted = true;
      yield();
    }
  }

  void deliver(part& to, const std::vector<edge>& visits) {
    for (const auto [u, v] : visits) {
      if (tree_[v] == nobody) {
        tree_[v] = u;
        level_[v] = depth_;
        to.next.push_back(v);
      } else if (level_[v] == depth_) {
        tree_[v] = std::min(tree_[v], u);
      }
    }
  }

  const graph& graph_;
  const std::size_t buffer_length_;
  parents tree_;
  std::vector<unsigned> level_; // of what is in the tree
  unsigned depth_ = 0;          // of the vertices that are being visited
  std::vector<vertex> frontier_;
  std::atomic<std::size_t> taken_{0}, promoted_{0};
  std::array<part, parts> parts_;
};

} // namespace weft::bench::graph500
