// SPDX-License-Identifier: MIT
// Tasks: all of them run, in the order of their dependences, on one thread from beginning to end; and nothing
// is left of them.
#define _GNU_SOURCE
#include "check.h"

#include <malloc.h>
#include <unistd.h>

static int threads;

static void recursion(void) {
  int result = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  result = fib_by_tasks(18);
  CHECK(result == 2584);
}

static void all_run_at_a_barrier(void) {
  int count = 0;
#pragma omp parallel num_threads(threads)
  {
    for (int i = 0; i < 200; ++i) {
#pragma omp task
      {
#pragma omp atomic
        ++count;
      }
    }
#pragma omp barrier
    CHECK(count == 200 * threads);
  }
}

static void all_run_at_the_end(void) {
  int count = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single nowait
  for (int i = 0; i < 1000; ++i) {
#pragma omp task
    {
      usleep(i % 50 == 0 ? 100 : 0);
#pragma omp task
      {
#pragma omp atomic
        ++count;
      }
    }
  }
  CHECK(count == 1000);
}

static void dependences(void) {
  int chain = 0, sum = 0, readers = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    for (int i = 0; i < 100; ++i) {
#pragma omp task depend(inout : chain) firstprivate(i)
      {
        CHECK(chain == i);
        chain = i + 1;
      }
    }
    for (int i = 0; i < 20; ++i) {
#pragma omp task depend(in : chain)
      {
        CHECK(chain == 100);
#pragma omp atomic
        ++readers;
      }
    }
#pragma omp task depend(out : chain)
    {
      CHECK(readers == 20);
      chain = -1;
    }
#pragma omp task depend(in : chain) depend(inout : sum)
    sum = chain;
#pragma omp taskwait depend(in : sum)
    CHECK(sum == -1);
#pragma omp task depend(inout : sum)
    {
      usleep(1000);
      sum = 5;
    }
#pragma omp task if (0) depend(in : sum)
    CHECK(sum == 5);
  }
}

static void depend_objects(void) {
  int x = 0;
  omp_depend_t object;
#pragma omp depobj(object) depend(inout : x)
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < 50; ++i) {
#pragma omp task depend(depobj : object) firstprivate(i)
    {
      CHECK(x == i);
      ++x;
    }
  }
  CHECK(x == 50);
#pragma omp depobj(object) destroy
}

static void groups(void) {
  int inner = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp taskgroup
    for (int i = 0; i < 50; ++i) {
#pragma omp task
      {
#pragma omp task
        {
          usleep(20);
#pragma omp atomic
          ++inner;
        }
      }
    }
    CHECK(inner == 50);
  }
}

static void cancelled_groups(void) {
  int ran = 0;
  CHECK(omp_get_cancellation());
#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskgroup
  for (int i = 0; i < 5000; ++i) {
#pragma omp task
    {
#pragma omp atomic
      ++ran;
#pragma omp cancel taskgroup
    }
  }
  CHECK(ran < 5000);
}

static void tied_to_their_threads(void) {
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < 100; ++i) {
#pragma omp task
    {
      const int me = omp_get_thread_num();
      for (int k = 0; k < 5; ++k) {
#pragma omp task
        usleep(1);
#pragma omp taskyield
#pragma omp taskwait
        CHECK(omp_get_thread_num() == me);
      }
    }
  }
}

// A tied task waits with a lock held: what its thread runs meanwhile must not want that.
static void locks_and_tied_tasks(void) {
  omp_lock_t l;
  int n = 0;
  omp_init_lock(&l);
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < 100; ++i) {
#pragma omp task
    {
      omp_set_lock(&l);
#pragma omp task
      usleep(1);
#pragma omp taskwait
      ++n;
      omp_unset_lock(&l);
    }
  }
  CHECK(n == 100);
  omp_destroy_lock(&l);
}

static void loops_of_tasks(void) {
  int times[300] = {0};
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp taskloop grainsize(7)
    for (int i = 0; i < 300; ++i)
      ++times[i];
#pragma omp taskloop num_tasks(11)
    for (unsigned long long i = 300; i > 0; --i)
      ++times[i - 1];
#pragma omp taskloop nogroup
    for (long i = 0; i < 300; i += 2)
      ++times[i];
#pragma omp taskwait
  }
  for (int i = 0; i < 300; ++i)
    CHECK(times[i] == 2 + (i % 2 == 0));
}

static void reductions(void) {
  int sum = 0, in_loop = 0, in_region = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 1; i <= 100; ++i) {
#pragma omp task in_reduction(+ : sum)
      sum += i;
    }
    CHECK(sum == 5050);
#pragma omp taskloop reduction(+ : in_loop)
    for (int i = 1; i <= 100; ++i)
      in_loop += i;
    CHECK(in_loop == 5050);
  }
#pragma omp parallel num_threads(threads) reduction(task, + : in_region)
#pragma omp task in_reduction(+ : in_region)
  in_region += 1;
  CHECK(in_region == threads);
  in_region = 0;
#pragma omp parallel num_threads(threads)
#pragma omp for reduction(task, + : in_region)
  for (int i = 0; i < 50; ++i) {
#pragma omp task in_reduction(+ : in_region)
    in_region += 1;
  }
  CHECK(in_region == 50);
}

static void final_and_undeferred(void) {
  int in = 0, inner = 0, at_once = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp task final(1) shared(in, inner)
    {
      in = omp_in_final();
#pragma omp task shared(inner)
      inner = omp_in_final();
    }
#pragma omp task if (0) shared(at_once)
    at_once = 1;
    CHECK(at_once);
#pragma omp taskwait
  }
  CHECK(in && inner);
}

static void detached(void) {
  int after = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : after)
    {
    }
#pragma omp task depend(in : after)
    after = 1;
    usleep(2000);
    CHECK(__atomic_load_n(&after, __ATOMIC_ACQUIRE) == 0);
    omp_fulfill_event(event);
#pragma omp taskwait
    CHECK(after == 1);
  }
}

// The end of the first task is all that its maker waits for, asleep by then; the second one ends only after
// that.
static void one_of_two_is_awaited(void) {
  static int begun, go, passed;
  begun = go = passed = 0;
  int a = 0;
#pragma omp parallel num_threads(threads + 2)
  {
#pragma omp single nowait
    {
#pragma omp task depend(out : a) shared(a)
      {
        __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
        while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE))
          usleep(100);
        usleep(30000);
        a = 1;
      }
#pragma omp task
      {
        __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
        while (!__atomic_load_n(&passed, __ATOMIC_ACQUIRE))
          usleep(100);
      }
      while (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) != 2)
        usleep(100);
      __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
#pragma omp taskwait depend(in : a)
      CHECK(a == 1);
      __atomic_store_n(&passed, 1, __ATOMIC_RELEASE);
    }
  }
  CHECK(passed);
}

// The same with an undeferred task that waits for its event.
static void an_event_of_two_tasks_is_awaited(void) {
  static int begun, passed;
  static omp_event_handle_t event;
  begun = passed = 0;
#pragma omp parallel num_threads(threads + 2)
  {
#pragma omp single nowait
    {
      omp_event_handle_t mine;
#pragma omp task
      {
        __atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) != 2)
          usleep(100);
        usleep(30000);
        omp_fulfill_event(event);
        while (!__atomic_load_n(&passed, __ATOMIC_ACQUIRE))
          usleep(100);
      }
      while (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) != 1)
        usleep(100);
#pragma omp task if (0) detach(mine)
      {
        event = mine;
        __atomic_store_n(&begun, 2, __ATOMIC_RELEASE);
      }
      __atomic_store_n(&passed, 1, __ATOMIC_RELEASE);
    }
  }
  CHECK(passed);
}

static void wait_for_an_event(omp_event_handle_t* event, int* waits) {
  omp_event_handle_t mine;
  memset(&mine, 0, sizeof mine); // compilers do not know that the construct writes it
#pragma omp task detach(mine) depend(out : *waits)
  (void)0;
  *event = mine;
  __atomic_store_n(waits, 1, __ATOMIC_RELEASE);
#pragma omp taskwait
  __atomic_store_n(waits, 0, __ATOMIC_RELEASE);
}

// A task X waits for a child whose end does not come. There is another task that is ready, whose parent and
// the parent of that have ended; X may have the memory of the last one. X is no ancestor of it, so thread 0,
// on whose stack X is, must not run it there. The other threads do not look for tasks meanwhile.
static void descendants_of_tasks_that_have_ended(void) {
  static int x_waits, done, wrong;
  static omp_event_handle_t event;
  x_waits = done = wrong = 0;
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp task
      {
#pragma omp task
        {
#pragma omp task
          if (omp_get_thread_num() == 0 && __atomic_load_n(&x_waits, __ATOMIC_ACQUIRE))
            wrong = 1;
        }
      }
#pragma omp taskwait  // runs the first
#pragma omp taskyield // and the second
#pragma omp task if (0)
      wait_for_an_event(&event, &x_waits);
      __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    } else if (omp_get_thread_num() == 1) {
      while (!__atomic_load_n(&x_waits, __ATOMIC_ACQUIRE))
        usleep(100);
      usleep(20000); // X looks around
      omp_fulfill_event(event);
    }
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE))
      usleep(100);
  }
  CHECK(!wrong);
}

static void priorities(void) {
  CHECK(omp_get_max_task_priority() == 10);
  int at = 0;
#pragma omp parallel num_threads(1)
  {
    for (int p = 0; p < 3; ++p) {
#pragma omp task priority(p) shared(at)
      ++at;
    }
  }
  CHECK(at == 3);
}

// Many rounds of everything leave no more memory in use than some did.
static void one_of_each(void) {
  int x = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp single
    {
#pragma omp taskgroup
      for (int i = 0; i < 30; ++i) {
#pragma omp task depend(inout : x)
        ++x;
      }
    }
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < 20; ++i) {
#pragma omp task
      (void)i;
    }
#pragma omp for ordered(1)
    for (int i = 1; i < 20; ++i) {
#pragma omp ordered depend(sink : i - 1)
#pragma omp ordered depend(source)
    }
#pragma omp taskwait
  }
}
static void nothing_is_left(void) {
  for (int i = 0; i < 500; ++i)
    one_of_each();
  const size_t before = mallinfo2().uordblks;
  for (int i = 0; i < 2000; ++i)
    one_of_each();
  const size_t after = mallinfo2().uordblks;
  // What threads keep for the next task may still grow: 64 tasks each, of half a kilobyte. A task a round
  // that is forgotten is a megabyte.
  CHECK(after < before + 64 * 600 * (size_t)threads);
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
      {"recursion", recursion},
      {"all_run_at_a_barrier", all_run_at_a_barrier},
      {"all_run_at_the_end", all_run_at_the_end},
      {"dependences", dependences},
      {"depend_objects", depend_objects},
      {"groups", groups},
      {"cancelled_groups", cancelled_groups},
      {"tied_to_their_threads", tied_to_their_threads},
      {"locks_and_tied_tasks", locks_and_tied_tasks},
      {"loops_of_tasks", loops_of_tasks},
      {"reductions", reductions},
      {"final_and_undeferred", final_and_undeferred},
      {"detached", detached},
      {"one_of_two_is_awaited", one_of_two_is_awaited},
      {"an_event_of_two_tasks_is_awaited", an_event_of_two_tasks_is_awaited},
      {"descendants_of_tasks_that_have_ended", descendants_of_tasks_that_have_ended},
      {"priorities", priorities},
      {"nothing_is_left", nothing_is_left},
  };
  threads = threads_wanted();
  return RUN(cases);
}
