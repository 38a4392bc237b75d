// SPDX-License-Identifier: MIT
// The guide's samples about abtx.h: waits with a limit, sleep, detach, how a ULT is run. Needs
// Weft's library.
#include "samples.h"

#include <abtx.h>
#include <stdatomic.h>
#include <time.h>

static struct team team;

// [sample abtx-limit]
static struct timespec after_ms(long ms) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  const long long ns = t.tv_nsec + ms * 1000000LL;
  t.tv_sec += (time_t)(ns / 1000000000);
  t.tv_nsec = (long)(ns % 1000000000);
  return t;
}
// [/sample]

static void locks(void) {
  ABT_mutex mutex;
  ABT_rwlock rwlock;
  OK(ABT_mutex_create(&mutex));
  OK(ABT_rwlock_create(&rwlock));
  // [sample abtx-locks]
  OK(ABT_mutex_lock(mutex));
  struct timespec limit = after_ms(5);
  CHECK(ABTX_mutex_timedlock(mutex, &limit) == ABT_ERR_COND_TIMEDOUT); // it is taken: not had
  OK(ABT_mutex_unlock(mutex));

  OK(ABTX_rwlock_tryrdlock(rwlock));
  CHECK(ABTX_rwlock_trywrlock(rwlock) == ABT_ERR_RWLOCK); // there is a reader
  limit = after_ms(5);
  OK(ABTX_rwlock_timedrdlock(rwlock, &limit)); // a second reader
  limit = after_ms(5);
  CHECK(ABTX_rwlock_timedwrlock(rwlock, &limit) == ABT_ERR_COND_TIMEDOUT);
  OK(ABT_rwlock_unlock(rwlock));
  OK(ABT_rwlock_unlock(rwlock));
  // [/sample]
  OK(ABT_rwlock_free(&rwlock));
  OK(ABT_mutex_free(&mutex));
}

static void events(void) {
  // [sample abtx-events]
  ABT_future future;
  OK(ABT_future_create(1, NULL, &future));
  struct timespec limit = after_ms(5);
  CHECK(ABTX_future_timedwait(future, &limit) == ABT_ERR_COND_TIMEDOUT);
  OK(ABT_future_set(future, NULL));
  limit = after_ms(0); // a limit that has passed: no wait
  OK(ABTX_future_timedwait(future, &limit));
  OK(ABT_future_free(&future));
  // [/sample]

  ABT_barrier barrier;
  OK(ABT_barrier_create(2, &barrier));
  limit = after_ms(5);
  CHECK(ABTX_barrier_timedwait(barrier, &limit) == ABT_ERR_COND_TIMEDOUT); // has arrived all the same
  OK(ABT_barrier_wait(barrier)); // the second of two: the round is over
  OK(ABT_barrier_free(&barrier));
}

// [sample abtx-sleep]
static void sleep_until_told(void* told) {
  while (!atomic_load((atomic_int*)told)) OK(ABTX_self_sleep(0.001)); // other units run meanwhile
}
// [/sample]

static void joins(void) {
  atomic_int told = 0;
  ABT_thread thread;
  OK(ABT_thread_create(team.pool, sleep_until_told, &told, ABT_THREAD_ATTR_NULL, &thread));
  // [sample abtx-join]
  struct timespec limit = after_ms(5);
  if (ABTX_thread_timedjoin(thread, &limit) == ABT_ERR_COND_TIMEDOUT) {
    atomic_store(&told, 1); // it goes on; join it later
    OK(ABT_thread_join(thread));
  }
  // [/sample]
  CHECK(atomic_load(&told) == 1);
  OK(ABT_thread_free(&thread));
}

static void set_flag(void* flag) {
  atomic_store((atomic_int*)flag, 1);
}

static void detach(void) {
  static atomic_int done;
  // [sample abtx-detach]
  ABT_thread thread;
  OK(ABT_thread_create(team.pool, set_flag, &done, ABT_THREAD_ATTR_NULL, &thread));
  OK(ABTX_thread_detach(&thread)); // frees itself at its end
  CHECK(thread == ABT_THREAD_NULL);
  // [/sample]
  while (!atomic_load(&done)) OK(ABT_thread_yield());
}

static void techniques(void) {
  atomic_int done = 0;
  // [sample abtx-technique]
  ABT_thread_attr attr;
  OK(ABT_thread_attr_create(&attr));
  OK(ABTX_thread_attr_set_technique(attr, ABTX_TECHNIQUE_RUN_TO_COMPLETION)); // no stack: it never waits
  OK(ABTX_thread_attr_set_preemption(attr, ABTX_PREEMPTION_COOPERATIVE));
  ABT_thread thread;
  OK(ABT_thread_create(team.pool, set_flag, &done, attr, &thread));
  ABTX_technique technique;
  ABTX_preemption preemption;
  OK(ABTX_thread_get_technique(thread, &technique));
  OK(ABTX_thread_get_preemption(thread, &preemption));
  CHECK(technique == ABTX_TECHNIQUE_RUN_TO_COMPLETION && preemption == ABTX_PREEMPTION_COOPERATIVE);
  OK(ABT_thread_free(&thread));
  // [/sample]
  OK(ABTX_thread_attr_get_technique(attr, &technique));
  OK(ABTX_thread_attr_get_preemption(attr, &preemption));
  CHECK(technique == ABTX_TECHNIQUE_RUN_TO_COMPLETION && preemption == ABTX_PREEMPTION_COOPERATIVE);
  OK(ABT_thread_attr_free(&attr));
  CHECK(atomic_load(&done) == 1);
}

static void techniques_of_pools(void) {
  atomic_int done = 0;
  // [sample abtx-pool-technique]
  OK(ABTX_pool_set_technique(team.pool, ABTX_TECHNIQUE_ROC_LAZY)); // of what is created into it from now on
  ABT_thread thread;
  OK(ABT_thread_create(team.pool, set_flag, &done, ABT_THREAD_ATTR_NULL, &thread));
  ABTX_technique technique;
  OK(ABTX_thread_get_technique(thread, &technique));
  CHECK(technique == ABTX_TECHNIQUE_ROC_LAZY);
  OK(ABT_thread_free(&thread));
  OK(ABTX_pool_set_technique(team.pool, ABTX_TECHNIQUE_DEFAULT)); // as it was
  // [/sample]
  OK(ABTX_pool_get_technique(team.pool, &technique));
  CHECK(technique == ABTX_TECHNIQUE_DEFAULT && atomic_load(&done) == 1);
}

static void spin_until_set(void* flag) {
  while (!atomic_load((atomic_int*)flag)) {
  }
}

static int machine_has_preemption(void) {
  atomic_int done = 0;
  ABT_thread_attr attr;
  OK(ABT_thread_attr_create(&attr));
  OK(ABTX_thread_attr_set_preemption(attr, ABTX_PREEMPTION_OWN_TLS));
  ABT_thread thread;
  const int code = ABT_thread_create(team.pool, set_flag, &done, attr, &thread);
  if (code == ABT_SUCCESS)
    OK(ABT_thread_free(&thread));
  OK(ABT_thread_attr_free(&attr));
  return code != ABT_ERR_FEATURE_NA;
}

static void preemption(void) {
  if (!machine_has_preemption())
    return;
  // [sample abtx-preemption]
  atomic_int go_on = 0;
  ABT_thread_attr attr;
  OK(ABT_thread_attr_create(&attr));
  OK(ABTX_thread_attr_set_preemption(attr, ABTX_PREEMPTION_OWN_TLS));
  ABT_thread spinner, other;
  OK(ABT_thread_create(team.pool, spin_until_set, &go_on, attr, &spinner));
  OK(ABT_thread_create(team.pool, set_flag, &go_on, ABT_THREAD_ATTR_NULL, &other));
  OK(ABT_thread_free(&spinner)); // ends, on one stream too
  OK(ABT_thread_free(&other));
  OK(ABT_thread_attr_free(&attr));
  // [/sample]
}

int main(int argc, char** argv) {
  OK(ABT_init(argc, argv));
  team_start(&team, 2);
  locks();
  events();
  joins();
  detach();
  techniques();
  techniques_of_pools();
  preemption();
  team_stop(&team);
  OK(ABT_finalize());
  return 0;
}
