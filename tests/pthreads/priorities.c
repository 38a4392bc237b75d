/* SPDX-License-Identifier: MIT */
/* Mutexes that give priorities to who has them. Who has real time is a kernel thread, or gets one. */
#include "tests/pthreads/in_call.h"

#include <sys/syscall.h>

enum { low = 2, middle = 5, high = 9 };

static int may_have_real_time(void) {
  const struct sched_param how = {.sched_priority = high}, none = {.sched_priority = 0};
  if (raw(SYS_sched_setscheduler, 0, SCHED_FIFO, (long)&how) != 0)
    return 0;
  CHECK(raw(SYS_sched_setscheduler, 0, SCHED_OTHER, (long)&none) == 0);
  return 1;
}
/* The priority that the kernel gives a kernel thread at this moment: of real time, or 0. */
static int priority_now(long id) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/self/task/%ld/stat", id);
  FILE* const f = fopen(path, "r");
  CHECK(f != NULL);
  text[fread(text, 1, sizeof text - 1, f)] = 0;
  CHECK(fclose(f) == 0);
  long value = 0;
  const char* behind_name = strrchr(text, ')');
  CHECK(behind_name != NULL);
  CHECK(sscanf(behind_name, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %ld", &value) ==
        1);
  return value < 0 ? (int)(-1 - value) : 0;
}
static void make(pthread_mutex_t* m, int protocol, int type, int shared) {
  pthread_mutexattr_t how;
  CHECK_ERROR(0, pthread_mutexattr_init(&how));
  CHECK_ERROR(0, pthread_mutexattr_setprotocol(&how, protocol));
  CHECK_ERROR(0, pthread_mutexattr_settype(&how, type));
  CHECK_ERROR(0, pthread_mutexattr_setpshared(&how, shared));
  if (protocol == PTHREAD_PRIO_PROTECT)
    CHECK_ERROR(0, pthread_mutexattr_setprioceiling(&how, high));
  CHECK_ERROR(0, pthread_mutex_init(m, &how));
  CHECK_ERROR(0, pthread_mutexattr_destroy(&how));
}
static void make_self_real(int priority) {
  const struct sched_param how = {.sched_priority = priority};
  CHECK_ERROR(0, pthread_setschedparam(pthread_self(), SCHED_FIFO, &how));
}

static pthread_mutex_t m;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t is_taken, may_give;
static long owner;
static long counted;

static void* owns(void* x) {
  CHECK_ERROR(0, pthread_mutex_lock(&m));
  owner = raw(SYS_gettid, 0, 0, 0);
  CHECK(sem_post(&is_taken) == 0);
  while (sem_wait(&may_give) != 0)
    CHECK(errno == EINTR);
  CHECK_ERROR(0, pthread_mutex_unlock(&m));
  CHECK(raw(SYS_gettid, 0, 0, 0) == owner && priority_now(owner) == 0);
  return x;
}
static void* wants(void* priority) {
  if (priority != NULL)
    make_self_real((int)(intptr_t)priority);
  CHECK_ERROR(0, pthread_mutex_lock(&m));
  ++counted;
  CHECK_ERROR(0, pthread_mutex_unlock(&m));
  return NULL;
}

/* The owner has the priority of who waits, and no longer than it has the mutex. */
static void inherits(int shared) {
  if (!may_have_real_time())
    return;
  make(&m, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_NORMAL, shared);
  CHECK(sem_init(&is_taken, 0, 0) == 0 && sem_init(&may_give, 0, 0) == 0);
  for (int i = 0; i < 5; ++i) {
    const pthread_t t = begin(owns, NULL);
    CHECK(sem_wait(&is_taken) == 0);
    CHECK(priority_now(owner) == 0);
    const pthread_t first = begin(wants, (void*)(intptr_t)low);
    while (priority_now(owner) != low)
      sleep_ms(1);
    const pthread_t second = begin(wants, (void*)(intptr_t)high);
    const pthread_t plain = begin(wants, NULL);
    while (priority_now(owner) != high)
      sleep_ms(1);
    CHECK(sem_post(&may_give) == 0);
    end(t);
    end(first);
    end(second);
    end(plain);
  }
  CHECK(counted == 15);
  CHECK_ERROR(0, pthread_mutex_destroy(&m));
}
static void inherited(void) {
  inherits(PTHREAD_PROCESS_PRIVATE);
}
static void inherited_by_all_processes(void) {
  inherits(PTHREAD_PROCESS_SHARED);
}

/* As any other mutex. */
static void* counts(void* x) {
  for (int i = 0; i < 500; ++i) {
    CHECK_ERROR(0, pthread_mutex_lock(&m));
    ++counted;
    if (i % 50 == 0)
      sched_yield();
    CHECK_ERROR(0, pthread_mutex_unlock(&m));
  }
  return x;
}
static void* cannot_give(void* x) {
  CHECK_ERROR(EPERM, pthread_mutex_unlock(&m));
  CHECK_ERROR(EBUSY, pthread_mutex_trylock(&m));
  const struct timespec soon = in_ms(CLOCK_REALTIME, 20), soon_too = in_ms(CLOCK_MONOTONIC, 40);
  CHECK_ERROR(ETIMEDOUT, pthread_mutex_timedlock(&m, &soon));
  CHECK_ERROR(ETIMEDOUT, pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &soon_too));
  return x;
}
static void as_others(void) {
  const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK};
  for (int i = 0; i < 3; ++i) {
    make(&m, PTHREAD_PRIO_INHERIT, types[i], PTHREAD_PROCESS_PRIVATE);
    counted = 0;
    pthread_t all[8];
    for (int k = 0; k < 8; ++k)
      all[k] = begin(counts, NULL);
    counts(NULL);
    for (int k = 0; k < 8; ++k)
      end(all[k]);
    CHECK(counted == 9 * 500);
    if (types[i] != PTHREAD_MUTEX_NORMAL) {
      CHECK_ERROR(0, pthread_mutex_lock(&m));
      CHECK_ERROR(types[i] == PTHREAD_MUTEX_RECURSIVE ? 0 : EDEADLK, pthread_mutex_lock(&m));
      end(begin(cannot_give, NULL));
      if (types[i] == PTHREAD_MUTEX_RECURSIVE)
        CHECK_ERROR(0, pthread_mutex_unlock(&m));
      CHECK_ERROR(0, pthread_mutex_unlock(&m));
    }
    CHECK_ERROR(0, pthread_mutex_destroy(&m));
  }
}

static int turn;
static void* takes_turns(void* which) {
  for (int i = 0; i < 100; ++i) {
    CHECK_ERROR(0, pthread_mutex_lock(&m));
    while (turn != (int)(intptr_t)which)
      CHECK_ERROR(0, pthread_cond_wait(&cond, &m));
    turn = 1 - turn;
    CHECK_ERROR(0, pthread_cond_broadcast(&cond));
    CHECK_ERROR(0, pthread_mutex_unlock(&m));
  }
  return NULL;
}
static void in_conditions(void) {
  make(&m, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_NORMAL, PTHREAD_PROCESS_PRIVATE);
  const pthread_t t = begin(takes_turns, (void*)1);
  takes_turns((void*)0);
  end(t);
  const pthread_t one = begin(takes_turns, (void*)0), other = begin(takes_turns, (void*)1);
  end(one);
  end(other);
}

/* A wait for one does not end for a signal. */
static atomic_int handled;
static void handle(int number) {
  (void)number;
  ++handled;
}
static void despite_signals(void) {
  make(&m, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_NORMAL, PTHREAD_PROCESS_PRIVATE);
  const struct sigaction how = {.sa_handler = handle};
  CHECK(sigaction(SIGUSR1, &how, NULL) == 0);
  for (int i = 0; i < 3; ++i) {
    CHECK_ERROR(0, pthread_mutex_lock(&m));
    const pthread_t t = begin(wants, NULL);
    sleep_ms(3); /* it waits */
    for (int k = 0; k < 10; ++k) {
      const int before = handled;
      CHECK_ERROR(0, pthread_kill(t, SIGUSR1));
      while (handled == before)
        sleep_ms(1);
    }
    CHECK_ERROR(0, pthread_mutex_unlock(&m));
    end(t);
  }
}

/* Who has it has its priority; libc is to know what the thread had before, whatever others had. */
static void* has_ceiling(void* priority) {
  make_self_real((int)(intptr_t)priority);
  const long id = raw(SYS_gettid, 0, 0, 0);
  for (int i = 0; i < 3; ++i) {
    CHECK(priority_now(id) == (int)(intptr_t)priority);
    CHECK_ERROR(0, pthread_mutex_lock(&m));
    CHECK(priority_now(id) == high);
    CHECK_ERROR(0, pthread_mutex_unlock(&m));
  }
  CHECK(priority_now(id) == (int)(intptr_t)priority);
  return NULL;
}
static void* is_above_ceiling(void* x) {
  make_self_real(high + 1);
  CHECK_ERROR(EINVAL, pthread_mutex_lock(&m));
  return x;
}
static void ceilings(void) {
  if (!may_have_real_time())
    return;
  make(&m, PTHREAD_PRIO_PROTECT, PTHREAD_MUTEX_NORMAL, PTHREAD_PROCESS_PRIVATE);
  for (int i = 0; i < 3; ++i) {
    end(begin(has_ceiling, (void*)(intptr_t)low));
    end(begin(has_ceiling, (void*)(intptr_t)middle));
    end(begin(is_above_ceiling, NULL));
  }
  CHECK_ERROR(0, pthread_mutex_destroy(&m));
}

/* The child of a thread that is promoted has another kernel thread. */
static void* forks(void* x) {
  CHECK_ERROR(0, pthread_mutex_lock(&m));
  CHECK_ERROR(0, pthread_mutex_unlock(&m));
  const pid_t child = fork();
  if (child != 0) {
    CHECK(status_of(child) == 0);
    return x;
  }
  alarm(20);
  counted = 0;
  CHECK_ERROR(0, pthread_mutex_lock(&m));
  const pthread_t t = begin(wants, NULL);
  sleep_ms(5); /* it waits */
  CHECK(counted == 0);
  CHECK_ERROR(0, pthread_mutex_unlock(&m));
  end(t);
  CHECK(counted == 1);
  _exit(0);
}
static void in_a_child(void) {
  const pid_t child = fork(); /* before there was any thread */
  if (child != 0) {
    CHECK(status_of(child) == 0);
    return;
  }
  alarm(50);
  make(&m, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_NORMAL, PTHREAD_PROCESS_PRIVATE);
  for (int i = 0; i < 3; ++i)
    end(begin(forks, NULL));
}

int main(int count, char** words) {
  (void)count;
  static const struct test_case cases[] = {{"inherited", inherited},
                                           {"inherited_by_all_processes", inherited_by_all_processes},
                                           {"as_others", as_others},
                                           {"in_conditions", in_conditions},
                                           {"despite_signals", despite_signals},
                                           {"ceilings", ceilings},
                                           {"in_a_child", in_a_child}};
  return RUN_CASE(cases, words);
}
