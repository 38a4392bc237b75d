// SPDX-License-Identifier: MIT
// create_join with libfork: stackless coroutines forked from one coroutine, joined together.
#include <libfork.hpp>

#include "bench/create_join/workload.hpp"

namespace bench = weft::bench;

namespace {

template <class Body>
inline constexpr auto leaf = [](auto) -> lf::task<void> {
  Body::run();
  co_return;
};

template <class Body>
inline constexpr auto fork_all = [](auto, std::size_t n) -> lf::task<void> {
  for (std::size_t i = 0; i < n; ++i)
    co_await lf::fork(leaf<Body>)();
  co_await lf::join;
};

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::create_join::defaults(), {"tasklet"});
  lf::lazy_pool pool(rec.opt().workers);
  return bench::create_join::run(
      rec, [&](auto body) { lf::sync_wait(pool, fork_all<decltype(body)>, rec.opt().n); });
}
