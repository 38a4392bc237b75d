// SPDX-License-Identifier: MIT
// The stencil by data flow: a ULT for each block does all steps, and no step waits for the whole square. A
// future for each block and step has a compartment for each neighbour, and is ready when all are done.
#include "stencil.h"

static struct stencil grid;
static ABT_future ready[STEPS][BLOCKS]; // [step][block]: the neighbours have done the step before; 0: unused

static void do_block(void* number) {
  const int block = *(int*)number;
  int near[4];
  const int count = stencil_neighbours(block, near);
  for (int step = 0; step < STEPS; ++step) {
    if (step > 0) OK(ABT_future_wait(ready[step][block]));
    stencil_block(&grid, block, step);
    if (step + 1 == STEPS) break;
    for (int i = 0; i < count; ++i) OK(ABT_future_set(ready[step + 1][near[i]], NULL));
  }
}

int main(int argc, char** argv) {
  OK(ABT_init(argc, argv));
  struct team team;
  team_start(&team, 2);
  stencil_begin(&grid);

  int near[4];
  for (int step = 1; step < STEPS; ++step) {
    for (int b = 0; b < BLOCKS; ++b) {
      OK(ABT_future_create((uint32_t)stencil_neighbours(b, near), NULL, &ready[step][b]));
    }
  }
  ABT_thread threads[BLOCKS];
  int numbers[BLOCKS];
  for (int b = 0; b < BLOCKS; ++b) {
    numbers[b] = b;
    OK(ABT_thread_create(team.pool, do_block, &numbers[b], ABT_THREAD_ATTR_NULL, &threads[b]));
  }
  for (int b = 0; b < BLOCKS; ++b) OK(ABT_thread_free(&threads[b]));
  for (int step = 1; step < STEPS; ++step) {
    for (int b = 0; b < BLOCKS; ++b) OK(ABT_future_free(&ready[step][b]));
  }

  team_stop(&team);
  OK(ABT_finalize());
  stencil_check(&grid, "futures");
  return 0;
}
