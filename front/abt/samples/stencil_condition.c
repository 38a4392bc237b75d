// SPDX-License-Identifier: MIT
// The stencil by progress counters: as with futures, but each block counts its steps under a mutex, and those
// who wait for it wait at its condition variable.
#include "stencil.h"

static struct stencil grid;

// [sample abt-cond]
struct progress {
  ABT_mutex mutex;
  ABT_cond changed;
  int done; // steps
};

static void advance(struct progress* p) {
  OK(ABT_mutex_lock(p->mutex));
  ++p->done;
  OK(ABT_cond_broadcast(p->changed));
  OK(ABT_mutex_unlock(p->mutex));
}

static void wait_for(struct progress* p, int steps) {
  OK(ABT_mutex_lock(p->mutex));
  while (p->done < steps) OK(ABT_cond_wait(p->changed, p->mutex));
  OK(ABT_mutex_unlock(p->mutex));
}
// [/sample]

static struct progress progress[BLOCKS];

static void do_block(void* number) {
  const int block = *(int*)number;
  int near[4];
  const int count = stencil_neighbours(block, near);
  for (int step = 0; step < STEPS; ++step) {
    for (int i = 0; i < count; ++i) wait_for(&progress[near[i]], step);
    stencil_block(&grid, block, step);
    advance(&progress[block]);
  }
}

int main(int argc, char** argv) {
  OK(ABT_init(argc, argv));
  struct team team;
  team_start(&team, 2);
  stencil_begin(&grid);

  for (int b = 0; b < BLOCKS; ++b) {
    OK(ABT_mutex_create(&progress[b].mutex));
    OK(ABT_cond_create(&progress[b].changed));
  }
  ABT_thread threads[BLOCKS];
  int numbers[BLOCKS];
  for (int b = 0; b < BLOCKS; ++b) {
    numbers[b] = b;
    OK(ABT_thread_create(team.pool, do_block, &numbers[b], ABT_THREAD_ATTR_NULL, &threads[b]));
  }
  for (int b = 0; b < BLOCKS; ++b) OK(ABT_thread_free(&threads[b]));
  for (int b = 0; b < BLOCKS; ++b) {
    CHECK(progress[b].done == STEPS);
    OK(ABT_cond_free(&progress[b].changed));
    OK(ABT_mutex_free(&progress[b].mutex));
  }

  team_stop(&team);
  OK(ABT_finalize());
  stencil_check(&grid, "mutexes and condition variables");
  return 0;
}
