/* SPDX-License-Identifier: MIT */
/* Signals for the process, and what handlers are told of signals. */
#include "tests/pthreads/in_call.h"

#include <dirent.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Old programs still call sighold() and its like. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

extern char** environ;

static sem_t handled, there;
static atomic_int ends, wrong;
static __thread int own;
static pthread_t main_thread;

static sigset_t set_of(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  return set;
}
static void handle(int number, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction how = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  CHECK(sigaction(number, &how, NULL) == 0);
}
static void wait_for(sem_t* s) {
  while (sem_wait(s) != 0)
    CHECK(errno == EINTR);
}

/* --- for the process: in a thread that has it open, with its variables --- */

static void in_a_thread(int number, siginfo_t* info, void* context) {
  (void)context;
  if (number != SIGUSR1 || own != 7 || pthread_equal(pthread_self(), main_thread) || info->si_pid != getpid())
    ++wrong;
  if (info->si_code == SI_QUEUE && info->si_value.sival_int != 1234)
    ++wrong;
  CHECK(sem_post(&handled) == 0);
}
static void* has_it_open(void* computes) {
  own = 7;
  const sigset_t set = set_of(SIGUSR1);
  CHECK_ERROR(0, pthread_sigmask(SIG_UNBLOCK, &set, NULL));
  CHECK(sem_post(&there) == 0);
  while (!ends) {
    if (computes == NULL)
      sleep_ms(1);
  }
  return NULL;
}
static void* sends(void* x) {
  for (int i = 0; i < 50; ++i) {
    CHECK(kill(getpid(), SIGUSR1) == 0);
    wait_for(&handled);
  }
  return x;
}
static void of_the_process(void) {
  CHECK(sem_init(&handled, 0, 0) == 0 && sem_init(&there, 0, 0) == 0);
  main_thread = pthread_self();
  handle(SIGUSR1, in_a_thread);
  const sigset_t set = set_of(SIGUSR1);
  CHECK_ERROR(0, pthread_sigmask(SIG_BLOCK, &set, NULL));
  pthread_t all[4];
  for (int i = 0; i < 4; ++i)
    all[i] = begin(has_it_open, i == 3 ? &ends : NULL);
  for (int i = 0; i < 4; ++i)
    wait_for(&there);
  for (int i = 0; i < 50; ++i) {
    if (i % 2 == 0)
      CHECK(kill(getpid(), SIGUSR1) == 0);
    else
      CHECK(sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 1234}) == 0);
    wait_for(&handled);
  }
  end(begin(sends, NULL)); /* which has it blocked, as main has */
  ends = 1;
  for (int i = 0; i < 4; ++i)
    end(all[i]);
  CHECK(wrong == 0);
}

/* --- main first, which else would not leave its pause() --- */

static void in_main(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  if (!pthread_equal(pthread_self(), main_thread))
    ++wrong;
}
static void* sends_to_main(void* x) {
  sleep_ms(20);
  CHECK(kill(getpid(), SIGUSR1) == 0);
  return x;
}
static void main_first(void) {
  CHECK(sem_init(&there, 0, 0) == 0);
  main_thread = pthread_self();
  handle(SIGUSR1, in_main);
  const pthread_t open = begin(has_it_open, NULL);
  wait_for(&there);
  sigset_t set = set_of(SIGUSR1), none;
  CHECK_ERROR(0, pthread_sigmask(SIG_BLOCK, &set, NULL));
  sigemptyset(&none);
  for (int i = 0; i < 5; ++i) {
    const pthread_t t = begin(sends_to_main, NULL);
    sigdelset(&none, SIGUSR1);
    CHECK(sigsuspend(&none) == -1 && errno == EINTR);
    end(t);
  }
  ends = 1;
  end(open);
  CHECK(wrong == 0);
}

/* --- blocked in all, until one opens it --- */

static atomic_int count;
static void count_it(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  ++count;
}
static void* opens_it(void* x) {
  sigset_t set = set_of(SIGUSR1), waiting;
  CHECK(kill(getpid(), SIGUSR1) == 0);
  sleep_ms(10);
  CHECK(count == 0 && sigpending(&waiting) == 0 && sigismember(&waiting, SIGUSR1) == 1);
  CHECK_ERROR(0, pthread_kill(pthread_self(), SIGUSR2));
  CHECK(sigpending(&waiting) == 0 && sigismember(&waiting, SIGUSR2) == 1 && count == 0);
  CHECK_ERROR(0, pthread_sigmask(SIG_UNBLOCK, &set, NULL));
  CHECK(count == 1);
  set = set_of(SIGUSR2);
  CHECK_ERROR(0, pthread_sigmask(SIG_UNBLOCK, &set, NULL));
  CHECK(count == 2);
  CHECK(raise(SIGUSR1) == 0 && count == 3);
  CHECK(kill(getpid(), SIGUSR1) == 0 && count == 4); /* nobody else has it open */
  CHECK(sighold(SIGUSR1) == 0 && raise(SIGUSR1) == 0 && count == 4);
  CHECK(sigpause(SIGUSR1) == -1 && errno == EINTR && count == 5);
  CHECK(raise(SIGUSR1) == 0 && count == 5);
  CHECK(sigrelse(SIGUSR1) == 0 && count == 6);
  return x;
}
static void waits_until_open(void) {
  handle(SIGUSR1, count_it);
  handle(SIGUSR2, count_it);
  sigset_t set = set_of(SIGUSR1);
  sigaddset(&set, SIGUSR2);
  CHECK_ERROR(0, pthread_sigmask(SIG_BLOCK, &set, NULL));
  end(begin(opens_it, NULL));
}

/* --- what is told of it: pthread_sigqueue() --- */

enum { values = 20 };
static int told[values];
static void note_value(int number, siginfo_t* info, void* context) {
  (void)context;
  if (info->si_signo != number || info->si_code != SI_QUEUE || info->si_pid != getpid() || count >= values)
    ++wrong;
  else
    told[count++] = info->si_value.sival_int;
}
static void* gets_values(void* x) {
  sigset_t set = set_of(SIGRTMIN + 2);
  CHECK(sem_post(&there) == 0);
  wait_for(&handled);
  CHECK(count == 0);
  CHECK_ERROR(0, pthread_sigmask(SIG_UNBLOCK, &set, NULL));
  CHECK(count == values);
  CHECK_ERROR(0, pthread_sigmask(SIG_BLOCK, &set, NULL));
  CHECK(sem_post(&there) == 0);
  for (int i = 0; i < values; ++i) {
    siginfo_t info;
    CHECK(sigwaitinfo(&set, &info) == SIGRTMIN + 2);
    CHECK(info.si_code == SI_QUEUE && info.si_value.sival_int == 100 + i && info.si_errno == 0);
  }
  return x;
}
static void queued(void) {
  CHECK(sem_init(&handled, 0, 0) == 0 && sem_init(&there, 0, 0) == 0);
  const int number = SIGRTMIN + 2;
  handle(number, note_value);
  const sigset_t set = set_of(number);
  CHECK_ERROR(0, pthread_sigmask(SIG_BLOCK, &set, NULL));
  const pthread_t t = begin(gets_values, NULL);
  wait_for(&there);
  CHECK_ERROR(EINVAL, pthread_sigqueue(t, 1000, (union sigval){.sival_int = 0}));
  for (int i = 0; i < values; ++i)
    CHECK_ERROR(0, pthread_sigqueue(t, number, (union sigval){.sival_int = i}));
  CHECK(sem_post(&handled) == 0);
  wait_for(&there);
  for (int i = 0; i < values; ++i) {
    if (i % 7 == 3)
      sleep_ms(5); /* it waits in the kernel by then */
    CHECK_ERROR(0, pthread_sigqueue(t, number, (union sigval){.sival_int = 100 + i}));
  }
  end(t);
  for (int i = 0; i < values; ++i)
    CHECK(told[i] == i);
  CHECK(wrong == 0);
}

/* --- who waits for a signal keeps no worker: others compute, and it sleeps in the kernel until it is called
 * --- */

static void* waits_for_one(void* handles) {
  const sigset_t set = set_of(SIGUSR2);
  siginfo_t info;
  own = handles != NULL;
  CHECK(sem_post(&there) == 0);
  int got;
  while ((got = sigwaitinfo(&set, &info)) < 0)
    CHECK(errno == EINTR);
  CHECK(got == SIGUSR2);
  return handles;
}
static void* computes(void* x) {
  while (!ends) {
  }
  return x;
}
static void count_handled(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)info;
  (void)context;
  wrong += own != 1;
  CHECK(sem_post(&handled) == 0);
}
static void waits_without_worker(void) {
  CHECK(sem_init(&handled, 0, 0) == 0 && sem_init(&there, 0, 0) == 0);
  const sigset_t set = set_of(SIGUSR2);
  CHECK_ERROR(0, pthread_sigmask(SIG_BLOCK, &set, NULL));
  handle(SIGUSR1, count_handled);
  const int can_see = calls_can_be_seen();
  pthread_t busy[4];
  for (int i = 0; i < 4; ++i)
    busy[i] = begin(computes, NULL);
  const pthread_t t = begin(waits_for_one, (void*)1);
  wait_for(&there);
  /* Whoever needs a worker to wait again is seen to wait for that one, half of the time. */
  for (int in_turn = 0, looks = 0; can_see && in_turn < 30; ++looks, sleep_ms(2)) {
    CHECK(looks < 10000);
    in_turn = one_is_in_call(SYS_rt_sigtimedwait) ? in_turn + 1 : 0;
  }
  for (int i = 0; i < 3; ++i) { /* a handler runs all the same, and it waits again */
    CHECK_ERROR(0, pthread_kill(t, SIGUSR1));
    wait_for(&handled);
  }
  CHECK_ERROR(0, pthread_kill(t, SIGUSR2));
  CHECK(end(t) == (void*)1);
  for (int i = 0; i < 20; ++i) { /* cancelled at the beginning, and when it waits without a worker */
    const pthread_t other = begin(waits_for_one, NULL);
    wait_for(&there);
    if (i % 4 == 3)
      sleep_ms(10);
    CHECK_ERROR(0, pthread_cancel(other));
    CHECK(end(other) == PTHREAD_CANCELED);
  }
  ends = 1;
  for (int i = 0; i < 4; ++i)
    end(busy[i]);
  CHECK(wrong == 0);
}

/* --- what nobody handles ends the process, if a thread has it open --- */

static void* has_term_open(void* x) {
  const sigset_t set = set_of(SIGTERM);
  CHECK_ERROR(0, pthread_sigmask(SIG_UNBLOCK, &set, NULL));
  CHECK(kill(getpid(), SIGTERM) == 0);
  for (;;)
    pause();
  return x;
}
static void* ends_itself(void* x) {
  raise(SIGTERM);
  for (;;)
    pause();
  return x;
}
static void by_default(void) {
  for (int i = 0; i < 2; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);
      const sigset_t set = set_of(SIGTERM);
      if (i == 0)
        CHECK_ERROR(0, pthread_sigmask(SIG_BLOCK, &set, NULL));
      end(begin(i == 0 ? has_term_open : ends_itself, NULL));
    }
    CHECK(child > 0 && status_of(child) == 1000 + SIGTERM);
  }
}

/* --- processes begin with the mask of the thread that makes them --- */

static unsigned long mask_in(FILE* text) {
  char line[200];
  unsigned long mask = ~0UL;
  while (fgets(line, sizeof line, text) != NULL)
    sscanf(line, "SigBlk: %lx", &mask);
  return mask;
}
/* By the shell itself: what it runs may begin with another mask. */
#define TELL "while read line; do echo \"$line\"; done < /proc/self/status"
static const char to_file[] = TELL " > mask_of_$TEST_NAME";
static void check_file(const char* name, unsigned long wanted) {
  FILE* text = fopen(name, "r");
  CHECK(text != NULL && mask_in(text) == wanted);
  CHECK(fclose(text) == 0 && unlink(name) == 0);
}
static void* makes_processes(void* x) {
  const sigset_t set = set_of(SIGUSR2);
  const unsigned long wanted = 1UL << (SIGUSR2 - 1);
  CHECK_ERROR(0, pthread_sigmask(SIG_SETMASK, &set, NULL));
  FILE* text = popen(TELL, "r");
  CHECK(text != NULL && mask_in(text) == wanted);
  CHECK(pclose(text) == 0);
  char number[40], name[80];
  snprintf(number, sizeof number, "%d", (int)getpid());
  snprintf(name, sizeof name, "mask_of_%s", number);
  CHECK(setenv("TEST_NAME", number, 1) == 0);
  CHECK(system(to_file) == 0);
  check_file(name, wanted);
  char* words[] = {"sh", "-c", (char*)to_file, NULL};
  pid_t child = 0;
  CHECK_ERROR(0, posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ));
  CHECK(status_of(child) == 0);
  check_file(name, wanted);
  child = fork();
  if (child == 0) {
    alarm(30);
    handle(SIGUSR1, count_it);
    handle(SIGUSR2, count_it);
    CHECK(kill(getpid(), SIGUSR2) == 0 && count == 0);
    CHECK(kill(getpid(), SIGUSR1) == 0 && count == 1);
    CHECK_ERROR(0, pthread_sigmask(SIG_UNBLOCK, &set, NULL));
    CHECK(count == 2);
    CHECK_ERROR(0, pthread_sigmask(SIG_BLOCK, &set, NULL));
    CHECK(kill(getpid(), SIGUSR2) == 0 && count == 2);
    _exit(0);
  }
  CHECK(child > 0 && status_of(child) == 0);
  return x;
}
static void of_processes(void) {
  end(begin(makes_processes, NULL));
}

/* A child that begins while signals for the process are under way handles its own. */
static atomic_int has_forked;
static void* sends_to_process(void* x) {
  while (!has_forked) {
    CHECK(kill(getpid(), SIGUSR1) == 0);
    usleep(20);
  }
  return x;
}
static void* forks(void* x) {
  for (int i = 0; i < 200; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);
      for (int k = 0; k < 3; ++k)
        CHECK(kill(getpid(), SIGUSR1) == 0);
      _exit(0);
    }
    int status = -1;
    while (waitpid(child, &status, 0) < 0)
      CHECK(errno == EINTR);
    CHECK(status == 0);
  }
  has_forked = 1;
  return x;
}
static void forked_meanwhile(void) {
  handle(SIGUSR1, count_it);
  const pthread_t sender = begin(sends_to_process, NULL), forker = begin(forks, NULL);
  const sigset_t set = set_of(SIGUSR1);
  CHECK_ERROR(0, pthread_sigmask(SIG_BLOCK, &set, NULL));
  end(forker);
  end(sender);
}

int main(int argument_count, char** words) {
  (void)argument_count;
  static const struct test_case cases[] = {{"of_the_process", of_the_process},
                                           {"main_first", main_first},
                                           {"waits_until_open", waits_until_open},
                                           {"queued", queued},
                                           {"waits_without_worker", waits_without_worker},
                                           {"by_default", by_default},
                                           {"of_processes", of_processes},
                                           {"forked_meanwhile", forked_meanwhile}};
  return RUN_CASE(cases, words);
}
