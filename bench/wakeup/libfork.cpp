// SPDX-License-Identifier: MIT
// wakeup with libfork: a task scheduled from outside on a pool whose workers are idle; lazy (they sleep)
// and busy.
#include <libfork.hpp>

#include "bench/wakeup/workload.hpp"

namespace bench = weft::bench;

namespace {

constexpr auto unit = [](auto) LF_STATIC_CALL -> lf::task<void> {
  bench::wakeup::arrival::mark();
  co_return;
};

template <class Pool>
int run(bench::recorder& rec) {
  Pool pool(1);
  return bench::wakeup::run(
      rec, [&] { return bench::wakeup::latency([&] { lf::sync_wait(pool, unit); }, [] {}); });
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::wakeup::defaults(), {"push", "busy"});
  return rec.form_is("busy") ? run<lf::busy_pool>(rec) : run<lf::lazy_pool>(rec);
}
