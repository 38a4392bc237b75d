// SPDX-License-Identifier: MIT
// Which vertices of a graph a rank has: each `ranks`-th, from that of its own number on. One rank has all.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/graph500/generator.hpp"

namespace weft::bench::graph500 {

struct division {
  vertex rank = 0, ranks = 1;

  division() = default;
  division(vertex own, vertex of) : rank(own), ranks(of) {}

  [[nodiscard]] vertex owner(vertex v) const { return v - static_cast<vertex>(place(v)) * ranks; }
  // Among the vertices of its owner: v / ranks by a multiplication, which is exact for 32 bits (Lemire,
  // Kaser, Kurz: Faster Remainder by Direct Computation, 2019), for each visit asks.
  [[nodiscard]] std::size_t place(vertex v) const {
    return ranks == 1 ? v : static_cast<std::size_t>((static_cast<__uint128_t>(inverse_) * v) >> 64);
  }
  [[nodiscard]] vertex at(std::size_t place) const { return static_cast<vertex>(place) * ranks + rank; }
  // How many of all are this rank's.
  [[nodiscard]] std::size_t count(std::size_t vertices) const {
    return (vertices + ranks - 1 - rank) / ranks;
  }

 private:
  std::uint64_t inverse_ = ~std::uint64_t{0} / ranks + 1; // 2^64 / ranks, rounded up
};

} // namespace weft::bench::graph500
