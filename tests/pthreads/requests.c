/* SPDX-License-Identifier: MIT */
/* Cancellation, which takes effect in waits, and signals. */
#include "tests/pthreads/in_call.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem, there;
static pthread_barrier_t meet;
static atomic_int cleaned;

static void clean(void* x) {
  (void)x;
  ++cleaned;
}
static void unlock(void* m) {
  CHECK_ERROR(0, pthread_mutex_unlock(m)); /* it is the thread's again by then */
  ++cleaned;
}

static void* in_condition(void* x) {
  CHECK_ERROR(0, pthread_mutex_lock(&lock));
  pthread_cleanup_push(unlock, &lock);
  CHECK(sem_post(&there) == 0);
  for (;;)
    pthread_cond_wait(&cond, &lock);
  pthread_cleanup_pop(0);
  return x;
}
static void* in_semaphore(void* x) {
  pthread_cleanup_push(clean, NULL);
  CHECK(sem_post(&there) == 0);
  for (;;)
    sem_wait(&sem);
  pthread_cleanup_pop(0);
  return x;
}
static void* in_sleep(void* x) {
  pthread_cleanup_push(clean, NULL);
  CHECK(sem_post(&there) == 0);
  for (;;)
    sleep(1000);
  pthread_cleanup_pop(0);
  return x;
}
static void* in_look(void* x) {
  pthread_cleanup_push(clean, NULL);
  CHECK(sem_post(&there) == 0);
  for (;;)
    pthread_testcancel();
  pthread_cleanup_pop(0);
  return x;
}
static void* waits_for_ever(void* x) {
  CHECK(sem_wait(x) == 0);
  return x;
}
static pthread_t joined;
static void* in_join(void* x) {
  pthread_cleanup_push(clean, NULL);
  CHECK(sem_post(&there) == 0);
  pthread_join(joined, NULL);
  pthread_cleanup_pop(0);
  return x;
}

static void cancel_in(void* (*function)(void*)) {
  CHECK(sem_init(&sem, 0, 0) == 0 && sem_init(&there, 0, 0) == 0);
  for (int i = 0; i < 40; ++i) {
    cleaned = 0;
    pthread_t t = begin(function, NULL);
    if (i % 2 == 0) {
      CHECK(sem_wait(&there) == 0); /* it waits, or is about to */
      if (i % 4 == 0)
        sleep_ms(1);
    }
    CHECK_ERROR(0, pthread_cancel(t));
    CHECK(end(t) == PTHREAD_CANCELED);
    CHECK(cleaned <= 1 && (i % 2 != 0 || cleaned == 1));
    while (sem_trywait(&there) == 0) {
    }
  }
}
static void in_condition_variables(void) {
  cancel_in(in_condition);
  CHECK_ERROR(0, pthread_mutex_trylock(&lock));
}
static void in_semaphores(void) {
  cancel_in(in_semaphore);
}
static void in_sleeps(void) {
  cancel_in(in_sleep);
}
static void in_looks(void) {
  cancel_in(in_look);
}
static void in_joins(void) {
  sem_t goes_on;
  CHECK(sem_init(&goes_on, 0, 0) == 0);
  joined = begin(waits_for_ever, &goes_on);
  cancel_in(in_join);
  CHECK(sem_post(&goes_on) == 0);
  CHECK(end(joined) == &goes_on); /* it can be joined still */
}

static void* is_not_cancelled_yet(void* x) {
  int before = -1;
  CHECK_ERROR(0, pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before));
  CHECK(before == PTHREAD_CANCEL_ENABLE);
  CHECK_ERROR(0, pthread_barrier_wait(&meet) > 0);
  pthread_barrier_wait(&meet); /* cancelled by now */
  pthread_testcancel();
  sleep_ms(5);
  cleaned = 7;
  CHECK_ERROR(0, pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before));
  CHECK(before == PTHREAD_CANCEL_DISABLE);
  pthread_testcancel();
  cleaned = 8;
  return x;
}
static void state(void) {
  CHECK_ERROR(0, pthread_barrier_init(&meet, NULL, 2));
  pthread_t t = begin(is_not_cancelled_yet, NULL);
  pthread_barrier_wait(&meet);
  CHECK_ERROR(0, pthread_cancel(t));
  pthread_barrier_wait(&meet);
  CHECK(end(t) == PTHREAD_CANCELED && cleaned == 7);
  CHECK_ERROR(EINVAL, pthread_setcancelstate(99, NULL));
  CHECK_ERROR(EINVAL, pthread_setcanceltype(99, NULL));
}

/* --- signals --- */

static volatile sig_atomic_t handled;
static void post(int number) {
  (void)number;
  ++handled;
  sem_post(&sem);
}
static void handle(int number, void (*function)(int), int flags) {
  struct sigaction a;
  memset(&a, 0, sizeof a);
  a.sa_handler = function;
  a.sa_flags = flags;
  CHECK(sigaction(number, &a, NULL) == 0);
}

static void* takes(void* count) {
  for (intptr_t i = 0; i < (intptr_t)count; ++i) {
    while (sem_wait(&sem) != 0)
      CHECK(errno == EINTR);
  }
  return NULL;
}
static void* computes(void* x) {
  atomic_int* const stop = x;
  while (*stop == 0) {
    CHECK_ERROR(0, pthread_mutex_lock(&lock));
    CHECK_ERROR(0, pthread_mutex_unlock(&lock));
    free(malloc(100));
  }
  return NULL;
}
/* The handler posts wherever it comes: in what computes, locks and allocates, or waits. */
static void posts_in_handlers(void) {
  CHECK(sem_init(&sem, 0, 0) == 0);
  handle(SIGALRM, post, SA_RESTART);
  atomic_int stop = 0;
  enum { signals = 300 };
  pthread_t waits = begin(takes, (void*)(intptr_t)signals), all[4];
  for (int i = 0; i < 4; ++i)
    all[i] = begin(computes, &stop);
  for (int i = 0; i < signals; ++i) {
    const int before = handled;
    CHECK(kill(getpid(), SIGALRM) == 0);
    while (handled == before)
      sched_yield();
  }
  end(waits);
  stop = 1;
  for (int i = 0; i < 4; ++i)
    end(all[i]);
}

static atomic_int interrupted;
static void note(int number) {
  (void)number;
  ++handled;
}
static void* is_interrupted(void* x) {
  CHECK(sem_post(&there) == 0);
  while (sem_wait(&sem) != 0) {
    CHECK(errno == EINTR);
    ++interrupted;
    CHECK(sem_post(&there) == 0);
  }
  return x;
}
static void* signals_itself(void* x) {
  handled = 0;
  CHECK_ERROR(0, pthread_kill(pthread_self(), SIGUSR1));
  CHECK(handled == 1);
  return x;
}
static void to_one_thread(void) {
  CHECK(sem_init(&sem, 0, 0) == 0 && sem_init(&there, 0, 0) == 0);
  handle(SIGUSR1, note, 0);
  end(begin(signals_itself, NULL));
  handled = 0;
  pthread_t t = begin(is_interrupted, NULL);
  CHECK(sem_wait(&there) == 0);
  sleep_ms(20);
  CHECK_ERROR(0, pthread_kill(t, SIGUSR1));
  CHECK(sem_wait(&there) == 0);
  CHECK(handled == 1 && interrupted == 1);
  CHECK_ERROR(EINVAL, pthread_kill(t, 1000));
  CHECK(sem_post(&sem) == 0);
  end(t);
}

static void* waits_for_signals(void* count) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGUSR2);
  const struct timespec soon = {0, 5000000};
  siginfo_t info;
  CHECK(sigtimedwait(&set, &info, &soon) == -1 && errno == EAGAIN);
  for (intptr_t i = 0; i < (intptr_t)count; ++i) {
    int number = 0;
    CHECK(sem_post(&there) == 0);
    CHECK_ERROR(0, sigwait(&set, &number));
    CHECK(number == (i % 2 == 0 ? SIGUSR1 : SIGUSR2));
    CHECK(sem_post(&sem) == 0);
  }
  return NULL;
}
/* Blocked in all, taken by one; sent to it, or to the process. */
static void waited_for(void) {
  enum { signals = 100 };
  sigset_t set;
  CHECK(sem_init(&sem, 0, 0) == 0 && sem_init(&there, 0, 0) == 0);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGUSR2);
  CHECK_ERROR(0, pthread_sigmask(SIG_BLOCK, &set, NULL));
  pthread_t t = begin(waits_for_signals, (void*)(intptr_t)signals);
  for (int i = 0; i < signals; ++i) {
    CHECK(sem_wait(&there) == 0);
    if (i % 8 == 0)
      sleep_ms(2); /* it waits in the kernel by then */
    if (i % 4 < 2)
      CHECK_ERROR(0, pthread_kill(t, i % 2 == 0 ? SIGUSR1 : SIGUSR2));
    else
      CHECK(kill(getpid(), i % 2 == 0 ? SIGUSR1 : SIGUSR2) == 0);
    CHECK(sem_wait(&sem) == 0);
  }
  end(t);
}

static void* has_a_mask(void* x) {
  sigset_t set, old;
  CHECK_ERROR(0, pthread_sigmask(SIG_BLOCK, NULL, &old));
  CHECK(sigismember(&old, SIGUSR2) == 1 && sigismember(&old, SIGUSR1) == 0);
  sigfillset(&set);
  CHECK_ERROR(0, pthread_sigmask(SIG_BLOCK, &set, NULL));
  sleep_ms(5);
  CHECK_ERROR(0, pthread_sigmask(SIG_SETMASK, &old, &set));
  CHECK(sigismember(&set, SIGUSR1) == 1 && sigismember(&set, SIGKILL) == 0);
  CHECK_ERROR(EINVAL, pthread_sigmask(99, &set, NULL));
  return x;
}
static atomic_int stops;
static void* computes_until_told(void* x) {
  while (stops == 0) {
  }
  return x;
}
/* All signals blocked around it, as libraries do; others must run beside what computes all the same. */
static void masks(void) {
  sigset_t all, before;
  sigemptyset(&all);
  sigaddset(&all, SIGUSR2);
  CHECK_ERROR(0, pthread_sigmask(SIG_BLOCK, &all, NULL));
  end(begin(has_a_mask, NULL));
  sigfillset(&all);
  CHECK_ERROR(0, pthread_sigmask(SIG_SETMASK, &all, &before));
  pthread_t computing[5];
  for (int i = 0; i < 5; ++i)
    computing[i] = begin(computes_until_told, NULL);
  CHECK_ERROR(0, pthread_sigmask(SIG_SETMASK, &before, NULL));
  end(begin(has_a_mask, NULL));
  stops = 1;
  for (int i = 0; i < 5; ++i)
    end(computing[i]);
}

/* --- <threads.h> --- */

static mtx_t mutex;
static cnd_t changed;
static once_flag only = ONCE_FLAG_INIT;
static int stage, onces;
static void count_once(void) {
  ++onces;
}
static int of_c11(void* x) {
  call_once(&only, count_once);
  CHECK(mtx_lock(&mutex) == thrd_success);
  ++stage;
  CHECK(cnd_broadcast(&changed) == thrd_success);
  while (stage < 4)
    CHECK(cnd_wait(&changed, &mutex) == thrd_success);
  CHECK(mtx_unlock(&mutex) == thrd_success);
  const struct timespec length = {0, 1000000};
  CHECK(thrd_sleep(&length, NULL) == 0);
  thrd_yield();
  if (x != NULL)
    thrd_exit(5);
  return thrd_equal(thrd_current(), thrd_current()) ? 6 : 0;
}
static void c11(void) {
  thrd_t all[4];
  CHECK(mtx_init(&mutex, mtx_plain) == thrd_success && cnd_init(&changed) == thrd_success);
  for (int i = 0; i < 4; ++i)
    CHECK(thrd_create(&all[i], of_c11, i % 2 == 0 ? NULL : &stage) == thrd_success);
  for (int i = 0; i < 4; ++i) {
    int result = 0;
    CHECK(thrd_join(all[i], &result) == thrd_success && result == (i % 2 == 0 ? 6 : 5));
  }
  CHECK(onces == 1);
  CHECK(mtx_trylock(&mutex) == thrd_success && mtx_trylock(&mutex) == thrd_busy);
  cnd_destroy(&changed);
}

/* --- where a thread computes, or waits in the kernel --- */

static atomic_int told_to_stop;
static void tell_to_stop(int number) {
  (void)number;
  ++told_to_stop;
}
static int told_before;
static void* spins_until_told(void* x) {
  CHECK(sem_post(&there) == 0);
  while (told_to_stop == told_before) {
  }
  return x;
}
static void while_it_computes(void) {
  CHECK(sem_init(&there, 0, 0) == 0);
  struct sigaction how = {.sa_handler = tell_to_stop};
  CHECK(sigaction(SIGUSR1, &how, NULL) == 0);
  for (int i = 0; i < 40; ++i) {
    told_before = told_to_stop;
    const pthread_t t = begin(spins_until_told, NULL);
    if (i % 4 != 3) /* else it has not begun yet, perhaps */
      CHECK(sem_wait(&there) == 0);
    if (i % 2 == 0)
      sleep_ms(1);
    CHECK_ERROR(0, pthread_kill(t, SIGUSR1));
    end(t);
    if (i % 4 == 3)
      CHECK(sem_wait(&there) == 0);
  }
}

static pid_t make_child(void) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    for (;;)
      pause();
  }
  CHECK(child > 0);
  return child;
}
static void* waits_for_child(void* child) {
  int status = 0;
  pid_t ended = 0;
  pthread_cleanup_push(clean, NULL);
  CHECK(sem_post(&there) == 0);
  ended = waitpid((pid_t)(intptr_t)child, &status, 0);
  CHECK(ended == (pid_t)(intptr_t)child || (ended == -1 && errno == EINTR));
  pthread_cleanup_pop(0);
  return (void*)(intptr_t)(ended > 0);
}
static void while_it_waits_in_the_kernel(void) {
  CHECK(sem_init(&there, 0, 0) == 0);
  const pid_t child = make_child();
  for (int i = 0; i < 12; ++i) {
    struct sigaction how = {.sa_handler = tell_to_stop};
    CHECK(sigaction(SIGUSR1, &how, NULL) == 0);
    cleaned = 0;
    const int before = told_to_stop;
    const pthread_t t = begin(waits_for_child, (void*)(intptr_t)child);
    CHECK(sem_wait(&there) == 0);
    sleep_ms(i); /* it waits */
    if (i % 2 == 0) {
      CHECK_ERROR(0, pthread_cancel(t));
      CHECK(end(t) == PTHREAD_CANCELED && cleaned == 1);
      continue;
    }
    wait_until_one_is_in_call(SYS_wait4);
    CHECK_ERROR(0, pthread_kill(t, SIGUSR1));
    CHECK(end(t) == NULL && told_to_stop == before + 1);
  }
  struct sigaction how = {.sa_handler = tell_to_stop, .sa_flags = SA_RESTART};
  CHECK(sigaction(SIGUSR1, &how, NULL) == 0);
  const int before = told_to_stop;
  const pthread_t t = begin(waits_for_child, (void*)(intptr_t)child);
  CHECK(sem_wait(&there) == 0);
  wait_until_one_is_in_call(SYS_wait4);
  CHECK_ERROR(0, pthread_kill(t, SIGUSR1));
  while (told_to_stop == before)
    sched_yield();
  CHECK(kill(child, SIGKILL) == 0);
  CHECK(end(t) == (void*)1);
}

/* The signal comes together with ticks, while the handler of one runs, or when it has just returned. */
static atomic_int no_more;
static void* computes_beside(void* x) {
  while (!no_more) {
  }
  return x;
}
static void while_others_compute(void) {
  CHECK(setenv("WEFT_PREEMPTION_INTERVAL", "50", 1) == 0); /* ticks come whenever they may */
  CHECK(sem_init(&there, 0, 0) == 0);
  const pid_t child = make_child();
  struct sigaction how = {.sa_handler = tell_to_stop};
  CHECK(sigaction(SIGUSR1, &how, NULL) == 0);
  pthread_t others[6];
  for (int i = 0; i < 6; ++i)
    others[i] = begin(computes_beside, NULL);
  unsigned seed = (unsigned)getpid();
  printf("seed %u\n", seed);
  for (int i = 0; i < 150; ++i) {
    const int before = told_to_stop;
    const pthread_t t = begin(waits_for_child, (void*)(intptr_t)child);
    CHECK(sem_wait(&there) == 0);
    wait_until_one_is_in_call(SYS_wait4);
    const struct timespec a_moment = {0, rand_r(&seed) % 3000 * 1000L};
    nanosleep(&a_moment, NULL);
    CHECK_ERROR(0, pthread_kill(t, SIGUSR1));
    CHECK(end(t) == NULL && told_to_stop == before + 1);
  }
  no_more = 1;
  for (int i = 0; i < 6; ++i)
    end(others[i]);
  CHECK(kill(child, SIGKILL) == 0);
}

/* As garbage collectors do: all others stand still in a handler until they are told to go on. */
enum { worlds = 4 };
static atomic_long turns[worlds];
static atomic_int world_ends;
static sem_t stands_still;
static void stand_still(int number) {
  (void)number;
  const int before = errno;
  sigset_t but_this;
  sigfillset(&but_this);
  sigdelset(&but_this, SIGUSR2);
  CHECK(sem_post(&stands_still) == 0);
  CHECK(sigsuspend(&but_this) == -1 && errno == EINTR);
  errno = before;
}
static void go_on(int number) {
  (void)number;
}
static void* turns_round(void* number) {
  CHECK(sem_post(&there) == 0);
  while (!world_ends) {
    ++turns[(intptr_t)number];
    if ((intptr_t)number == 0)
      free(malloc(100));
    else if ((intptr_t)number == 1)
      sched_yield();
  }
  return NULL;
}
static void stop_the_world(void) {
  CHECK(sem_init(&there, 0, 0) == 0 && sem_init(&stands_still, 0, 0) == 0);
  struct sigaction stops = {.sa_handler = stand_still, .sa_flags = SA_RESTART};
  struct sigaction goes_on = {.sa_handler = go_on, .sa_flags = SA_RESTART};
  sigfillset(&stops.sa_mask);
  CHECK(sigaction(SIGUSR1, &stops, NULL) == 0 && sigaction(SIGUSR2, &goes_on, NULL) == 0);
  pthread_t all[worlds];
  for (intptr_t i = 0; i < worlds; ++i)
    all[i] = begin(turns_round, (void*)i);
  for (int i = 0; i < worlds; ++i)
    CHECK(sem_wait(&there) == 0);
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < worlds; ++i)
      CHECK_ERROR(0, pthread_kill(all[i], SIGUSR1));
    for (int i = 0; i < worlds; ++i)
      CHECK(sem_wait(&stands_still) == 0);
    long before[worlds];
    for (int i = 0; i < worlds; ++i)
      before[i] = turns[i];
    sleep_ms(1);
    for (int i = 0; i < worlds; ++i)
      CHECK(turns[i] == before[i]);
    for (int i = 0; i < worlds; ++i)
      CHECK_ERROR(0, pthread_kill(all[i], SIGUSR2));
    for (int i = 0; i < worlds; ++i) {
      while (turns[i] == before[i])
        sched_yield();
    }
  }
  world_ends = 1;
  for (int i = 0; i < worlds; ++i)
    end(all[i]);
}

/* SA_RESTART: a wait for a semaphore goes on, but for one that has a limit. */
static sem_t for_restart, asked;
static void ignore_it(int number) {
  (void)number;
}
static void* waits_on(void* unused) {
  CHECK(sem_post(&asked) == 0);
  CHECK(sem_wait(&for_restart) == 0);
  const struct timespec late = in_ms(CLOCK_REALTIME, 100000);
  CHECK(sem_post(&asked) == 0);
  CHECK(sem_timedwait(&for_restart, &late) == -1 && errno == EINTR);
  return unused;
}
static void restarts(void) {
  const struct sigaction a = {.sa_handler = ignore_it, .sa_flags = SA_RESTART};
  CHECK(sigaction(SIGUSR1, &a, NULL) == 0);
  CHECK(sem_init(&for_restart, 0, 0) == 0 && sem_init(&asked, 0, 0) == 0);
  const pthread_t t = begin(waits_on, NULL);
  CHECK(sem_wait(&asked) == 0);
  sleep_ms(5); /* it waits */
  CHECK_ERROR(0, pthread_kill(t, SIGUSR1));
  sleep_ms(5);
  CHECK(sem_post(&for_restart) == 0);
  CHECK(sem_wait(&asked) == 0);
  sleep_ms(5);
  CHECK_ERROR(0, pthread_kill(t, SIGUSR1));
  end(t);
}

int main(int count, char** words) {
  (void)count;
  static const struct test_case cases[] = {{"while_it_computes", while_it_computes},
                                           {"while_it_waits_in_the_kernel", while_it_waits_in_the_kernel},
                                           {"while_others_compute", while_others_compute},
                                           {"stop_the_world", stop_the_world},
                                           {"in_condition_variables", in_condition_variables},
                                           {"in_semaphores", in_semaphores},
                                           {"in_sleeps", in_sleeps},
                                           {"in_looks", in_looks},
                                           {"in_joins", in_joins},
                                           {"state", state},
                                           {"posts_in_handlers", posts_in_handlers},
                                           {"to_one_thread", to_one_thread},
                                           {"waited_for", waited_for},
                                           {"masks", masks},
                                           {"c11", c11},
                                           {"restarts", restarts}};
  return RUN_CASE(cases, words);
}
