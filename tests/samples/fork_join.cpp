// SPDX-License-Identifier: MIT
// Samples of docs/guide/fork-join.md.
#include <weft/weft.hpp>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <vector>

#include "tests/samples/check.hpp"

using samples::check;

namespace {

// [sample fib]
long fib(int n) {
  if (n < 2) return n;
  auto a = weft::fork([n] { return fib(n - 1); });
  const long b = fib(n - 2);
  return a.join() + b;
}
// [/sample]

void fork_that_throws() {
  bool caught = false;
  // [sample fork-exception]
  auto f = weft::fork([]() -> int { throw std::runtime_error("broken"); });
  try {
    f.join();
  } catch (const std::runtime_error&) {
    caught = true;
  }
  // [/sample]
  check(caught, "the exception came out of join()");
}

struct node {
  std::vector<node> children;
};

// [sample task-group]
void visit(const node& n, weft::task_group& group, std::atomic<int>& seen) {
  ++seen;
  for (const node& child : n.children) {
    group.run([&] { visit(child, group, seen); });
  }
}

int count(const node& root) {
  std::atomic<int> seen{0};
  weft::task_group group;
  visit(root, group, seen);
  group.wait();  // all of them; throws the first exception, if there was one
  return seen;
}
// [/sample]

void loops() {
  constexpr int n = 100'000;
  std::vector<double> x(n, 2.0), y(n, 1.0);
  // [sample parallel-for]
  weft::parallel_for(0, n, [&](int i) { y[i] += 3.0 * x[i]; });
  weft::parallel_for(0, n, [&](int i) { x[i] = 0; }, 4096);  // 4096 indices at a time
  // [/sample]
  check(y[0] == 7.0 && y[n - 1] == 7.0 && x[n / 2] == 0, "every index was visited once");

  // [sample parallel-reduce]
  double total = weft::parallel_reduce(0, n, 0.0, [&](int i) { return y[i]; }, std::plus<>());
  // [/sample]
  check(total == 7.0 * n, "the sum is right");
}

} // namespace

int main() {
  check(fib(20) == 6765, "fib(20)");
  fork_that_throws();
  const node leaf{};
  const node inner{{leaf, leaf, leaf}};
  check(count(node{{inner, leaf, inner}}) == 10, "every node was counted");
  loops();
  check(weft::runtime::count().units == 0, "every thread was freed");
}
