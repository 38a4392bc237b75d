// SPDX-License-Identifier: MIT
// Under ThreadSanitizer and LLVM's race detector, which knows what orders accesses from what it is told.
// Cases without a race end with 0, and a report would end them with another status; race... are to be
// reported.
#include "check.h"

#include <sched.h>

static int threads;

static void barriers(void) {
  enum { rounds = 50 };
  int values[64] = {0}, wrong = 0;
#pragma omp parallel num_threads(threads) reduction(+ : wrong)
  for (int i = 0; i < rounds; ++i) {
    const int me = omp_get_thread_num();
    values[me] = i;
#pragma omp barrier
    wrong += values[(me + 1) % omp_get_num_threads()] != i;
#pragma omp barrier
  }
  CHECK(wrong == 0);
  values[0] = 7; // after the region
}

static void reductions(void) {
  int sum = 0, most = 0;
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel for num_threads(threads) reduction(+ : sum) reduction(max : most)
    for (int i = 0; i < 100; ++i) {
      sum += i;
      most = i > most ? i : most;
    }
  }
  CHECK(sum == 20 * 4950 && most == 99);
}

static void locks(void) {
  omp_lock_t lock;
  omp_nest_lock_t nest;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest);
  int a = 0, b = 0, c = 0;
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < 100; ++i) {
    omp_set_lock(&lock);
    ++a;
    omp_unset_lock(&lock);
    omp_set_nest_lock(&nest);
    omp_set_nest_lock(&nest);
    ++b;
    omp_unset_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
#pragma omp critical
    ++c;
  }
  CHECK(a == 100 * threads && b == a && c == a);
}

static void dependences(void) {
  int value = 0, copy = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < 100; ++i) {
#pragma omp task depend(inout : value) shared(value)
    ++value;
#pragma omp task depend(in : value) depend(out : copy) shared(value, copy)
    copy = value;
  }
  CHECK(value == 100 && copy == 100);
}

static void groups(void) {
  int values[8] = {0};
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int round = 0; round < 20; ++round) {
#pragma omp taskgroup
    for (int i = 0; i < 8; ++i) {
#pragma omp task shared(values) firstprivate(i)
      ++values[i];
    }
    for (int i = 0; i < 8; ++i)
      ++values[i];
  }
  CHECK(values[3] == 40);
}

static void recursion(void) {
  int result = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  result = fib_by_tasks(14);
  CHECK(result == 377);
}

static void loops(void) {
  int values[300] = {0};
#pragma omp parallel num_threads(threads)
  for (int round = 0; round < 10; ++round) {
#pragma omp for schedule(dynamic, 7)
    for (int i = 0; i < 300; ++i)
      ++values[i];
#pragma omp for schedule(guided)
    for (int i = 0; i < 300; ++i)
      ++values[299 - i];
#pragma omp for ordered schedule(dynamic)
    for (int i = 1; i < 300; ++i) {
#pragma omp ordered
      values[i] += values[i - 1] - values[i - 1];
    }
  }
  CHECK(values[0] == 20 && values[299] == 20);
}

static void race(void) {
  int value = 0;
#pragma omp parallel num_threads(threads) shared(value)
  ++value;
  CHECK(value != 0);
}
// Two tasks at a time, so on two threads, which write one after the other: two writes at the very same
// moment are missed at times, with LLVM's own runtime as well. What they wait for orders nothing.
static int here, has_written;
static void await(const int* word, int value) {
  while (__atomic_load_n(word, __ATOMIC_RELAXED) != value)
    sched_yield();
}
static void meet(void) {
  __atomic_fetch_add(&here, 1, __ATOMIC_RELAXED);
  await(&here, 2);
}
static void race_of_tasks(void) {
  int value = 0, other = 0;
#pragma omp parallel num_threads(threads) shared(value, other)
#pragma omp single
  {
#pragma omp task depend(inout : other) shared(value)
    {
      meet();
      ++value;
      __atomic_store_n(&has_written, 1, __ATOMIC_RELAXED);
    }
#pragma omp task shared(value)
    {
      meet();
      await(&has_written, 1);
      ++value;
    }
  }
  CHECK(value != 0);
}
static void race_of_loops(void) {
  int values[300] = {0};
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 300; ++i)
      ++values[i];
#pragma omp for schedule(static)
    for (int i = 0; i < 300; ++i)
      ++values[299 - i];
  }
  CHECK(values[0] != 0);
}

int main(int argc, char** argv) {
  threads = threads_wanted();
  static const struct test_case cases[] = {
      {"barriers", barriers},
      {"reductions", reductions},
      {"locks", locks},
      {"dependences", dependences},
      {"groups", groups},
      {"recursion", recursion},
      {"loops", loops},
      {"race", race},
      {"race_of_tasks", race_of_tasks},
      {"race_of_loops", race_of_loops},
  };
  return RUN(cases);
}
