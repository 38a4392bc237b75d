/* SPDX-License-Identifier: MIT */
/* What Weft adds to the C interface of Argobots. Only Weft's libabt.so.1 has it: a program that calls it does
 * not run with another. The words are those of abt.h. A moment `abstime` is one of CLOCK_REALTIME; if it has
 * passed, a call tries once. A wait that runs out of time returns ABT_ERR_COND_TIMEDOUT. Waiters are
 * suspended (ULTs) or blocked (foreign kernel threads) and do not poll. */
#ifndef ABTX_H_INCLUDED
#define ABTX_H_INCLUDED

#include "abt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Waiting with a limit, or not at all ---- */

/** ABT_mutex_lock() up to the time `abstime`. A tasklet blocks its stream.
 *  Contexts: any. Switches: may. Errors: INV_MUTEX, COND_TIMEDOUT, MEM. */
ABT_API_PUBLIC int ABTX_mutex_timedlock(ABT_mutex mutex, const struct timespec* abstime);

/** Locks for reading unless a writer has it, and then returns RWLOCK.
 *  Contexts: init. Switches: never. Errors: INV_RWLOCK, RWLOCK. */
ABT_API_PUBLIC int ABTX_rwlock_tryrdlock(ABT_rwlock rwlock);

/** Locks for writing unless anybody has it, and then returns RWLOCK.
 *  Contexts: init. Switches: never. Errors: INV_RWLOCK, RWLOCK. */
ABT_API_PUBLIC int ABTX_rwlock_trywrlock(ABT_rwlock rwlock);

/** ABT_rwlock_rdlock() up to the time `abstime`. RWLOCK: the caller is a tasklet.
 *  Contexts: waiter. Switches: may. Errors: INV_RWLOCK, RWLOCK, COND_TIMEDOUT, MEM. */
ABT_API_PUBLIC int ABTX_rwlock_timedrdlock(ABT_rwlock rwlock, const struct timespec* abstime);

/** ABT_rwlock_wrlock() up to the time `abstime`. RWLOCK: the caller is a tasklet.
 *  Contexts: waiter. Switches: may. Errors: INV_RWLOCK, RWLOCK, COND_TIMEDOUT, MEM. */
ABT_API_PUBLIC int ABTX_rwlock_timedwrlock(ABT_rwlock rwlock, const struct timespec* abstime);

/** ABT_future_wait() up to the time `abstime`. FUTURE: the caller is a tasklet.
 *  Contexts: waiter. Switches: may. Errors: INV_FUTURE, FUTURE, COND_TIMEDOUT, MEM. */
ABT_API_PUBLIC int ABTX_future_timedwait(ABT_future future, const struct timespec* abstime);

/** ABT_barrier_wait() up to the time `abstime`. On time-out the arrival still counts: the others wait for one
 *  fewer, and the caller must not come again in this round. MEM: it has not come. BARRIER: the caller is a
 *  tasklet.
 *  Contexts: waiter. Switches: may. Errors: INV_BARRIER, BARRIER, COND_TIMEDOUT, MEM. */
ABT_API_PUBLIC int ABTX_barrier_timedwait(ABT_barrier barrier, const struct timespec* abstime);

/** ABT_thread_join() up to the time `abstime`. After a time-out the unit is not joined, and may be again.
 *  Contexts: waiter. Switches: may. Errors: INV_THREAD, COND_TIMEDOUT, MEM. */
ABT_API_PUBLIC int ABTX_thread_timedjoin(ABT_thread thread, const struct timespec* abstime);

/** Suspends the calling ULT, or blocks the foreign kernel thread, for at least `seconds`; 0: no more than a
 *  yield. INV_ARG: less than 0, or not a number. INV_THREAD: the caller is a tasklet.
 *  Contexts: waiter. Switches: always. Errors: INV_ARG, INV_THREAD, MEM. */
ABT_API_PUBLIC int ABTX_self_sleep(double seconds);

/** Leaves the unit to itself: it is freed at its end, at once if that has come, as if it were unnamed. The
 *  handle becomes ABT_THREAD_NULL; nobody may join or free the unit. Not the primary ULT or a scheduler's.
 *  Contexts: init. Switches: never. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABTX_thread_detach(ABT_thread* thread);

/* ---- How a ULT is run ----
 * Attributes hold for ULTs created with them. Later versions add kinds; unknown ones: ABT_ERR_INV_ARG. */

typedef enum ABTX_technique {
  ABTX_TECHNIQUE_DEFAULT = 0,           /* as the runtime chooses */
  ABTX_TECHNIQUE_FULL_LAZY = 1,         /* a stack of its own, which it gets when it starts */
  ABTX_TECHNIQUE_RUN_TO_COMPLETION = 2, /* the stack of the stream that runs it; it may not wait */
  ABTX_TECHNIQUE_INLINE_JOIN = 3        /* the stack of the ULT that joins or frees it, if it has not
                                           started by then and the default size is left there; else as
                                           FULL_LAZY. Only with the default stack size */
} ABTX_technique;

typedef enum ABTX_preemption {
  ABTX_PREEMPTION_COOPERATIVE = 0 /* others run only when it yields, waits or ends */
} ABTX_preemption;

/** Sets how ULTs created with `attr` get their stacks.
 *  Contexts: init. Switches: never. Errors: INV_THREAD_ATTR, INV_ARG. */
ABT_API_PUBLIC int ABTX_thread_attr_set_technique(ABT_thread_attr attr, ABTX_technique technique);

/** What ABTX_thread_attr_set_technique() set, at first DEFAULT.
 *  Contexts: init. Switches: never. Errors: INV_THREAD_ATTR. */
ABT_API_PUBLIC int ABTX_thread_attr_get_technique(ABT_thread_attr attr, ABTX_technique* technique);

/** Sets what may interrupt ULTs created with `attr`.
 *  Contexts: init. Switches: never. Errors: INV_THREAD_ATTR, INV_ARG. */
ABT_API_PUBLIC int ABTX_thread_attr_set_preemption(ABT_thread_attr attr, ABTX_preemption preemption);

/** What ABTX_thread_attr_set_preemption() set, at first COOPERATIVE.
 *  Contexts: init. Switches: never. Errors: INV_THREAD_ATTR. */
ABT_API_PUBLIC int ABTX_thread_attr_get_preemption(ABT_thread_attr attr, ABTX_preemption* preemption);

/** How the unit runs: never DEFAULT; RUN_TO_COMPLETION for a tasklet; FULL_LAZY with a stack size of its own.
 *  Contexts: init. Switches: never. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABTX_thread_get_technique(ABT_thread thread, ABTX_technique* technique);

/** What may interrupt the unit.
 *  Contexts: init. Switches: never. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABTX_thread_get_preemption(ABT_thread thread, ABTX_preemption* preemption);

#ifdef __cplusplus
}
#endif

#endif
