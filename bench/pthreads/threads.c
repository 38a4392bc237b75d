/* SPDX-License-Identifier: MIT */
/* A program of pthreads that knows nothing of Weft, for bench/pthreads_suite.py: what its operations cost.
 * Prints one object of JSON: the CPU time of the process and the time an operation took, in us. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/pthreads/measure.h"

static void* nothing(void* x) {
  return x;
}
static void in_a_thread(void* (*function)(void*), void* argument) {
  pthread_t t;
  NEED(pthread_create(&t, NULL, function, argument));
  NEED(pthread_join(t, NULL));
}

/* --- create and join --- */

static void* creates(void* rounds) {
  for (long i = 0; i < (long)rounds; ++i)
    in_a_thread(nothing, NULL);
  return NULL;
}
static void* create_join_measured(void* x) {
  creates((void*)(operations / 10));
  begin_measuring();
  creates((void*)operations);
  tell(operations, "");
  return x;
}
static void create_join(void) {
  in_a_thread(create_join_measured, NULL);
}
static void create_join_main(void) {
  create_join_measured(NULL);
}

enum { at_once = 1000 };
static void* creates_many(void* rounds) {
  static pthread_t all[at_once];
  for (long i = 0; i < (long)rounds; ++i) {
    for (int k = 0; k < at_once; ++k)
      NEED(pthread_create(&all[k], NULL, nothing, NULL));
    for (int k = 0; k < at_once; ++k)
      NEED(pthread_join(all[k], NULL));
  }
  return NULL;
}
static void* create_many_measured(void* x) {
  const long rounds = (operations + at_once - 1) / at_once;
  creates_many((void*)1L);
  begin_measuring();
  creates_many((void*)rounds);
  tell(rounds * at_once, "");
  return x;
}
static void create_many(void) {
  in_a_thread(create_many_measured, NULL);
}
static void create_many_main(void) {
  create_many_measured(NULL);
}

/* --- a ring: each thread waits on its own condition variable and wakes the next one --- */

struct place {
  pthread_mutex_t lock;
  pthread_cond_t turn;
  int may_go;
  pthread_t thread;
};
static struct place* ring;
static int places;
static long rounds_of_ring;

static void pass_on(int to) {
  struct place* next = &ring[to % places];
  NEED(pthread_mutex_lock(&next->lock));
  next->may_go = 1;
  NEED(pthread_cond_signal(&next->turn));
  NEED(pthread_mutex_unlock(&next->lock));
}
static void wait_for_turn(struct place* own) {
  NEED(pthread_mutex_lock(&own->lock));
  while (!own->may_go)
    NEED(pthread_cond_wait(&own->turn, &own->lock));
  own->may_go = 0;
  NEED(pthread_mutex_unlock(&own->lock));
}
static void* goes_round(void* number) {
  const int own = (int)(long)number;
  for (long i = 0; i <= rounds_of_ring; ++i) { /* the first round warms up */
    wait_for_turn(&ring[own]);
    if (own == 0 && i == 1)
      begin_measuring();
    pass_on(own + 1);
  }
  return NULL;
}
static void ring_of(int count, size_t stack_bytes) {
  pthread_attr_t how;
  NEED(pthread_attr_init(&how));
  if (stack_bytes != 0)
    NEED(pthread_attr_setstacksize(&how, stack_bytes));
  places = count;
  ring = calloc((size_t)count, sizeof *ring);
  rounds_of_ring = (operations + count - 1) / count;
  for (int i = 0; i < count; ++i) {
    NEED(pthread_mutex_init(&ring[i].lock, NULL));
    NEED(pthread_cond_init(&ring[i].turn, NULL));
    NEED(pthread_create(&ring[i].thread, &how, goes_round, (void*)(long)i));
  }
  pass_on(0);
  for (int i = 0; i < count; ++i)
    NEED(pthread_join(ring[i].thread, NULL));
  tell(rounds_of_ring * count, "");
}
static void ring_10000(void) {
  ring_of(10000, 64 << 10);
}

/* --- two that wake each other --- */

static sem_t ping, pong;
static void* answers(void* rounds) {
  for (long i = 0; i < (long)rounds; ++i) {
    sem_wait(&ping);
    sem_post(&pong);
  }
  return NULL;
}
/* An operation is one hand-over, so a round trip is two. */
static void* asks(void* x) {
  pthread_t t;
  const long warm = operations / 20, rounds = operations / 2;
  NEED(pthread_create(&t, NULL, answers, (void*)(warm + rounds)));
  for (long i = 0; i < warm + rounds; ++i) {
    if (i == warm)
      begin_measuring();
    sem_post(&ping);
    sem_wait(&pong);
  }
  tell(2 * rounds, "");
  NEED(pthread_join(t, NULL));
  return x;
}
static void semaphores(void) {
  sem_init(&ping, 0, 0), sem_init(&pong, 0, 0);
  in_a_thread(asks, NULL);
}
static void semaphores_main(void) {
  sem_init(&ping, 0, 0), sem_init(&pong, 0, 0);
  asks(NULL);
}

/* --- a barrier of 64: an operation is one round of all --- */

enum { meeting = 64 };
static pthread_barrier_t barrier;
static void* meets(void* first) {
  for (long i = 0; i <= operations; ++i) {
    if (first != NULL && i == 1)
      begin_measuring();
    pthread_barrier_wait(&barrier);
  }
  if (first != NULL)
    tell(operations, "");
  return NULL;
}
static void barrier_64(void) {
  pthread_t all[meeting];
  NEED(pthread_barrier_init(&barrier, NULL, meeting));
  for (int i = 0; i < meeting; ++i)
    NEED(pthread_create(&all[i], NULL, meets, i == 0 ? &barrier : NULL));
  for (int i = 0; i < meeting; ++i)
    NEED(pthread_join(all[i], NULL));
}

/* --- a mutex: alone; of 64 threads --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long guarded;
static void* locks(void* rounds) {
  for (long i = 0; i < (long)rounds; ++i) {
    pthread_mutex_lock(&lock);
    guarded = guarded + 1;
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}
static void* mutex_measured(void* x) {
  locks((void*)(operations / 10));
  begin_measuring();
  locks((void*)operations);
  tell(operations, "");
  return x;
}
static void mutex(void) {
  in_a_thread(mutex_measured, NULL);
}
static void mutex_main(void) {
  pthread_t other; /* the program has threads */
  NEED(pthread_create(&other, NULL, nothing, NULL));
  NEED(pthread_join(other, NULL));
  mutex_measured(NULL);
}
static void mutex_64(void) {
  pthread_t all[meeting];
  begin_measuring();
  for (int i = 0; i < meeting; ++i)
    NEED(pthread_create(&all[i], NULL, locks, (void*)(operations / meeting)));
  for (int i = 0; i < meeting; ++i)
    NEED(pthread_join(all[i], NULL));
  if (guarded != operations / meeting * meeting) {
    fprintf(stderr, "the mutex let two in\n");
    exit(1);
  }
  tell(guarded, "");
}

/* --- many that wait: an operation is one thread; what it takes of memory --- */

static sem_t all_may_end;
static void* waits(void* x) {
  sem_wait(&all_may_end);
  return x;
}
static long resident_bytes(void) {
  long pages = 0;
  FILE* text = fopen("/proc/self/statm", "r");
  if (text == NULL || fscanf(text, "%*d %ld", &pages) != 1)
    exit(1);
  fclose(text);
  return pages * sysconf(_SC_PAGESIZE);
}
static void waiting(void) {
  pthread_attr_t how;
  NEED(pthread_attr_init(&how));
  NEED(pthread_attr_setstacksize(&how, 64 << 10));
  sem_init(&all_may_end, 0, 0);
  in_a_thread(nothing, NULL);
  pthread_t* all = calloc((size_t)operations, sizeof *all);
  const long before = resident_bytes();
  begin_measuring();
  for (long i = 0; i < operations; ++i)
    NEED(pthread_create(&all[i], &how, waits, NULL));
  const long bytes = resident_bytes() - before;
  for (long i = 0; i < operations; ++i)
    sem_post(&all_may_end);
  for (long i = 0; i < operations; ++i)
    NEED(pthread_join(all[i], NULL));
  char more[60];
  snprintf(more, sizeof more, ", \"bytes\": %ld", bytes / operations);
  tell(operations, more);
}

int main(int count, char** words) {
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {{"create_join", create_join},
               {"create_join_main", create_join_main},
               {"create_many", create_many},
               {"create_many_main", create_many_main},
               {"ring", ring_10000},
               {"semaphores", semaphores},
               {"semaphores_main", semaphores_main},
               {"barrier", barrier_64},
               {"mutex", mutex},
               {"mutex_main", mutex_main},
               {"mutex_64", mutex_64},
               {"waiting", waiting}};
  operations = count == 3 ? strtol(words[2], NULL, 10) : 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    if (operations > 0 && strcmp(words[1], cases[i].name) == 0) {
      cases[i].run();
      return 0;
    }
  }
  fprintf(stderr, "usage: %s CASE OPERATIONS\n", words[0]);
  return 2;
}
