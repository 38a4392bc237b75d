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

/* The names are those of "Analyzing the Performance Trade-Off in Implementing User-Level Threads", which has
 * a figure for each; docs/guide/techniques.md says which to choose. */
typedef enum ABTX_technique {
  ABTX_TECHNIQUE_DEFAULT = 0,           /* as the pool says (ABTX_pool_set_technique), or the runtime */
  ABTX_TECHNIQUE_FULL_LAZY = 1,         /* Full-L: a stack of its own, which it gets when it starts */
  ABTX_TECHNIQUE_RUN_TO_COMPLETION = 2, /* RtC: the stack of the stream that runs it; it may not wait */
  ABTX_TECHNIQUE_INLINE_JOIN = 3,       /* the stack of the ULT that joins or frees it, if it has not
                                           started by then and the default size is left there; else as
                                           FULL_LAZY. Only with the default stack size */
  ABTX_TECHNIQUE_FULL = 4,              /* Full: as FULL_LAZY, with its stack from its creation on */
  ABTX_TECHNIQUE_ROC = 5,               /* RoC: returns to who started it; a stack from its creation on */
  ABTX_TECHNIQUE_ROC_LAZY = 6,          /* RoC-L: with its stack from its start on */
  ABTX_TECHNIQUE_SS = 7,                /* SS: who starts it is not saved; a stack from its creation on */
  ABTX_TECHNIQUE_SS_LAZY = 8,           /* SS-L: with its stack from its start on */
  ABTX_TECHNIQUE_SC = 9,                /* SC: the stack of who starts it. Only with the default stack size */
  /* Child first: the ULT runs at once and its creator, if that is a ULT of the same stream's pools, becomes
   * ready. Creating one may switch. */
  ABTX_TECHNIQUE_C_FULL = 10,               /* C-Full: keeps its stack until it is joined or freed */
  ABTX_TECHNIQUE_C_FULL_EAGER_RELEASE = 11, /* C-Full-E: until it ends */
  ABTX_TECHNIQUE_C_ROC = 12,                /* C-RoC: returns to its creator; keeps its stack as C-Full */
  ABTX_TECHNIQUE_C_ROC_EAGER_RELEASE = 13   /* C-RoC-E: until it ends */
} ABTX_technique;

typedef enum ABTX_preemption {
  ABTX_PREEMPTION_COOPERATIVE = 0,  /* others run only when it yields, waits or ends */
  ABTX_PREEMPTION_SIGNAL_YIELD = 1, /* also while it computes, if they wait; for code that uses nothing that
                                       is kept per kernel thread: not malloc, stdio, recursive locks. One
                                       that was preempted goes on on its stream */
  ABTX_PREEMPTION_OWN_TLS = 2,      /* the same for any code: it keeps its thread-local storage while it is
                                       preempted. docs/guide/preemption.md */
  ABTX_PREEMPTION_OWN_KERNEL_THREAD = 3, /* it keeps its kernel thread while it is preempted, and its
                                            stream goes on on another one, for code that knows its own:
                                            robust mutexes, gettid(). Dearer */
  ABTX_PREEMPTION_BOUND_TLS = 4 /* as OWN_TLS, with thread-local variables of its own, from its creation to
                                   its end. To create or revive it and to end take a kernel thread's time,
                                   and may switch */
} ABTX_preemption;

/** Sets how ULTs that are created into `pool` without attributes of their own, or with DEFAULT, start and
 * end. A ULT with a stack size of its own runs as SS_LAZY where the pool says SC. INV_ARG: not for pools:
 *  RUN_TO_COMPLETION, or an unknown value. Streams other than the caller's may create ULTs as before until
 *  their next scheduling decision.
 *  Contexts: init. Switches: never. Errors: INV_POOL, INV_ARG. */
ABT_API_PUBLIC int ABTX_pool_set_technique(ABT_pool pool, ABTX_technique technique);

/** What ABTX_pool_set_technique() set, at first DEFAULT.
 *  Contexts: init. Switches: never. Errors: INV_POOL. */
ABT_API_PUBLIC int ABTX_pool_get_technique(ABT_pool pool, ABTX_technique* technique);

/** Sets how ULTs created with `attr` start and end. INV_THREAD_ATTR when a ULT is created: SC with a stack or
 * a stack size of its own. Contexts: init. Switches: never. Errors: INV_THREAD_ATTR, INV_ARG. */
ABT_API_PUBLIC int ABTX_thread_attr_set_technique(ABT_thread_attr attr, ABTX_technique technique);

/** What ABTX_thread_attr_set_technique() set, at first DEFAULT.
 *  Contexts: init. Switches: never. Errors: INV_THREAD_ATTR. */
ABT_API_PUBLIC int ABTX_thread_attr_get_technique(ABT_thread_attr attr, ABTX_technique* technique);

/** Sets what may interrupt ULTs created with `attr`; nothing interrupts tasklets. A stack size in `attr` is
 *  exclusive of what an interrupt needs; a stack that the user supplies must have room for it (some 8 KiB).
 *  When a ULT is created or revived, FEATURE_NA: not on this machine; SYS: no kernel thread for it.
 *  Contexts: init. Switches: never. Errors: INV_THREAD_ATTR, INV_ARG. */
ABT_API_PUBLIC int ABTX_thread_attr_set_preemption(ABT_thread_attr attr, ABTX_preemption preemption);

/** What ABTX_thread_attr_set_preemption() set, at first COOPERATIVE.
 *  Contexts: init. Switches: never. Errors: INV_THREAD_ATTR. */
ABT_API_PUBLIC int ABTX_thread_attr_get_preemption(ABT_thread_attr attr, ABTX_preemption* preemption);

/** How the unit runs: never DEFAULT; RUN_TO_COMPLETION for a tasklet; FULL_LAZY, if none else was chosen,
 * with a stack size of its own. Contexts: init. Switches: never. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABTX_thread_get_technique(ABT_thread thread, ABTX_technique* technique);

/** What may interrupt the unit.
 *  Contexts: init. Switches: never. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABTX_thread_get_preemption(ABT_thread thread, ABTX_preemption* preemption);

/** How long a ULT that may be interrupted can keep its stream while others wait there: 50e-6 to 1 seconds;
 *  for all ULTs, from now on. At first WEFT_PREEMPTION_INTERVAL.
 *  Contexts: any. Switches: never. Errors: INV_ARG. */
ABT_API_PUBLIC int ABTX_preemption_set_interval(double seconds);
/** That.
 *  Contexts: any. Switches: never. Errors: INV_ARG (null). */
ABT_API_PUBLIC int ABTX_preemption_get_interval(double* seconds);

#ifdef __cplusplus
}
#endif

#endif
