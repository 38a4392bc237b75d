// SPDX-License-Identifier: MIT
// For tests/openmp/run_command: opens a region, says whose functions it got, and ends with the number that is
// its first argument.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int threads = 0;
#pragma omp parallel num_threads(2) reduction(+ : threads)
  threads += 1;
  Dl_info info;
  if (threads != 2 || dladdr((void*)&omp_get_level, &info) == 0 || info.dli_fname == NULL)
    return 99;
  const char* preload = getenv("LD_PRELOAD");
  printf("from %s\npreload %s\nworkers %s\n", info.dli_fname, preload != NULL ? preload : "-",
         getenv("WEFT_WORKERS") != NULL ? getenv("WEFT_WORKERS") : "-");
  for (int i = 2; i < argc; ++i)
    printf("argument %s\n", argv[i]);
  return argc > 1 ? atoi(argv[1]) : 0;
}
