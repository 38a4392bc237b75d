// SPDX-License-Identifier: MIT
// Prints what the runtime has made of its environment; the test `variables` compares.
#include <omp.h>
#include <stdio.h>

extern int kmp_get_blocktime(void) __attribute__((weak)); // LLVM's own, which Weft has for both
extern size_t kmp_get_stacksize_s(void) __attribute__((weak));

int main(void) {
  const int n = omp_get_num_places();
  printf("bind %d\nplaces", (int)omp_get_proc_bind());
  for (int i = 0; i < n; ++i) {
    int cpus[1024];
    const int count = omp_get_place_num_procs(i);
    if (count > 1024)
      return 1;
    omp_get_place_proc_ids(i, cpus);
    printf(" ");
    for (int k = 0; k < count; ++k)
      printf(k == 0 ? "%d" : "+%d", cpus[k]);
  }
  int at[2] = {-2, -2};
#pragma omp parallel num_threads(2)
  at[omp_get_thread_num()] = omp_get_place_num();
  printf("\nthreads %d %d\n", at[0], at[1]);
  printf("block time %d\n", kmp_get_blocktime != NULL ? kmp_get_blocktime() : -1);
  printf("stack %zu\n", kmp_get_stacksize_s != NULL ? kmp_get_stacksize_s() : 0);
  return 0;
}
