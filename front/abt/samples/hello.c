// SPDX-License-Identifier: MIT
// The first program: two streams, a few ULTs on each, a greeting from every one.
#include "samples.h"

#include <stdatomic.h>

enum { STREAMS = 2, THREADS = 6 };

static atomic_int greetings;

static void greet(void* number) {
  int rank;
  OK(ABT_self_get_xstream_rank(&rank));
  printf("hello from ULT %d on stream %d\n", *(int*)number, rank);
  atomic_fetch_add(&greetings, 1);
}

int main(int argc, char** argv) {
  // [sample abt-hello]
  OK(ABT_init(argc, argv)); // main is now the primary ULT, on stream 0

  ABT_xstream streams[STREAMS];
  ABT_pool pools[STREAMS];
  OK(ABT_self_get_xstream(&streams[0]));
  for (int i = 1; i < STREAMS; ++i) OK(ABT_xstream_create(ABT_SCHED_NULL, &streams[i]));
  for (int i = 0; i < STREAMS; ++i) OK(ABT_xstream_get_main_pools(streams[i], 1, &pools[i]));

  ABT_thread threads[THREADS];
  int numbers[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    numbers[i] = i;
    OK(ABT_thread_create(pools[i % STREAMS], greet, &numbers[i], ABT_THREAD_ATTR_NULL, &threads[i]));
  }
  for (int i = 0; i < THREADS; ++i) OK(ABT_thread_free(&threads[i])); // joins first

  for (int i = 1; i < STREAMS; ++i) OK(ABT_xstream_free(&streams[i]));
  OK(ABT_finalize());
  // [/sample]

  CHECK(atomic_load(&greetings) == THREADS);
  return 0;
}
