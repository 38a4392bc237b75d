// SPDX-License-Identifier: MIT
// Preloaded into every program: at its end, each process writes which libraries made kernel threads in it,
// a line a library, to the file that WITNESS names. A runtime of OpenMP makes its threads when it opens a
// region of two or more: so this tells whose regions ran. Forked children tell too, and who ends by _exit().
// Weft makes its threads past preloads, and names them: of these the names are counted, at the end.
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most = 64 };

static struct maker {
  _Atomic(void*) base; // where the library lies
  char name[PATH_MAX];
  atomic_int threads;
} makers[most];

static void count(void* caller) {
  Dl_info in;
  if (dladdr(caller, &in) == 0)
    return;
  for (struct maker* m = makers; m < makers + most; ++m) {
    void* nobody = NULL;
    if (atomic_compare_exchange_strong(&m->base, &nobody, in.dli_fbase)) {
      if (realpath(in.dli_fname, m->name) == NULL)
        snprintf(m->name, sizeof m->name, "%s", in.dli_fname);
      nobody = in.dli_fbase;
    }
    if (nobody == in.dli_fbase) {
      atomic_fetch_add(&m->threads, 1);
      return;
    }
  }
}

__attribute__((visibility("default"))) int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                          void* (*function)(void*), void* argument) {
  static _Atomic(void*) real;
  void* next = atomic_load(&real);
  if (next == NULL)
    atomic_store(&real, next = dlsym(RTLD_NEXT, "pthread_create"));
  count(__builtin_return_address(0));
  int (*create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  memcpy(&create, &next, sizeof create);
  return create(thread, attributes, function, argument);
}

// Weft's workers: weft-0, weft-1 and so on.
static int weft_workers(void) {
  DIR* const tasks = opendir("/proc/self/task");
  int workers = 0;
  for (struct dirent* d; tasks != NULL && (d = readdir(tasks)) != NULL;) {
    char path[300], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", d->d_name);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
      continue;
    if (read(file, name, sizeof name - 1) > 6 && strncmp(name, "weft-", 5) == 0 && isdigit(name[5]))
      ++workers;
    close(file);
  }
  if (tasks != NULL)
    closedir(tasks);
  return workers;
}

static void tell(void) {
  const char* const path = getenv("WITNESS");
  const int file = path == NULL ? -1 : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0)
    return;
  dprintf(file, "process %d\n", (int)getpid());
  for (struct maker* m = makers; m < makers + most && m->base != NULL; ++m) {
    if (m->threads != 0)
      dprintf(file, "threads %d %s\n", m->threads, m->name);
  }
  const int workers = weft_workers();
  if (workers != 0)
    dprintf(file, "threads %d /libweft\n", workers);
  close(file);
}

static void begin_anew(void) {
  for (struct maker* m = makers; m < makers + most; ++m)
    m->threads = 0;
}

__attribute__((constructor)) static void begin(void) {
  pthread_atfork(NULL, NULL, begin_anew);
}

__attribute__((destructor)) static void end(void) {
  tell();
}

__attribute__((visibility("default"), noreturn)) void _exit(int status) {
  static void (*real)(int);
  tell();
  void* const next = dlsym(RTLD_NEXT, "_exit");
  memcpy(&real, &next, sizeof real);
  real(status);
  __builtin_unreachable();
}
