// SPDX-License-Identifier: MIT
// create_join with a Taskflow task group.
#include <taskflow/taskflow.hpp>

#include "bench/create_join/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::create_join::defaults(), {"tasklet"});
  tf::Executor executor(rec.opt().workers);
  return executor
      .async([&] {
        return bench::create_join::run(rec, [&](auto body) {
          using body_type = decltype(body);
          tf::TaskGroup group = executor.task_group();
          for (std::size_t i = 0; i < rec.opt().n; ++i)
            group.silent_async([] { body_type::run(); });
          group.corun();
        });
      })
      .get();
}
