/* SPDX-License-Identifier: MIT */
/* Threads: made, joined, detached, ended; what is their own; what is asked of them. */
#include "tests/pthreads/check.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static void* plus_one(void* x) {
  return (char*)x + 1;
}

static void results(void) {
  for (intptr_t i = 0; i < 300; ++i)
    CHECK((intptr_t)end(begin(plus_one, (void*)i)) == i + 1);
  pthread_t all[200];
  for (intptr_t i = 0; i < 200; ++i)
    all[i] = begin(plus_one, (void*)i);
  for (intptr_t i = 0; i < 200; ++i)
    CHECK((intptr_t)end(all[i]) == i + 1);
}

static void* tree(void* depth_as_pointer) {
  const intptr_t depth = (intptr_t)depth_as_pointer;
  if (depth == 0)
    return (void*)1;
  pthread_t left = begin(tree, (void*)(depth - 1)), right = begin(tree, (void*)(depth - 1));
  return (void*)((intptr_t)end(left) + (intptr_t)end(right));
}
static void threads_make_threads(void) {
  CHECK((intptr_t)end(begin(tree, (void*)7)) == 128);
}

static pthread_t handle_of_other, handle_of_one;
static void* looks_at_itself(void* x) {
  (void)x;
  CHECK(pthread_equal(pthread_self(), handle_of_one));
  CHECK(!pthread_equal(pthread_self(), handle_of_other));
  CHECK_ERROR(EDEADLK, pthread_join(pthread_self(), NULL));
  CHECK_ERROR(0, pthread_kill(pthread_self(), 0));
  return NULL;
}
static void handles(void) {
  handle_of_other = pthread_self();
  CHECK(pthread_equal(handle_of_other, pthread_self()));
  CHECK_ERROR(0, pthread_create(&handle_of_one, NULL, looks_at_itself, NULL));
  end(handle_of_one);
}

/* Only where handles know that they are stale: the C library's are addresses. */
static void stale_handles(void) {
  pthread_t t = begin(plus_one, NULL);
  end(t);
  for (int i = 0; i < 50; ++i)
    end(begin(plus_one, NULL));
  CHECK_ERROR(ESRCH, pthread_join(t, NULL));
  CHECK_ERROR(ESRCH, pthread_detach(t));
  CHECK_ERROR(ESRCH, pthread_kill(t, 0));
  CHECK_ERROR(ESRCH, pthread_cancel(t));
  CHECK_ERROR(ESRCH, pthread_setname_np(t, "gone"));
}

static atomic_int ended;
static void* counts_its_end(void* x) {
  if (x != NULL)
    CHECK_ERROR(0, pthread_detach(pthread_self()));
  ++ended;
  return NULL;
}
static void detached(void) {
  pthread_attr_t a;
  CHECK_ERROR(0, pthread_attr_init(&a));
  CHECK_ERROR(0, pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED));
  for (int i = 0; i < 300; ++i) {
    pthread_t t;
    CHECK_ERROR(0, pthread_create(&t, i % 3 == 0 ? &a : NULL, counts_its_end, i % 3 == 1 ? &ended : NULL));
    if (i % 3 == 2)
      CHECK_ERROR(0, pthread_detach(t));
  }
  while (ended != 300)
    sleep_ms(1);
  pthread_attr_destroy(&a);
}

static atomic_int unwound;
static void count_unwinding(void* x) {
  (void)x;
  ++unwound;
}
static void leave_deeper(int depth) {
  pthread_cleanup_push(count_unwinding, NULL);
  if (depth > 0)
    leave_deeper(depth - 1);
  if (depth == 0)
    pthread_exit((void*)77);
  pthread_cleanup_pop(0);
}
static void* leaves(void* x) {
  pthread_cleanup_push(count_unwinding, NULL);
  pthread_cleanup_pop(1);
  leave_deeper((int)(intptr_t)x);
  return NULL;
}
static void exit_runs_handlers(void) {
  for (int i = 1; i <= 20; ++i) {
    unwound = 0;
    CHECK((intptr_t)end(begin(leaves, (void*)(intptr_t)i)) == 77);
    CHECK(unwound == i + 2);
  }
}

static pthread_key_t key;
static atomic_int destroyed;
static void again_and_again(void* value) {
  ++destroyed;
  if ((intptr_t)value > 1)
    pthread_setspecific(key, (void*)((intptr_t)value - 1));
}
static __thread int own = 5;
static void* uses_its_own(void* x) {
  CHECK(own == 5 && pthread_getspecific(key) == NULL);
  own = (int)(intptr_t)x;
  errno = own;
  CHECK_ERROR(0, pthread_setspecific(key, (void*)3));
  for (int i = 0; i < 50; ++i) {
    sched_yield();
    if (i % 10 == 0)
      sleep_ms(1);
    CHECK(own == (int)(intptr_t)x && errno == own && pthread_getspecific(key) == (void*)3);
  }
  return NULL;
}
static void own_variables(void) {
  CHECK_ERROR(0, pthread_key_create(&key, again_and_again));
  pthread_t all[30];
  for (intptr_t i = 0; i < 30; ++i)
    all[i] = begin(uses_its_own, (void*)(i + 1));
  for (int i = 0; i < 30; ++i)
    end(all[i]);
  CHECK(destroyed == 90); /* before the join was let through */
}

static void* sleeps(void* ms) {
  sleep_ms((intptr_t)ms);
  return ms;
}
static void timed_joins(void) {
  void* result = NULL;
  pthread_t t = begin(sleeps, (void*)150);
  CHECK_ERROR(EBUSY, pthread_tryjoin_np(t, &result));
  struct timespec soon = in_ms(CLOCK_REALTIME, 10);
  CHECK_ERROR(ETIMEDOUT, pthread_timedjoin_np(t, &result, &soon));
  soon = in_ms(CLOCK_MONOTONIC, 20000);
  CHECK_ERROR(0, pthread_clockjoin_np(t, &result, CLOCK_MONOTONIC, &soon));
  CHECK((intptr_t)result == 150);
  t = begin(sleeps, (void*)1);
  while (pthread_tryjoin_np(t, &result) == EBUSY)
    sleep_ms(1);
  CHECK((intptr_t)result == 1);
}

static void* knows_its_stack(void* bytes) {
  pthread_attr_t a;
  void* low;
  size_t size;
  char here;
  CHECK_ERROR(0, pthread_getattr_np(pthread_self(), &a));
  CHECK_ERROR(0, pthread_attr_getstack(&a, &low, &size));
  CHECK(&here > (char*)low && &here < (char*)low + size && size >= (size_t)bytes);
  pthread_attr_destroy(&a);
  /* A guard of one's own, as Java has it: from the lowest byte on. */
  CHECK(mmap(low, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == low);
  CHECK(mmap(low, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == low);
  volatile char deep[(size_t)bytes * 3 / 4];
  for (size_t i = 0; i < sizeof deep; i += 1024)
    deep[i] = (char)i;
  return (void*)(intptr_t)deep[1024 % sizeof deep];
}
static void stacks(void) {
  static const size_t sizes[] = {64 << 10, 1 << 20, 32 << 20};
  for (int i = 0; i < 3; ++i) {
    pthread_attr_t a;
    pthread_t t;
    CHECK_ERROR(0, pthread_attr_init(&a));
    CHECK_ERROR(0, pthread_attr_setstacksize(&a, sizes[i]));
    CHECK_ERROR(0, pthread_create(&t, &a, knows_its_stack, (void*)sizes[i]));
    end(t);
    pthread_attr_destroy(&a);
  }
  end(begin(knows_its_stack, (void*)(6 << 20)));
  /* On memory of the program's own. */
  pthread_attr_t a;
  pthread_t t;
  void* memory = aligned_alloc(4096, 1 << 20);
  CHECK_ERROR(0, pthread_attr_init(&a));
  CHECK_ERROR(0, pthread_attr_setstack(&a, memory, 1 << 20));
  CHECK_ERROR(0, pthread_create(&t, &a, plus_one, (void*)4));
  CHECK((intptr_t)end(t) == 5);
  free(memory);
}

static void names(void) {
  char name[16];
  pthread_t t = begin(sleeps, (void*)30);
  CHECK_ERROR(0, pthread_setname_np(t, "a thread"));
  CHECK_ERROR(0, pthread_getname_np(t, name, sizeof name));
  CHECK(strcmp(name, "a thread") == 0);
  CHECK_ERROR(ERANGE, pthread_setname_np(t, "sixteen letters!"));
  CHECK_ERROR(ERANGE, pthread_getname_np(t, name, 3));
  int policy = -1;
  struct sched_param p;
  CHECK_ERROR(0, pthread_getschedparam(t, &policy, &p));
  CHECK(policy == SCHED_OTHER && p.sched_priority == 0);
  cpu_set_t cpus;
  CHECK_ERROR(0, pthread_getaffinity_np(t, sizeof cpus, &cpus));
  CHECK(CPU_COUNT(&cpus) > 0);
  CHECK_ERROR(0, pthread_setaffinity_np(t, sizeof cpus, &cpus));
  end(t);
}

static atomic_int spun;
static void* spins(void* x) {
  (void)x;
  while (spun == 0) {
  }
  return NULL;
}
static void* ends_the_spinning(void* x) {
  (void)x;
  spun = 1;
  return NULL;
}
/* As many that compute for ever as there may be workers, until another one has run. */
static void spinning(void) {
  pthread_t all[6];
  for (int i = 0; i < 6; ++i)
    all[i] = begin(spins, NULL);
  end(begin(ends_the_spinning, NULL));
  for (int i = 0; i < 6; ++i)
    end(all[i]);
}

static sem_t gate;
static void* waits_at_gate(void* x) {
  CHECK(sem_wait(&gate) == 0);
  return x;
}
static void thousands(void) {
  enum { count = 2000 };
  static pthread_t all[count];
  pthread_attr_t a;
  CHECK_ERROR(0, pthread_attr_init(&a));
  CHECK_ERROR(0, pthread_attr_setstacksize(&a, 64 << 10));
  CHECK(sem_init(&gate, 0, 0) == 0);
  for (intptr_t i = 0; i < count; ++i)
    CHECK_ERROR(0, pthread_create(&all[i], &a, waits_at_gate, (void*)i));
  for (int i = 0; i < count; ++i)
    CHECK(sem_post(&gate) == 0);
  for (intptr_t i = 0; i < count; ++i)
    CHECK((intptr_t)end(all[i]) == i);
}

/* --- ids --- */

static atomic_int in_handler;
static void note_id(int number) {
  (void)number;
  in_handler = gettid();
}
static pid_t ids[16];
static sem_t has_id, may_end;
static void* has_one_id(void* place) {
  const pid_t mine = gettid();
  *(pid_t*)place = mine;
  CHECK(mine > 0 && mine != getpid() && syscall(SYS_gettid) == mine);
  cpu_set_t cpus;
  CHECK(sched_getaffinity(mine, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) > 0);
  CHECK(sched_setaffinity(mine, sizeof cpus, &cpus) == 0);
  CHECK(sched_setaffinity(0, sizeof cpus, &cpus) == 0);
  CHECK(sched_getscheduler(mine) == SCHED_OTHER && sched_getscheduler(0) == SCHED_OTHER);
  struct sched_param how = {7};
  CHECK(sched_getparam(mine, &how) == 0 && how.sched_priority == 0);
  CHECK(setpriority(PRIO_PROCESS, (id_t)mine, 3) == 0);
  errno = 0;
  CHECK(getpriority(PRIO_PROCESS, (id_t)mine) == 3 && errno == 0);
  for (int i = 0; i < 100; ++i) {
    sched_yield();
    CHECK(gettid() == mine);
  }
  CHECK(tgkill(getpid(), mine, 0) == 0);
  if (place == &ids[0]) {
    CHECK(tgkill(getpid(), mine, SIGUSR1) == 0);
    CHECK(in_handler == mine);
  }
  CHECK(sem_post(&has_id) == 0);
  CHECK(sem_wait(&may_end) == 0);
  CHECK(gettid() == mine);
  return NULL;
}
static void own_ids(void) {
  struct sigaction how = {.sa_handler = note_id};
  CHECK(sigaction(SIGUSR1, &how, NULL) == 0);
  CHECK(sem_init(&has_id, 0, 0) == 0 && sem_init(&may_end, 0, 0) == 0);
  pthread_t all[16];
  for (int i = 0; i < 16; ++i)
    all[i] = begin(has_one_id, &ids[i]);
  for (int i = 0; i < 16; ++i)
    CHECK(sem_wait(&has_id) == 0);
  for (int i = 0; i < 16; ++i) {
    CHECK(tgkill(getpid(), ids[i], 0) == 0);
    errno = 0;
    CHECK(getpriority(PRIO_PROCESS, (id_t)ids[i]) == 3 && errno == 0);
    for (int j = 0; j < i; ++j)
      CHECK(ids[i] != ids[j]);
  }
  for (int i = 0; i < 16; ++i)
    CHECK(sem_post(&may_end) == 0);
  for (int i = 0; i < 16; ++i)
    end(all[i]);
  CHECK(tgkill(getpid(), ids[3], 0) == -1 && errno == ESRCH);
  CHECK(gettid() == getpid());
}

static void* tells_stack(void* x) {
  pthread_attr_t own;
  size_t bytes = 0;
  (void)x;
  CHECK_ERROR(0, pthread_getattr_np(pthread_self(), &own));
  CHECK_ERROR(0, pthread_attr_getstacksize(&own, &bytes));
  CHECK_ERROR(0, pthread_attr_destroy(&own));
  return (void*)bytes;
}
static void* is_detached(void* told) {
  pthread_attr_t own;
  int state = -1;
  sigset_t mask;
  CHECK_ERROR(0, pthread_sigmask(SIG_BLOCK, NULL, &mask));
  CHECK(sigismember(&mask, SIGUSR1) == 1);
  CHECK_ERROR(0, pthread_getattr_np(pthread_self(), &own));
  CHECK_ERROR(0, pthread_attr_getdetachstate(&own, &state));
  CHECK_ERROR(0, pthread_attr_destroy(&own));
  CHECK(state == PTHREAD_CREATE_DETACHED);
  CHECK(sem_post(told) == 0);
  return NULL;
}
/* The program may change them between two threads. */
static void default_attributes(void) {
  for (size_t bytes = 256 << 10; bytes <= 1024 << 10; bytes *= 2) {
    pthread_attr_t usual;
    CHECK_ERROR(0, pthread_attr_init(&usual));
    CHECK_ERROR(0, pthread_attr_setstacksize(&usual, bytes));
    CHECK_ERROR(0, pthread_setattr_default_np(&usual));
    CHECK_ERROR(0, pthread_attr_destroy(&usual));
    CHECK((size_t)end(begin(tells_stack, NULL)) == bytes);
  }
  pthread_attr_t usual;
  sem_t told;
  CHECK(sem_init(&told, 0, 0) == 0);
  CHECK_ERROR(0, pthread_attr_init(&usual));
  CHECK_ERROR(0, pthread_attr_setdetachstate(&usual, PTHREAD_CREATE_DETACHED));
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  CHECK_ERROR(0, pthread_attr_setsigmask_np(&usual, &mask));
  CHECK_ERROR(0, pthread_setattr_default_np(&usual));
  CHECK_ERROR(0, pthread_attr_destroy(&usual));
  begin(is_detached, &told);
  CHECK(sem_wait(&told) == 0);
}

static void* tells_policy(void* x) {
  struct sched_param how;
  int policy = -1;
  (void)x;
  CHECK_ERROR(0, pthread_getschedparam(pthread_self(), &policy, &how));
  return (void*)(intptr_t)policy;
}
/* Where the user may have it. */
static void policy_of_main(void) {
  const struct sched_param how = {.sched_priority = 1};
  const int error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &how);
  CHECK(error == 0 || error == EPERM);
  CHECK((intptr_t)end(begin(tells_policy, NULL)) == (error == 0 ? SCHED_FIFO : SCHED_OTHER));
}

int main(int count, char** words) {
  (void)count;
  static const struct test_case cases[] = {{"results", results},
                                           {"threads_make_threads", threads_make_threads},
                                           {"handles", handles},
                                           {"stale_handles", stale_handles},
                                           {"detached", detached},
                                           {"exit_runs_handlers", exit_runs_handlers},
                                           {"own_variables", own_variables},
                                           {"timed_joins", timed_joins},
                                           {"stacks", stacks},
                                           {"names", names},
                                           {"spinning", spinning},
                                           {"thousands", thousands},
                                           {"own_ids", own_ids},
                                           {"policy_of_main", policy_of_main},
                                           {"default_attributes", default_attributes}};
  return RUN_CASE(cases, words);
}
