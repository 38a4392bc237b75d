// SPDX-License-Identifier: MIT
// OpenMP: one `task` a node, gathered by `taskwait`. Children go out in chunks that nest, so that all of a
// node's children are in flight at once, whatever their number, without a heap allocation of ours.

#include <omp.h>

#include <algorithm>
#include <array>

#include "apps/uts/adapter.hpp"

namespace weft::uts {
namespace {

constexpr int chunk = 8;

counts visit(const tree& t, const node& n);

counts visit_children(const tree& t, const node& parent, int first, int children) {
  std::array<counts, chunk> parts;
  const int last = std::min(first + chunk, children);
  for (int i = first; i < last; ++i) {
    counts* const part = &parts[static_cast<std::size_t>(i - first)];
    const tree* const in = &t;
    const node* const above = &parent;
#pragma omp task default(none) firstprivate(i, part, in, above)
    *part = visit(*in, tree::child(*above, i));
  }
  counts sum;
  if (last < children) {
    sum = visit_children(t, parent, last, children);
  }
#pragma omp taskwait
  for (int i = first; i < last; ++i) {
    sum += parts[static_cast<std::size_t>(i - first)];
  }
  return sum;
}

counts visit(const tree& t, const node& n) {
  counts sum{1, 0, n.depth};
  const int children = t.child_count(n);
  if (children == 0) {
    sum.leaves = 1;
  } else {
    sum += visit_children(t, n, 0, children);
  }
  return sum;
}

counts count(const tree& t, int workers) {
  counts result;
#pragma omp parallel num_threads(workers)
#pragma omp single
  result = visit(t, t.root());
  return result;
}

const adapter_registration registration({"openmp", "OpenMP tasks (" WEFT_UTS_OPENMP_RUNTIME ")",
                                         "a task a node, taskwait in its parent", 20, true, false, count});

} // namespace
} // namespace weft::uts
