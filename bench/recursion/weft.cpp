// SPDX-License-Identifier: MIT
// recursion with Weft: each technique as a type, under work stealing.
#include "bench/peer/weft.hpp"
#include "bench/peer/weft_techniques.hpp"
#include "bench/recursion/workload.hpp"

#include <array>
#include <optional>
#include <string>

namespace bench = weft::bench;
namespace uts = weft::uts;
using bench::recursion::number;
using weft::technique_id;

namespace {

template <class Thread>
number fib(number n) {
  if (n < 2)
    return n;
  number a = 0;
  Thread child([&a, n] { a = fib<Thread>(n - 1); });
  const number b = fib<Thread>(n - 2);
  child.join();
  return a + b;
}

template <class Thread>
uts::counts visit(const uts::tree& t, const uts::node& n);

// The children from `first` on, few at a time: a node may have a hundred, most have four.
template <class Thread>
uts::counts visit_children(const uts::tree& t, const uts::node& n, int first, int count) {
  constexpr int at_a_time = 4;
  struct work {
    const uts::tree& t;
    const uts::node& parent;
    int index;
    uts::counts found;
  };
  std::array<Thread, at_a_time> threads;
  std::array<std::optional<work>, at_a_time> parts;
  uts::counts sum;
  int made = 0;
  for (; made < at_a_time && first + made < count; ++made) {
    auto& part = parts[static_cast<std::size_t>(made)];
    part.emplace(work{t, n, first + made, {}});
    threads[static_cast<std::size_t>(made)] =
        Thread([w = &*part] { w->found = visit<Thread>(w->t, uts::tree::child(w->parent, w->index)); });
  }
  if (first + made < count)
    sum += visit_children<Thread>(t, n, first + made, count);
  while (made-- > 0) {
    threads[static_cast<std::size_t>(made)].join();
    sum += parts[static_cast<std::size_t>(made)]->found;
  }
  return sum;
}

template <class Thread>
uts::counts visit(const uts::tree& t, const uts::node& n) {
  const int children = t.child_count(n);
  uts::counts sum{1, children == 0 ? std::uint64_t{1} : 0, n.depth};
  if (children > 0)
    sum += visit_children<Thread>(t, n, 0, children);
  return sum;
}

// In a thread of its own: the primary one has the kernel's stack, which would flatter the first level.
template <class F>
auto in_thread(F f) {
  decltype(f()) result{};
  weft::thread root([&] { result = f(); });
  root.join();
  return result;
}

template <class Thread>
int run(bench::recorder& rec, bool is_fib) {
  if (is_fib)
    return bench::fib::run(rec, [](number n) { return in_thread([n] { return fib<Thread>(n); }); });
  return bench::recursion::run_uts(
      rec, [](const uts::tree& t) { return in_thread([&t] { return visit<Thread>(t, t.root()); }); });
}

} // namespace

int main(int argc, char** argv) {
  std::vector<std::string> forms;
  for (const std::string& name : bench::technique_names()) {
    for (const char* program : {".fib", ".uts"})
      forms.push_back(name + program);
  }
  bench::recorder rec(argc, argv, bench::recursion::defaults(), forms);
  const std::string& form = rec.opt().form;
  const std::size_t dot = form.rfind('.');
  const weft::runtime::scope runtime(bench::weft_options(rec.opt().workers, true));
  const bool is_fib = form.substr(dot) == ".fib";
  return bench::with_technique(form.substr(0, dot),
                               [&]<technique_id T>() { return run<weft::thread_of<T>>(rec, is_fib); });
}
