// SPDX-License-Identifier: MIT
// The stencil under a scheduler of its own: each stream has a pool for its part of the square and works there
// first, where its cache is warm; a stream without work takes from the others.
#include "stencil.h"

enum { STREAMS = 2 }; // beside the primary stream, which only waits

static struct stencil grid;

struct tally {
  int own, taken;
};

static int begin(ABT_sched sched, ABT_sched_config config) {
  (void)config;
  return ABT_sched_set_data(sched, calloc(1, sizeof(struct tally)));
}

static void run(ABT_sched sched) {
  ABT_pool pools[STREAMS];
  int count;
  void* data;
  OK(ABT_sched_get_num_pools(sched, &count));
  CHECK(count == STREAMS);
  OK(ABT_sched_get_pools(sched, count, 0, pools));
  OK(ABT_sched_get_data(sched, &data));
  struct tally* tally = data;

  for (int turn = 0;; ++turn) {
    ABT_thread unit = ABT_THREAD_NULL;
    int from = 0;
    for (; from < count && unit == ABT_THREAD_NULL; ++from) OK(ABT_pool_pop_thread(pools[from], &unit));
    if (unit == ABT_THREAD_NULL || turn % 16 == 0) {
      ABT_bool stop = ABT_FALSE;
      if (unit == ABT_THREAD_NULL) OK(ABT_sched_has_to_stop(sched, &stop));
      if (stop) return;
      OK(ABT_xstream_check_events(sched));
    }
    if (unit == ABT_THREAD_NULL) {
      OK(ABT_pool_pop_wait_thread(pools[0], &unit, 0.001)); // do not burn the CPU
      from = 1;
    }
    if (unit == ABT_THREAD_NULL) continue;
    ++*(from == 1 ? &tally->own : &tally->taken);
    OK(ABT_self_schedule(unit, ABT_POOL_NULL)); // until it ends, yields or waits
  }
}

static int end(ABT_sched sched) {
  void* data;
  OK(ABT_sched_get_data(sched, &data));
  free(data);
  return ABT_SUCCESS;
}

static ABT_pool first_pool(ABT_sched sched) {
  ABT_pool pool;
  OK(ABT_sched_get_pools(sched, 1, 0, &pool));
  return pool;
}

int main(int argc, char** argv) {
  OK(ABT_init(argc, argv));
  stencil_begin(&grid);

  ABT_sched_def nearest_first = {
      .type = ABT_SCHED_TYPE_ULT, .init = begin, .run = run, .free = end, .get_migr_pool = first_pool};
  ABT_pool pools[STREAMS];
  ABT_sched scheds[STREAMS];
  ABT_xstream streams[STREAMS];
  for (int i = 0; i < STREAMS; ++i) {
    OK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pools[i]));
  }
  for (int i = 0; i < STREAMS; ++i) {
    ABT_pool in_order[STREAMS]; // its own first
    for (int k = 0; k < STREAMS; ++k) in_order[k] = pools[(i + k) % STREAMS];
    OK(ABT_sched_create(&nearest_first, STREAMS, in_order, ABT_SCHED_CONFIG_NULL, &scheds[i]));
    OK(ABT_xstream_create(scheds[i], &streams[i]));
  }

  for (int step = 0; step < STEPS; ++step) {
    struct work work[BLOCKS];
    ABT_thread threads[BLOCKS];
    for (int b = 0; b < BLOCKS; ++b) {
      work[b] = (struct work){&grid, b, step};
      ABT_pool home = pools[b * STREAMS / BLOCKS];
      OK(ABT_thread_create(home, do_work, &work[b], ABT_THREAD_ATTR_NULL, &threads[b]));
    }
    for (int b = 0; b < BLOCKS; ++b) OK(ABT_thread_free(&threads[b]));
  }

  int units = 0;
  for (int i = 0; i < STREAMS; ++i) OK(ABT_xstream_free(&streams[i]));
  for (int i = 0; i < STREAMS; ++i) {
    void* data;
    OK(ABT_sched_get_data(scheds[i], &data));
    const struct tally* tally = data;
    printf("stream %d: %d units of its own, %d of others\n", i + 1, tally->own, tally->taken);
    units += tally->own + tally->taken;
    OK(ABT_sched_free(&scheds[i])); // ABT_sched_create() makes no automatic ones
  }
  for (int i = 0; i < STREAMS; ++i) OK(ABT_pool_free(&pools[i]));
  OK(ABT_finalize());
  CHECK(units <= BLOCKS * STEPS); // a join may start a unit itself, past the scheduler
  stencil_check(&grid, "a scheduler of its own");
  return 0;
}
