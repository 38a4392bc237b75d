// SPDX-License-Identifier: MIT
// Schedulers in the pools of schedulers. Each runs a unit of its own pool and yields to its parent, so that a
// level is one unit among the others of the level above. A stacked scheduler ends when its pool is empty.
#include "samples.h"

#include <string.h>

static int begin(ABT_sched sched, ABT_sched_config config) {
  (void)sched, (void)config;
  return ABT_SUCCESS;
}

static void run(ABT_sched sched) {
  ABT_pool pool;
  OK(ABT_sched_get_pools(sched, 1, 0, &pool));
  for (;;) {
    ABT_thread unit;
    OK(ABT_pool_pop_thread(pool, &unit));
    if (unit != ABT_THREAD_NULL) OK(ABT_self_schedule(unit, ABT_POOL_NULL));
    ABT_bool stop;
    OK(ABT_sched_has_to_stop(sched, &stop));
    if (stop) return;
    OK(ABT_xstream_check_events(sched));
    OK(ABT_self_yield()); // a scheduler is a ULT: its parent goes on
  }
}

static int end(ABT_sched sched) {
  (void)sched;
  return ABT_SUCCESS;
}

static ABT_sched level_over(ABT_pool pool) {
  ABT_sched_def def = {.type = ABT_SCHED_TYPE_ULT, .init = begin, .run = run, .free = end};
  ABT_sched_config config;
  OK(ABT_sched_config_create(&config, ABT_sched_config_automatic, ABT_TRUE, ABT_sched_config_var_end));
  ABT_sched sched; // automatic: freed when it has ended
  OK(ABT_sched_create(&def, 1, &pool, config, &sched));
  OK(ABT_sched_config_free(&config));
  return sched;
}

static char order[16];
static int ran; // one stream runs them all

static void note(void* letter) {
  order[ran++] = *(char*)letter;
}

int main(int argc, char** argv) {
  OK(ABT_init(argc, argv));

  // [sample abt-stacked]
  ABT_pool top, middle, bottom;
  OK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &top));
  OK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &middle));
  OK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &bottom));
  OK(ABT_pool_add_sched(top, level_over(middle)));
  OK(ABT_pool_add_sched(middle, level_over(bottom)));
  // [/sample]

  char letters[] = "amz";
  for (int i = 0; i < 2; ++i) {
    OK(ABT_thread_create(top, note, &letters[0], ABT_THREAD_ATTR_NULL, NULL));
    OK(ABT_thread_create(middle, note, &letters[1], ABT_THREAD_ATTR_NULL, NULL));
    OK(ABT_thread_create(bottom, note, &letters[2], ABT_THREAD_ATTR_NULL, NULL));
  }

  ABT_xstream stream;
  OK(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &top, ABT_SCHED_CONFIG_NULL, &stream));
  OK(ABT_xstream_free(&stream));
  OK(ABT_pool_free(&bottom));
  OK(ABT_pool_free(&middle));
  OK(ABT_pool_free(&top));
  OK(ABT_finalize());

  printf("top a, middle m, bottom z: %s\n", order);
  CHECK(strcmp(order, "zaammz") == 0); // at each turn one unit of a lower level
  return 0;
}
