/* SPDX-License-Identifier: MIT */
/* Preloaded into the tests of the C API: every ULT that they create may be preempted, as ABTX_TEST_PREEMPTION
 * says (the number of an ABTX_preemption), so each of their calls comes from such a ULT's own code. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

#include "abtx.h"

typedef int create_function(ABT_pool, void (*)(void*), void*, ABT_thread_attr, ABT_thread*);

/* Once: dlsym() holds a lock of the loader, and a stream that blocks on it cannot run whom it preempted. */
static create_function* real;
__attribute__((constructor)) static void find_real(void) {
  real = (create_function*)dlsym(RTLD_NEXT, "ABT_thread_create");
}

int ABT_thread_create(ABT_pool pool, void (*function)(void*), void* argument, ABT_thread_attr attr,
                      ABT_thread* thread) {
  const char* const kind = getenv("ABTX_TEST_PREEMPTION");
  ABT_thread_attr own = attr;
  ABTX_preemption before = ABTX_PREEMPTION_COOPERATIVE;
  int code;
  if (kind == NULL)
    return real(pool, function, argument, attr, thread);
  if (attr == ABT_THREAD_ATTR_NULL && ABT_thread_attr_create(&own) != ABT_SUCCESS)
    return real(pool, function, argument, attr, thread);
  if (ABTX_thread_attr_get_preemption(own, &before) == ABT_SUCCESS)
    ABTX_thread_attr_set_preemption(own, (ABTX_preemption)atoi(kind));
  code = real(pool, function, argument, own, thread);
  if (attr == ABT_THREAD_ATTR_NULL) {
    ABT_thread_attr_free(&own);
  } else {
    ABTX_thread_attr_set_preemption(attr, before);
  }
  return code;
}
