// SPDX-License-Identifier: MIT
// Which vertices of a graph a rank has: each `ranks`-th, from that of its own number on. One rank has all.
#pragma once

#include <cstddef>

#include "bench/graph500/generator.hpp"

namespace weft::bench::graph500 {

struct division {
  vertex rank = 0, ranks = 1;

  [[nodiscard]] vertex owner(vertex v) const { return v % ranks; }
  // Among the vertices of its owner.
  [[nodiscard]] std::size_t place(vertex v) const { return v / ranks; }
  [[nodiscard]] vertex at(std::size_t place) const { return static_cast<vertex>(place) * ranks + rank; }
  // How many of all are this rank's.
  [[nodiscard]] std::size_t count(std::size_t vertices) const {
    return (vertices + ranks - 1 - rank) / ranks;
  }
};

} // namespace weft::bench::graph500
