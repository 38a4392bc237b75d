// SPDX-License-Identifier: MIT
// The stencil by tasklets: as fork and join, but a block needs no stack of its own since it never waits.
#include "stencil.h"

static struct stencil grid;

int main(int argc, char** argv) {
  OK(ABT_init(argc, argv));
  struct team team;
  team_start(&team, 2);
  stencil_begin(&grid);

  for (int step = 0; step < STEPS; ++step) {
    // [sample abt-task]
    struct work work[BLOCKS];
    ABT_task tasks[BLOCKS];
    for (int b = 0; b < BLOCKS; ++b) {
      work[b] = (struct work){&grid, b, step};
      OK(ABT_task_create(team.pool, do_work, &work[b], &tasks[b]));
    }
    for (int b = 0; b < BLOCKS; ++b) OK(ABT_task_free(&tasks[b])); // joins first
    // [/sample]
  }

  team_stop(&team);
  OK(ABT_finalize());
  stencil_check(&grid, "tasklets");
  return 0;
}
