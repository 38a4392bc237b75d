// SPDX-License-Identifier: MIT
// A graph by its vertices: the neighbours of each one after the other. Both ends of an edge have each other;
// an edge from a vertex to itself is left out, and one that is there several times is kept.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "bench/graph500/generator.hpp"

namespace weft::bench::graph500 {

class graph {
 public:
  graph(std::size_t vertices, const std::vector<edge>& edges) : first_(vertices + 1, 0) {
    for (const edge& e : edges) {
      if (e.from != e.to) {
        ++first_[e.from + 1];
        ++first_[e.to + 1];
      }
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    neighbours_.resize(first_.back());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (const edge& e : edges) {
      if (e.from != e.to) {
        neighbours_[next[e.from]++] = e.to;
        neighbours_[next[e.to]++] = e.from;
      }
    }
  }

  [[nodiscard]] std::size_t vertices() const { return first_.size() - 1; }
  [[nodiscard]] std::span<const vertex> neighbours(vertex v) const {
    return {neighbours_.data() + first_[v], neighbours_.data() + first_[v + 1]};
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<vertex> neighbours_;
};

// Different vertices that have neighbours, at random; fewer if there are not so many.
inline std::vector<vertex> draw_roots(const graph& g, std::size_t count) {
  std::vector<vertex> roots;
  for (std::uint64_t k = 0; roots.size() < count && k < 64 * (count + g.vertices()); ++k) {
    const auto v = static_cast<vertex>(random_at(of_roots, k) % g.vertices());
    if (!g.neighbours(v).empty() && std::find(roots.begin(), roots.end(), v) == roots.end())
      roots.push_back(v);
  }
  return roots;
}

} // namespace weft::bench::graph500
