// SPDX-License-Identifier: MIT
// The guide's samples about the runtime, streams, schedulers and pools.
#include "samples.h"

#include <pthread.h>
#include <string.h>

static char order[16];
static int ran;

static void note(void* letter) {
  order[ran++] = *(char*)letter;
}

static void count(void* counter) {
  ++*(int*)counter;
}

// [sample abt-init]
// A library that cannot know whether its program uses Argobots as well.
static int library_use(void) {
  OK(ABT_init(0, NULL)); // the second ABT_init() only counts
  int streams;
  OK(ABT_xstream_get_num(&streams));
  OK(ABT_finalize()); // and this one counts back
  return streams;
}
// [/sample]

static void init(void) {
  CHECK(ABT_initialized() == ABT_SUCCESS);
  CHECK(library_use() == 1);
  CHECK(ABT_initialized() == ABT_SUCCESS);
}

static void xstream(void) {
  int done = 0;
  // [sample abt-xstream]
  ABT_xstream stream;
  ABT_pool pool;
  OK(ABT_xstream_create(ABT_SCHED_NULL, &stream)); // runs at once, with a scheduler and a pool of its own
  OK(ABT_xstream_get_main_pools(stream, 1, &pool));
  OK(ABT_thread_create(pool, count, &done, ABT_THREAD_ATTR_NULL, NULL));
  OK(ABT_xstream_join(stream)); // when its pool is empty

  OK(ABT_thread_create(pool, count, &done, ABT_THREAD_ATTR_NULL, NULL)); // waits for a stream
  OK(ABT_xstream_revive(stream));
  OK(ABT_xstream_free(&stream)); // joins again
  CHECK(done == 2);
  // [/sample]

  // [sample abt-affinity]
  OK(ABT_self_get_xstream(&stream));
  const int bound = ABT_xstream_set_cpubind(stream, 0);
  CHECK(bound == ABT_SUCCESS || bound == ABT_ERR_FEATURE_NA); // upstream's default build has no affinity
  if (bound == ABT_SUCCESS) OK(ABT_xstream_set_affinity(stream, 0, NULL)); // any CPU again
  // [/sample]
}

// [sample abt-xstream-barrier]
static ABT_xstream_barrier all_streams;

static void set_up_this_stream(void* part) {
  *(int*)part = 1;
  OK(ABT_xstream_barrier_wait(all_streams)); // the whole stream waits: one such ULT a stream
}
// [/sample]

static void xstream_barrier(void) {
  ABT_xstream streams[2];
  int parts[2] = {0, 0};
  OK(ABT_xstream_barrier_create(2, &all_streams));
  for (int i = 0; i < 2; ++i) {
    OK(ABT_xstream_create(ABT_SCHED_NULL, &streams[i]));
    OK(ABT_thread_create_on_xstream(streams[i], set_up_this_stream, &parts[i], ABT_THREAD_ATTR_NULL, NULL));
  }
  for (int i = 0; i < 2; ++i) OK(ABT_xstream_free(&streams[i]));
  OK(ABT_xstream_barrier_free(&all_streams));
  CHECK(parts[0] == 1 && parts[1] == 1);
}

static void sched(void) {
  memset(order, 0, sizeof order);
  ran = 0;
  char now = 'n', later = 'l';
  // [sample abt-sched-basic]
  ABT_pool urgent, patient;
  OK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &urgent));
  OK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &patient));
  OK(ABT_thread_create(patient, note, &later, ABT_THREAD_ATTR_NULL, NULL));
  OK(ABT_thread_create(urgent, note, &now, ABT_THREAD_ATTR_NULL, NULL));

  ABT_pool pools[2] = {urgent, patient}; // in order of priority
  ABT_xstream stream;
  OK(ABT_xstream_create_basic(ABT_SCHED_PRIO, 2, pools, ABT_SCHED_CONFIG_NULL, &stream));
  OK(ABT_xstream_free(&stream)); // its scheduler and the pools are automatic: they go as well
  CHECK(strcmp(order, "nl") == 0);
  // [/sample]
}

static void pool(void) {
  int done = 0;
  // [sample abt-pool]
  ABT_pool drawer, desk;
  OK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &drawer)); // nobody serves it
  for (int i = 0; i < 3; ++i) OK(ABT_thread_create(drawer, count, &done, ABT_THREAD_ATTR_NULL, NULL));

  OK(ABT_self_get_last_pool(&desk)); // this stream's
  ABT_thread units[3];
  size_t found;
  OK(ABT_pool_pop_threads(drawer, units, 3, &found));
  OK(ABT_pool_push_threads(desk, units, found)); // they belong to this pool now
  OK(ABT_pool_free(&drawer));
  // [/sample]
  CHECK(found == 3);
  while (done < 3) OK(ABT_thread_yield());
}

static void error(void) {
  // [sample abt-error]
  ABT_xstream none = ABT_XSTREAM_NULL;
  const int code = ABT_xstream_free(&none);
  char name[64];
  size_t length;
  OK(ABT_error_get_str(code, NULL, &length)); // how much room it takes, without the final 0
  CHECK(length < sizeof name);
  OK(ABT_error_get_str(code, name, NULL));
  CHECK(strcmp(name, "ABT_ERR_INV_XSTREAM") == 0);
  // [/sample]
}

static void timer(void) {
  // [sample abt-timer]
  double whole = 0.0;
  ABT_timer timer;
  OK(ABT_timer_create(&timer));
  for (int lap = 0; lap < 3; ++lap) {
    OK(ABT_timer_start(timer));
    const double begun = ABT_get_wtime(); // seconds
    while (ABT_get_wtime() - begun < 0.001) OK(ABT_thread_yield());
    OK(ABT_timer_stop_and_add(timer, &whole));
  }
  OK(ABT_timer_free(&timer));
  CHECK(whole >= 0.003);
  // [/sample]
}

static void info(void) {
  // [sample abt-info]
  size_t stack; // the type depends on the question
  ABT_bool has_tools;
  OK(ABT_info_query_config(ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE, &stack));
  OK(ABT_info_query_config(ABT_INFO_QUERY_KIND_ENABLED_TOOL, &has_tools));
  printf("stacks of %zu bytes, %s tool interface\n", stack, has_tools ? "with" : "without");
  OK(ABT_info_print_all_xstreams(stdout)); // text for people
  // [/sample]
  CHECK(stack >= 4096);
}

// [sample abt-foreign]
static ABT_pool jobs;

static void* kernel_thread(void* result) { // a pthread that the library does not know
  ABT_thread job;
  OK(ABT_thread_create(jobs, count, result, ABT_THREAD_ATTR_NULL, &job));
  OK(ABT_thread_free(&job)); // blocks this kernel thread until a stream has run the job
  return NULL;
}
// [/sample]

static void foreign(void) {
  ABT_xstream stream;
  OK(ABT_xstream_create(ABT_SCHED_NULL, &stream));
  OK(ABT_xstream_get_main_pools(stream, 1, &jobs));
  int done = 0;
  pthread_t outside;
  CHECK(pthread_create(&outside, NULL, kernel_thread, &done) == 0);
  CHECK(pthread_join(outside, NULL) == 0);
  OK(ABT_xstream_free(&stream));
  CHECK(done == 1);
}

int main(int argc, char** argv) {
  OK(ABT_init(argc, argv));
  init();
  xstream();
  xstream_barrier();
  sched();
  pool();
  error();
  timer();
  info();
  foreign();
  OK(ABT_finalize());
  CHECK(ABT_initialized() == ABT_ERR_UNINITIALIZED);
  return 0;
}
