/* SPDX-License-Identifier: MIT */
/* What threads wait for: mutexes of all kinds, condition variables, semaphores, locks for readers and
 * writers, barriers, once. */
#include "tests/pthreads/check.h"

#include <linux/futex.h>
#include <sys/syscall.h>

enum { threads = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static long counted;

static void run_all(void* (*function)(void*), int count) {
  pthread_t all[64];
  for (intptr_t i = 0; i < count; ++i)
    all[i] = begin(function, (void*)i);
  for (int i = 0; i < count; ++i)
    end(all[i]);
}

static void* counts_under_lock(void* x) {
  for (int i = 0; i < 2000; ++i) {
    CHECK_ERROR(0, pthread_mutex_lock(&lock));
    const long seen = counted;
    if (i % 100 == (int)(intptr_t)x)
      sched_yield();
    counted = seen + 1;
    CHECK_ERROR(0, pthread_mutex_unlock(&lock));
  }
  return NULL;
}
static void mutex(void) {
  counted = 0;
  pthread_t all[threads];
  for (intptr_t i = 0; i < threads; ++i)
    all[i] = begin(counts_under_lock, (void*)i);
  counts_under_lock((void*)5); /* main beside them */
  for (int i = 0; i < threads; ++i)
    end(all[i]);
  CHECK(counted == 2000L * (threads + 1));
}

static pthread_mutex_t made(int type) {
  pthread_mutexattr_t a;
  pthread_mutex_t m;
  CHECK_ERROR(0, pthread_mutexattr_init(&a));
  CHECK_ERROR(0, pthread_mutexattr_settype(&a, type));
  CHECK_ERROR(0, pthread_mutex_init(&m, &a));
  pthread_mutexattr_destroy(&a);
  return m;
}
static pthread_mutex_t recursive_ = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, checked_;
static void* finds_them_taken(void* x) {
  (void)x;
  struct timespec soon = in_ms(CLOCK_REALTIME, 5);
  CHECK_ERROR(EBUSY, pthread_mutex_trylock(&recursive_));
  CHECK_ERROR(EBUSY, pthread_mutex_trylock(&checked_));
  CHECK_ERROR(EPERM, pthread_mutex_unlock(&recursive_));
  CHECK_ERROR(EPERM, pthread_mutex_unlock(&checked_));
  CHECK_ERROR(ETIMEDOUT, pthread_mutex_timedlock(&recursive_, &soon));
  soon = in_ms(CLOCK_MONOTONIC, 5);
  CHECK_ERROR(ETIMEDOUT, pthread_mutex_clocklock(&checked_, CLOCK_MONOTONIC, &soon));
  return NULL;
}
static void* uses_kinds(void* x) {
  (void)x;
  for (int i = 0; i < 3; ++i)
    CHECK_ERROR(0, pthread_mutex_lock(&recursive_));
  CHECK_ERROR(0, pthread_mutex_trylock(&recursive_));
  CHECK_ERROR(0, pthread_mutex_lock(&checked_));
  CHECK_ERROR(EDEADLK, pthread_mutex_lock(&checked_));
  CHECK_ERROR(EBUSY, pthread_mutex_trylock(&checked_));
  end(begin(finds_them_taken, NULL));
  for (int i = 0; i < 4; ++i)
    CHECK_ERROR(0, pthread_mutex_unlock(&recursive_));
  CHECK_ERROR(EPERM, pthread_mutex_unlock(&recursive_));
  CHECK_ERROR(0, pthread_mutex_unlock(&checked_));
  CHECK_ERROR(EPERM, pthread_mutex_unlock(&checked_));
  return NULL;
}
static void mutex_kinds(void) {
  checked_ = made(PTHREAD_MUTEX_ERRORCHECK);
  uses_kinds(NULL);
  end(begin(uses_kinds, NULL));
  pthread_mutex_t adaptive = made(PTHREAD_MUTEX_ADAPTIVE_NP);
  CHECK_ERROR(0, pthread_mutex_lock(&adaptive));
  CHECK_ERROR(EBUSY, pthread_mutex_trylock(&adaptive));
  CHECK_ERROR(EBUSY, pthread_mutex_destroy(&adaptive));
  CHECK_ERROR(0, pthread_mutex_unlock(&adaptive));
  CHECK_ERROR(0, pthread_mutex_destroy(&adaptive));
}

static pthread_mutex_t robust_;
static void* leaves_it_locked(void* x) {
  CHECK_ERROR(0, pthread_mutex_lock(&robust_));
  return x;
}
static void robust(void) {
  pthread_mutexattr_t a;
  CHECK_ERROR(0, pthread_mutexattr_init(&a));
  CHECK_ERROR(0, pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST));
  CHECK_ERROR(0, pthread_mutex_init(&robust_, &a));
  end(begin(leaves_it_locked, NULL));
  CHECK_ERROR(EOWNERDEAD, pthread_mutex_lock(&robust_));
  CHECK_ERROR(0, pthread_mutex_consistent(&robust_));
  CHECK_ERROR(0, pthread_mutex_unlock(&robust_));
}

/* --- condition variables --- */

static int turn, tickets;
static void* passes_the_turn(void* x) {
  const int mine = (int)(intptr_t)x;
  for (int round = 0; round < 200; ++round) {
    CHECK_ERROR(0, pthread_mutex_lock(&lock));
    while (turn % threads != mine)
      CHECK_ERROR(0, pthread_cond_wait(&cond, &lock));
    ++turn;
    CHECK_ERROR(0, pthread_cond_broadcast(&cond));
    CHECK_ERROR(0, pthread_mutex_unlock(&lock));
  }
  return NULL;
}
static void* takes_a_ticket(void* x) {
  CHECK_ERROR(0, pthread_mutex_lock(&lock));
  while (tickets == 0)
    CHECK_ERROR(0, pthread_cond_wait(&cond, &lock));
  --tickets;
  CHECK_ERROR(0, pthread_mutex_unlock(&lock));
  return x;
}
static void condition(void) {
  turn = 0;
  run_all(passes_the_turn, threads);
  CHECK(turn == 200 * threads);
  pthread_t all[threads];
  for (int i = 0; i < threads; ++i)
    all[i] = begin(takes_a_ticket, NULL);
  for (int i = 0; i < threads; ++i) {
    CHECK_ERROR(0, pthread_mutex_lock(&lock));
    ++tickets;
    CHECK_ERROR(0, pthread_cond_signal(&cond));
    CHECK_ERROR(0, pthread_mutex_unlock(&lock));
  }
  for (int i = 0; i < threads; ++i)
    end(all[i]);
  CHECK(tickets == 0);
}

static void* waits_for_nothing(void* x) {
  (void)x;
  pthread_condattr_t a;
  pthread_cond_t c;
  CHECK_ERROR(0, pthread_condattr_init(&a));
  CHECK_ERROR(0, pthread_condattr_setclock(&a, CLOCK_MONOTONIC));
  CHECK_ERROR(0, pthread_cond_init(&c, &a));
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  CHECK_ERROR(0, pthread_mutex_lock(&m));
  struct timespec until = in_ms(CLOCK_MONOTONIC, 20);
  int error;
  while ((error = pthread_cond_timedwait(&c, &m, &until)) == 0) {
  }
  CHECK_ERROR(ETIMEDOUT, error);
  struct timespec now = in_ms(CLOCK_MONOTONIC, 0);
  CHECK(now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec >= until.tv_nsec));
  until = in_ms(CLOCK_REALTIME, 5);
  while ((error = pthread_cond_clockwait(&c, &m, CLOCK_REALTIME, &until)) == 0) {
  }
  CHECK_ERROR(ETIMEDOUT, error);
  until.tv_nsec = 1000000000;
  CHECK_ERROR(EINVAL, pthread_cond_timedwait(&c, &m, &until));
  CHECK_ERROR(EBUSY, pthread_mutex_trylock(&m));
  CHECK_ERROR(0, pthread_mutex_unlock(&m));
  CHECK_ERROR(0, pthread_cond_destroy(&c));
  return NULL;
}
static void condition_limits(void) {
  waits_for_nothing(NULL);
  run_all(waits_for_nothing, 4);
}

/* The recursive mutex is given up altogether while its owner waits. */
static int told;
static void* tells(void* x) {
  CHECK_ERROR(0, pthread_mutex_lock(&recursive_));
  told = 1;
  CHECK_ERROR(0, pthread_cond_signal(&cond));
  CHECK_ERROR(0, pthread_mutex_unlock(&recursive_));
  return x;
}
static void* is_told(void* x) {
  CHECK_ERROR(0, pthread_mutex_lock(&recursive_));
  pthread_t t = begin(tells, NULL);
  while (told == 0)
    CHECK_ERROR(0, pthread_cond_wait(&cond, &recursive_));
  CHECK_ERROR(0, pthread_mutex_unlock(&recursive_));
  CHECK_ERROR(EPERM, pthread_mutex_unlock(&recursive_));
  end(t);
  return x;
}
static void condition_of_a_recursive_mutex(void) {
  end(begin(is_told, NULL));
  told = 0;
  is_told(NULL);
}

/* --- semaphores --- */

static sem_t ping, pong;
static void* answers(void* x) {
  for (int i = 0; i < 2000; ++i) {
    CHECK(sem_wait(&ping) == 0);
    CHECK(sem_post(&pong) == 0);
  }
  return x;
}
static void* asks(void* x) {
  for (int i = 0; i < 2000; ++i) {
    CHECK(sem_post(&ping) == 0);
    CHECK(sem_wait(&pong) == 0);
  }
  return x;
}
static void semaphore(void) {
  int value = -1;
  CHECK(sem_init(&ping, 0, 1) == 0 && sem_init(&pong, 0, 0) == 0);
  CHECK(sem_getvalue(&ping, &value) == 0 && value == 1);
  CHECK(sem_trywait(&ping) == 0 && sem_trywait(&ping) == -1 && errno == EAGAIN);
  struct timespec soon = in_ms(CLOCK_REALTIME, 10);
  CHECK(sem_timedwait(&ping, &soon) == -1 && errno == ETIMEDOUT);
  soon = in_ms(CLOCK_MONOTONIC, 10);
  CHECK(sem_clockwait(&ping, CLOCK_MONOTONIC, &soon) == -1 && errno == ETIMEDOUT);
  soon.tv_nsec = -1;
  CHECK(sem_timedwait(&ping, &soon) == -1 && errno == EINVAL);
  pthread_t t = begin(answers, NULL);
  asks(NULL); /* main against a thread */
  end(t);
  pthread_t one = begin(answers, NULL), other = begin(asks, NULL);
  end(one);
  end(other);
  /* What is posted and waited for may be destroyed at once. */
  for (int i = 0; i < 200; ++i) {
    sem_t* s = malloc(sizeof *s);
    CHECK(sem_init(s, 0, 0) == 0);
    extern void* posts(void*);
    pthread_t p = begin(posts, s);
    CHECK(sem_wait(s) == 0 && sem_destroy(s) == 0);
    memset(s, 0x55, sizeof *s);
    free(s);
    end(p);
  }
}
void* posts(void* s) {
  CHECK(sem_post(s) == 0);
  return NULL;
}

/* --- locks for readers and writers --- */

static pthread_rwlock_t shared_ = PTHREAD_RWLOCK_INITIALIZER;
static atomic_int reading, writing;
static void* reads_and_writes(void* x) {
  for (int i = 0; i < 500; ++i) {
    if ((i + (int)(intptr_t)x) % 4 == 0) {
      CHECK_ERROR(0, pthread_rwlock_wrlock(&shared_));
      CHECK(++writing == 1 && reading == 0);
      if (i % 16 == 0)
        sched_yield();
      --writing;
    } else {
      CHECK_ERROR(0, pthread_rwlock_rdlock(&shared_));
      ++reading;
      CHECK(writing == 0);
      if (i % 16 == 1)
        sched_yield();
      --reading;
    }
    CHECK_ERROR(0, pthread_rwlock_unlock(&shared_));
  }
  return NULL;
}
static void* finds_it_written(void* x) {
  struct timespec soon = in_ms(CLOCK_REALTIME, 5);
  CHECK_ERROR(EBUSY, pthread_rwlock_tryrdlock(&shared_));
  CHECK_ERROR(EBUSY, pthread_rwlock_trywrlock(&shared_));
  CHECK_ERROR(ETIMEDOUT, pthread_rwlock_timedrdlock(&shared_, &soon));
  soon = in_ms(CLOCK_MONOTONIC, 5);
  CHECK_ERROR(ETIMEDOUT, pthread_rwlock_clockwrlock(&shared_, CLOCK_MONOTONIC, &soon));
  return x;
}
static void* finds_it_read(void* x) {
  struct timespec soon = in_ms(CLOCK_REALTIME, 5);
  CHECK_ERROR(0, pthread_rwlock_tryrdlock(&shared_));
  CHECK_ERROR(EBUSY, pthread_rwlock_trywrlock(&shared_));
  CHECK_ERROR(ETIMEDOUT, pthread_rwlock_timedwrlock(&shared_, &soon));
  CHECK_ERROR(0, pthread_rwlock_unlock(&shared_));
  return x;
}
static void read_write(void) {
  run_all(reads_and_writes, threads);
  CHECK_ERROR(0, pthread_rwlock_wrlock(&shared_));
  CHECK_ERROR(EDEADLK, pthread_rwlock_wrlock(&shared_));
  CHECK_ERROR(EDEADLK, pthread_rwlock_rdlock(&shared_));
  end(begin(finds_it_written, NULL));
  CHECK_ERROR(0, pthread_rwlock_unlock(&shared_));
  CHECK_ERROR(0, pthread_rwlock_rdlock(&shared_));
  end(begin(finds_it_read, NULL));
  CHECK_ERROR(0, pthread_rwlock_unlock(&shared_));
  pthread_rwlockattr_t a;
  CHECK_ERROR(0, pthread_rwlockattr_init(&a));
  CHECK_ERROR(0, pthread_rwlockattr_setkind_np(&a, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP));
  CHECK_ERROR(0, pthread_rwlock_destroy(&shared_));
  CHECK_ERROR(0, pthread_rwlock_init(&shared_, &a));
  run_all(reads_and_writes, threads);
}

/* --- barriers --- */

static pthread_barrier_t* meet;
static atomic_int serial, arrived;
static void* meets(void* x) {
  (void)x;
  for (int round = 0; round < 100; ++round) {
    ++arrived;
    const int result = pthread_barrier_wait(meet);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    serial += result != 0;
    CHECK(arrived >= (round + 1) * threads);
    pthread_barrier_wait(meet);
  }
  return NULL;
}
static void* meets_once_and_destroys(void* x) {
  if (pthread_barrier_wait(x) != 0) {
    CHECK_ERROR(0, pthread_barrier_destroy(x));
    memset(x, 0x55, sizeof(pthread_barrier_t));
    free(x);
  }
  return NULL;
}
static void barrier(void) {
  meet = malloc(sizeof *meet);
  CHECK_ERROR(EINVAL, pthread_barrier_init(meet, NULL, 0));
  CHECK_ERROR(0, pthread_barrier_init(meet, NULL, threads));
  run_all(meets, threads);
  CHECK(serial == 100);
  CHECK_ERROR(0, pthread_barrier_destroy(meet));
  free(meet);
  for (int i = 0; i < 50; ++i) {
    pthread_barrier_t* b = malloc(sizeof *b);
    CHECK_ERROR(0, pthread_barrier_init(b, NULL, 3));
    pthread_t all[3];
    for (int k = 0; k < 3; ++k)
      all[k] = begin(meets_once_and_destroys, b);
    for (int k = 0; k < 3; ++k)
      end(all[k]);
  }
}

/* --- once --- */

static pthread_once_t first = PTHREAD_ONCE_INIT, second = PTHREAD_ONCE_INIT;
static atomic_int times;
static void slow_start(void) {
  sleep_ms(20);
  ++times;
}
static void* starts(void* x) {
  CHECK_ERROR(0, pthread_once(&first, slow_start));
  CHECK(times == 1);
  return x;
}
static void ends_its_thread(void) {
  if (++times < 4)
    pthread_exit(NULL);
}
static void* tries(void* x) {
  CHECK_ERROR(0, pthread_once(&second, ends_its_thread));
  return x;
}
static void once(void) {
  run_all(starts, threads);
  starts(NULL);
  times = 0;
  run_all(tries, threads);
  CHECK(times == 4);
}

/* --- raw futexes --- */

static atomic_uint word;
static long futex(int operation, unsigned value, const struct timespec* limit) {
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, limit, NULL, 0);
}
static void* waits_raw(void* x) {
  while (word == 0)
    futex(FUTEX_WAIT, 0, NULL);
  return x;
}
static void raw_futex(void) {
  const struct timespec length = {0, 5000000};
  CHECK(futex(FUTEX_WAIT, 1, NULL) == -1 && errno == EAGAIN);
  CHECK(futex(FUTEX_WAIT, 0, &length) == -1 && errno == ETIMEDOUT);
  pthread_t all[threads];
  for (int i = 0; i < threads; ++i)
    all[i] = begin(waits_raw, NULL);
  sleep_ms(10);
  word = 1;
  long woken = 0;
  while (woken < threads) {
    const long now = futex(FUTEX_WAKE, 1, NULL);
    CHECK(now >= 0);
    woken += now;
    if (now == 0)
      break; /* who has not slept yet will not */
  }
  for (int i = 0; i < threads; ++i)
    end(all[i]);
  CHECK(syscall(SYS_getpid) == getpid());
}

int main(int count, char** words) {
  (void)count;
  static const struct test_case cases[] = {{"mutex", mutex},
                                           {"mutex_kinds", mutex_kinds},
                                           {"robust", robust},
                                           {"condition", condition},
                                           {"condition_limits", condition_limits},
                                           {"condition_of_a_recursive_mutex", condition_of_a_recursive_mutex},
                                           {"semaphore", semaphore},
                                           {"read_write", read_write},
                                           {"barrier", barrier},
                                           {"once", once},
                                           {"raw_futex", raw_futex}};
  return RUN_CASE(cases, words);
}
