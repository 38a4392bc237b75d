// SPDX-License-Identifier: MIT
// README.md's program, whole. tests/consumer compiles it as README.md says.
// [sample abt-readme]
#include <stdio.h>
#include <stdlib.h>
#include <abt.h>

#define OK(call) ((call) == ABT_SUCCESS ? (void)0 : (fprintf(stderr, "failed: %s\n", #call), exit(1)))

enum { STREAMS = 2, THREADS = 8 };

static void greet(void* number) { printf("thread %d\n", *(int*)number); }

int main(int argc, char** argv) {
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
  return 0;
}
// [/sample]
