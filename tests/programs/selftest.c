// SPDX-License-Identifier: MIT
// A program with what the runner must find: selftest regions|none|differs|hangs.
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc != 2)
    return 2;
  int members = 1;
  if (strcmp(argv[1], "none") != 0) {
#pragma omp parallel reduction(+ : members)
    members += omp_get_thread_num();
  }
  printf("%d\n", members);
  if (strcmp(argv[1], "differs") == 0)
    printf("%d\n", (int)getpid());
  if (strcmp(argv[1], "hangs") == 0)
    pause();
  return 0;
}
