// SPDX-License-Identifier: MIT
// A scheduler written by the user: so many units of its first pool for one of the second. How many is given
// in a configuration. The loop is written twice, with threads and, as older programs do, with units.
#include "samples.h"

#include <string.h>

// [sample abt-sched-config]
static const ABT_sched_config_var share_var = {.idx = 0, .type = ABT_SCHED_CONFIG_INT};

struct shares {
  int share; // units of the first pool for one of the second
  int turn;
};

static int begin(ABT_sched sched, ABT_sched_config config) {
  struct shares* data = calloc(1, sizeof *data);
  data->share = 1;
  if (config != ABT_SCHED_CONFIG_NULL) OK(ABT_sched_config_read(config, 1, &data->share)); // index 0
  return ABT_sched_set_data(sched, data);
}
// [/sample]

static struct shares* shares_of(ABT_sched sched) {
  void* data;
  OK(ABT_sched_get_data(sched, &data));
  return data;
}

static int end(ABT_sched sched) {
  free(shares_of(sched));
  return ABT_SUCCESS;
}

static ABT_pool first_pool(ABT_sched sched) {
  ABT_pool pool;
  OK(ABT_sched_get_pools(sched, 1, 0, &pool));
  return pool;
}

// [sample abt-sched-run]
static void run(ABT_sched sched) {
  struct shares* data = shares_of(sched);
  ABT_pool pools[2];
  OK(ABT_sched_get_pools(sched, 2, 0, pools));
  for (;;) {
    const int preferred = data->turn++ % (data->share + 1) == data->share ? 1 : 0;
    ABT_thread unit;
    OK(ABT_pool_pop_thread(pools[preferred], &unit));
    if (unit == ABT_THREAD_NULL) OK(ABT_pool_pop_thread(pools[1 - preferred], &unit));
    if (unit != ABT_THREAD_NULL) {
      OK(ABT_self_schedule(unit, ABT_POOL_NULL)); // returns when the unit ends, yields or waits
    } else {
      ABT_bool stop;
      OK(ABT_sched_has_to_stop(sched, &stop));
      if (stop) return;
    }
    OK(ABT_xstream_check_events(sched)); // joins, cancellations
  }
}
// [/sample]

static void run_by_units(ABT_sched sched) {
  struct shares* data = shares_of(sched);
  ABT_pool pools[2];
  OK(ABT_sched_get_pools(sched, 2, 0, pools));
  for (;;) {
    int from = data->turn++ % (data->share + 1) == data->share ? 1 : 0;
    ABT_unit unit;
    OK(ABT_pool_pop(pools[from], &unit));
    if (unit == ABT_UNIT_NULL) {
      from = 1 - from;
      OK(ABT_pool_pop(pools[from], &unit));
    }
    if (unit != ABT_UNIT_NULL) {
      OK(ABT_xstream_run_unit(unit, pools[from]));
    } else {
      ABT_bool stop;
      OK(ABT_sched_has_to_stop(sched, &stop));
      if (stop) return;
    }
    OK(ABT_xstream_check_events(sched));
  }
}

static char order[32];
static int ran; // one stream runs them all

static void note(void* letter) {
  order[ran++] = *(char*)letter;
}

// Six units in the first pool, three in the second, and one stream.
static void try(void (*loop)(ABT_sched), const char* how) {
  memset(order, 0, sizeof order);
  ran = 0;
  // [sample abt-sched-create]
  ABT_pool pools[2];
  for (int i = 0; i < 2; ++i) {
    OK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pools[i]));
  }
  ABT_sched_config config;
  OK(ABT_sched_config_create(&config, share_var, 2, ABT_sched_config_var_end));
  ABT_sched_def def = {
      .type = ABT_SCHED_TYPE_ULT, .init = begin, .run = loop, .free = end, .get_migr_pool = first_pool};
  ABT_sched sched;
  OK(ABT_sched_create(&def, 2, pools, config, &sched)); // calls begin()
  OK(ABT_sched_config_free(&config));
  // [/sample]

  char first = 'a', second = 'B';
  for (int i = 0; i < 6; ++i) OK(ABT_thread_create(pools[0], note, &first, ABT_THREAD_ATTR_NULL, NULL));
  for (int i = 0; i < 3; ++i) OK(ABT_thread_create(pools[1], note, &second, ABT_THREAD_ATTR_NULL, NULL));

  ABT_xstream stream;
  OK(ABT_xstream_create(sched, &stream));
  OK(ABT_xstream_free(&stream)); // joins: the pools are drained first
  OK(ABT_sched_free(&sched));    // calls end()
  for (int i = 0; i < 2; ++i) OK(ABT_pool_free(&pools[i]));

  printf("%s: %s\n", how, order);
  CHECK(strcmp(order, "aaBaaBaaB") == 0);
}

int main(int argc, char** argv) {
  OK(ABT_init(argc, argv));
  try(run, "by threads");
  try(run_by_units, "by units");
  OK(ABT_finalize());
  return 0;
}
