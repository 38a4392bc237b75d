// SPDX-License-Identifier: MIT
// idle_join with Argobots: a stream that has been idle is joined and freed (stream), or a ULT is pushed to
// it, joined and freed (unit). _wait: its scheduler is BASIC_WAIT.
#include "bench/peer/argobots.hpp"

#include "bench/idle_join/workload.hpp"

namespace bench = weft::bench;

namespace {

int join_streams(bench::recorder& rec, ABT_sched_predef predef) {
  bench::argobots runtime(1);
  ABT_xstream stream = ABT_XSTREAM_NULL;
  const auto start = [&] {
    return ABT_xstream_create_basic(predef, 0, nullptr, ABT_SCHED_CONFIG_NULL, &stream) == ABT_SUCCESS;
  };
  bool right = start();
  const int result = bench::wakeup::run(rec, [&] {
    const std::int64_t begin = bench::now_ns();
    ABT_xstream_join(stream);
    ABT_xstream_free(&stream);
    const std::int64_t end = bench::now_ns();
    right = right && start();
    return end - begin;
  });
  ABT_xstream_free(&stream);
  return right ? result : 1;
}

int join_units(bench::recorder& rec, bench::argobots::sharing how) {
  bench::argobots runtime(2, how);
  std::size_t ran = 0; // ordered by the join
  const int result = bench::wakeup::run(rec, [&] {
    const auto start = [](void* counter) { ++*static_cast<std::size_t*>(counter); };
    const std::int64_t begin = bench::now_ns();
    ABT_thread thread;
    ABT_thread_create(runtime.pool(1), start, &ran, ABT_THREAD_ATTR_NULL, &thread);
    ABT_thread_free(&thread);
    return bench::now_ns() - begin;
  });
  return ran > rec.opt().n ? result : 1;
}

} // namespace

int main(int argc, char** argv) {
  using sharing = bench::argobots::sharing;
  bench::recorder rec(argc, argv, bench::wakeup::defaults(), {"stream", "stream_wait", "unit", "unit_wait"});
  const bool waits = rec.opt().form.ends_with("_wait");
  if (rec.opt().form.starts_with("stream"))
    return join_streams(rec, waits ? ABT_SCHED_BASIC_WAIT : ABT_SCHED_BASIC);
  return join_units(rec, waits ? sharing::directed_waiting : sharing::directed);
}
