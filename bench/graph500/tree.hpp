// SPDX-License-Identifier: MIT
// A breadth-first tree: as one thread finds it, and the checks that the specification of Graph500 asks for.
// Of the parents that a vertex could have, trees here have the one with the smallest number, so that there is
// one tree for each root, whoever finds it.
#pragma once

#include <string>

#include "bench/graph500/graph.hpp"

namespace weft::bench::graph500 {

inline constexpr vertex nobody = ~vertex{0};

// The parent of each vertex; the root's is itself, and `nobody` is that of what was not reached.
using parents = std::vector<vertex>;

inline parents search_serially(const graph& g, vertex root) {
  parents found(g.vertices(), nobody);
  std::vector<unsigned> level(g.vertices(), 0);
  found[root] = root;
  std::vector<vertex> frontier{root}, next;
  for (unsigned depth = 1; !frontier.empty(); ++depth) {
    for (const vertex u : frontier) {
      for (const vertex v : g.neighbours(u)) {
        if (found[v] == nobody) {
          found[v] = u;
          level[v] = depth;
          next.push_back(v);
        } else if (level[v] == depth) {
          found[v] = std::min(found[v], u);
        }
      }
    }
    frontier.swap(next);
    next.clear();
  }
  return found;
}

// What is wrong with a tree, by the five checks of the specification; empty: nothing. It looks at the parents
// and at the list of edges only.
inline std::string fault_of(const parents& tree, vertex root, const std::vector<edge>& edges) {
  constexpr unsigned unknown = ~0U;
  std::vector<unsigned> level(tree.size(), unknown);
  if (tree[root] != root)
    return "the root is not its own parent";
  level[root] = 0;
  // 1: no cycles; every way up ends at the root.
  std::vector<vertex> way;
  for (vertex v = 0; v < tree.size(); ++v) {
    way.clear();
    vertex at = v;
    for (; tree[at] != nobody && level[at] == unknown; at = tree[at]) {
      way.push_back(at);
      if (way.size() > tree.size())
        return "1: a cycle";
    }
    if (level[at] == unknown && !way.empty())
      return "1: a way up that ends before the root";
    for (unsigned depth = level[at]; !way.empty(); way.pop_back())
      level[way.back()] = ++depth;
  }
  std::vector<bool> joined(tree.size(), false);
  for (const edge& e : edges) {
    const unsigned a = level[e.from], b = level[e.to];
    // 4: what an edge joins to the tree is in it.
    if ((a == unknown) != (b == unknown))
      return "4: the tree does not span the component";
    // 3: no edge skips a level.
    if (a != unknown && (a > b ? a - b : b - a) > 1)
      return "3: an edge between vertices more than a level apart";
    if (tree[e.from] == e.to)
      joined[e.from] = true;
    if (tree[e.to] == e.from)
      joined[e.to] = true;
  }
  for (vertex v = 0; v < tree.size(); ++v) {
    if (tree[v] == nobody || v == root)
      continue;
    // 2: a tree edge goes one level up.
    if (level[v] != level[tree[v]] + 1)
      return "2: a parent that is not one level above";
    // 5: and is an edge of the graph.
    if (!joined[v])
      return "5: a parent that is not a neighbour";
  }
  return {};
}

// Edges of the list that the search came upon, which is what TEPS count.
inline std::size_t traversed(const parents& tree, const std::vector<edge>& edges) {
  return static_cast<std::size_t>(
      std::count_if(edges.begin(), edges.end(), [&tree](const edge& e) { return tree[e.from] != nobody; }));
}

} // namespace weft::bench::graph500
