// SPDX-License-Identifier: MIT
// A program with threads of its own and OpenMP: main and threads open regions, and wait for each other
// between.
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

enum { openers = 3, rounds = 50, length = 1000 };

static pthread_barrier_t all_here;
static sem_t ended;
static long sums[openers];

static __thread int own;

/* Its members are there at the same time, and each has variables of its own. */
static long sum_of_a_region(void) {
  long sum = 0;
  int met = 0, members = 0;
#pragma omp parallel reduction(+ : sum, members) num_threads(3)
  {
    own = omp_get_thread_num();
#pragma omp atomic
    ++met;
#pragma omp barrier
    if (met == 3 && omp_get_num_threads() == 3 && own == omp_get_thread_num())
      ++members;
#pragma omp for
    for (int i = 0; i < length; ++i)
      sum += i;
  }
  return members == 3 ? sum : -1;
}

static void* open_regions(void* number) {
  const long which = (long)number;
  for (int round = 0; round < rounds; ++round) {
    pthread_barrier_wait(&all_here);
    sums[which] += sum_of_a_region();
  }
  sem_post(&ended);
  return NULL;
}

static void name_libraries(void) {
  static const char* const names[] = {"libweft_omp", "libweft_pthread"};
  for (unsigned i = 0; i < sizeof names / sizeof *names; ++i) {
    FILE* const maps = fopen("/proc/self/maps", "r");
    for (char line[4096]; maps != NULL && fgets(line, sizeof line, maps) != NULL;) {
      if (strstr(line, names[i]) != NULL) {
        puts(names[i]);
        break;
      }
    }
    if (maps != NULL)
      fclose(maps);
  }
}

int main(void) {
  const long right = (long)rounds * (length * (length - 1L) / 2);
  pthread_t threads[openers];
  name_libraries();
  pthread_barrier_init(&all_here, NULL, openers);
  sem_init(&ended, 0, 0);
  if (sum_of_a_region() * rounds != right)
    return puts("wrong before"), 1;
  for (long i = 0; i < openers; ++i)
    pthread_create(&threads[i], NULL, open_regions, (void*)i);
  for (int i = 0; i < openers; ++i)
    sem_wait(&ended);
  for (int i = 0; i < openers; ++i)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < openers; ++i) {
    if (sums[i] != right)
      return printf("thread %d: %ld\n", i, sums[i]), 1;
  }
  if (sum_of_a_region() * rounds != right)
    return puts("wrong after"), 1;
  puts("right");
  return 0;
}
