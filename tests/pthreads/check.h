/* SPDX-License-Identifier: MIT */
/* What the programs of this folder share. Each knows nothing of Weft, and runs on the C library as well. */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#ifndef __cplusplus
#include <stdatomic.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno);                      \
      abort();                                                                                               \
    }                                                                                                        \
  } while (0)
#define CHECK_ERROR(wanted, call)                                                                            \
  do {                                                                                                       \
    const int got_ = (call);                                                                                 \
    if (got_ != (wanted)) {                                                                                  \
      fprintf(stderr, "%s:%d: %s is %d, not %d\n", __FILE__, __LINE__, #call, got_, (wanted));               \
      abort();                                                                                               \
    }                                                                                                        \
  } while (0)

/* Of a process that ends: what it has ended with, or 1000 and the signal. */
static inline int status_of(pid_t child) {
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}
static inline struct timespec in_ms(clockid_t clock, long ms) {
  struct timespec t;
  clock_gettime(clock, &t);
  t.tv_nsec += ms * 1000000L;
  t.tv_sec += t.tv_nsec / 1000000000L;
  t.tv_nsec %= 1000000000L;
  return t;
}
static inline void sleep_ms(long ms) {
  struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
  while (nanosleep(&t, &t) != 0 && errno == EINTR) {
  }
}
/* Of those that the caller may use. */
static inline cpu_set_t first_cpu(void) {
  cpu_set_t all, one;
  CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &all)) {
      CPU_SET(i, &one);
      break;
    }
  }
  return one;
}
static inline pthread_t begin(void* (*function)(void*), void* argument) {
  pthread_t t;
  CHECK_ERROR(0, pthread_create(&t, NULL, function, argument));
  return t;
}
/* A system call past all libraries; its other arguments are 0. */
static inline long raw(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("xor %%r10d, %%r10d\n\txor %%r8d, %%r8d\n\tsyscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c)
                   : "rcx", "r8", "r10", "r11", "memory");
  return result;
}
/* With CPUs of its own: a kernel thread. Where there is one CPU, an ordinary one. */
static inline pthread_t begin_native(void* (*function)(void*), void* argument) {
  const cpu_set_t one = first_cpu();
  pthread_attr_t a;
  pthread_t t;
  CHECK_ERROR(0, pthread_attr_init(&a));
  CHECK_ERROR(0, pthread_attr_setaffinity_np(&a, sizeof one, &one));
  CHECK_ERROR(0, pthread_create(&t, &a, function, argument));
  CHECK_ERROR(0, pthread_attr_destroy(&a));
  return t;
}
static inline void* end(pthread_t t) {
  void* result = NULL;
  CHECK_ERROR(0, pthread_join(t, &result));
  return result;
}

struct test_case {
  const char* name;
  void (*run)(void);
};
/* Runs the case that is named. */
static inline int run_case(const struct test_case* cases, int count, char** words) {
  for (int i = 0; i < count; ++i) {
    if (words[1] != NULL && strcmp(words[1], cases[i].name) == 0) {
      cases[i].run();
      return 0;
    }
  }
  fprintf(stderr, "no such case\n");
  return 2;
}
#define RUN_CASE(cases, words) run_case(cases, (int)(sizeof(cases) / sizeof(cases)[0]), words)
