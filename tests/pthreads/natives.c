/* SPDX-License-Identifier: MIT */
/* Kernel threads of the program's beside its other threads: main, those with an attribute that only the
 * kernel has, those that a runtime of another language makes by clone(2). */
#include "tests/pthreads/check.h"

#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* --- cancelled in waits --- */

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t here, nobody_posts;
static atomic_int cleaned;

static void gives_back(void* unused) {
  (void)unused;
  CHECK_ERROR(0, pthread_mutex_unlock(&m));
  atomic_fetch_add(&cleaned, 1);
}
static void wait_in_vain(int where) {
  CHECK(sem_post(&here) == 0);
  if (where == 0) {
    CHECK(sem_wait(&nobody_posts) == 0);
    return;
  }
  CHECK_ERROR(0, pthread_mutex_lock(&m));
  pthread_cleanup_push(gives_back, NULL);
  if (where == 1) {
    for (;;)
      CHECK_ERROR(0, pthread_cond_wait(&never, &m));
  }
  const struct timespec late = in_ms(CLOCK_REALTIME, 100000);
  for (;;)
    CHECK_ERROR(0, pthread_cond_timedwait(&never, &m, &late));
  pthread_cleanup_pop(0);
}
static void* waits_in_vain(void* where) {
  wait_in_vain((int)(intptr_t)where);
  return NULL;
}
static void cancel_soon(pthread_t t, int k) {
  CHECK(sem_wait(&here) == 0);
  if (k % 2 == 0)
    sleep_ms(1); /* it waits */
  CHECK_ERROR(0, pthread_cancel(t));
}
static void* cancels_many(void* unused) {
  for (int k = 0; k < 30; ++k) {
    const pthread_t t = begin_native(waits_in_vain, (void*)(intptr_t)(k % 3));
    cancel_soon(t, k / 3);
    CHECK(end(t) == PTHREAD_CANCELED);
  }
  return unused;
}
static void prepare(void) {
  CHECK(sem_init(&here, 0, 0) == 0 && sem_init(&nobody_posts, 0, 0) == 0);
}
static void cancelled_in_waits(void) {
  prepare();
  cancels_many(NULL);
  end(begin(cancels_many, NULL));
  CHECK(atomic_load(&cleaned) == 40);
}

/* Of main: in a child. */
static void* cancels_main(void* handle_of_main) {
  const pthread_t t = *(pthread_t*)handle_of_main;
  cancel_soon(t, 0);
  CHECK(end(t) == PTHREAD_CANCELED);
  _exit(5);
}
static void main_cancelled(void) {
  for (int where = 0; where < 3; ++where) {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      static pthread_t self;
      prepare();
      self = pthread_self();
      begin(cancels_main, &self);
      wait_in_vain(where);
      _exit(6);
    }
    CHECK(status_of(child) == 5);
  }
}

/* --- the end of main --- */

static void* ends_late(void* unused) {
  sleep_ms(30);
  _exit(7);
  return unused;
}
static void* ends_soon(void* unused) {
  return unused;
}
/* The process lives as long as a thread does, whatever it is. */
static void outlives_main(void) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    begin(ends_soon, NULL);
    begin_native(ends_late, NULL);
    pthread_exit(NULL);
  }
  CHECK(status_of(child) == 7);
}

/* --- they share what they wait for --- */

static pthread_barrier_t all_here;
static long counted;
static void* counts(void* unused) {
  pthread_barrier_wait(&all_here);
  for (int i = 0; i < 5000; ++i) {
    CHECK_ERROR(0, pthread_mutex_lock(&m));
    ++counted;
    CHECK_ERROR(0, pthread_mutex_unlock(&m));
  }
  pthread_barrier_wait(&all_here);
  return unused;
}
static void shared_objects(void) {
  enum { each = 4 };
  pthread_t t[2 * each];
  CHECK_ERROR(0, pthread_barrier_init(&all_here, NULL, 2 * each));
  for (int k = 0; k < each; ++k) {
    t[2 * k] = begin(counts, NULL);
    t[2 * k + 1] = begin_native(counts, NULL);
  }
  for (int k = 0; k < 2 * each; ++k)
    end(t[k]);
  CHECK(counted == 2 * each * 5000);
  CHECK_ERROR(0, pthread_barrier_destroy(&all_here));
}

/* --- by clone(2) --- */

/* It has the variables of its maker, so it calls nothing of the C library's. */
static int there[2], back[2];
static atomic_int lives; /* the kernel clears it */
static int answers(void* unused) {
  char c = 0;
  (void)unused;
  while (raw(SYS_read, there[0], (long)&c, 1) == 1 && c != 0) {
    ++c;
    raw(SYS_write, back[1], (long)&c, 1);
  }
  raw(SYS_exit, 0, 0, 0);
  return 0;
}
static void* asks(void* unused) {
  for (int i = 1; i < 200; ++i) {
    char c = (char)(i % 100 + 1), answer = 0;
    CHECK_ERROR(0, pthread_mutex_lock(&m));
    CHECK(write(there[1], &c, 1) == 1 && read(back[0], &answer, 1) == 1 && answer == c + 1);
    CHECK_ERROR(0, pthread_mutex_unlock(&m));
  }
  return unused;
}
static atomic_int stop;
static void* computes(void* unused) {
  while (atomic_load(&stop) == 0) {
  }
  return unused;
}
extern int clone(int (*function)(void*), void* stack, int flags, void* argument, ...);
static void made_by_clone(void) {
  enum { bytes = 64 << 10, threads = 8 };
  CHECK(pipe(there) == 0 && pipe(back) == 0);
  char* const stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(stack != MAP_FAILED);
  atomic_store(&lives, 1);
  const int flags =
      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;
  CHECK(clone(answers, stack + bytes, flags, NULL, NULL, NULL, &lives) > 0);
  pthread_t t[threads];
  const pthread_t computing = begin(computes, NULL);
  for (int k = 0; k < threads; ++k)
    t[k] = begin(asks, NULL);
  for (int k = 0; k < threads; ++k)
    end(t[k]);
  atomic_store(&stop, 1);
  end(computing);
  CHECK(write(there[1], "", 1) == 1);
  while (atomic_load(&lives) != 0)
    sleep_ms(1);
  CHECK(munmap(stack, bytes) == 0);
}

int main(int count, char** words) {
  static const struct test_case cases[] = {{"cancelled_in_waits", cancelled_in_waits},
                                           {"main_cancelled", main_cancelled},
                                           {"outlives_main", outlives_main},
                                           {"shared_objects", shared_objects},
                                           {"made_by_clone", made_by_clone}};
  (void)count;
  return RUN_CASE(cases, words);
}
