/* SPDX-License-Identifier: MIT */
/* Which system calls the kernel threads of the process are in, as the kernel tells. */
#pragma once

#include "tests/pthreads/check.h"

#include <dirent.h>

/* Not everywhere. */
static inline int calls_can_be_seen(void) {
  return access("/proc/self/syscall", R_OK) == 0;
}
/* Whether a kernel thread is in that one at this moment. */
static inline int one_is_in_call(long wanted) {
  char name[300];
  int found = 0;
  DIR* all = opendir("/proc/self/task");
  CHECK(all != NULL);
  for (struct dirent* one; !found && (one = readdir(all)) != NULL;) {
    snprintf(name, sizeof name, "/proc/self/task/%s/syscall", one->d_name);
    FILE* file = fopen(name, "r");
    long call = -1;
    found = file != NULL && fscanf(file, "%ld", &call) == 1 && call == wanted;
    if (file != NULL)
      fclose(file);
  }
  CHECK(closedir(all) == 0);
  return found;
}
/* Where it cannot be seen, it has had time to get there. */
static inline void wait_until_one_is_in_call(long wanted) {
  if (!calls_can_be_seen()) {
    sleep_ms(20);
    return;
  }
  while (!one_is_in_call(wanted))
    sched_yield();
}
