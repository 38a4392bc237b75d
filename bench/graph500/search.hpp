// SPDX-License-Identifier: MIT
// A breadth-first search by visits, each of which is a thread: that of vertex v from u. The vertices belong
// to eight parts, as to the ranks of a distributed graph. A visit goes into the buffer of the part that v
// belongs to; the visit that fills a buffer delivers it, and meanwhile has the part for itself. Both have a
// lock; a visit that finds it taken yields until it has it, and was promoted then.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include "bench/graph500/tree.hpp"
#include "bench/graph500/visits.hpp"

namespace weft::bench::graph500 {

inline constexpr std::size_t parts = 8;

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
    frontier_.assign({root});
  }

  // Before the visits of a level. False: there is nothing left to visit.
  bool begin_level() {
    ++depth_;
    return !frontier_.empty();
  }

  // As frontier::create_visits(); the thread calls visit(u, v).
  template <class Create, class Join>
  void create_visits(Create create, Join join) {
    frontier_.create_visits(graph_, create, join);
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
    std::vector<vertex> next;
    for (part& each : parts_) {
      deliver(each, each.buffer);
      each.buffer.clear();
      next.insert(next.end(), each.next.begin(), each.next.end());
      each.next.clear();
    }
    frontier_.assign(std::move(next));
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
  frontier frontier_;
  std::atomic<std::size_t> promoted_{0};
  std::array<part, parts> parts_;
};

} // namespace weft::bench::graph500
