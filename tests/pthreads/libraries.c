/* SPDX-License-Identifier: MIT */
/* Libraries that are loaded while threads run. */
#include "tests/pthreads/check.h"
#include <dlfcn.h>
#include <sys/wait.h>

enum { threads = 8, rounds = 12 };

static void* loaded(const char* variable, int mode) {
  void* const library = dlopen(getenv(variable), mode);
  if (library == NULL)
    fprintf(stderr, "%s\n", dlerror());
  CHECK(library != NULL);
  return library;
}
static void* function_of(void* library, const char* name) {
  void* const function = dlsym(library, name);
  CHECK(function != NULL);
  return function;
}

/* --- variables that are part of each block --- */

static int (*add_1000)(void);
static pthread_barrier_t all_here;

static void expect_fresh(void) {
  for (int turn = 0; turn < 3; ++turn) {
    CHECK(add_1000() == 49 + turn * 1000);
    sched_yield();
  }
}
static void* finds_variables(void* x) {
  expect_fresh();
  return x;
}
static void* is_there_before(void* x) {
  for (int round = 0; round < rounds; ++round) {
    pthread_barrier_wait(&all_here);
    pthread_barrier_wait(&all_here); /* it has been loaded */
    expect_fresh();
    pthread_barrier_wait(&all_here); /* and may be unloaded */
  }
  return x;
}
/* Threads that are there before, and that come on blocks that have been used. */
static void late_variables(void) {
  pthread_t before[threads], after[threads];
  CHECK_ERROR(0, pthread_barrier_init(&all_here, NULL, threads + 1));
  for (int i = 0; i < threads; ++i)
    before[i] = begin(is_there_before, NULL);
  for (int round = 0; round < rounds; ++round) {
    pthread_barrier_wait(&all_here);
    void* const library = loaded("TEST_LATE_LIBRARY", round % 2 == 0 ? RTLD_NOW : RTLD_LAZY);
    CHECK(((int (*)(void))function_of(library, "sum_in_constructor"))() == 49);
    add_1000 = (int (*)(void))function_of(library, "add_1000");
    pthread_barrier_wait(&all_here);
    for (int i = 0; i < threads; ++i)
      after[i] = begin(finds_variables, NULL);
    for (int i = 0; i < threads; ++i)
      end(after[i]);
    expect_fresh();
    pthread_barrier_wait(&all_here);
    CHECK(dlclose(library) == 0);
  }
  for (int i = 0; i < threads; ++i)
    end(before[i]);
}

/* A thread loads the library, so its own block is a thread's too. */
static void* loads(void* x) {
  void* const library = loaded("TEST_LATE_LIBRARY", RTLD_NOW);
  CHECK(((int (*)(void))function_of(library, "sum_in_constructor"))() == 49);
  add_1000 = (int (*)(void))function_of(library, "add_1000");
  expect_fresh();
  end(begin(finds_variables, NULL));
  CHECK(dlclose(library) == 0);
  return x;
}
static void late_variables_in_a_thread(void) {
  for (int round = 0; round < rounds; ++round)
    end(begin(loads, NULL));
}

static sem_t is_loaded;
static void* waits_for_library(void* x) {
  while (sem_wait(&is_loaded) != 0) {
  }
  expect_fresh();
  return x;
}
static void* nothing(void* x) {
  return x;
}
static atomic_int stops;
static pthread_t made_meanwhile[40 * threads];
static void* makes_threads(void* as_first) {
  const int first = (int)(intptr_t)as_first;
  int made = 0;
  while (made < 10 * threads && (stops == 0 || made == 0)) {
    made_meanwhile[first + made++] = begin(waits_for_library, NULL);
    end(begin(nothing, NULL));
  }
  return (void*)(intptr_t)made;
}
/* Threads are made before the library is loaded, meanwhile, and afterwards. */
static void made_while_one_is_loaded(void) {
  for (int round = 0; round < rounds; ++round) {
    stops = 0;
    CHECK(sem_init(&is_loaded, 0, 0) == 0);
    const pthread_t maker = begin(makes_threads, (void*)0),
                    other = begin(makes_threads, (void*)(20 * threads));
    sleep_ms(round % 4);
    void* const library = loaded("TEST_LATE_LIBRARY", RTLD_NOW);
    add_1000 = (int (*)(void))function_of(library, "add_1000");
    stops = 1;
    const int from_0 = (int)(intptr_t)end(maker), from_20 = (int)(intptr_t)end(other);
    for (int i = 0; i < from_0 + from_20; ++i)
      CHECK(sem_post(&is_loaded) == 0);
    for (int i = 0; i < from_0; ++i)
      end(made_meanwhile[i]);
    for (int i = 0; i < from_20; ++i)
      end(made_meanwhile[20 * threads + i]);
    CHECK(dlclose(library) == 0);
    CHECK(sem_destroy(&is_loaded) == 0);
  }
}

/* The same in a child of fork(), from main and from a thread. */
static void* in_a_child(void* x) {
  const pid_t child = fork();
  if (child == 0) {
    late_variables();
    _exit(0);
  }
  int status = 0;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return x;
}
static void late_variables_in_a_child(void) {
  end(begin(nothing, NULL));
  in_a_child(NULL);
  end(begin(in_a_child, NULL));
}

/* --- executable stacks --- */

static int (*by_code_on_the_stack)(int);
static void* runs_code_on_its_stack(void* x) {
  for (int turn = 1; turn <= 3; ++turn) {
    CHECK(by_code_on_the_stack(turn) == 41 + turn);
    sched_yield();
  }
  return x;
}
static void* waits_and_runs_code(void* x) {
  while (sem_wait(&is_loaded) != 0) {
  }
  return runs_code_on_its_stack(x);
}
/* False: this C library refuses it, or this machine. */
static int load_executable(void) {
  void* const library = dlopen(getenv("TEST_EXECUTABLE_LIBRARY"), RTLD_NOW);
  if (library == NULL) {
    CHECK(strstr(dlerror(), "executable stack") != NULL);
    return 0;
  }
  CHECK(((int (*)(void))function_of(library, "result_in_constructor"))() == 42);
  by_code_on_the_stack = (int (*)(int))function_of(library, "by_code_on_the_stack");
  return 1;
}
static void* loads_executable(void* x) {
  return load_executable() ? runs_code_on_its_stack(x) : NULL;
}
static void executable(int by_a_thread) {
  pthread_t before[threads];
  CHECK(sem_init(&is_loaded, 0, 0) == 0);
  for (int i = 0; i < threads; ++i)
    before[i] = begin(waits_and_runs_code, NULL);
  void* const runs = by_a_thread ? end(begin(loads_executable, &is_loaded)) : loads_executable(&is_loaded);
  if (runs == NULL)
    exit(0);
  for (int i = 0; i < threads; ++i)
    CHECK(sem_post(&is_loaded) == 0);
  for (int i = 0; i < threads; ++i)
    end(before[i]);
  for (int i = 0; i < threads; ++i)
    end(begin(runs_code_on_its_stack, NULL));
}
static void executable_stacks(void) {
  executable(0);
}
static void executable_stacks_by_a_thread(void) {
  executable(1);
}

/* Else no thread runs code that stands on its stack. */
static void* runs_bytes_on_its_stack(void* x) {
  volatile unsigned char returns[16];
  memset((void*)returns, 0xc3, sizeof returns); /* x86-64 */
  ((void (*)(void))(uintptr_t)returns)();
  return x;
}
static void stacks_are_not_executable(void) {
  const pid_t child = fork();
  if (child == 0) {
    end(begin(runs_bytes_on_its_stack, NULL));
    _exit(0);
  }
  int status = 0;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

int main(int count, char** words) {
  (void)count;
  static const struct test_case cases[] = {{"late_variables", late_variables},
                                           {"late_variables_in_a_thread", late_variables_in_a_thread},
                                           {"made_while_one_is_loaded", made_while_one_is_loaded},
                                           {"late_variables_in_a_child", late_variables_in_a_child},
                                           {"stacks_are_not_executable", stacks_are_not_executable},
                                           {"executable_stacks", executable_stacks},
                                           {"executable_stacks_by_a_thread", executable_stacks_by_a_thread}};
  return RUN_CASE(cases, words);
}
