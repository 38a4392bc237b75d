/* SPDX-License-Identifier: MIT */
/* How processes begin and end: constructors and destructors of libraries, fork(), exit(), the end of main. */
#include "tests/pthreads/check.h"

#include <dirent.h>
#include <dlfcn.h>
#include <poll.h>
#include <sys/wait.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void* plus_one(void* x) {
  return (char*)x + 1;
}
static void use_threads(void) {
  pthread_t all[10];
  for (intptr_t i = 0; i < 10; ++i)
    all[i] = begin(plus_one, (void*)i);
  for (intptr_t i = 0; i < 10; ++i)
    CHECK((intptr_t)end(all[i]) == i + 1);
}

static atomic_int stop;
static void* computes(void* x) {
  while (stop == 0) {
    CHECK_ERROR(0, pthread_mutex_lock(&lock));
    free(malloc(64));
    CHECK_ERROR(0, pthread_mutex_unlock(&lock));
  }
  return x;
}
static void* forks(void* x) {
  for (int i = 0; i < 5; ++i) {
    CHECK_ERROR(0, pthread_mutex_lock(&lock));
    const pid_t child = fork();
    CHECK(child >= 0);
    CHECK_ERROR(0, pthread_mutex_unlock(&lock));
    if (child == 0) {
      use_threads();
      _exit(3);
    }
    CHECK(status_of(child) == 3);
  }
  return x;
}
static void fork_from_main(void) {
  forks(NULL);
  pthread_t others[3];
  for (int i = 0; i < 3; ++i)
    others[i] = begin(computes, NULL);
  forks(NULL);
  stop = 1;
  for (int i = 0; i < 3; ++i)
    end(others[i]);
}
static void fork_from_a_thread(void) {
  pthread_t others[3];
  for (int i = 0; i < 3; ++i)
    others[i] = begin(computes, NULL);
  end(begin(forks, NULL));
  stop = 1;
  for (int i = 0; i < 3; ++i)
    end(others[i]);
}

/* Of a child: what it does ends it with the status that is given back. */
static int ends(void (*how)(void)) {
  fflush(NULL);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    how();
    _exit(99);
  }
  return status_of(child);
}
static void* waits_for_ever(void* x) {
  for (;;)
    pause();
  return x;
}
static void* exits(void* x) {
  exit((int)(intptr_t)x);
}
static void returns_beside_threads(void) {
  begin(waits_for_ever, NULL);
  begin(computes, NULL);
  exit(4);
}
static void exits_in_a_thread(void) {
  begin(computes, NULL);
  begin(exits, (void*)5);
  for (;;)
    pause();
}
static void* sleeps_and_tells(void* descriptor) {
  sleep_ms(30);
  CHECK(write((int)(intptr_t)descriptor, "x", 1) == 1);
  return NULL;
}
static int pipe_ends[2];
static void main_ends_first(void) {
  begin(sleeps_and_tells, (void*)(intptr_t)pipe_ends[1]);
  pthread_exit(NULL);
}
static void exit_and_end_of_main(void) {
  CHECK(ends(returns_beside_threads) == 4);
  CHECK(ends(exits_in_a_thread) == 5);
  CHECK(pipe(pipe_ends) == 0);
  CHECK(ends(main_ends_first) == 0);
  struct pollfd p = {pipe_ends[0], POLLIN, 0};
  CHECK(poll(&p, 1, 0) == 1);
}

/* A library whose constructor makes threads, as OpenBLAS', while the loader's lock is held; and whose
 * destructor joins them. */
static void library(void) {
  void* const loaded = dlopen(getenv("TEST_LIBRARY"), RTLD_NOW);
  if (loaded == NULL)
    fprintf(stderr, "%s\n", dlerror());
  CHECK(loaded != NULL);
  int (*const count)(void) = (int (*)(void))dlsym(loaded, "threads_begun");
  CHECK(count != NULL && count() == 4);
}

/* Blocks in the kernel, where nothing is announced. */
static void* reads(void* descriptor) {
  char c;
  CHECK(read((int)(intptr_t)descriptor, &c, 1) == 1);
  return NULL;
}
static void blocking_calls(void) {
  int ends_of[8][2];
  pthread_t all[8];
  for (int i = 0; i < 8; ++i) {
    CHECK(pipe(ends_of[i]) == 0);
    all[i] = begin(reads, (void*)(intptr_t)ends_of[i][0]);
  }
  use_threads(); /* others run meanwhile */
  for (int i = 0; i < 8; ++i) {
    CHECK(write(ends_of[i][1], "x", 1) == 1);
    end(all[i]);
  }
}

static void* sleeps_100(void* x) {
  const struct timespec begin_ = in_ms(CLOCK_MONOTONIC, 0);
  CHECK(usleep(100000) == 0);
  struct pollfd p = {-1, 0, 0};
  CHECK(poll(&p, 1, 20) == 0);
  const struct timespec end_ = in_ms(CLOCK_MONOTONIC, 0);
  CHECK((end_.tv_sec - begin_.tv_sec) * 1000 + (end_.tv_nsec - begin_.tv_nsec) / 1000000 >= 119);
  return x;
}
static void many_sleep(void) {
  static pthread_t all[100];
  for (int i = 0; i < 100; ++i)
    all[i] = begin(sleeps_100, NULL);
  for (int i = 0; i < 100; ++i)
    end(all[i]);
}

/* --- setuid(): each kernel thread makes the call, whoever runs there --- */

static atomic_int user_is_set;
static void* computes_meanwhile(void* x) {
  while (!user_is_set) {
  }
  return x;
}
/* Where it cannot be another one, it is the same. */
static void check_user(unsigned wanted) {
  DIR* all = opendir("/proc/self/task");
  CHECK(all != NULL);
  for (struct dirent* one; (one = readdir(all)) != NULL;) {
    char name[300], line[500];
    snprintf(name, sizeof name, "/proc/self/task/%s/status", one->d_name);
    FILE* text = one->d_name[0] != '.' ? fopen(name, "r") : NULL;
    while (text != NULL && fgets(line, sizeof line, text) != NULL) {
      unsigned real = 0, effective = 0;
      CHECK(sscanf(line, "Uid: %u %u", &real, &effective) != 2 || effective == wanted);
    }
    if (text != NULL)
      fclose(text);
  }
  closedir(all);
}
static void set_user(void) {
  CHECK(setenv("WEFT_PREEMPTION_INTERVAL", "50", 1) == 0); /* ticks come whenever they may */
  pthread_t all[6];
  for (int i = 0; i < 6; ++i)
    all[i] = begin(computes_meanwhile, NULL);
  const unsigned own = geteuid(), other = own == 0 ? 1000 : own;
  for (int i = 0; i < 100; ++i) {
    const unsigned wanted = i % 2 == 0 ? other : own;
    CHECK(seteuid(wanted) == 0);
    check_user(wanted);
  }
  user_is_set = 1;
  for (int i = 0; i < 6; ++i)
    end(all[i]);
}

int main(int count, char** words) {
  (void)count;
  static const struct test_case cases[] = {{"fork_from_main", fork_from_main},
                                           {"fork_from_a_thread", fork_from_a_thread},
                                           {"exit_and_end_of_main", exit_and_end_of_main},
                                           {"library", library},
                                           {"blocking_calls", blocking_calls},
                                           {"many_sleep", many_sleep},
                                           {"set_user", set_user}};
  return RUN_CASE(cases, words);
}
