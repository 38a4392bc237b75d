// SPDX-License-Identifier: MIT
// The guide's samples about waiting: mutex, readers-writer lock, eventual, barrier, waits with a limit.
#include "samples.h"

#include <time.h>

static struct team team;

enum { WRITERS = 4 };

// [sample abt-mutex]
static ABT_mutex_memory lock_memory = ABT_MUTEX_INITIALIZER; // needs neither ABT_init() nor a free
static int total;

static void add(void* amount) {
  ABT_mutex lock = ABT_MUTEX_MEMORY_GET_HANDLE(&lock_memory);
  OK(ABT_mutex_lock(lock));
  total += *(int*)amount;
  OK(ABT_mutex_unlock(lock));
}
// [/sample]

static void mutex(void) {
  ABT_thread threads[WRITERS];
  int amount = 5;
  for (int i = 0; i < WRITERS; ++i) {
    OK(ABT_thread_create(team.pool, add, &amount, ABT_THREAD_ATTR_NULL, &threads[i]));
  }
  for (int i = 0; i < WRITERS; ++i) OK(ABT_thread_free(&threads[i]));
  CHECK(total == WRITERS * 5);

  // [sample abt-mutex-attr]
  ABT_mutex_attr attr;
  ABT_mutex again;
  OK(ABT_mutex_attr_create(&attr));
  OK(ABT_mutex_attr_set_recursive(attr, ABT_TRUE));
  OK(ABT_mutex_create_with_attr(attr, &again));
  OK(ABT_mutex_attr_free(&attr));

  OK(ABT_mutex_lock(again));
  OK(ABT_mutex_lock(again)); // by the same ULT
  OK(ABT_mutex_unlock(again));
  OK(ABT_mutex_unlock(again)); // free from here on
  OK(ABT_mutex_free(&again));
  // [/sample]
}

// [sample abt-rwlock]
static ABT_rwlock table_lock;
static int table[2]; // both are always the same

static void read_table(void* unused) {
  (void)unused;
  OK(ABT_rwlock_rdlock(table_lock));
  const int first = table[0];
  OK(ABT_thread_yield()); // other readers may come in, writers not
  CHECK(table[1] == first);
  OK(ABT_rwlock_unlock(table_lock));
}

static void write_table(void* unused) {
  (void)unused;
  OK(ABT_rwlock_wrlock(table_lock));
  ++table[0];
  OK(ABT_thread_yield());
  ++table[1];
  OK(ABT_rwlock_unlock(table_lock));
}
// [/sample]

static void rwlock(void) {
  OK(ABT_rwlock_create(&table_lock));
  ABT_thread threads[2 * WRITERS];
  for (int i = 0; i < 2 * WRITERS; ++i) {
    void (*function)(void*) = i % 2 ? read_table : write_table;
    OK(ABT_thread_create(team.pool, function, NULL, ABT_THREAD_ATTR_NULL, &threads[i]));
  }
  for (int i = 0; i < 2 * WRITERS; ++i) OK(ABT_thread_free(&threads[i]));
  OK(ABT_rwlock_free(&table_lock));
  CHECK(table[0] == WRITERS && table[1] == WRITERS);
}

static void answer(void* eventual) {
  int value = 42;
  OK(ABT_eventual_set(eventual, &value, sizeof value)); // copies it
}

static void eventual(void) {
  // [sample abt-eventual]
  ABT_eventual result;
  OK(ABT_eventual_create(sizeof(int), &result));
  OK(ABT_thread_create(team.pool, answer, result, ABT_THREAD_ATTR_NULL, NULL));
  void* value;
  OK(ABT_eventual_wait(result, &value)); // points into the eventual
  CHECK(*(int*)value == 42);
  OK(ABT_eventual_reset(result)); // may be set again
  // [/sample]

  // [sample abt-timedwait]
  struct timespec limit; // a time of day, as with pthreads
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_nsec += 10 * 1000 * 1000;
  if (limit.tv_nsec >= 1000000000) {
    limit.tv_nsec -= 1000000000;
    ++limit.tv_sec;
  }
  CHECK(ABT_eventual_timedwait(result, &value, &limit) == ABT_ERR_COND_TIMEDOUT);
  // [/sample]
  OK(ABT_eventual_free(&result));
}

// [sample abt-barrier]
enum { PARTS = 3 };
static ABT_barrier step;
static int parts[2][PARTS];

static void work_on(void* number) {
  const int mine = *(int*)number;
  parts[0][mine] = 1;
  OK(ABT_barrier_wait(step)); // until PARTS have come; then it serves the next round
  for (int i = 0; i < PARTS; ++i) parts[1][mine] += parts[0][i];
}
// [/sample]

static void barrier(void) {
  OK(ABT_barrier_create(PARTS, &step));
  ABT_thread threads[PARTS];
  int numbers[PARTS];
  for (int i = 0; i < PARTS; ++i) {
    numbers[i] = i;
    OK(ABT_thread_create(team.pool, work_on, &numbers[i], ABT_THREAD_ATTR_NULL, &threads[i]));
  }
  for (int i = 0; i < PARTS; ++i) OK(ABT_thread_free(&threads[i]));
  OK(ABT_barrier_free(&step));
  for (int i = 0; i < PARTS; ++i) CHECK(parts[1][i] == PARTS);
}

int main(int argc, char** argv) {
  OK(ABT_init(argc, argv));
  team_start(&team, 2);
  mutex();
  rwlock();
  eventual();
  barrier();
  team_stop(&team);
  OK(ABT_finalize());
  return 0;
}
