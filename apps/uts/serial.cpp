// SPDX-License-Identifier: MIT
// The reference: one thread, plain recursion, no task at all. Its ns per node is the price of the work
// itself.

#include "apps/uts/adapter.hpp"

namespace weft::uts {
namespace {

counts visit(const tree& t, const node& n) {
  counts sum{1, 0, n.depth};
  const int children = t.child_count(n);
  sum.leaves += children == 0;
  for (int i = 0; i < children; ++i) {
    sum += visit(t, tree::child(n, i));
  }
  return sum;
}

counts count(const tree& t, int) {
  return visit(t, t.root());
}

const adapter_registration registration({"serial", "serial", "plain recursion, no tasks", 0, false, false,
                                         count});

} // namespace
} // namespace weft::uts
