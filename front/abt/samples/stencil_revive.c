// SPDX-License-Identifier: MIT
// The stencil by revived ULTs: one for each block, created once, started again at each step.
#include "stencil.h"

static struct stencil grid;

int main(int argc, char** argv) {
  OK(ABT_init(argc, argv));
  struct team team;
  team_start(&team, 2);
  stencil_begin(&grid);

  // [sample abt-revive]
  struct work work[BLOCKS];
  ABT_thread threads[BLOCKS];
  for (int step = 0; step < STEPS; ++step) {
    for (int b = 0; b < BLOCKS; ++b) {
      work[b] = (struct work){&grid, b, step};
      if (step == 0) {
        OK(ABT_thread_create(team.pool, do_work, &work[b], ABT_THREAD_ATTR_NULL, &threads[b]));
      } else {
        OK(ABT_thread_revive(team.pool, do_work, &work[b], &threads[b])); // same handle, same identity
      }
    }
    for (int b = 0; b < BLOCKS; ++b) OK(ABT_thread_join(threads[b]));
  }
  for (int b = 0; b < BLOCKS; ++b) OK(ABT_thread_free(&threads[b]));
  // [/sample]

  team_stop(&team);
  OK(ABT_finalize());
  stencil_check(&grid, "revived ULTs");
  return 0;
}
