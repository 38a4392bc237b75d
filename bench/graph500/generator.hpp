// SPDX-License-Identifier: MIT
// The edges of a Kronecker graph as the specification of Graph500 has them: 2^scale vertices, 16 times as
// many edges, each bit of whose two ends is drawn with the probabilities 0.57, 0.19, 0.19, 0.05; then the
// vertices are renamed at random, so that their numbers tell nothing of their degrees. The random numbers are
// our own: the same graph in every program, not that of the reference implementation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "bench/common/random.hpp"

namespace weft::bench::graph500 {

using vertex = std::uint32_t;
struct edge {
  vertex from, to;
};

inline constexpr std::size_t edges_of_a_vertex = 16;

enum stream : std::uint64_t { of_edges = 16, of_names, of_roots };

inline edge draw_edge(unsigned scale, std::uint64_t number) {
  edge e{0, 0};
  for (unsigned bit = 0; bit < scale; ++bit) {
    const double r = unit_interval(random_at(of_edges, number * scale + bit));
    const vertex from = r >= 0.57 + 0.19, to = (r >= 0.57 && r < 0.57 + 0.19) || r >= 0.57 + 0.19 + 0.19;
    e = {e.from << 1 | from, e.to << 1 | to};
  }
  return e;
}

// keep(edge) for one after the other.
template <class Keep>
void draw_edges(unsigned scale, Keep keep) {
  const std::size_t n = std::size_t{1} << scale;
  std::vector<vertex> names(n);
  std::iota(names.begin(), names.end(), vertex{0});
  for (std::size_t k = 0; k < n; ++k)
    std::swap(names[k], names[k + random_at(of_names, k) % (n - k)]);
  for (std::size_t k = 0; k < n * edges_of_a_vertex; ++k) {
    const edge e = draw_edge(scale, k);
    keep(edge{names[e.from], names[e.to]});
  }
}

inline std::vector<edge> make_edges(unsigned scale) {
  std::vector<edge> edges;
  edges.reserve(edges_of_a_vertex << scale);
  draw_edges(scale, [&edges](edge e) { edges.push_back(e); });
  return edges;
}

} // namespace weft::bench::graph500
