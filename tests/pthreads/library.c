/* SPDX-License-Identifier: MIT */
/* Makes threads when it is loaded, and joins them when the process ends. */
#include "tests/pthreads/check.h"

static pthread_t all[4];
static atomic_int begun, stops;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void* serves(void* x) {
  ++begun;
  CHECK_ERROR(0, pthread_mutex_lock(&lock));
  while (stops == 0)
    CHECK_ERROR(0, pthread_cond_wait(&cond, &lock));
  CHECK_ERROR(0, pthread_mutex_unlock(&lock));
  return x;
}

__attribute__((constructor)) static void start(void) {
  for (int i = 0; i < 4; ++i)
    all[i] = begin(serves, NULL);
  while (begun != 4)
    sched_yield();
}

__attribute__((destructor)) static void stop(void) {
  CHECK_ERROR(0, pthread_mutex_lock(&lock));
  stops = 1;
  CHECK_ERROR(0, pthread_cond_broadcast(&cond));
  CHECK_ERROR(0, pthread_mutex_unlock(&lock));
  for (int i = 0; i < 4; ++i)
    end(all[i]);
}

__attribute__((visibility("default"))) int threads_begun(void) {
  return begun;
}
