// SPDX-License-Identifier: MIT
// recursion: two programs that create a thread for each call and join it, the youngest first. "fib": fib(n),
// a thread for one of two calls. "uts": the tree T1 of the Unbalanced Tree Search benchmark (below n = 20 its
// first levels), a thread a node. A form is <technique>.<program>. An operation is one thread.
#pragma once

#include "apps/uts/tree.hpp"
#include "bench/fib/workload.hpp"

namespace weft::bench::recursion {

using fib::number;

inline options defaults() {
  return {.n = 27, .rounds = 1, .repeats = 5, .workers = 1, .form = {}};
}

inline const uts::tree& tree_for(std::size_t n) {
  return *uts::find_tree(n < 20 ? "mini" : "T1");
}

// count(tree) gives what is in it.
template <class Count>
int run_uts(recorder& rec, Count&& count) {
  const uts::tree& t = tree_for(rec.opt().n);
  rec.check(count(tree_for(0)) == tree_for(0).published(), "the small tree");
  uts::counts found;
  rec.time_rounds(t.published().nodes, [&] { found = count(t); });
  rec.check(found == t.published(), "the tree's published counts");
  return rec.finish();
}

} // namespace weft::bench::recursion
