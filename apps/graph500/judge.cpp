// SPDX-License-Identifier: MIT
#include "apps/graph500/judge.hpp"

#include <algorithm>
#include <stdexcept>

namespace graph500 {

using namespace weft::bench::graph500;

namespace {

std::vector<unsigned> levels_of(const parents& tree, vertex root) {
  std::vector<unsigned> levels(tree.size(), 0);
  for (vertex v = 0; v < tree.size(); ++v) {
    for (vertex at = v; tree[at] != nobody && at != root; at = tree[at]) {
      ++levels[v];
    }
  }
  return levels;
}

bool is_neighbour(const graph& g, vertex v, vertex other) {
  const auto all = g.neighbours(v);
  return std::find(all.begin(), all.end(), other) != all.end();
}

} // namespace

judge::judge(unsigned scale) : edges_(make_edges(scale)), graph_(std::size_t{1} << scale, edges_) {}

std::string judge::fault_of(const parents& tree, vertex root) const {
  std::string fault = weft::bench::graph500::fault_of(tree, root, edges_);
  if (fault.empty() && tree != search_serially(graph_, root)) {
    fault = "not the tree of a loop";
  }
  return fault;
}

std::size_t judge::traversed(const parents& tree) const {
  return weft::bench::graph500::traversed(tree, edges_);
}

void judge::damage(parents& tree, vertex root, std::string_view kind) const {
  const std::vector<unsigned> levels = levels_of(tree, root);
  std::vector<bool> is_parent(tree.size(), false);
  for (vertex v = 0; v < tree.size(); ++v) {
    if (tree[v] != nobody) {
      is_parent[tree[v]] = true;
    }
  }
  // Whether w would do as v's wrong parent.
  const auto would_do = [&](vertex v, vertex w) {
    if (tree[w] == nobody || w == tree[v]) {
      return false;
    }
    const bool is_near = is_neighbour(graph_, v, w);
    return kind == "cycle"      ? tree[w] == v
           : kind == "detour"   ? is_near && w != v && levels[w] == levels[v]
           : kind == "stranger" ? !is_near && levels[w] + 1 == levels[v]
           : kind == "larger"   ? is_near && levels[w] + 1 == levels[v]
                                : throw std::invalid_argument("no such damage");
  };
  for (vertex v = 0; v < tree.size(); ++v) {
    if (tree[v] == nobody || v == root) {
      continue;
    }
    if (kind == "lost") {
      if (!is_parent[v]) {
        tree[v] = nobody;
        return;
      }
      continue;
    }
    for (vertex w = 0; w < tree.size(); ++w) {
      if (would_do(v, w)) {
        tree[v] = w;
        return;
      }
    }
  }
  throw std::runtime_error("the tree has no place for this damage");
}

} // namespace graph500
