// SPDX-License-Identifier: MIT
// What is awkward for threads that are no kernel threads: their variables, spinning, locks of libc over a
// wait, other pthreads, fork().
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int of_thread;
#pragma omp threadprivate(of_thread)
static __thread int native;
static int threads;

static void variables_over_barriers(void) {
#pragma omp parallel num_threads(threads)
  for (int k = 0; k < 50; ++k) {
    const int me = omp_get_thread_num();
    of_thread = 1000 * me + k;
    native = me;
    errno = 200 + me;
#pragma omp barrier
    CHECK(of_thread == 1000 * me + k && native == me && errno == 200 + me);
#pragma omp barrier
  }
}

static void variables_over_regions(void) {
#pragma omp parallel num_threads(threads)
  of_thread = 100 + omp_get_thread_num();
  for (int k = 0; k < 50; ++k) {
#pragma omp parallel num_threads(threads)
    CHECK(of_thread == 100 + omp_get_thread_num());
  }
}

static void copyin(void) {
  of_thread = 7;
#pragma omp parallel num_threads(threads) copyin(of_thread)
  {
    CHECK(of_thread == 7);
#pragma omp barrier
    of_thread = omp_get_thread_num();
#pragma omp barrier
    CHECK(of_thread == omp_get_thread_num());
  }
}

static void variables_of_inner_teams(void) {
  int* seen[8] = {0};
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  {
    const int outer = omp_get_thread_num();
#pragma omp parallel num_threads(4)
    {
      const int id = 4 * outer + omp_get_thread_num();
      seen[id] = &of_thread;
      of_thread = id;
#pragma omp barrier
      CHECK(of_thread == id);
      for (int i = 0; i < 4; ++i)
        CHECK(4 * outer + i == id || seen[4 * outer + i] != &of_thread);
    }
  }
}

static void take_turns(void (*pause)(void)) {
  volatile int turn = 0;
  const int rounds = 10;
#pragma omp parallel num_threads(threads)
  for (int k = 0; k < rounds; ++k) {
    while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != k * threads + omp_get_thread_num()) {
      if (pause != NULL)
        pause();
    }
    __atomic_add_fetch(&turn, 1, __ATOMIC_RELEASE);
  }
  CHECK(turn == rounds * threads);
}
static void give_way(void) {
  sched_yield();
}
static void give_way_to_tasks(void) {
#pragma omp taskyield
}
static void spinning(void) {
  take_turns(NULL);
}
static void spinning_with_sched_yield(void) {
  take_turns(&give_way);
}
static void spinning_with_taskyield(void) {
  take_turns(&give_way_to_tasks);
}

// Each member spins until the one after it has come; so all must begin, though those that began keep the
// CPUs. A member may run on another one's stack: its variables are its own all the same.
static void each_waits_for_the_next(int inner) {
  int came[threads + 1];
  for (int k = 0; k < 3; ++k) {
    memset(came, 0, sizeof came);
    came[threads] = 1;
#pragma omp parallel num_threads(threads)
    {
      const int me = omp_get_thread_num();
      if (k == 0)
        native = 100 * inner + me;
      while (!__atomic_load_n(&came[me + 1], __ATOMIC_ACQUIRE)) {
      }
      CHECK(native == 100 * inner + me && omp_get_num_threads() == threads);
      __atomic_store_n(&came[me], 1, __ATOMIC_RELEASE);
    }
  }
}
static void members_that_wait_for_later_ones(void) {
  each_waits_for_the_next(1);
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  each_waits_for_the_next(2 + omp_get_thread_num());
}

// Short regions, of which most members are run by whoever is free, and in turn with them members that wait.
// Each finds in its variables what it left there.
static void short_regions_and_long_ones(void) {
  enum { many = 300 };
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  for (int k = 0; k < many; ++k) {
    int sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
      CHECK(k == 0 || omp_get_thread_num() == 0 || native == k - 1);
      if (omp_get_thread_num() != 0)
        native = k;
      if (k % 5 == 0) {
#pragma omp barrier
      }
      sum += 1;
    }
    CHECK(sum == threads);
  }
}

static void barrier_of_libc(void) {
  pthread_barrier_t b;
  pthread_barrier_init(&b, NULL, (unsigned)threads);
#pragma omp parallel num_threads(threads)
  for (int k = 0; k < 10; ++k)
    pthread_barrier_wait(&b);
  pthread_barrier_destroy(&b);
}

static void mutex_of_libc_over_taskwait(void) {
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  int n = 0;
#pragma omp parallel num_threads(threads)
  for (int k = 0; k < 20; ++k) {
    pthread_mutex_lock(&m);
#pragma omp task
    usleep(10);
#pragma omp taskwait
    ++n;
    pthread_mutex_unlock(&m);
  }
  CHECK(n == 20 * threads);
}

static void lock_over_taskwait(void) {
  omp_lock_t l;
  int n = 0;
  omp_init_lock(&l);
#pragma omp parallel num_threads(threads)
  for (int k = 0; k < 20; ++k) {
    omp_set_lock(&l);
#pragma omp task
    usleep(10);
#pragma omp taskwait
#pragma omp taskyield
    ++n;
    omp_unset_lock(&l);
  }
  omp_destroy_lock(&l);
  CHECK(n == 20 * threads);
}

static void nest_locks(void) {
  omp_nest_lock_t l;
  long n = 0;
  omp_init_nest_lock(&l);
#pragma omp parallel num_threads(threads)
  for (int k = 0; k < 500; ++k) {
    omp_set_nest_lock(&l);
    CHECK(omp_test_nest_lock(&l) == 2);
    ++n;
    omp_unset_nest_lock(&l);
    omp_unset_nest_lock(&l);
  }
  CHECK(n == 500L * threads);
  omp_destroy_nest_lock(&l);
}

static void* open_regions(void* result) {
  int n = 0;
  for (int k = 0; k < 20; ++k) {
    of_thread = -1;
#pragma omp parallel num_threads(threads) reduction(+ : n)
    {
      ++n;
      of_thread = omp_get_thread_num();
#pragma omp barrier
      CHECK(of_thread == omp_get_thread_num());
    }
  }
  *(int*)result = n;
  return NULL;
}

static void other_pthreads(void) {
  enum { count = 4 };
  pthread_t t[count];
  int n[count] = {0};
  for (int i = 0; i < count; ++i)
    pthread_create(&t[i], NULL, open_regions, &n[i]);
  for (int i = 0; i < count; ++i)
    pthread_join(t[i], NULL);
  for (int i = 0; i < count; ++i)
    CHECK(n[i] == 20 * threads);
}

// One after the other, each with threads of its own whose variables are new.
static void* look_at_new_variables(void* unused) {
  (void)unused;
#pragma omp parallel num_threads(2)
  {
    CHECK(native == 0);
    native = 1;
  }
  return NULL;
}
static void pthreads_in_turn(void) {
  for (int i = 0; i < 20; ++i) {
    pthread_t t;
    pthread_create(&t, NULL, look_at_new_variables, NULL);
    pthread_join(t, NULL);
  }
}

static void regions_after_fork(void) {
  int n = 0;
#pragma omp parallel num_threads(threads) reduction(+ : n)
  ++n;
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    int c = 0;
    for (int k = 0; k < 10; ++k) {
#pragma omp parallel num_threads(threads) reduction(+ : c)
      {
        ++c;
#pragma omp barrier
      }
    }
    _exit(c == 10 * threads ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
#pragma omp parallel num_threads(threads) reduction(+ : n)
  ++n;
  CHECK(n == 2 * threads);
}

__attribute__((noinline)) static int deep(int kib) {
  volatile char room[1024];
  memset((char*)room, 1, sizeof room);
  return kib > 1 ? deep(kib - 1) + room[0] : room[0];
}

static void stacks(void) {
  int n = 0;
#pragma omp parallel num_threads(threads) reduction(+ : n)
  n += deep(3000) > 0;
  CHECK(n == threads);
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < 16; ++i) {
#pragma omp task
    deep(1000);
  }
}

static void levels(void) {
  omp_set_max_active_levels(3);
#pragma omp parallel num_threads(2)
  {
    const int a = omp_get_thread_num();
    omp_set_num_threads(2 + a);
#pragma omp parallel
    {
      CHECK(omp_get_num_threads() == 2 + a);
      const int b = omp_get_thread_num();
#pragma omp parallel num_threads(2)
      {
#pragma omp barrier
        CHECK(omp_get_level() == 3 && omp_get_active_level() == 3);
        CHECK(omp_get_team_size(1) == 2 && omp_get_team_size(2) == 2 + a);
        CHECK(omp_get_ancestor_thread_num(0) == 0 && omp_get_ancestor_thread_num(1) == a);
        CHECK(omp_get_ancestor_thread_num(2) == b && omp_get_ancestor_thread_num(4) == -1);
      }
    }
  }
  CHECK(omp_get_level() == 0);
}

static void nested_is_serial_by_default(void) {
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
  CHECK(omp_get_num_threads() == 1 && omp_get_level() == 2 && omp_get_active_level() == 1);
}

static void many_threads(void) {
  int n = 0;
#pragma omp parallel num_threads(512) reduction(+ : n)
  {
#pragma omp barrier
    n += omp_get_num_threads() == 512;
  }
  CHECK(n == 512);
}

static void teams_of_all_sizes(void) {
  for (int round = 0; round < 20; ++round) {
    for (int size = 1; size <= 9; ++size) {
      int n = 0;
#pragma omp parallel num_threads(size) reduction(+ : n)
      {
        ++n;
#pragma omp barrier
        CHECK(omp_get_num_threads() == size);
      }
      CHECK(n == size);
    }
  }
}

static void many_barriers(void) {
  int at = 0;
#pragma omp parallel num_threads(threads)
  for (int k = 0; k < 2000; ++k) {
#pragma omp barrier
#pragma omp single
    ++at;
    CHECK(at == k + 1);
  }
}

static void pause_and_go_on(void) {
  int n = 0;
  for (int k = 0; k < 3; ++k) {
#pragma omp parallel num_threads(threads) reduction(+ : n)
    ++n;
    CHECK(omp_pause_resource_all(k % 2 == 0 ? omp_pause_soft : omp_pause_hard) == 0);
  }
  CHECK(n == 3 * threads);
}

static void places(void) {
  const int n = omp_get_num_places();
  int seen[256] = {0};
  CHECK(n >= 1 && n <= 256);
#pragma omp parallel num_threads(n) proc_bind(close)
  {
    const int p = omp_get_place_num();
    int ids[256];
    CHECK(p >= 0 && p < n && __atomic_fetch_add(&seen[p], 1, __ATOMIC_RELAXED) == 0);
    omp_get_place_proc_ids(p, ids);
    int is_there = 0;
    for (int i = 0; i < omp_get_place_num_procs(p); ++i)
      is_there |= sched_getcpu() == ids[i];
    CHECK(is_there);
  }
}

// Half a second without work costs next to nothing: no thread looks for work for ever.
static void nobody_spins_when_idle(void) {
  struct timespec before, after;
#pragma omp parallel num_threads(threads)
  {
#pragma omp barrier
  }
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  usleep(500000);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  CHECK((double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) * 1e-9 < 0.2);
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
      {"variables_over_barriers", variables_over_barriers},
      {"variables_over_regions", variables_over_regions},
      {"copyin", copyin},
      {"variables_of_inner_teams", variables_of_inner_teams},
      {"spinning", spinning},
      {"spinning_with_sched_yield", spinning_with_sched_yield},
      {"spinning_with_taskyield", spinning_with_taskyield},
      {"members_that_wait_for_later_ones", members_that_wait_for_later_ones},
      {"short_regions_and_long_ones", short_regions_and_long_ones},
      {"barrier_of_libc", barrier_of_libc},
      {"mutex_of_libc_over_taskwait", mutex_of_libc_over_taskwait},
      {"lock_over_taskwait", lock_over_taskwait},
      {"nest_locks", nest_locks},
      {"other_pthreads", other_pthreads},
      {"pthreads_in_turn", pthreads_in_turn},
      {"regions_after_fork", regions_after_fork},
      {"stacks", stacks},
      {"levels", levels},
      {"nested_is_serial_by_default", nested_is_serial_by_default},
      {"many_threads", many_threads},
      {"teams_of_all_sizes", teams_of_all_sizes},
      {"many_barriers", many_barriers},
      {"pause_and_go_on", pause_and_go_on},
      {"places", places},
      {"nobody_spins_when_idle", nobody_spins_when_idle},
  };
  threads = threads_wanted();
  return RUN(cases);
}
