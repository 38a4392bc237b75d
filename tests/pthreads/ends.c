// SPDX-License-Identifier: MIT
// Where a thread ends: by a cancellation in a computation, in calls of the C library's own, in a handler;
// main.
#include "tests/pthreads/check.h"

static atomic_int cleaned;
static atomic_int begun;

static void clean(void* argument) {
  (void)argument;
  atomic_fetch_add(&cleaned, 1);
}

static void* compute(void* argument) {
  (void)argument;
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  pthread_cleanup_push(&clean, NULL);
  atomic_store(&begun, 1);
  for (;;)
    ;
  pthread_cleanup_pop(0);
  return NULL;
}

static int pipe_of[2];

// read(2) is called in the C library here.
static void* read_a_line(void* argument) {
  (void)argument;
  FILE* const file = fdopen(pipe_of[0], "r");
  char line[16];
  pthread_cleanup_push(&clean, NULL);
  atomic_store(&begun, 1);
  CHECK(fgets(line, sizeof line, file) == NULL);
  pthread_cleanup_pop(0);
  return NULL;
}

static void* lock_for_ever(void* mutex) {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  pthread_cleanup_push(&clean, NULL);
  atomic_store(&begun, 1);
  pthread_mutex_lock(mutex);
  pthread_cleanup_pop(0);
  return NULL;
}

static void cancelled_in(void* (*function)(void*), void* argument) {
  pthread_t t;
  void* result = NULL;
  atomic_store(&cleaned, 0);
  atomic_store(&begun, 0);
  CHECK(pthread_create(&t, NULL, function, argument) == 0);
  while (!atomic_load(&begun))
    usleep(1000);
  CHECK(pthread_cancel(t) == 0);
  CHECK(pthread_join(t, &result) == 0);
  CHECK(result == PTHREAD_CANCELED);
  CHECK(atomic_load(&cleaned) == 1);
}

static void while_it_computes(void) {
  for (int i = 0; i < 20; ++i)
    cancelled_in(&compute, NULL);
}

static void in_calls_of_libc(void) {
  for (int i = 0; i < 5; ++i) {
    CHECK(pipe(pipe_of) == 0);
    cancelled_in(&read_a_line, NULL);
    close(pipe_of[1]);
  }
}

static void at_a_mutex(void) {
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&m);
  cancelled_in(&lock_for_ever, &m);
  pthread_mutex_unlock(&m);
}

static void exit_here(int number) {
  (void)number;
  pthread_cleanup_push(&clean, NULL);
  pthread_exit(&begun);
  pthread_cleanup_pop(0);
}

static void* compute_until_signalled(void* argument) {
  (void)argument;
  pthread_cleanup_push(&clean, NULL);
  atomic_store(&begun, 1);
  for (;;)
    ;
  pthread_cleanup_pop(0);
  return NULL;
}

// The handler's cleanup runs, and then that of what it has interrupted.
static void in_a_handler(void) {
  struct sigaction a;
  memset(&a, 0, sizeof a);
  a.sa_handler = &exit_here;
  CHECK(sigaction(SIGUSR1, &a, NULL) == 0);
  pthread_t t;
  void* result = NULL;
  CHECK(pthread_create(&t, NULL, &compute_until_signalled, NULL) == 0);
  while (!atomic_load(&begun))
    usleep(1000);
  CHECK(pthread_kill(t, SIGUSR1) == 0);
  CHECK(pthread_join(t, &result) == 0);
  CHECK(result == &begun);
  CHECK(atomic_load(&cleaned) == 2);
}

static void* close_one(void* argument) {
  const int d = dup(1);
  CHECK(pthread_cancel(pthread_self()) == 0);
  close(d);
  return argument;
}

static void in_close(void) {
  pthread_t t;
  void* result = NULL;
  CHECK(pthread_create(&t, NULL, &close_one, NULL) == 0);
  CHECK(pthread_join(t, &result) == 0);
  CHECK(result == PTHREAD_CANCELED);
}

static pthread_t main_thread;

static void* join_main(void* argument) {
  void* result = NULL;
  CHECK(pthread_join(main_thread, &result) == 0);
  CHECK(result == argument);
  return NULL;
}

// Ends the process with 0 when all have ended.
static void of_main(void) {
  pthread_t t;
  main_thread = pthread_self();
  CHECK(pthread_create(&t, NULL, &join_main, &cleaned) == 0);
  pthread_exit(&cleaned);
}

static pthread_barrier_t two;
static atomic_int handled;

static void note(int number) {
  (void)number;
  atomic_fetch_add(&handled, 1);
}

static void* wait_at_barrier(void* argument) {
  (void)argument;
  pthread_barrier_wait(&two);
  return NULL;
}

// A handler runs while the thread waits for others, and the wait goes on.
static void handlers_in_waits(void) {
  struct sigaction a;
  memset(&a, 0, sizeof a);
  a.sa_handler = &note;
  CHECK(sigaction(SIGUSR1, &a, NULL) == 0);
  CHECK(pthread_barrier_init(&two, NULL, 2) == 0);
  pthread_t t;
  CHECK(pthread_create(&t, NULL, &wait_at_barrier, NULL) == 0);
  CHECK(pthread_kill(t, SIGUSR1) == 0);
  while (!atomic_load(&handled))
    usleep(1000);
  pthread_barrier_wait(&two);
  CHECK(pthread_join(t, NULL) == 0);
}

static sem_t posted;

static void* post_for_ever(void* argument) {
  (void)argument;
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  pthread_cleanup_push(&clean, NULL);
  for (;;)
    sem_post(&posted);
  pthread_cleanup_pop(0);
  return NULL;
}

// In the C library as well, and in the kernel, which a library calls for it: main sleeps there.
static void in_sem_post(void) {
  for (int i = 1; i <= 100; ++i) {
    pthread_t t;
    void* result = NULL;
    CHECK(sem_init(&posted, 0, 0) == 0);
    CHECK(pthread_create(&t, NULL, &post_for_ever, NULL) == 0);
    for (int k = 0; k < 20; ++k)
      CHECK(sem_wait(&posted) == 0);
    CHECK(pthread_cancel(t) == 0);
    CHECK(pthread_join(t, &result) == 0 && result == PTHREAD_CANCELED);
    CHECK(atomic_load(&cleaned) == i);
  }
}

int main(int count, char** words) {
  (void)count;
  static const struct test_case cases[] = {{"while_it_computes", while_it_computes},
                                           {"in_calls_of_libc", in_calls_of_libc},
                                           {"at_a_mutex", at_a_mutex},
                                           {"in_sem_post", in_sem_post},
                                           {"in_close", in_close},
                                           {"in_a_handler", in_a_handler},
                                           {"of_main", of_main},
                                           {"handlers_in_waits", handlers_in_waits}};
  return RUN_CASE(cases, words);
}
