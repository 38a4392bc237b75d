// SPDX-License-Identifier: MIT
// oneTBB: one `task_group` a node that has children, one `run` a child. Children go out in chunks that
// nest, as in the other adapters.

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <algorithm>
#include <array>

#include "apps/uts/adapter.hpp"

namespace weft::uts {
namespace {

namespace tbb = oneapi::tbb;

constexpr int chunk = 8;

counts visit(const tree& t, const node& n);

counts visit_children(const tree& t, const node& parent, int first, int children, tbb::task_group& group) {
  std::array<counts, chunk> parts;
  const int last = std::min(first + chunk, children);
  for (int i = first; i < last; ++i) {
    counts* const part = &parts[static_cast<std::size_t>(i - first)];
    group.run([part, &t, &parent, i] { *part = visit(t, tree::child(parent, i)); });
  }
  counts sum;
  if (last < children) {
    sum = visit_children(t, parent, last, children, group);
  }
  group.wait();
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
    tbb::task_group group;
    sum += visit_children(t, n, 0, children, group);
  }
  return sum;
}

counts count(const tree& t, int workers) {
  const auto n = static_cast<std::size_t>(workers);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, n);
  tbb::global_control stack(tbb::global_control::thread_stack_size, deep_stack_bytes);
  tbb::task_arena arena(workers);
  counts result;
  arena.execute([&] { result = visit(t, t.root()); });
  return result;
}

const adapter_registration registration({"onetbb", "oneTBB", "a task_group a node, one run a child", 30, true,
                                         false, count});

} // namespace
} // namespace weft::uts
