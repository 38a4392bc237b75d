// SPDX-License-Identifier: MIT
// A graph by its vertices, all or those of a rank: the neighbours of each one after the other. Both ends of
// an edge have each other; an edge from a vertex to itself is left out, and one that is there several times
// is kept.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "bench/graph500/division.hpp"

namespace weft::bench::graph500 {

class graph {
 public:
  // The vertices of `part`, of so many in all; edges that have no end among them are left out.
  graph(std::size_t vertices, const std::vector<edge>& edges, division part = {})
      : part_(part), vertices_(vertices), first_(part.count(vertices) + 1, 0) {
    for (const edge& e : edges)
      for_ends(e, [this](std::size_t end, vertex) { ++first_[end + 1]; });
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    neighbours_.resize(first_.back());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (const edge& e : edges)
      for_ends(e, [&](std::size_t end, vertex other) { neighbours_[next[end]++] = other; });
  }

  // Of the whole graph.
  [[nodiscard]] std::size_t vertices() const { return vertices_; }
  [[nodiscard]] const division& part() const { return part_; }
  // Of a vertex of the part.
  [[nodiscard]] std::span<const vertex> neighbours(vertex v) const {
    const std::size_t row = part_.place(v);
    return {neighbours_.data() + first_[row], neighbours_.data() + first_[row + 1]};
  }

 private:
  template <class F>
  void for_ends(const edge& e, F f) const {
    if (e.from == e.to)
      return;
    if (part_.owner(e.from) == part_.rank)
      f(part_.place(e.from), e.to);
    if (part_.owner(e.to) == part_.rank)
      f(part_.place(e.to), e.from);
  }

  division part_;
  std::size_t vertices_;
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
