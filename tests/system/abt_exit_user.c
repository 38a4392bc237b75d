// SPDX-License-Identifier: MIT
// A library on top of abt.h, in C, as a runtime of OpenMP is: it has streams and ends them when the process
// does. Built into abt_exit_test.cpp, and as a library that is opened by it.
#include <abt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((visibility("default"))) void user_start(void);
__attribute__((visibility("default"))) void user_end(void);
__attribute__((visibility("default"))) void user_end_by_destructor(void);

static ABT_xstream stream;
static ABT_pool pool;
static ABT_mutex mutex;
static ABT_eventual at_work, told;
static ABT_thread holder;
static int ends_by_destructor;

static void must(int result) {
  if (result == ABT_SUCCESS)
    return;
  printf("error %d\n", result);
  fflush(stdout);
  _exit(9);
}

// Holds the mutex, in the middle of exit(), until it is told that somebody wants it.
static void hold(void* unused) {
  (void)unused;
  must(ABT_mutex_lock(mutex));
  must(ABT_eventual_set(at_work, NULL, 0));
  must(ABT_eventual_wait(told, NULL));
  for (int i = 0; i < 1000; ++i) // more than any budget of a stream
    must(ABT_thread_yield());
  must(ABT_mutex_unlock(mutex));
}

static void count(void* counter) {
  ++*(int*)counter;
}

void user_start(void) {
  must(ABT_init(0, NULL));
  must(ABT_mutex_create(&mutex));
  must(ABT_eventual_create(0, &at_work));
  must(ABT_eventual_create(0, &told));
  must(ABT_xstream_create(ABT_SCHED_NULL, &stream));
  must(ABT_xstream_get_main_pools(stream, 1, &pool));
  must(ABT_thread_create(pool, hold, NULL, ABT_THREAD_ATTR_NULL, &holder));
  must(ABT_eventual_wait(at_work, NULL));
}

void user_end(void) {
  int counter = 0;
  ABT_thread fresh;
  must(ABT_eventual_set(told, NULL, 0));
  must(ABT_mutex_lock(mutex));
  must(ABT_thread_create(pool, count, &counter, ABT_THREAD_ATTR_NULL, &fresh));
  must(ABT_thread_free(&fresh));
  must(ABT_mutex_unlock(mutex));
  must(ABT_thread_free(&holder));
  must(ABT_xstream_join(stream));
  must(ABT_xstream_revive(stream));
  must(ABT_xstream_free(&stream));
  ABT_bool primary = ABT_FALSE;
  if (ABT_self_is_primary(&primary) == ABT_SUCCESS && primary)
    must(ABT_finalize());
  puts(counter == 1 ? "user has ended" : "nothing ran");
  fflush(stdout);
}

void user_end_by_destructor(void) {
  ends_by_destructor = 1;
}

__attribute__((destructor)) static void at_unload(void) {
  if (ends_by_destructor)
    user_end();
}
