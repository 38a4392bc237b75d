// SPDX-License-Identifier: MIT
// graph500 by calls: what a visit costs without a thread. The same buffers, whose locks are never taken.
#include "bench/graph500/workload.hpp"

namespace bench = weft::bench;
namespace graph500 = weft::bench::graph500;
using graph500::vertex;

namespace {

struct no_lock {
  static bool try_lock() { return true; }
  static void unlock() {}
};

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, graph500::defaults(), graph500::forms({"call"}));
  return graph500::run<no_lock>(rec, [](graph500::search<no_lock>& s) {
    s.create_visits([&s](std::size_t, vertex u, vertex v) { s.visit(u, v, [] {}); }, [](std::size_t) {});
  });
}
