// SPDX-License-Identifier: MIT
// create_join with a oneTBB task_group.
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "bench/create_join/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::create_join::defaults(), {"tasklet"});
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, rec.opt().workers);
  tbb::task_arena arena(static_cast<int>(rec.opt().workers));
  return arena.execute([&] {
    tbb::task_group group;
    return bench::create_join::run(rec, [&](auto body) {
      using body_type = decltype(body);
      for (std::size_t i = 0; i < rec.opt().n; ++i)
        group.run([] { body_type::run(); });
      group.wait();
    });
  });
}
