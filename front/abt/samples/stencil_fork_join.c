// SPDX-License-Identifier: MIT
// The stencil by fork and join: a ULT for each block at each step; a step ends when all have been joined.
#include "stencil.h"

static struct stencil grid;

int main(int argc, char** argv) {
  OK(ABT_init(argc, argv));
  struct team team;
  team_start(&team, 2);
  stencil_begin(&grid);

  for (int step = 0; step < STEPS; ++step) {
    struct work work[BLOCKS];
    ABT_thread threads[BLOCKS];
    for (int b = 0; b < BLOCKS; ++b) {
      work[b] = (struct work){&grid, b, step};
      OK(ABT_thread_create(team.pool, do_work, &work[b], ABT_THREAD_ATTR_NULL, &threads[b]));
    }
    for (int b = 0; b < BLOCKS; ++b) OK(ABT_thread_free(&threads[b]));
  }

  team_stop(&team);
  OK(ABT_finalize());
  stencil_check(&grid, "fork and join");
  return 0;
}
