// SPDX-License-Identifier: MIT
// graph500: section 4.4 of "Analyzing the Performance Trade-Off in Implementing User-Level Threads": the
// breadth-first search of Graph500 with a thread for each visit (search.hpp), here in one process. n is the
// scale: 2^n vertices, 2^(n + 4) edges. A sample is a search from another root, in ns for an edge of the
// component. A form is <technique>.<B>, B visits in a buffer.
//
// Extras: mteps, millions of traversed edges a second (the harmonic mean of all searches, as Graph500 has
// it), and the share of the visits that were promoted: that found a lock taken and yielded. Every tree passes
// the five checks of the specification and is, parent by parent, that of a serial search.
#pragma once

#include <string>

#include "bench/common/bench.hpp"
#include "bench/graph500/search.hpp"

namespace weft::bench::graph500 {

inline options defaults() {
  return {.n = 18, .rounds = 1, .repeats = 8, .workers = 2, .form = {}};
}

inline std::vector<std::string> forms(const std::vector<std::string>& techniques) {
  std::vector<std::string> all;
  for (const std::string& technique : techniques) {
    for (const std::size_t b : buffer_lengths)
      all.push_back(technique + "." + std::to_string(b));
  }
  return all;
}

// visit_all(s) makes a level's visits, each from a thread of its own, and joins them.
template <class Lock, class VisitAll>
int run(recorder& rec, VisitAll&& visit_all) {
  const auto scale = static_cast<unsigned>(rec.opt().n);
  const std::vector<edge> edges = make_edges(scale);
  const graph g(std::size_t{1} << scale, edges);
  const std::vector<vertex> roots = draw_roots(g, rec.opt().repeats * rec.opt().rounds + 1);
  search<Lock> s(g, form(rec.opt().form).buffer_length);
  const auto search_from = [&](vertex root) {
    const std::int64_t begin = now_ns();
    for (s.start(root); s.begin_level(); s.end_level())
      visit_all(s);
    return static_cast<double>(now_ns() - begin);
  };
  search_from(roots[0]); // warm-up
  s.take_promoted();
  rec.unit("ns/edge");
  double ns_of_an_edge = 0, visits = 0;
  for (std::size_t k = 1; k < roots.size(); ++k) {
    const double ns = search_from(roots[k]);
    const parents& tree = s.tree();
    const std::string fault = fault_of(tree, roots[k], edges);
    rec.check(fault.empty(), fault);
    rec.check(tree == search_serially(g, roots[k]), "the tree of a serial search");
    const std::size_t count = traversed(tree, edges);
    rec.add_sample(ns / static_cast<double>(count));
    rec.add_ops(count);
    ns_of_an_edge += ns / static_cast<double>(count);
    for (vertex v = 0; v < tree.size(); ++v)
      visits += tree[v] == nobody ? 0 : static_cast<double>(g.neighbours(v).size());
  }
  rec.check(roots.size() > 1, "there are roots");
  rec.extra("mteps", static_cast<double>(roots.size() - 1) / ns_of_an_edge * 1e3);
  rec.extra("promoted", static_cast<double>(s.take_promoted()) / visits);
  return rec.finish();
}

} // namespace weft::bench::graph500
