// SPDX-License-Identifier: MIT
// Loops, sections, single: each iteration once, in order where that is asked for, and none is waited for that
// need not be.
#include "check.h"

#include <limits.h>

enum { n = 1000 };
static int threads;

#define EACH_ONCE(clauses)                                                                                   \
  do {                                                                                                       \
    int times[n] = {0};                                                                                      \
    _Pragma("omp parallel num_threads(threads)") {                                                           \
      _Pragma(clauses) for (int i = 0; i < n; ++i) __atomic_fetch_add(&times[i], 1, __ATOMIC_RELAXED);       \
    }                                                                                                        \
    for (int i = 0; i < n; ++i)                                                                              \
      CHECK(times[i] == 1);                                                                                  \
  } while (0)

static void schedules(void) {
  EACH_ONCE("omp for schedule(static)");
  EACH_ONCE("omp for schedule(static, 7)");
  EACH_ONCE("omp for schedule(dynamic)");
  EACH_ONCE("omp for schedule(dynamic, 7)");
  EACH_ONCE("omp for schedule(monotonic : dynamic, 7)");
  EACH_ONCE("omp for schedule(guided)");
  EACH_ONCE("omp for schedule(guided, 7)");
  EACH_ONCE("omp for schedule(auto)");
  const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto};
  for (int k = 0; k < 4; ++k) {
    for (int chunk = 0; chunk < 6; chunk += 5) {
      omp_set_schedule(kinds[k], chunk);
      EACH_ONCE("omp for schedule(runtime)");
      EACH_ONCE("omp for schedule(nonmonotonic : runtime)");
    }
  }
}

// Bounds at the ends of their types, steps in both directions, and loops without iterations.
static void bounds(void) {
  long sum = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 3) reduction(+ : sum)
  for (long i = LONG_MAX - 30; i < LONG_MAX - 5; i += 4)
    ++sum;
  CHECK(sum == 7);
  sum = 0;
#pragma omp parallel for num_threads(threads) schedule(guided) reduction(+ : sum)
  for (long i = LONG_MIN + 30; i > LONG_MIN + 5; i -= 4)
    ++sum;
  CHECK(sum == 7);
  sum = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 2) reduction(+ : sum)
  for (unsigned long long i = ULLONG_MAX - 10; i < ULLONG_MAX; ++i)
    ++sum;
  CHECK(sum == 10);
  sum = 0;
#pragma omp parallel for num_threads(threads) schedule(guided) reduction(+ : sum)
  for (unsigned long long i = 20; i > 3; i -= 3)
    ++sum;
  CHECK(sum == 6);
  sum = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(+ : sum)
  for (long i = 5; i < 5; ++i)
    ++sum;
  CHECK(sum == 0);
}

static void ordered_one_by_one(void) {
  int next = 0;
#pragma omp parallel for num_threads(threads) ordered schedule(dynamic)
  for (int i = 0; i < n; ++i) {
#pragma omp ordered
    {
      CHECK(next == i);
      ++next;
    }
  }
  CHECK(next == n);
  next = 0;
#pragma omp parallel for num_threads(threads) ordered schedule(static, 3)
  for (int i = 0; i < n; ++i) {
    if (i % 3 == 0) // not each iteration takes its turn
      continue;
#pragma omp ordered
    {
      CHECK(next < i);
      next = i;
    }
  }
  next = -1;
#pragma omp parallel for num_threads(threads) ordered schedule(guided)
  for (unsigned long long i = 0; i < n; ++i) {
#pragma omp ordered
    {
      CHECK(next + 1 == (int)i);
      next = (int)i;
    }
  }
}

static void doacross(void) {
  static int a[40][30];
  for (int round = 0; round < 2; ++round) {
    memset(a, 0, sizeof a);
    if (round == 0) {
#pragma omp parallel for num_threads(threads) ordered(2) schedule(dynamic)
      for (int i = 1; i < 40; ++i) {
        for (int j = 1; j < 30; ++j) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
          a[i][j] = 1 + (a[i - 1][j] > a[i][j - 1] ? a[i - 1][j] : a[i][j - 1]);
#pragma omp ordered depend(source)
        }
      }
    } else {
#pragma omp parallel for num_threads(threads) ordered(2) schedule(static, 2)
      for (int i = 1; i < 40; ++i) {
        for (int j = 1; j < 30; ++j) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
          a[i][j] = 1 + (a[i - 1][j] > a[i][j - 1] ? a[i - 1][j] : a[i][j - 1]);
#pragma omp ordered depend(source)
        }
      }
    }
    for (int i = 1; i < 40; ++i) {
      for (int j = 1; j < 30; ++j)
        CHECK(a[i][j] == i + j - 1);
    }
  }
}

static void any_number_may_be_open(void) {
  enum { loops = 200 };
  static int times[loops][8], singles_run;
  memset(times, 0, sizeof times);
  singles_run = 0;
#pragma omp parallel num_threads(threads)
  for (int k = 0; k < loops; ++k) {
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < 8; ++i)
      __atomic_fetch_add(&times[k][i], 1, __ATOMIC_RELAXED);
#pragma omp single nowait
    __atomic_fetch_add(&singles_run, 1, __ATOMIC_RELAXED);
  }
  CHECK(singles_run == loops);
  for (int k = 0; k < loops; ++k) {
    for (int i = 0; i < 8; ++i)
      CHECK(times[k][i] == 1);
  }
}

static void sections(void) {
  int seen = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp sections
    {
#pragma omp section
      __atomic_fetch_or(&seen, 1, __ATOMIC_RELAXED);
#pragma omp section
      __atomic_fetch_or(&seen, 2, __ATOMIC_RELAXED);
#pragma omp section
      __atomic_fetch_or(&seen, 4, __ATOMIC_RELAXED);
    }
    CHECK(seen == 7);
  }
  seen = 0;
#pragma omp parallel sections num_threads(threads)
  {
#pragma omp section
    __atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED);
#pragma omp section
    __atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED);
  }
  CHECK(seen == 2);
}

static void singles(void) {
  int count = 0;
#pragma omp parallel num_threads(threads)
  for (int k = 0; k < 200; ++k) {
    int given = -1;
#pragma omp single copyprivate(given)
    {
      given = ++count;
    }
    CHECK(given == k + 1);
#pragma omp masked
    CHECK(omp_get_thread_num() == 0);
  }
  CHECK(count == 200);
}

static void scans(void) {
  static int in[n], out[n];
  int sum = 0;
  for (int i = 0; i < n; ++i)
    in[i] = i % 7;
#pragma omp parallel for num_threads(threads) reduction(inscan, + : sum)
  for (int i = 0; i < n; ++i) {
    sum += in[i];
#pragma omp scan inclusive(sum)
    out[i] = sum;
  }
  int expected = 0;
  for (int i = 0; i < n; ++i) {
    expected += in[i];
    CHECK(out[i] == expected);
  }
}

static void outside_of_regions(void) {
  int sum = 0;
#pragma omp for schedule(dynamic)
  for (int i = 0; i < 10; ++i)
    sum += i;
#pragma omp for ordered schedule(dynamic)
  for (int i = 0; i < 10; ++i) {
#pragma omp ordered
    sum += i;
  }
#pragma omp single
  sum += 100;
#pragma omp barrier
  CHECK(sum == 190);
}

static void critical_and_atomic(void) {
  long sum = 0;
  long double wide = 0;
#pragma omp parallel num_threads(threads)
  for (int k = 0; k < 500; ++k) {
#pragma omp critical
    ++sum;
#pragma omp critical(named)
    --sum;
#pragma omp critical(named)
    ++sum;
#pragma omp atomic
    wide += 1;
  }
  CHECK(wide == 500.0L * threads);
}

static void cancelled_loops(void) {
  int done = 0;
  CHECK(omp_get_cancellation());
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 100000; ++i) {
#pragma omp atomic
      ++done;
#pragma omp cancel for if (i == 10)
#pragma omp cancellation point for
    }
#pragma omp barrier
  }
  CHECK(done < 100000);
  int after = 0;
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
    }
#pragma omp barrier
    after = 1; // nobody comes through a barrier that one of them never reaches
  }
  CHECK(!after);
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
      {"schedules", schedules},
      {"bounds", bounds},
      {"ordered_one_by_one", ordered_one_by_one},
      {"doacross", doacross},
      {"any_number_may_be_open", any_number_may_be_open},
      {"sections", sections},
      {"singles", singles},
      {"scans", scans},
      {"outside_of_regions", outside_of_regions},
      {"critical_and_atomic", critical_and_atomic},
      {"cancelled_loops", cancelled_loops},
  };
  threads = threads_wanted();
  return RUN(cases);
}
