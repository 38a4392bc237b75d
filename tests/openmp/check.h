// SPDX-License-Identifier: MIT
// What the programs of this folder share: cases by name, and what one found wrong.
//
//   PROGRAM CASE     runs it: 0, or 1 and a sentence
//   PROGRAM          the names
#pragma once

#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test_case {
  const char* name;
  void (*run)(void);
};

static int failures;

__attribute__((format(printf, 1, 2), unused)) static void fail(const char* format, ...) {
  va_list list;
  va_start(list, format);
#pragma omp critical(report)
  {
    if (failures++ == 0) {
      vfprintf(stderr, format, list);
      fputc('\n', stderr);
    }
  }
  va_end(list);
}

__attribute__((unused)) static int fib_by_tasks(int n) {
  if (n < 2)
    return n;
  int a = 0, b = 0;
#pragma omp task shared(a)
  a = fib_by_tasks(n - 1);
#pragma omp task shared(b)
  b = fib_by_tasks(n - 2);
#pragma omp taskwait
  return a + b;
}

#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition))                                                                                        \
      fail("%s:%d: not so: %s", __FILE__, __LINE__, #condition);                                             \
  } while (0)

// Threads of a team: more than the machine has CPUs, unless the environment says otherwise.
static int threads_wanted(void) {
  const char* const text = getenv("TEST_THREADS");
  return text != NULL ? atoi(text) : 4;
}

static int run_case(const struct test_case* cases, int count, int argc, char** argv) {
  omp_set_dynamic(0);
  for (int i = 0; i < count; ++i) {
    if (argc < 2) {
      puts(cases[i].name);
    } else if (strcmp(argv[1], cases[i].name) == 0) {
      cases[i].run();
      return failures != 0;
    }
  }
  return argc >= 2;
}

#define RUN(cases) run_case(cases, (int)(sizeof(cases) / sizeof(cases)[0]), argc, argv)
