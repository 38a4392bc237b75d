// SPDX-License-Identifier: MIT
// What a tree over ranks must be, and damage that shows what the checks are worth.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/graph500/tree.hpp"

namespace graph500 {

/// One rank of the job sees all of it: the edges, the graph, and the whole tree.
class judge {
 public:
  explicit judge(unsigned scale);

  [[nodiscard]] const weft::bench::graph500::graph& whole() const noexcept { return graph_; }

  /// What is wrong with a tree, by the five checks of Graph500's specification and beside the one that a loop
  /// finds; empty: nothing.
  [[nodiscard]] std::string fault_of(const weft::bench::graph500::parents& tree,
                                     weft::bench::graph500::vertex root) const;
  /// Edges that the search came upon.
  [[nodiscard]] std::size_t traversed(const weft::bench::graph500::parents& tree) const;

  /// Makes a tree wrong: "cycle", "detour" (a parent on the same level), "lost" (a vertex), "stranger" (a
  /// parent that is no neighbour), "larger" (a neighbour for a parent, not the smallest). Errors:
  /// std::invalid_argument for other kinds, std::runtime_error where the tree has no place for it.
  void damage(weft::bench::graph500::parents& tree, weft::bench::graph500::vertex root,
              std::string_view kind) const;

 private:
  std::vector<weft::bench::graph500::edge> edges_;
  weft::bench::graph500::graph graph_;
};

} // namespace graph500
