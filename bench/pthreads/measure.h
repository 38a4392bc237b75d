/* SPDX-License-Identifier: MIT */
/* What the programs of this folder measure, and how they tell it. Include it after _GNU_SOURCE. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NEED(call)                                                                                           \
  do {                                                                                                       \
    const int error_ = (call);                                                                               \
    if (error_ != 0) {                                                                                       \
      fprintf(stderr, "%s: %s\n", #call, strerror(error_));                                                  \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)

static long operations; /* to be measured */
static double cpu_began, began;

static double now_us(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}
static void begin_measuring(void) {
  began = now_us(CLOCK_MONOTONIC);
  cpu_began = now_us(CLOCK_PROCESS_CPUTIME_ID);
}
static void tell(long done, const char* more) {
  const double cpu = now_us(CLOCK_PROCESS_CPUTIME_ID) - cpu_began, took = now_us(CLOCK_MONOTONIC) - began;
  printf("{\"operations\": %ld, \"cpu_us\": %.4f, \"us\": %.4f%s}\n", done, cpu / (double)done,
         took / (double)done, more);
}
