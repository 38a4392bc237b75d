/* SPDX-License-Identifier: MIT */
/* Threads that ask for what only kernel threads have, while they run: CPUs, a policy, a niceness, descriptors
 * of their own. The kernel itself is asked whether they have it: past all libraries. */
#include "tests/pthreads/check.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Of the calling kernel thread. */
static long kernel_thread(void) {
  return raw(SYS_gettid, 0, 0, 0);
}
static cpu_set_t kernel_cpus(void) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CHECK(raw(SYS_sched_getaffinity, 0, sizeof cpus, (long)&cpus) > 0);
  return cpus;
}
static long kernel_policy(void) {
  return raw(SYS_sched_getscheduler, 0, 0, 0);
}
static long kernel_niceness(void) {
  return 20 - raw(SYS_getpriority, PRIO_PROCESS, 0, 0);
}

static sem_t here, go;
static void prepare(void) {
  CHECK(sem_init(&here, 0, 0) == 0 && sem_init(&go, 0, 0) == 0);
}
static _Thread_local int own;

/* --- CPUs --- */

/* Whatever it waits for it comes back to the same kernel thread. */
static void wait_in_all_ways(const cpu_set_t* cpus) {
  const long on = kernel_thread();
  int ends[2];
  char c = 0;
  for (int i = 0; i < 20; ++i) {
    cpu_set_t now = kernel_cpus();
    CHECK(kernel_thread() == on && CPU_EQUAL(&now, cpus) && own == 42);
    sleep_ms(1);
    CHECK(sem_post(&here) == 0 && sem_wait(&go) == 0);
    CHECK(pipe(ends) == 0 && write(ends[1], "x", 1) == 1 && read(ends[0], &c, 1) == 1);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
    sched_yield();
  }
}
static void* binds_itself(void* unused) {
  const cpu_set_t one = first_cpu();
  const pid_t id = gettid();
  const pthread_t handle = pthread_self();
  cpu_set_t told;
  own = 42;
  CHECK_ERROR(0, pthread_setaffinity_np(pthread_self(), sizeof one, &one));
  wait_in_all_ways(&one);
  CHECK_ERROR(0, pthread_getaffinity_np(pthread_self(), sizeof told, &told));
  CHECK(CPU_EQUAL(&told, &one) && gettid() == id && pthread_equal(pthread_self(), handle));
  return unused;
}
static void binds(void) {
  prepare();
  const cpu_set_t before = kernel_cpus();
  pthread_t t[3];
  for (int k = 0; k < 3; ++k)
    t[k] = begin(binds_itself, NULL);
  for (int i = 0; i < 60; ++i)
    CHECK(sem_wait(&here) == 0 && sem_post(&go) == 0);
  for (int k = 0; k < 3; ++k)
    end(t[k]);
  const cpu_set_t after = kernel_cpus();
  CHECK(CPU_EQUAL(&before, &after));
  cpu_set_t none;
  CPU_ZERO(&none);
  CHECK_ERROR(EINVAL, pthread_setaffinity_np(pthread_self(), sizeof none, &none));
}

static int is_bound(void) {
  const cpu_set_t one = first_cpu(), now = kernel_cpus();
  return CPU_EQUAL(&now, &one);
}
static void* computes_until_bound(void* unused) {
  CHECK(sem_post(&here) == 0);
  while (!is_bound()) {
  }
  return unused;
}
static void* waits_until_bound(void* unused) {
  CHECK(sem_post(&here) == 0 && sem_wait(&go) == 0);
  CHECK(is_bound());
  return unused;
}
static void* sleeps_until_bound(void* unused) {
  CHECK(sem_post(&here) == 0);
  while (!is_bound())
    sleep_ms(1);
  return unused;
}
static void* binds_others(void* unused) {
  void* (*const kinds[])(void*) = {computes_until_bound, waits_until_bound, sleeps_until_bound};
  const cpu_set_t one = first_cpu();
  for (int i = 0; i < 30; ++i) {
    const pthread_t t = begin(kinds[i % 3], NULL);
    CHECK(sem_wait(&here) == 0);
    CHECK_ERROR(0, pthread_setaffinity_np(t, sizeof one, &one));
    if (i % 3 == 1)
      CHECK(sem_post(&go) == 0);
    end(t);
  }
  return unused;
}
static void binds_another(void) {
  prepare();
  binds_others(NULL);
  end(begin(binds_others, NULL));
}

/* --- a policy, a niceness --- */

static void* takes_a_policy(void* unused) {
  const struct sched_param none = {0};
  struct sched_param told = {1};
  int policy = -1;
  CHECK_ERROR(0, pthread_setschedparam(pthread_self(), SCHED_BATCH, &none));
  CHECK(kernel_policy() == SCHED_BATCH && sched_getscheduler(0) == SCHED_BATCH);
  CHECK_ERROR(0, pthread_getschedparam(pthread_self(), &policy, &told));
  CHECK(policy == SCHED_BATCH && told.sched_priority == 0);
  CHECK(sem_post(&here) == 0 && sem_wait(&go) == 0);
  CHECK(kernel_policy() == SCHED_BATCH);
  CHECK_ERROR(0, pthread_setschedparam(pthread_self(), SCHED_OTHER, &none));
  CHECK(kernel_policy() == SCHED_OTHER);
  CHECK_ERROR(EINVAL, pthread_setschedparam(pthread_self(), 77, &none));
  CHECK_ERROR(EINVAL, pthread_setschedparam(pthread_self(), SCHED_FIFO, &none));
  const struct sched_param real = {1};
  const int error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &real);
  CHECK(error == EPERM || (error == 0 && kernel_policy() == SCHED_FIFO));
  return unused;
}
static void policies(void) {
  prepare();
  const pthread_t t = begin(takes_a_policy, NULL);
  CHECK(sem_wait(&here) == 0);
  int policy = -1;
  struct sched_param told;
  CHECK_ERROR(0, pthread_getschedparam(t, &policy, &told));
  CHECK(policy == SCHED_BATCH && kernel_policy() == SCHED_OTHER);
  CHECK(sem_post(&go) == 0);
  end(t);
}

static void* becomes_nicer(void* unused) {
  const long before = kernel_niceness();
  CHECK(setpriority(PRIO_PROCESS, (id_t)gettid(), (int)before + 3) == 0);
  CHECK(kernel_niceness() == before + 3 && getpriority(PRIO_PROCESS, 0) == before + 3);
  CHECK(nice(2) == before + 5 && kernel_niceness() == before + 5);
  CHECK(sem_post(&here) == 0 && sem_wait(&go) == 0);
  CHECK(kernel_niceness() == before + 5);
  return unused;
}
static void* stays(void* unused) {
  CHECK(kernel_niceness() == getpriority(PRIO_PROCESS, 0));
  return unused;
}
static void niceness(void) {
  prepare();
  const long before = kernel_niceness();
  const pthread_t t = begin(becomes_nicer, NULL);
  CHECK(sem_wait(&here) == 0 && kernel_niceness() == before);
  end(begin(stays, NULL));
  CHECK(sem_post(&go) == 0);
  end(t);
}

/* By numbers, as libraries do that have no functions for them. */
struct attributes {
  uint32_t bytes, policy;
  uint64_t flags;
  int32_t niceness;
  uint32_t priority;
  uint64_t runtime, deadline, period;
};
static void* calls_by_number(void* unused) {
  struct attributes a = {.bytes = sizeof a, .policy = SCHED_BATCH};
  CHECK(syscall(SYS_sched_setattr, 0, &a, 0) == 0);
  CHECK(kernel_policy() == SCHED_BATCH);
  enum { best_effort_7 = 2 << 13 | 7, this_process = 1 };
  CHECK(syscall(SYS_ioprio_set, this_process, gettid(), best_effort_7) == 0);
  CHECK(raw(SYS_ioprio_get, this_process, 0, 0) == best_effort_7);
  CHECK(prctl(PR_SET_TIMERSLACK, 77777) == 0 && raw(SYS_prctl, PR_GET_TIMERSLACK, 0, 0) == 77777);
  clockid_t clock;
  struct timespec ran;
  CHECK_ERROR(0, pthread_getcpuclockid(pthread_self(), &clock));
  CHECK(clock_gettime(clock, &ran) == 0);
  return unused;
}
static void by_number(void) {
  const long slack = raw(SYS_prctl, PR_GET_TIMERSLACK, 0, 0);
  end(begin(calls_by_number, NULL));
  CHECK(kernel_policy() == SCHED_OTHER && raw(SYS_prctl, PR_GET_TIMERSLACK, 0, 0) == slack);
}

/* --- descriptors and a folder of its own --- */

static void* has_its_own(void* unused) {
  int ends[2];
  char c = 0;
  struct stat s;
  CHECK(unshare(CLONE_FILES | CLONE_FS) == 0);
  CHECK(chdir("/") == 0);
  for (int i = 0; i < 20; ++i) {
    CHECK(pipe(ends) == 0);
    *(int*)unused = ends[0];
    CHECK(sem_post(&here) == 0 && sem_wait(&go) == 0);
    CHECK(fstat(ends[0], &s) == 0 && S_ISFIFO(s.st_mode));
    CHECK(write(ends[1], "x", 1) == 1 && read(ends[0], &c, 1) == 1);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
  }
  return unused;
}
static void own_descriptors(void) {
  prepare();
  char before[4096], after[4096];
  CHECK(chdir("/tmp") == 0 && getcwd(before, sizeof before) != NULL);
  int number = -1, ends[2];
  char c = 0;
  const pthread_t t = begin(has_its_own, &number);
  for (int i = 0; i < 20; ++i) {
    struct stat s;
    CHECK(sem_wait(&here) == 0);
    CHECK(fstat(number, &s) == -1 && errno == EBADF);
    CHECK(pipe(ends) == 0 && write(ends[1], "y", 1) == 1 && read(ends[0], &c, 1) == 1 && c == 'y');
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
    CHECK(sem_post(&go) == 0);
  }
  end(t);
  CHECK(getcwd(after, sizeof after) != NULL && strcmp(before, after) == 0);
}

/* --- rights and a namespace of its own --- */

extern int capset(void* header, const void* data);
extern int capget(void* header, void* data);
static uint32_t effective_rights(void) { /* the first 32, of the calling kernel thread */
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2];
  CHECK(raw(SYS_capget, (long)&header, (long)data, 0) == 0);
  return data[0].effective;
}
static void give_up_rights(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2];
  CHECK(capget(&header, data) == 0);
  data[0].effective = 0;
  CHECK(capset(&header, data) == 0 && effective_rights() == 0);
}
/* Who may not has the error that the C library has. */
static void* has_its_own_rights(void* unused) {
  const long user = raw(SYS_setfsuid, -1, 0, 0);
  CHECK(setfsuid((uid_t)user) == user && raw(SYS_setfsuid, -1, 0, 0) == user);
  struct stat before, after;
  const int all = open("/proc/self/ns/uts", O_RDONLY);
  CHECK(all >= 0 && fstat(all, &before) == 0);
  if (unshare(CLONE_NEWUTS) == 0) {
    CHECK(sethostname("weft-test", 9) == 0);
    const int own = open("/proc/thread-self/ns/uts", O_RDONLY);
    CHECK(own >= 0 && fstat(own, &after) == 0 && before.st_ino != after.st_ino && close(own) == 0);
    CHECK(sem_post(&here) == 0 && sem_wait(&go) == 0);
    CHECK(setns(all, CLONE_NEWUTS) == 0);
    const int again = open("/proc/thread-self/ns/uts", O_RDONLY);
    CHECK(again >= 0 && fstat(again, &after) == 0 && before.st_ino == after.st_ino && close(again) == 0);
    setfsuid((uid_t)user + 1);
    CHECK(raw(SYS_setfsuid, -1, 0, 0) == user + 1);
    setfsuid((uid_t)user);
  } else {
    CHECK(errno == EPERM && setns(all, CLONE_NEWUTS) == -1 && errno == EPERM);
    CHECK(sem_post(&here) == 0 && sem_wait(&go) == 0);
  }
  CHECK(close(all) == 0);
  give_up_rights();
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && raw(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0) == 1);
  CHECK(sem_post(&here) == 0 && sem_wait(&go) == 0);
  return unused;
}
static void rights(void) {
  prepare();
  char before[256], now[256];
  CHECK(gethostname(before, sizeof before) == 0);
  const uint32_t mine = effective_rights();
  const long user = raw(SYS_setfsuid, -1, 0, 0), locked = raw(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0);
  const pthread_t t = begin(has_its_own_rights, NULL);
  for (int i = 0; i < 2; ++i) {
    CHECK(sem_wait(&here) == 0);
    CHECK(gethostname(now, sizeof now) == 0 && strcmp(before, now) == 0);
    CHECK(effective_rights() == mine && raw(SYS_setfsuid, -1, 0, 0) == user);
    CHECK(raw(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0) == locked);
    CHECK(sem_post(&go) == 0);
  }
  end(t);
}

/* --- what else is done to such a thread --- */

static void bind_self(void) {
  const cpu_set_t one = first_cpu();
  CHECK_ERROR(0, pthread_setaffinity_np(pthread_self(), sizeof one, &one));
}
static atomic_int handled, stop;
static long handled_on;
static void handle(int number) {
  (void)number;
  handled_on = kernel_thread();
  atomic_fetch_add(&handled, 1);
}
static void* computes(void* unused) {
  bind_self();
  const long on = kernel_thread();
  CHECK(sem_post(&here) == 0);
  while (atomic_load(&handled) == 0) {
  }
  CHECK(handled_on == on && kernel_thread() == on);
  CHECK(sem_post(&here) == 0);
  CHECK(sem_wait(&go) == -1 && errno == EINTR && atomic_load(&handled) == 2);
  return unused;
}
static void* in_vain(void* unused) {
  bind_self();
  CHECK(sem_post(&here) == 0);
  CHECK(sem_wait(&go) == 0); /* cancelled here */
  return unused;
}
static void* for_ever(void* unused) {
  bind_self();
  CHECK(sem_post(&here) == 0); /* in which nobody may be cancelled at any moment */
  CHECK_ERROR(0, pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL));
  while (atomic_load(&stop) == 0) {
  }
  return unused;
}
static void* reads_for_ever(void* from) {
  bind_self();
  char c;
  CHECK(sem_post(&here) == 0);
  CHECK(read((int)(intptr_t)from, &c, 1) == 1); /* cancelled here */
  return NULL;
}
static void requests(void) {
  prepare();
  struct sigaction a = {.sa_handler = handle};
  CHECK(sigaction(SIGUSR1, &a, NULL) == 0);
  pthread_t t = begin(computes, NULL);
  CHECK(sem_wait(&here) == 0);
  CHECK_ERROR(0, pthread_kill(t, SIGUSR1));
  CHECK(sem_wait(&here) == 0);
  sleep_ms(2);
  CHECK_ERROR(0, pthread_kill(t, SIGUSR1));
  end(t);
  int ends[2];
  CHECK(pipe(ends) == 0);
  void* (*const kinds[])(void*) = {in_vain, for_ever, reads_for_ever};
  for (int i = 0; i < 12; ++i) {
    t = begin(kinds[i % 3], (void*)(intptr_t)ends[0]);
    CHECK(sem_wait(&here) == 0);
    CHECK_ERROR(0, pthread_cancel(t));
    CHECK(end(t) == PTHREAD_CANCELED);
  }
}

/* A kernel thread that it makes begins with its mask, and with its CPUs. */
static void* looks_at_itself(void* unused) {
  sigset_t mask;
  const cpu_set_t one = first_cpu(), now = kernel_cpus();
  CHECK_ERROR(0, pthread_sigmask(SIG_SETMASK, NULL, &mask));
  CHECK(sigismember(&mask, SIGUSR2) == 1 && sigismember(&mask, SIGUSR1) == 0);
  CHECK(CPU_EQUAL(&now, &one));
  return unused;
}
static void* makes_kernel_threads(void* promoted) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  CHECK_ERROR(0, pthread_sigmask(SIG_BLOCK, &set, NULL));
  if (promoted != NULL)
    bind_self();
  end(begin_native(looks_at_itself, NULL));
  return NULL;
}
static void masks(void) {
  static int yes;
  end(begin(makes_kernel_threads, NULL));
  end(begin(makes_kernel_threads, &yes));
}

static int kernel_threads(void) {
  int count = 0;
  DIR* const d = opendir("/proc/self/task");
  for (struct dirent* e; (e = readdir(d)) != NULL;)
    count += e->d_name[0] != '.';
  CHECK(closedir(d) == 0);
  return count;
}
static void* binds_and_ends(void* unused) {
  bind_self();
  CHECK(sem_post(&here) == 0);
  return unused;
}
/* One after the other, joined and detached: the kernel threads go with them. */
static void come_and_go(void) {
  prepare();
  int first = 0;
  for (int i = 0; i < 100; ++i) {
    const pthread_t t = begin(binds_and_ends, NULL);
    if (i % 2 == 0)
      end(t);
    else
      CHECK_ERROR(0, pthread_detach(t));
    CHECK(sem_wait(&here) == 0);
    if (i == 20)
      first = kernel_threads();
  }
  end(begin(binds_and_ends, NULL)); /* those of detached ones have ended when another one comes */
  for (int looks = 0; kernel_threads() > first + 8; ++looks) {
    CHECK(looks < 5000);
    end(begin(binds_and_ends, NULL));
    sleep_ms(1);
  }
}

static void* forks(void* unused) {
  bind_self();
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    const cpu_set_t one = first_cpu(), now = kernel_cpus();
    CHECK(CPU_EQUAL(&now, &one));
    prepare();
    end(begin(binds_and_ends, NULL));
    _exit(3);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
  CHECK(system("exit 4") == 4 << 8);
  return unused;
}
static void processes(void) {
  prepare();
  end(begin(forks, NULL));
}

static void* names_itself(void* unused) {
  char name[16];
  CHECK_ERROR(0, pthread_getname_np(pthread_self(), name, sizeof name));
  CHECK(strncmp("pthreads_promot", name, 15) == 0);
  CHECK(prctl(PR_SET_NAME, "a name that is too long") == 0);
  CHECK_ERROR(0, pthread_getname_np(pthread_self(), name, sizeof name));
  CHECK(strcmp(name, "a name that is ") == 0);
  memset(name, 0, sizeof name);
  CHECK(prctl(PR_GET_NAME, name) == 0 && strcmp(name, "a name that is ") == 0);
  return unused;
}
static void names(void) {
  end(begin(names_itself, NULL));
  char name[16];
  CHECK(prctl(PR_GET_NAME, name) == 0 && strncmp("pthreads_promot", name, 15) == 0);
}

/* No kernel thread is to be had: it stays what it was. */
static int forbid_threads(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {sizeof code / sizeof *code, code};
  return raw(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0) == 0 &&
         raw(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, (long)&filter) == 0;
}
static void* asks_in_vain(void* unused) {
  const cpu_set_t one = first_cpu(), before = kernel_cpus();
  CHECK(sem_post(&here) == 0 && sem_wait(&go) == 0);
  for (int i = 0; i < 3; ++i) {
    const int error = pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    const cpu_set_t now = kernel_cpus();
    CHECK(error == 0 ? CPU_EQUAL(&now, &one) : error == EAGAIN && CPU_EQUAL(&now, &before));
    sleep_ms(1);
  }
  return unused;
}
static void refused(void) {
  prepare();
  const pthread_t t = begin(asks_in_vain, NULL);
  CHECK(sem_wait(&here) == 0);
  if (!forbid_threads())
    fprintf(stderr, "no filter can be set here\n");
  CHECK(sem_post(&go) == 0);
  end(t);
}

int main(int count, char** words) {
  static const struct test_case cases[] = {{"binds", binds},
                                           {"binds_another", binds_another},
                                           {"policies", policies},
                                           {"niceness", niceness},
                                           {"by_number", by_number},
                                           {"own_descriptors", own_descriptors},
                                           {"requests", requests},
                                           {"masks", masks},
                                           {"come_and_go", come_and_go},
                                           {"processes", processes},
                                           {"names", names},
                                           {"refused", refused},
                                           {"rights", rights}};
  (void)count;
  return RUN_CASE(cases, words);
}
