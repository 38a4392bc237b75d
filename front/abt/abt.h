/* SPDX-License-Identifier: MIT */
/* The C interface of Argobots 1.2, provided by Weft's libabt.so.1. Names, types and values are Argobots', so
 * programs written for it compile, and programs compiled for it run. What Weft adds is in abtx.h.
 *
 * Words. Unit: a ULT or a tasklet. ULT: a thread with a stack of its own. Tasklet: a unit without one, which
 * may not wait. Stream: an ABT_xstream, what runs units. Foreign kernel thread: a thread of the system's that
 * runs no stream. Suspended: a ULT that waits while other units run. Blocked: a kernel thread that waits, and
 * with it all that it would run.
 *
 * Contexts, who may call:
 *   any       units and foreign kernel threads, also before ABT_init() and after ABT_finalize()
 *   init      units and foreign kernel threads, from ABT_init() to ABT_finalize()
 *   waiter    the same without tasklets
 *   unit      ULTs and tasklets
 *   ULT, tasklet
 *   starter   the ULT or kernel thread that called ABT_init()
 *   sched     a scheduler, in its `run`
 *   callback  a tool's callback
 *
 * Switches, whether other units run on the caller's stream before the function returns: never, may, always. A
 *   function that waits, and may switch, does so only if it has to wait.
 *
 * Errors, what is returned other than ABT_SUCCESS, without the prefix ABT_ERR_. INV_x: the handle is the NULL
 *   value, or the argument out of range; INV_XSTREAM and INV_THREAD also: the caller is not of the kind that
 *   Contexts asks for. MEM: no memory. SYS: the system refused. UNIT: `create_unit` of a user's pool returned
 *   ABT_UNIT_NULL. UNINITIALIZED: there is no runtime. The comment explains the others.
 *   A function that fails sets the handle that it would have returned to its NULL value, and what else it
 *   would have returned to 0, or does not touch it; where a handle is left untouched the comment says so.
 *
 * Undefined, everywhere: a handle that has been freed, or is of another type; a NULL pointer where a result
 * is to go, unless the comment allows it.
 *
 * Every ABT_x_free() takes a pointer to the handle. A number of seconds is relative; a struct timespec is a
 * moment of CLOCK_REALTIME. No function that waits polls, except ABT_mutex_spinlock(). */
#ifndef ABT_H_INCLUDED
#define ABT_H_INCLUDED

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/time.h>

struct timespec; /* strict modes of the compiler leave it to <time.h> */

/* ---- Version ---- */

/** The version of the interface: "major.minor", and ".revision" if that is not 0. Weft's own is another. */
#define ABT_VERSION "1.2"
/** The same as a number that can be compared, decimal: M mm rr t pp. A release has type PATCH, patch 0. */
#define ABT_NUMVERSION 10200300
#define ABT_CALC_VERSION(major, minor, revision, type, patch)                                                \
  ((major) * 10000000 + (minor) * 100000 + (revision) * 1000 + (type) * 100 + (patch))
#define ABT_RELEASE_TYPE_ALPHA 0
#define ABT_RELEASE_TYPE_BETA 1
#define ABT_RELEASE_TYPE_RC 2
#define ABT_RELEASE_TYPE_PATCH 3

/* The interface planned for 2.0 is the library's choice, not a program's: ABT_ENABLE_VER_20_API is defined
 * exactly if the library was built for it, which is when ABT_ENABLE_VER_20_API_VAL is 1. */
#ifndef ABT_ENABLE_VER_20_API_VAL
#define ABT_ENABLE_VER_20_API_VAL 0
#endif
#undef ABT_ENABLE_VER_20_API
#if ABT_ENABLE_VER_20_API_VAL
#define ABT_ENABLE_VER_20_API 1
#endif

#if defined(__GNUC__)
#define ABT_API_PUBLIC __attribute__((visibility("default")))
#define ABT_DEPRECATED __attribute__((deprecated))
#else
#define ABT_API_PUBLIC
#define ABT_DEPRECATED
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Error codes ---- */

#define ABT_SUCCESS 0
#define ABT_ERR_UNINITIALIZED 1
#define ABT_ERR_MEM 2
#define ABT_ERR_OTHER 3

/* What was passed is not valid. */
#define ABT_ERR_INV_XSTREAM 4
#define ABT_ERR_INV_XSTREAM_RANK 5
#define ABT_ERR_INV_XSTREAM_BARRIER 6
#define ABT_ERR_INV_SCHED 7
#define ABT_ERR_INV_SCHED_KIND 8
#define ABT_ERR_INV_SCHED_PREDEF 9
#define ABT_ERR_INV_SCHED_TYPE 10 /* never returned */
#define ABT_ERR_INV_SCHED_CONFIG 11
#define ABT_ERR_INV_POOL 12
#define ABT_ERR_INV_POOL_KIND 13
#define ABT_ERR_INV_POOL_ACCESS 14
#define ABT_ERR_INV_UNIT 15
#define ABT_ERR_INV_THREAD 16
#define ABT_ERR_INV_THREAD_ATTR 17
#define ABT_ERR_INV_TASK 18
#define ABT_ERR_INV_KEY 19
#define ABT_ERR_INV_MUTEX 20
#define ABT_ERR_INV_MUTEX_ATTR 21
#define ABT_ERR_INV_COND 22
#define ABT_ERR_INV_RWLOCK 23
#define ABT_ERR_INV_EVENTUAL 24
#define ABT_ERR_INV_FUTURE 25
#define ABT_ERR_INV_BARRIER 26
#define ABT_ERR_INV_TIMER 27
#define ABT_ERR_INV_QUERY_KIND 28

/* It is valid, and the operation not possible with it, or not from here. */
#define ABT_ERR_XSTREAM 29
#define ABT_ERR_XSTREAM_STATE 30
#define ABT_ERR_XSTREAM_BARRIER 31
#define ABT_ERR_SCHED 32
#define ABT_ERR_SCHED_CONFIG 33
#define ABT_ERR_POOL 34
#define ABT_ERR_UNIT 35
#define ABT_ERR_THREAD 36
#define ABT_ERR_TASK 37
#define ABT_ERR_KEY 38
#define ABT_ERR_MUTEX 39
#define ABT_ERR_MUTEX_LOCKED 40
#define ABT_ERR_COND 41
#define ABT_ERR_COND_TIMEDOUT 42 /* of every timed wait */
#define ABT_ERR_RWLOCK 43
#define ABT_ERR_EVENTUAL 44
#define ABT_ERR_FUTURE 45
#define ABT_ERR_BARRIER 46
#define ABT_ERR_TIMER 47
#define ABT_ERR_MIGRATION_TARGET 48
#define ABT_ERR_MIGRATION_NA 49
#define ABT_ERR_MISSING_JOIN 50 /* never returned */
#define ABT_ERR_FEATURE_NA 51

/* Numbered in the order in which they came. */
#define ABT_ERR_INV_TOOL_CONTEXT 52
#define ABT_ERR_INV_ARG 53
#define ABT_ERR_SYS 54
#define ABT_ERR_CPUID 55
#define ABT_ERR_INV_POOL_CONFIG 56
#define ABT_ERR_INV_POOL_USER_DEF 57

/* ---- Handles ----
 * Pointers to what only the library knows; `==` compares them. The NULL values are not 0, except in name. */

typedef struct ABT_xstream_opaque* ABT_xstream;
typedef struct ABT_xstream_barrier_opaque* ABT_xstream_barrier;
typedef struct ABT_sched_opaque* ABT_sched;
typedef struct ABT_sched_config_opaque* ABT_sched_config;
typedef struct ABT_pool_opaque* ABT_pool;
typedef struct ABT_pool_config_opaque* ABT_pool_config;
typedef struct ABT_pool_def* ABT_pool_user_def;
typedef struct ABT_unit_opaque* ABT_unit;
typedef struct ABT_thread_opaque* ABT_thread;
typedef struct ABT_thread_attr_opaque* ABT_thread_attr;
typedef struct ABT_thread_opaque* ABT_task; /* a tasklet; every function on an ABT_thread takes one */
typedef struct ABT_key_opaque* ABT_key;
typedef struct ABT_mutex_opaque* ABT_mutex;
typedef struct ABT_mutex_attr_opaque* ABT_mutex_attr;
typedef struct ABT_cond_opaque* ABT_cond;
typedef struct ABT_rwlock_opaque* ABT_rwlock;
typedef struct ABT_eventual_opaque* ABT_eventual;
typedef struct ABT_future_opaque* ABT_future;
typedef struct ABT_barrier_opaque* ABT_barrier;
typedef struct ABT_timer_opaque* ABT_timer;
typedef struct ABT_tool_context_opaque* ABT_tool_context;

/** 1 in a library whose NULL handles are 0; that is not this one. */
#define ABT_NULL 0
#define ABT_XSTREAM_NULL ((ABT_xstream)0x01)
#define ABT_XSTREAM_BARRIER_NULL ((ABT_xstream_barrier)0x02)
#define ABT_SCHED_NULL ((ABT_sched)0x03)
#define ABT_SCHED_CONFIG_NULL ((ABT_sched_config)0x04)
#define ABT_POOL_NULL ((ABT_pool)0x05)
#define ABT_POOL_CONFIG_NULL ((ABT_pool_config)0x06)
#define ABT_UNIT_NULL ((ABT_unit)0x07)
#define ABT_THREAD_NULL ((ABT_thread)0x08)
#define ABT_THREAD_ATTR_NULL ((ABT_thread_attr)0x09)
#define ABT_TASK_NULL ((ABT_task)0x0a)
#define ABT_KEY_NULL ((ABT_key)0x0b)
#define ABT_MUTEX_NULL ((ABT_mutex)0x0c)
#define ABT_MUTEX_ATTR_NULL ((ABT_mutex_attr)0x0d)
#define ABT_COND_NULL ((ABT_cond)0x0e)
#define ABT_RWLOCK_NULL ((ABT_rwlock)0x0f)
#define ABT_EVENTUAL_NULL ((ABT_eventual)0x10)
#define ABT_FUTURE_NULL ((ABT_future)0x11)
#define ABT_BARRIER_NULL ((ABT_barrier)0x12)
#define ABT_TIMER_NULL ((ABT_timer)0x13)
#define ABT_TOOL_CONTEXT_NULL ((ABT_tool_context)0x14)
#define ABT_POOL_USER_DEF_NULL ((ABT_pool_user_def)0x15)

/* ---- Plain types and their values ---- */

typedef int ABT_bool;
#define ABT_TRUE 1
#define ABT_FALSE 0

typedef uint64_t ABT_unit_id;
typedef ABT_unit_id ABT_thread_id;

#define ABT_XSTREAM_ANY_RANK (-1) /* taken by no function */

typedef enum ABT_xstream_state {
  ABT_XSTREAM_STATE_RUNNING = 0,
  ABT_XSTREAM_STATE_TERMINATED = 1
} ABT_xstream_state;

typedef enum ABT_thread_state {
  ABT_THREAD_STATE_READY = 0,
  ABT_THREAD_STATE_RUNNING = 1,
  ABT_THREAD_STATE_BLOCKED = 2, /* suspended */
  ABT_THREAD_STATE_TERMINATED = 3
} ABT_thread_state;

typedef enum ABT_task_state {
  ABT_TASK_STATE_READY = 0,
  ABT_TASK_STATE_RUNNING = 1,
  ABT_TASK_STATE_TERMINATED = 2
} ABT_task_state;

/** Used by no function. */
typedef enum ABT_sched_state {
  ABT_SCHED_STATE_READY = 0,
  ABT_SCHED_STATE_RUNNING = 1,
  ABT_SCHED_STATE_STOPPED = 2,
  ABT_SCHED_STATE_TERMINATED = 3
} ABT_sched_state;

/** Predefined schedulers. */
typedef enum ABT_sched_predef {
  ABT_SCHED_DEFAULT = 0,   /* BASIC */
  ABT_SCHED_BASIC = 1,     /* its pools one after the other */
  ABT_SCHED_PRIO = 2,      /* an earlier pool always before a later one */
  ABT_SCHED_RANDWS = 3,    /* its first pool; if that is empty, a random one of the others */
  ABT_SCHED_BASIC_WAIT = 4 /* BASIC, with pools of the kind FIFO_WAIT if it makes them itself */
} ABT_sched_predef;

/** A scheduler runs as a ULT, whatever the type says. */
typedef enum ABT_sched_type { ABT_SCHED_TYPE_ULT = 0, ABT_SCHED_TYPE_TASK = 1 } ABT_sched_type;

/** Predefined pools. */
typedef enum ABT_pool_kind {
  ABT_POOL_FIFO = 0,      /* first in, first out */
  ABT_POOL_FIFO_WAIT = 1, /* the same, meant for schedulers that wait for work */
  ABT_POOL_RANDWS = 2     /* new units go to its head, others to its tail; thieves take from the tail */
} ABT_pool_kind;

/** How many streams put into a pool (producers) and take out of it (consumers): a hint, except PRIV. */
typedef enum ABT_pool_access {
  ABT_POOL_ACCESS_PRIV = 0, /* one stream does both */
  ABT_POOL_ACCESS_SPSC = 1, /* one producer, one consumer */
  ABT_POOL_ACCESS_MPSC = 2, /* many producers, one consumer */
  ABT_POOL_ACCESS_SPMC = 3, /* one producer, many consumers */
  ABT_POOL_ACCESS_MPMC = 4  /* anybody does both */
} ABT_pool_access;

typedef enum ABT_unit_type {
  ABT_UNIT_TYPE_THREAD = 0,  /* ULT */
  ABT_UNIT_TYPE_TASK = 1,    /* tasklet */
  ABT_UNIT_TYPE_XSTREAM = 2, /* never returned */
  ABT_UNIT_TYPE_EXT = 3      /* foreign kernel thread */
} ABT_unit_type;

/** What ABT_info_query_config() tells. The value is an ABT_bool where nothing else is said. */
typedef enum ABT_info_query_kind {
  ABT_INFO_QUERY_KIND_ENABLED_DEBUG = 0,
  ABT_INFO_QUERY_KIND_ENABLED_PRINT_ERRNO = 1,
  ABT_INFO_QUERY_KIND_ENABLED_LOG = 2,
  ABT_INFO_QUERY_KIND_ENABLED_VALGRIND = 3,
  ABT_INFO_QUERY_KIND_ENABLED_CHECK_ERROR = 4,
  ABT_INFO_QUERY_KIND_ENABLED_CHECK_POOL_PRODUCER = 5,
  ABT_INFO_QUERY_KIND_ENABLED_CHECK_POOL_CONSUMER = 6,
  ABT_INFO_QUERY_KIND_ENABLED_PRESERVE_FPU = 7,
  ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL = 8,
  ABT_INFO_QUERY_KIND_ENABLED_TASK_CANCEL = 9,
  ABT_INFO_QUERY_KIND_ENABLED_MIGRATION = 10,
  ABT_INFO_QUERY_KIND_ENABLED_STACKABLE_SCHED = 11,
  ABT_INFO_QUERY_KIND_ENABLED_EXTERNAL_THREAD = 12,
  ABT_INFO_QUERY_KIND_ENABLED_SCHED_SLEEP = 13,
  ABT_INFO_QUERY_KIND_ENABLED_PRINT_CONFIG = 14,
  ABT_INFO_QUERY_KIND_ENABLED_AFFINITY = 15,
  ABT_INFO_QUERY_KIND_MAX_NUM_XSTREAMS = 16,         /* unsigned int; not a limit */
  ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE = 17, /* size_t, bytes */
  ABT_INFO_QUERY_KIND_DEFAULT_SCHED_STACKSIZE = 18,  /* size_t, bytes */
  ABT_INFO_QUERY_KIND_DEFAULT_SCHED_EVENT_FREQ = 19, /* uint64_t, rounds of a scheduler */
  ABT_INFO_QUERY_KIND_DEFAULT_SCHED_SLEEP_NSEC = 20, /* uint64_t, nanoseconds */
  ABT_INFO_QUERY_KIND_ENABLED_TOOL = 21,
  ABT_INFO_QUERY_KIND_FCONTEXT = 22, /* whether contexts are switched without the system's help */
  ABT_INFO_QUERY_KIND_DYNAMIC_PROMOTION = 23,
  ABT_INFO_QUERY_KIND_ENABLED_STACK_UNWIND = 24,
  ABT_INFO_QUERY_KIND_ENABLED_STACK_OVERFLOW_CHECK = 25, /* int: 0 none, 1 canary, 2 guard, 3 strict guard */
  ABT_INFO_QUERY_KIND_WAIT_POLICY = 26,                  /* int: 0 passive, 1 active */
  ABT_INFO_QUERY_KIND_ENABLED_LAZY_STACK_ALLOC = 27
} ABT_info_query_kind;

/** What ABT_tool_query_thread() tells, and the type of the value. */
typedef enum ABT_tool_query_kind {
  ABT_TOOL_QUERY_KIND_POOL = 0,              /* ABT_pool: where the unit goes */
  ABT_TOOL_QUERY_KIND_STACK_DEPTH = 1,       /* int: units that run one another, from 0 */
  ABT_TOOL_QUERY_KIND_CALLER_TYPE = 2,       /* ABT_exec_entity_type: who caused the event */
  ABT_TOOL_QUERY_KIND_CALLER_HANDLE = 3,     /* ABT_thread: the unit that caused it, or ABT_THREAD_NULL */
  ABT_TOOL_QUERY_KIND_SYNC_OBJECT_TYPE = 4,  /* ABT_sync_event_type: because of what */
  ABT_TOOL_QUERY_KIND_SYNC_OBJECT_HANDLE = 5 /* void *: the handle of that, or NULL */
} ABT_tool_query_kind;

typedef enum ABT_exec_entity_type {
  ABT_EXEC_ENTITY_TYPE_EXT = 0,   /* foreign kernel thread */
  ABT_EXEC_ENTITY_TYPE_THREAD = 1 /* unit */
} ABT_exec_entity_type;

typedef enum ABT_sync_event_type {
  ABT_SYNC_EVENT_TYPE_UNKNOWN = 0,
  ABT_SYNC_EVENT_TYPE_USER = 1, /* the program asked for it: ABT_self_yield() and its like */
  ABT_SYNC_EVENT_TYPE_OTHER = 2,
  ABT_SYNC_EVENT_TYPE_XSTREAM_JOIN = 3,
  ABT_SYNC_EVENT_TYPE_THREAD_JOIN = 4,
  ABT_SYNC_EVENT_TYPE_MUTEX = 5,
  ABT_SYNC_EVENT_TYPE_COND = 6,
  ABT_SYNC_EVENT_TYPE_RWLOCK = 7,
  ABT_SYNC_EVENT_TYPE_EVENTUAL = 8,
  ABT_SYNC_EVENT_TYPE_FUTURE = 9,
  ABT_SYNC_EVENT_TYPE_BARRIER = 10
} ABT_sync_event_type;

/* Events of a unit, as bits. */
#define ABT_TOOL_EVENT_THREAD_NONE 0
#define ABT_TOOL_EVENT_THREAD_CREATE 0x1
#define ABT_TOOL_EVENT_THREAD_JOIN 0x2 /* somebody has joined it */
#define ABT_TOOL_EVENT_THREAD_FREE 0x4
#define ABT_TOOL_EVENT_THREAD_REVIVE 0x8
#define ABT_TOOL_EVENT_THREAD_RUN 0x10
#define ABT_TOOL_EVENT_THREAD_FINISH 0x20
#define ABT_TOOL_EVENT_THREAD_CANCEL 0x40
#define ABT_TOOL_EVENT_THREAD_YIELD 0x80
#define ABT_TOOL_EVENT_THREAD_SUSPEND 0x100
#define ABT_TOOL_EVENT_THREAD_RESUME 0x200
#define ABT_TOOL_EVENT_THREAD_ALL ((uint64_t)0xfff)

/* ---- Mutex, condition variable, eventual in the program's own memory ----
 * Valid as initialised here, or when all bytes are 0; usable before ABT_init() and after ABT_finalize(); not
 * freed. Such an eventual carries no value. Undefined: copying or moving one that is in use. */

typedef struct {
  int dummy[16];
} ABT_mutex_memory;
typedef struct {
  int dummy[16];
} ABT_cond_memory;
typedef struct {
  int dummy[16];
} ABT_eventual_memory;

#define ABT_MUTEX_INITIALIZER {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}
#define ABT_RECURSIVE_MUTEX_INITIALIZER {{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}
#define ABT_COND_INITIALIZER {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}
#define ABT_EVENTUAL_INITIALIZER {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}

/** The handle of what lies at `p`. */
#define ABT_MUTEX_MEMORY_GET_HANDLE(p) ((ABT_mutex)(p))
#define ABT_COND_MEMORY_GET_HANDLE(p) ((ABT_cond)(p))
#define ABT_EVENTUAL_MEMORY_GET_HANDLE(p) ((ABT_eventual)(p))

/* ---- Configurations ---- */

/** The type of a value: int, double, void *. */
typedef enum {
  ABT_SCHED_CONFIG_INT = 0,
  ABT_SCHED_CONFIG_DOUBLE = 1,
  ABT_SCHED_CONFIG_PTR = 2
} ABT_sched_config_type;
typedef enum {
  ABT_POOL_CONFIG_INT = 0,
  ABT_POOL_CONFIG_DOUBLE = 1,
  ABT_POOL_CONFIG_PTR = 2
} ABT_pool_config_type;

/** A value of a scheduler's configuration. Indexes below 0 are the library's, the others the user's. */
typedef struct {
  int idx;
  ABT_sched_config_type type;
} ABT_sched_config_var;

typedef struct {
  int key;
  ABT_pool_config_type type;
} ABT_pool_config_var;

/** Ends the arguments of ABT_sched_config_create(). */
extern ABT_API_PUBLIC ABT_sched_config_var ABT_sched_config_var_end;
/** An int without effect: once, how pools are accessed. */
extern ABT_API_PUBLIC ABT_sched_config_var ABT_sched_config_access;
/** An int: whether the scheduler is freed with what uses it. */
extern ABT_API_PUBLIC ABT_sched_config_var ABT_sched_config_automatic;
/** An int: after how many rounds a predefined scheduler looks for events. */
extern ABT_API_PUBLIC ABT_sched_config_var ABT_sched_basic_freq;
/** An int: whether the pool is freed with the last scheduler that uses it. */
extern ABT_API_PUBLIC const ABT_pool_config_var ABT_pool_config_automatic;

/* ---- Schedulers of the user's ---- */

typedef int (*ABT_sched_init_fn)(ABT_sched, ABT_sched_config); /* other than ABT_SUCCESS: creation fails */
typedef void (*ABT_sched_run_fn)(ABT_sched);                   /* the loop; returns when told to stop */
typedef int (*ABT_sched_free_fn)(ABT_sched);
typedef ABT_pool (*ABT_sched_get_migr_pool_fn)(ABT_sched); /* where units that migrate to it go */

/** `run` is needed, the others may be NULL; `type` is not looked at. */
typedef struct {
  ABT_sched_type type;
  ABT_sched_init_fn init;
  ABT_sched_run_fn run;
  ABT_sched_free_fn free;
  ABT_sched_get_migr_pool_fn get_migr_pool;
} ABT_sched_def;

/* ---- Pools of the user's, new style ----
 * The pool makes a unit handle (aligned to 4 bytes, unique, not ABT_UNIT_NULL) for each ULT or tasklet that
 * belongs to it, is given that by push, and answers with the ULT or tasklet. */

/** What the pool is told of a caller: the bits below, one of each group. Anything may be ignored. */
typedef uint64_t ABT_pool_context;

#define ABT_POOL_CONTEXT_PRIO_DEFAULT_PRIO ((ABT_pool_context)0x0)
#define ABT_POOL_CONTEXT_PRIO_HIGH_PRIO ((ABT_pool_context)0x1)
#define ABT_POOL_CONTEXT_PRIO_LOW_PRIO ((ABT_pool_context)0x2)

#define ABT_POOL_CONTEXT_OWNER_DEFAULT ((ABT_pool_context)0x0)
#define ABT_POOL_CONTEXT_OWNER_PRIMARY ((ABT_pool_context)0x100)   /* it is the caller's first pool */
#define ABT_POOL_CONTEXT_OWNER_SECONDARY ((ABT_pool_context)0x200) /* it is not: a thief */

/* Why a unit is pushed. */
#define ABT_POOL_CONTEXT_OP_POOL_OTHER ((ABT_pool_context)0x0)
#define ABT_POOL_CONTEXT_OP_THREAD_CREATE ((ABT_pool_context)0x1000)
#define ABT_POOL_CONTEXT_OP_THREAD_CREATE_TO ((ABT_pool_context)0x2000)
#define ABT_POOL_CONTEXT_OP_THREAD_REVIVE ((ABT_pool_context)0x4000)
#define ABT_POOL_CONTEXT_OP_THREAD_REVIVE_TO ((ABT_pool_context)0x8000)
#define ABT_POOL_CONTEXT_OP_THREAD_YIELD ((ABT_pool_context)0x10000)
#define ABT_POOL_CONTEXT_OP_THREAD_YIELD_TO ((ABT_pool_context)0x20000)
#define ABT_POOL_CONTEXT_OP_THREAD_RESUME_YIELD_TO ((ABT_pool_context)0x40000)
#define ABT_POOL_CONTEXT_OP_THREAD_YIELD_LOOP ((ABT_pool_context)0x80000) /* it waits in a loop */
#define ABT_POOL_CONTEXT_OP_THREAD_RESUME ((ABT_pool_context)0x100000)
#define ABT_POOL_CONTEXT_OP_THREAD_MIGRATE ((ABT_pool_context)0x200000)

/* Needed. An empty pool answers ABT_THREAD_NULL. */
typedef ABT_unit (*ABT_pool_user_create_unit_fn)(ABT_pool, ABT_thread); /* ABT_UNIT_NULL: could not */
typedef void (*ABT_pool_user_free_unit_fn)(ABT_pool, ABT_unit);
typedef ABT_bool (*ABT_pool_user_is_empty_fn)(ABT_pool);
typedef ABT_thread (*ABT_pool_user_pop_fn)(ABT_pool, ABT_pool_context);
typedef void (*ABT_pool_user_push_fn)(ABT_pool, ABT_unit, ABT_pool_context);
/* Not needed; what depends on one that is missing returns ABT_ERR_POOL. */
typedef int (*ABT_pool_user_init_fn)(ABT_pool, ABT_pool_config);
typedef void (*ABT_pool_user_free_fn)(ABT_pool);
typedef size_t (*ABT_pool_user_get_size_fn)(ABT_pool);
typedef ABT_thread (*ABT_pool_user_pop_wait_fn)(ABT_pool, double seconds, ABT_pool_context);
typedef void (*ABT_pool_user_pop_many_fn)(ABT_pool, ABT_thread* threads, size_t length, size_t* popped,
                                          ABT_pool_context);
typedef void (*ABT_pool_user_push_many_fn)(ABT_pool, const ABT_unit* units, size_t length, ABT_pool_context);
typedef void (*ABT_pool_user_print_all_fn)(ABT_pool, void* arg, void (*print)(void* arg, ABT_thread));

/* ---- Pools of the user's, old style ----
 * The pool takes and gives unit handles. In ABT_pool_def the functions u_create_from_thread (also used for
 * tasklets), u_free, p_get_size, p_push and p_pop are needed; u_get_type, u_get_thread, u_get_task and
 * u_create_from_task are never called. */

typedef ABT_unit_type (*ABT_unit_get_type_fn)(ABT_unit);
typedef ABT_thread (*ABT_unit_get_thread_fn)(ABT_unit);
typedef ABT_task (*ABT_unit_get_task_fn)(ABT_unit);
typedef ABT_bool (*ABT_unit_is_in_pool_fn)(ABT_unit);
typedef ABT_unit (*ABT_unit_create_from_thread_fn)(ABT_thread);
typedef ABT_unit (*ABT_unit_create_from_task_fn)(ABT_task);
typedef void (*ABT_unit_free_fn)(ABT_unit*);
typedef int (*ABT_pool_init_fn)(ABT_pool, ABT_pool_config);
typedef size_t (*ABT_pool_get_size_fn)(ABT_pool);
typedef void (*ABT_pool_push_fn)(ABT_pool, ABT_unit);
typedef ABT_unit (*ABT_pool_pop_fn)(ABT_pool);
typedef ABT_unit (*ABT_pool_pop_wait_fn)(ABT_pool, double seconds);
typedef ABT_unit (*ABT_pool_pop_timedwait_fn)(ABT_pool, double deadline); /* as ABT_get_wtime() counts */
typedef int (*ABT_pool_remove_fn)(ABT_pool, ABT_unit);
typedef int (*ABT_pool_free_fn)(ABT_pool);
typedef int (*ABT_pool_print_all_fn)(ABT_pool, void* arg, void (*print)(void* arg, ABT_unit));

typedef struct ABT_pool_def {
  ABT_pool_access access;
  ABT_unit_get_type_fn u_get_type;
  ABT_unit_get_thread_fn u_get_thread;
  ABT_unit_get_task_fn u_get_task;
  ABT_unit_is_in_pool_fn u_is_in_pool;
  ABT_unit_create_from_thread_fn u_create_from_thread;
  ABT_unit_create_from_task_fn u_create_from_task;
  ABT_unit_free_fn u_free;
  ABT_pool_init_fn p_init;
  ABT_pool_get_size_fn p_get_size;
  ABT_pool_push_fn p_push;
  ABT_pool_pop_fn p_pop;
#ifdef ABT_ENABLE_VER_20_API
  ABT_pool_pop_wait_fn p_pop_wait;
#endif
  ABT_pool_pop_timedwait_fn p_pop_timedwait;
  ABT_pool_remove_fn p_remove;
  ABT_pool_free_fn p_free;
  ABT_pool_print_all_fn p_print_all;
} ABT_pool_def;

/* ---- Callbacks of a tool ---- */

typedef void (*ABT_tool_thread_callback_fn)(ABT_thread, ABT_xstream, uint64_t event, ABT_tool_context context,
                                            void* user_arg);
/** Taken by no function. */
typedef void (*ABT_tool_task_callback_fn)(ABT_task, ABT_xstream, uint64_t event, ABT_tool_context context,
                                          void* user_arg);

/* ---- Start and stop ---- */

/** Starts the runtime, or counts one more user of it. The first caller becomes the primary ULT, on the
 *  primary stream (rank 0). `argc` and `argv` are not looked at; the ABT_* environment variables are read
 *  each time the runtime really starts.
 *  Contexts: any. Switches: may. Errors: MEM, SYS. */
ABT_API_PUBLIC int ABT_init(int argc, char** argv);

/** Gives back one ABT_init(); the last one stops the runtime and frees the primary stream, its main scheduler
 *  and that scheduler's pools, automatic or not. The last call has to come from the primary ULT. All other
 *  streams have been freed before.
 *  Contexts: starter. Switches: may. Errors: UNINITIALIZED, INV_XSTREAM, INV_THREAD. */
ABT_API_PUBLIC int ABT_finalize(void);

/** ABT_SUCCESS while the runtime is initialised, otherwise ABT_ERR_UNINITIALIZED; not an ABT_bool.
 *  Signal-safe.
 *  Contexts: any. Switches: never. Errors: UNINITIALIZED. */
ABT_API_PUBLIC int ABT_initialized(void);

/* ---- Streams ---- */

/** Creates a stream, which starts to run at once, with the smallest rank that is free. `sched` becomes its
 *  main scheduler; a scheduler serves once. ABT_SCHED_NULL: a default one, with one FIFO pool.
 *  Contexts: init. Switches: never. Errors: MEM, SYS, INV_SCHED. */
ABT_API_PUBLIC int ABT_xstream_create(ABT_sched sched, ABT_xstream* new_xstream);

/** Creates a stream with a predefined scheduler: ABT_sched_create_basic(), then ABT_xstream_create().
 *  Contexts: init. Switches: never. Errors: INV_ARG, MEM, SYS. */
ABT_API_PUBLIC int ABT_xstream_create_basic(ABT_sched_predef predef, int num_pools, ABT_pool* pools,
                                            ABT_sched_config config, ABT_xstream* new_xstream);

/** ABT_xstream_create() with a rank of one's own choice: 0 or more, and not in use.
 *  Contexts: init. Switches: never. Errors: INV_XSTREAM_RANK, MEM, SYS, INV_SCHED. */
ABT_API_PUBLIC int ABT_xstream_create_with_rank(ABT_sched sched, int rank, ABT_xstream* new_xstream);

/** Joins the stream if nobody has, frees it and sets the handle to ABT_XSTREAM_NULL. Neither the primary
 *  stream nor the one that runs the caller.
 *  Contexts: init. Switches: may. Errors: INV_XSTREAM. */
ABT_API_PUBLIC int ABT_xstream_free(ABT_xstream* xstream);

/** Lets the stream run what is in its pools, then stops it, and waits for that. One joiner at a time; neither
 *  the primary stream nor the one that runs the caller. The handle stays valid: ABT_xstream_revive() starts
 *  the stream again.
 *  Contexts: init. Switches: may. Errors: INV_XSTREAM. */
ABT_API_PUBLIC int ABT_xstream_join(ABT_xstream xstream);

/** Starts a joined stream again, with the main scheduler that it had, or the one set meanwhile.
 *  Contexts: init. Switches: may. Errors: INV_XSTREAM, MEM, SYS. */
ABT_API_PUBLIC int ABT_xstream_revive(ABT_xstream xstream);

/** Ends the calling ULT and cancels the stream that runs it. Not on the primary stream.
 *  Contexts: ULT. Switches: always. Errors: INV_THREAD, INV_XSTREAM, UNINITIALIZED. */
ABT_API_PUBLIC int ABT_xstream_exit(void);

/** Asks the stream to stop even if its pools still hold units; returns before it has. Not the primary stream.
 *  Contexts: init. Switches: never. Errors: INV_XSTREAM. */
ABT_API_PUBLIC int ABT_xstream_cancel(ABT_xstream xstream);

/** The stream that runs the caller. New code: ABT_self_get_xstream().
 *  Contexts: unit. Switches: never. Errors: INV_XSTREAM, UNINITIALIZED. */
ABT_API_PUBLIC int ABT_xstream_self(ABT_xstream* xstream);

/** The rank of the stream that runs the caller. New code: ABT_self_get_xstream_rank().
 *  Contexts: unit. Switches: never. Errors: INV_XSTREAM, UNINITIALIZED. */
ABT_API_PUBLIC int ABT_xstream_self_rank(int* rank);

/** Gives the stream another rank: 0 or more, and not in use. Not the primary stream. If streams are bound to
 *  CPUs, this one is bound anew.
 *  Contexts: init. Switches: never. Errors: INV_XSTREAM_RANK, INV_XSTREAM, MEM, SYS. */
ABT_API_PUBLIC int ABT_xstream_set_rank(ABT_xstream xstream, int rank);

/** The rank of the stream.
 *  Contexts: init. Switches: never. Errors: INV_XSTREAM. */
ABT_API_PUBLIC int ABT_xstream_get_rank(ABT_xstream xstream, int* rank);

/** Replaces the main scheduler of a stream that has been joined (it is used from the next revival on), or of
 *  the stream that runs the caller, which has to be a ULT run by the main scheduler itself. In the second
 *  case the caller moves to the first pool of `sched` and yields. The old scheduler is freed if it is
 *  automatic; units left in pools that no scheduler uses any more are the caller's affair. ABT_SCHED_NULL: a
 *  default one.
 *  Contexts: ULT. Switches: may. Errors: INV_XSTREAM, INV_THREAD, MEM, SYS, INV_SCHED, XSTREAM_STATE. */
ABT_API_PUBLIC int ABT_xstream_set_main_sched(ABT_xstream xstream, ABT_sched sched);

/** ABT_xstream_set_main_sched() with a predefined scheduler made from `pools`.
 *  Contexts: ULT. Switches: may. Errors: INV_XSTREAM, INV_THREAD, INV_ARG, MEM, SYS. */
ABT_API_PUBLIC int ABT_xstream_set_main_sched_basic(ABT_xstream xstream, ABT_sched_predef predef,
                                                    int num_pools, ABT_pool* pools);

/** The main scheduler of the stream.
 *  Contexts: init. Switches: never. Errors: INV_XSTREAM. */
ABT_API_PUBLIC int ABT_xstream_get_main_sched(ABT_xstream xstream, ABT_sched* sched);

/** Stores the first pools of the stream's main scheduler, at most `max_pools` (0 or more) of them; elements
 *  beyond the last pool are left as they are.
 *  Contexts: init. Switches: never. Errors: INV_ARG, INV_XSTREAM. */
ABT_API_PUBLIC int ABT_xstream_get_main_pools(ABT_xstream xstream, int max_pools, ABT_pool* pools);

/** RUNNING or TERMINATED.
 *  Contexts: init. Switches: never. Errors: INV_XSTREAM. */
ABT_API_PUBLIC int ABT_xstream_get_state(ABT_xstream xstream, ABT_xstream_state* state);

/** ABT_TRUE if both handles are the same one; NULL handles are equal. `==` does that too.
 *  Contexts: any. Switches: never. Errors: none. */
ABT_API_PUBLIC int ABT_xstream_equal(ABT_xstream a, ABT_xstream b, ABT_bool* result);

/** The number of streams that have been created and not been freed; joined ones count.
 *  Contexts: init. Switches: never. Errors: UNINITIALIZED. */
ABT_API_PUBLIC int ABT_xstream_get_num(int* num_xstreams);

/** ABT_TRUE for the primary stream.
 *  Contexts: init. Switches: never. Errors: INV_XSTREAM. */
ABT_API_PUBLIC int ABT_xstream_is_primary(ABT_xstream xstream, ABT_bool* is_primary);

/** Runs a unit, which has been taken out of its pool and belongs to `pool` from then on, as a child of the
 *  calling ULT; returns when the unit ends, yields or is suspended. New code: ABT_self_schedule().
 *  Contexts: ULT. Switches: always. Errors: INV_XSTREAM, INV_THREAD, INV_UNIT, INV_POOL, MEM, SYS, UNIT. */
ABT_API_PUBLIC int ABT_xstream_run_unit(ABT_unit unit, ABT_pool pool);

/** Handles what was asked of the stream: to stop, to be joined, to print its stacks. A user's scheduler calls
 *  it now and then, with itself as the argument.
 *  Contexts: sched. Switches: may. Errors: INV_XSTREAM, INV_SCHED, INV_THREAD, UNINITIALIZED. */
ABT_API_PUBLIC int ABT_xstream_check_events(ABT_sched sched);

/** Binds the stream to one CPU, numbered from 0.
 *  Contexts: init. Switches: may. Errors: INV_XSTREAM, CPUID, SYS, MEM. */
ABT_API_PUBLIC int ABT_xstream_set_cpubind(ABT_xstream xstream, int cpuid);

/** The CPU to which the stream is bound; the first one if there are several.
 *  Contexts: init. Switches: never. Errors: INV_XSTREAM, SYS, FEATURE_NA (it is not bound). */
ABT_API_PUBLIC int ABT_xstream_get_cpubind(ABT_xstream xstream, int* cpuid);

/** Binds the stream to the CPUs given, numbered from 0. `num_cpuids` 0: to none, it may run on each.
 *  Contexts: init. Switches: may. Errors: INV_XSTREAM, INV_ARG, CPUID, SYS, MEM. */
ABT_API_PUBLIC int ABT_xstream_set_affinity(ABT_xstream xstream, int num_cpuids, int* cpuids);

/** Stores the first `max_cpuids` CPUs to which the stream is bound, and in `*num_cpuids` how many there are.
 *  Each of the two pointers may be NULL.
 *  Contexts: init. Switches: never. Errors: INV_XSTREAM, INV_ARG, SYS. */
ABT_API_PUBLIC int ABT_xstream_get_affinity(ABT_xstream xstream, int max_cpuids, int* cpuids,
                                            int* num_cpuids);

/* ---- Barriers between streams ---- */

/** Creates a barrier at which `num_waiters` (1 or more) streams meet, each standing still as a whole.
 *  Contexts: init. Switches: never. Errors: INV_ARG, MEM, SYS. */
ABT_API_PUBLIC int ABT_xstream_barrier_create(uint32_t num_waiters, ABT_xstream_barrier* new_barrier);

/** Frees the barrier and sets the handle to ABT_XSTREAM_BARRIER_NULL. Nobody may be waiting.
 *  Contexts: init. Switches: never. Errors: INV_XSTREAM_BARRIER. */
ABT_API_PUBLIC int ABT_xstream_barrier_free(ABT_xstream_barrier* barrier);

/** Blocks the stream, or the foreign kernel thread, until as many as were asked for have come. Other units of
 *  the stream do not run meanwhile. Use ABT_barrier to let ULTs meet.
 *  Contexts: init. Switches: never. Errors: INV_XSTREAM_BARRIER. */
ABT_API_PUBLIC int ABT_xstream_barrier_wait(ABT_xstream_barrier barrier);

/* ---- Schedulers ---- */

/** Creates a scheduler from callbacks; `def`, `pools` and `config` are copied. A NULL handle among `pools`
 *  stands for a new FIFO pool. Calls `def->init` with the new scheduler and `config`. Not automatic unless
 *  `config` says so (ABT_sched_config_automatic).
 *  Contexts: init. Switches: never. Errors: INV_ARG, INV_SCHED_CONFIG, SCHED, MEM, SYS, or what
 *  `def->init` returned. */
ABT_API_PUBLIC int ABT_sched_create(ABT_sched_def* def, int num_pools, ABT_pool* pools,
                                    ABT_sched_config config, ABT_sched* new_sched);

/** Creates a predefined scheduler, automatic unless `config` says otherwise (ABT_sched_config_automatic).
 *  `pools` NULL: it makes its own (PRIO three, the others one). PRIO: earlier pools come first. RANDWS: the
 *  first pool is its own, it steals from the others.
 *  Contexts: init. Switches: never. Errors: INV_ARG, INV_SCHED_CONFIG, MEM, SYS. */
ABT_API_PUBLIC int ABT_sched_create_basic(ABT_sched_predef predef, int num_pools, ABT_pool* pools,
                                          ABT_sched_config config, ABT_sched* new_sched);

/** Calls the scheduler's `free` (the result is ignored), frees it with those of its automatic pools that no
 *  other scheduler uses, and sets the handle to ABT_SCHED_NULL. SCHED: a stream or a pool still uses it.
 *  Contexts: init. Switches: never. Errors: INV_SCHED, SCHED. */
ABT_API_PUBLIC int ABT_sched_free(ABT_sched* sched);

/** Stores a pointer for the scheduler's callbacks.
 *  Contexts: init. Switches: never. Errors: INV_SCHED. */
ABT_API_PUBLIC int ABT_sched_set_data(ABT_sched sched, void* data);

/** The pointer stored by ABT_sched_set_data(), at first NULL.
 *  Contexts: init. Switches: never. Errors: INV_SCHED. */
ABT_API_PUBLIC int ABT_sched_get_data(ABT_sched sched, void** data);

/** The number of pools of the scheduler.
 *  Contexts: init. Switches: never. Errors: INV_SCHED. */
ABT_API_PUBLIC int ABT_sched_get_num_pools(ABT_sched sched, int* num_pools);

/** Stores `max_pools` pools, beginning with number `idx` (from 0). SCHED: there are not so many.
 *  Contexts: init. Switches: never. Errors: INV_ARG, INV_SCHED, SCHED. */
ABT_API_PUBLIC int ABT_sched_get_pools(ABT_sched sched, int max_pools, int idx, ABT_pool* pools);

/** The number of units in the scheduler's pools; a sum of numbers that were taken one after the other. POOL:
 *  one of them has no `get_size`.
 *  Contexts: init. Switches: never. Errors: INV_SCHED, POOL. */
ABT_API_PUBLIC int ABT_sched_get_size(ABT_sched sched, size_t* size);

/** ABT_sched_get_size(), plus the units of those pools that are suspended.
 *  Contexts: init. Switches: never. Errors: INV_SCHED, POOL. */
ABT_API_PUBLIC int ABT_sched_get_total_size(ABT_sched sched, size_t* size);

/** Asks the scheduler to stop as soon as its pools are empty and none of their units is suspended.
 *  Contexts: init. Switches: never. Errors: INV_SCHED. */
ABT_API_PUBLIC int ABT_sched_finish(ABT_sched sched);

/** Asks the scheduler to stop, whatever is in its pools; goes before ABT_sched_finish().
 *  Contexts: init. Switches: never. Errors: INV_SCHED. */
ABT_API_PUBLIC int ABT_sched_exit(ABT_sched sched);

/** ABT_TRUE if the scheduler should stop now. A user's scheduler asks it in its loop, and returns when told
 *  so. INV_XSTREAM: called from a foreign kernel thread.
 *  Contexts: unit. Switches: may. Errors: INV_SCHED, INV_XSTREAM. */
ABT_API_PUBLIC int ABT_sched_has_to_stop(ABT_sched sched, ABT_bool* stop);

/* ---- Configurations of schedulers ---- */

/** Creates a configuration from pairs: an ABT_sched_config_var by value, then a value of its type (int,
 *  double or void *). The last argument is ABT_sched_config_var_end. `*config` is left untouched on failure.
 *  Contexts: init. Switches: never. Errors: INV_ARG, MEM, SYS. */
ABT_API_PUBLIC int ABT_sched_config_create(ABT_sched_config* config, ...);

/** Stores the value with index i into the i-th pointer that follows, for i from 0 to `num_vars` - 1. A NULL
 *  pointer is skipped; where there is no value the target keeps its own. Meant for `init` of a user's
 *  scheduler.
 *  Contexts: init. Switches: never. Errors: INV_ARG, INV_SCHED_CONFIG. */
ABT_API_PUBLIC int ABT_sched_config_read(ABT_sched_config config, int num_vars, ...);

/** Frees the configuration and sets the handle to ABT_SCHED_CONFIG_NULL.
 *  Contexts: init. Switches: never. Errors: INV_SCHED_CONFIG. */
ABT_API_PUBLIC int ABT_sched_config_free(ABT_sched_config* config);

/** Sets the value with the index `idx`, read from `*value` as its type says. `value` NULL: removes it.
 *  Contexts: init. Switches: never. Errors: INV_ARG, INV_SCHED_CONFIG, MEM, SYS. */
ABT_API_PUBLIC int ABT_sched_config_set(ABT_sched_config config, int idx, ABT_sched_config_type type,
                                        const void* value);

/** Reads the value with the index `idx` and its type; each pointer may be NULL. INV_ARG: no such value.
 *  Contexts: init. Switches: never. Errors: INV_ARG, INV_SCHED_CONFIG. */
ABT_API_PUBLIC int ABT_sched_config_get(ABT_sched_config config, int idx, ABT_sched_config_type* type,
                                        void* value);

/* ---- Pools ---- */

/** Creates a pool from callbacks: a new-style definition, or a pointer to an old-style ABT_pool_def; `def` is
 *  copied. Calls its `init` with the new pool and `config`. Not automatic unless `config` says so
 *  (ABT_pool_config_automatic).
 *  Contexts: init. Switches: never. Errors: INV_POOL_USER_DEF, INV_POOL_CONFIG, MEM, SYS, or what `init`
 *  returned. */
ABT_API_PUBLIC int ABT_pool_create(ABT_pool_user_def def, ABT_pool_config config, ABT_pool* new_pool);

/** Creates a predefined pool. `access` is a hint, except PRIV: then only one stream may use the pool. An
 *  automatic pool is freed with the last scheduler that uses it.
 *  Contexts: init. Switches: never. Errors: INV_POOL_KIND, INV_POOL_ACCESS, MEM, SYS. */
ABT_API_PUBLIC int ABT_pool_create_basic(ABT_pool_kind kind, ABT_pool_access access, ABT_bool automatic,
                                         ABT_pool* new_pool);

/** Calls the pool's `free`, frees it and sets the handle to ABT_POOL_NULL. It has to be empty, and no unit
 *  may belong to it.
 *  Contexts: init. Switches: never. Errors: INV_POOL. */
ABT_API_PUBLIC int ABT_pool_free(ABT_pool* pool);

/** What was given at creation; ABT_POOL_ACCESS_MPMC for a pool with a new-style definition.
 *  Contexts: init. Switches: never. Errors: INV_POOL. */
ABT_API_PUBLIC int ABT_pool_get_access(ABT_pool pool, ABT_pool_access* access);

/** ABT_TRUE if there is no unit in the pool.
 *  Contexts: init. Switches: never. Errors: INV_POOL. */
ABT_API_PUBLIC int ABT_pool_is_empty(ABT_pool pool, ABT_bool* is_empty);

/** The number of units in the pool. POOL: it has no `get_size`.
 *  Contexts: init. Switches: never. Errors: INV_POOL, POOL. */
ABT_API_PUBLIC int ABT_pool_get_size(ABT_pool pool, size_t* size);

/** ABT_pool_get_size(), plus the units of the pool that are suspended.
 *  Contexts: init. Switches: never. Errors: INV_POOL, POOL. */
ABT_API_PUBLIC int ABT_pool_get_total_size(ABT_pool pool, size_t* size);

/** Takes a unit out of the pool; ABT_THREAD_NULL, and success, if it is empty.
 *  Contexts: init. Switches: never. Errors: INV_POOL. */
ABT_API_PUBLIC int ABT_pool_pop_thread(ABT_pool pool, ABT_thread* thread);

/** ABT_pool_pop_thread() with what is known of the caller.
 *  Contexts: init. Switches: never. Errors: INV_POOL. */
ABT_API_PUBLIC int ABT_pool_pop_thread_ex(ABT_pool pool, ABT_thread* thread, ABT_pool_context context);

/** Takes at most `length` units out of the pool and stores how many in `*num`. POOL: the pool has no
 *  `pop_many`.
 *  Contexts: init. Switches: never. Errors: INV_POOL, POOL. */
ABT_API_PUBLIC int ABT_pool_pop_threads(ABT_pool pool, ABT_thread* threads, size_t length, size_t* num);

/** ABT_pool_pop_threads() with what is known of the caller.
 *  Contexts: init. Switches: never. Errors: INV_POOL, POOL. */
ABT_API_PUBLIC int ABT_pool_pop_threads_ex(ABT_pool pool, ABT_thread* threads, size_t length, size_t* num,
                                           ABT_pool_context context);

/** Puts a ready unit that is in no pool into this one, to which it belongs from then on. ABT_THREAD_NULL: no
 *  effect.
 *  Contexts: init. Switches: never. Errors: INV_POOL, MEM, SYS, UNIT. */
ABT_API_PUBLIC int ABT_pool_push_thread(ABT_pool pool, ABT_thread thread);

/** ABT_pool_push_thread() with what is known of the caller.
 *  Contexts: init. Switches: never. Errors: INV_POOL, MEM, SYS, UNIT. */
ABT_API_PUBLIC int ABT_pool_push_thread_ex(ABT_pool pool, ABT_thread thread, ABT_pool_context context);

/** ABT_pool_push_thread() for `num` units; NULL handles among them are skipped. POOL: the pool has no
 *  `push_many`.
 *  Contexts: init. Switches: never. Errors: INV_POOL, MEM, SYS, UNIT, POOL. */
ABT_API_PUBLIC int ABT_pool_push_threads(ABT_pool pool, const ABT_thread* threads, size_t num);

/** ABT_pool_push_threads() with what is known of the caller.
 *  Contexts: init. Switches: never. Errors: INV_POOL, MEM, SYS, UNIT, POOL. */
ABT_API_PUBLIC int ABT_pool_push_threads_ex(ABT_pool pool, const ABT_thread* threads, size_t num,
                                            ABT_pool_context context);

/** Takes a unit out of the pool, and if there is none blocks the kernel thread for up to `seconds`;
 *  ABT_THREAD_NULL, and success, if none came. POOL: the pool has no `pop_wait`.
 *  Contexts: init. Switches: never. Errors: INV_POOL, POOL. */
ABT_API_PUBLIC int ABT_pool_pop_wait_thread(ABT_pool pool, ABT_thread* thread, double seconds);

/** ABT_pool_pop_wait_thread() with what is known of the caller.
 *  Contexts: init. Switches: never. Errors: INV_POOL, POOL. */
ABT_API_PUBLIC int ABT_pool_pop_wait_thread_ex(ABT_pool pool, ABT_thread* thread, double seconds,
                                               ABT_pool_context context);

/** Calls `print` with `arg` and each unit in the pool. POOL: the pool has no `print_all`. For debugging:
 *  nobody else may use the pool meanwhile.
 *  Contexts: init. Switches: never. Errors: INV_POOL, POOL. */
ABT_API_PUBLIC int ABT_pool_print_all_threads(ABT_pool pool, void* arg, void (*print)(void* arg, ABT_thread));

/** Stores a pointer for the pool's callbacks.
 *  Contexts: init. Switches: never. Errors: INV_POOL. */
ABT_API_PUBLIC int ABT_pool_set_data(ABT_pool pool, void* data);

/** The pointer stored by ABT_pool_set_data(), at first NULL.
 *  Contexts: init. Switches: never. Errors: INV_POOL. */
ABT_API_PUBLIC int ABT_pool_get_data(ABT_pool pool, void** data);

/** Puts a scheduler into the pool as if it were a unit: whoever takes it runs the scheduler until it stops.
 *  Contexts: init. Switches: never. Errors: INV_POOL, INV_SCHED, MEM, SYS. */
ABT_API_PUBLIC int ABT_pool_add_sched(ABT_pool pool, ABT_sched sched);

/** A number that no other pool has, from 0.
 *  Contexts: init. Switches: never. Errors: INV_POOL. */
ABT_API_PUBLIC int ABT_pool_get_id(ABT_pool pool, int* id);

/* ---- Pools, by unit handle: for old-style pools ---- */

/** Takes a unit out of the pool; ABT_UNIT_NULL, and success, if it is empty.
 *  Contexts: unit. Switches: never. Errors: INV_POOL. */
ABT_API_PUBLIC int ABT_pool_pop(ABT_pool pool, ABT_unit* unit);

/** Takes a unit out of the pool, and if there is none blocks the kernel thread for up to `seconds`;
 *  ABT_UNIT_NULL, and success, if none came. POOL: the pool has no `pop_wait`.
 *  Contexts: init. Switches: never. Errors: INV_POOL, POOL. */
ABT_API_PUBLIC int ABT_pool_pop_wait(ABT_pool pool, ABT_unit* unit, double seconds);

/** ABT_pool_pop_wait() up to the time `deadline`, in seconds as ABT_get_wtime() counts them. Deprecated.
 *  Contexts: init. Switches: never. Errors: INV_POOL, POOL. */
ABT_DEPRECATED ABT_API_PUBLIC int ABT_pool_pop_timedwait(ABT_pool pool, ABT_unit* unit, double deadline);

/** Takes this unit out of the pool, wherever it stands in it. POOL: the pool has no `remove`, as is so with
 *  new-style definitions.
 *  Contexts: init. Switches: never. Errors: INV_POOL, INV_UNIT, POOL. */
ABT_API_PUBLIC int ABT_pool_remove(ABT_pool pool, ABT_unit unit);

/** Puts a unit that is in no pool into this one, to which it belongs from then on. INV_UNIT also for
 *  ABT_UNIT_NULL.
 *  Contexts: init. Switches: never. Errors: INV_POOL, INV_UNIT, MEM, SYS, UNIT. */
ABT_API_PUBLIC int ABT_pool_push(ABT_pool pool, ABT_unit unit);

/** Calls `print` with `arg` and each unit in the pool. POOL: the pool has no `print_all`. For debugging:
 *  nobody else may use the pool meanwhile.
 *  Contexts: init. Switches: never. Errors: INV_POOL, POOL. */
ABT_API_PUBLIC int ABT_pool_print_all(ABT_pool pool, void* arg, void (*print)(void* arg, ABT_unit));

/* ---- Configurations of pools ---- */

/** Creates an empty configuration. The one key with a meaning of its own is ABT_pool_config_automatic.
 *  `*config` is left untouched on failure.
 *  Contexts: init. Switches: never. Errors: MEM, SYS. */
ABT_API_PUBLIC int ABT_pool_config_create(ABT_pool_config* config);

/** Frees the configuration and sets the handle to ABT_POOL_CONFIG_NULL.
 *  Contexts: init. Switches: never. Errors: INV_POOL_CONFIG. */
ABT_API_PUBLIC int ABT_pool_config_free(ABT_pool_config* config);

/** Sets the value with the key `key`, read from `*value` as its type says. `value` NULL: removes it.
 *  Contexts: init. Switches: never. Errors: INV_ARG, INV_POOL_CONFIG, MEM, SYS. */
ABT_API_PUBLIC int ABT_pool_config_set(ABT_pool_config config, int key, ABT_pool_config_type type,
                                       const void* value);

/** Reads the value with the key `key` and its type; each pointer may be NULL. INV_ARG: no such value.
 *  Contexts: init. Switches: never. Errors: INV_ARG, INV_POOL_CONFIG. */
ABT_API_PUBLIC int ABT_pool_config_get(ABT_pool_config config, int key, ABT_pool_config_type* type,
                                       void* value);

/* ---- New-style definitions of pools ---- */

/** Creates a new-style definition of a pool from the five callbacks that it cannot do without. `*new_def` is
 *  left untouched on failure.
 *  Contexts: init. Switches: never. Errors: MEM, SYS. */
ABT_API_PUBLIC int ABT_pool_user_def_create(ABT_pool_user_create_unit_fn create_unit,
                                            ABT_pool_user_free_unit_fn free_unit,
                                            ABT_pool_user_is_empty_fn is_empty, ABT_pool_user_pop_fn pop,
                                            ABT_pool_user_push_fn push, ABT_pool_user_def* new_def);

/** Frees the definition and sets the handle to ABT_POOL_USER_DEF_NULL. Pools made from it go on.
 *  Contexts: init. Switches: never. Errors: INV_POOL_USER_DEF. */
ABT_API_PUBLIC int ABT_pool_user_def_free(ABT_pool_user_def* def);

/** Sets what ABT_pool_create() calls with the new pool; NULL: nothing.
 *  Contexts: init. Switches: never. Errors: INV_POOL_USER_DEF. */
ABT_API_PUBLIC int ABT_pool_user_def_set_init(ABT_pool_user_def def, ABT_pool_user_init_fn init);

/** Sets what is called when a pool is freed; NULL: nothing.
 *  Contexts: init. Switches: never. Errors: INV_POOL_USER_DEF. */
ABT_API_PUBLIC int ABT_pool_user_def_set_free(ABT_pool_user_def def, ABT_pool_user_free_fn free);

/** Sets what tells the number of units in a pool; NULL: nothing does.
 *  Contexts: init. Switches: never. Errors: INV_POOL_USER_DEF. */
ABT_API_PUBLIC int ABT_pool_user_def_set_get_size(ABT_pool_user_def def, ABT_pool_user_get_size_fn get_size);

/** Sets what takes a unit and may wait for one; NULL: nothing does.
 *  Contexts: init. Switches: never. Errors: INV_POOL_USER_DEF. */
ABT_API_PUBLIC int ABT_pool_user_def_set_pop_wait(ABT_pool_user_def def, ABT_pool_user_pop_wait_fn pop_wait);

/** Sets what takes several units at once; NULL: nothing does.
 *  Contexts: init. Switches: never. Errors: INV_POOL_USER_DEF. */
ABT_API_PUBLIC int ABT_pool_user_def_set_pop_many(ABT_pool_user_def def, ABT_pool_user_pop_many_fn pop_many);

/** Sets what puts several units at once; NULL: nothing does.
 *  Contexts: init. Switches: never. Errors: INV_POOL_USER_DEF. */
ABT_API_PUBLIC int ABT_pool_user_def_set_push_many(ABT_pool_user_def def,
                                                   ABT_pool_user_push_many_fn push_many);

/** Sets what shows the units in a pool; NULL: nothing does.
 *  Contexts: init. Switches: never. Errors: INV_POOL_USER_DEF. */
ABT_API_PUBLIC int ABT_pool_user_def_set_print_all(ABT_pool_user_def def,
                                                   ABT_pool_user_print_all_fn print_all);

/* ---- Unit handles ---- */

/** The ULT or tasklet that a pool knows by this handle.
 *  Contexts: init. Switches: never. Errors: INV_UNIT. */
ABT_API_PUBLIC int ABT_unit_get_thread(ABT_unit unit, ABT_thread* thread);

/** Checks its arguments and does nothing else. Use ABT_thread_set_associated_pool().
 *  Contexts: init. Switches: never. Errors: INV_UNIT, INV_POOL. */
ABT_API_PUBLIC int ABT_unit_set_associated_pool(ABT_unit unit, ABT_pool pool);

/* ---- ULTs and tasklets ---- */

/** Creates a ULT, which is ready at once, in `pool`. `attr` is copied; ABT_THREAD_ATTR_NULL: the defaults.
 *  `new_thread` NULL: the ULT is unnamed, and freed when it ends; a named one is freed by ABT_thread_free().
 *  Contexts: init. Switches: never. Errors: INV_POOL, MEM, SYS, UNIT. */
ABT_API_PUBLIC int ABT_thread_create(ABT_pool pool, void (*function)(void*), void* arg, ABT_thread_attr attr,
                                     ABT_thread* new_thread);

/** ABT_thread_create(), and the new ULT runs at once in the caller's place; the caller goes to its pool.
 *  `*new_thread` is left untouched on failure.
 *  Contexts: ULT. Switches: always. Errors: INV_POOL, INV_XSTREAM, INV_THREAD, MEM, SYS, UNIT. */
ABT_API_PUBLIC int ABT_thread_create_to(ABT_pool pool, void (*function)(void*), void* arg,
                                        ABT_thread_attr attr, ABT_thread* new_thread);

/** ABT_thread_create() in the first pool of the stream's main scheduler.
 *  Contexts: init. Switches: never. Errors: INV_XSTREAM, MEM, SYS, UNIT. */
ABT_API_PUBLIC int ABT_thread_create_on_xstream(ABT_xstream xstream, void (*function)(void*), void* arg,
                                                ABT_thread_attr attr, ABT_thread* new_thread);

/** Creates `num_threads` ULTs, each with its own pool, function and argument; `args` NULL: NULL for each;
 *  `new_threads` NULL: they are unnamed. If one cannot be created, none is: those already made are taken back
 *  before they run, and all handles are ABT_THREAD_NULL. INV_THREAD_ATTR: `attr` has a stack of its own.
 *  Contexts: init. Switches: never. Errors: INV_POOL, INV_THREAD_ATTR, MEM, SYS, UNIT. */
ABT_API_PUBLIC int ABT_thread_create_many(int num_threads, ABT_pool* pools, void (**functions)(void*),
                                          void** args, ABT_thread_attr attr, ABT_thread* new_threads);

/** Starts a named ULT or tasklet that has ended again, in `pool`, with the handle, stack, attributes and
 *  values that it has. INV_THREAD also if it has not ended.
 *  Contexts: init. Switches: never. Errors: INV_POOL, INV_THREAD, MEM, SYS, UNIT. */
ABT_API_PUBLIC int ABT_thread_revive(ABT_pool pool, void (*function)(void*), void* arg, ABT_thread* thread);

/** ABT_thread_revive() of a ULT, which runs at once in the caller's place; the caller goes to its pool.
 *  Contexts: ULT. Switches: always. Errors: INV_POOL, INV_XSTREAM, INV_THREAD, MEM, SYS, UNIT. */
ABT_API_PUBLIC int ABT_thread_revive_to(ABT_pool pool, void (*function)(void*), void* arg,
                                        ABT_thread* thread);

/** Waits for the unit's end if need be, runs the destructors of its values, frees it and sets the handle to
 *  ABT_THREAD_NULL. Neither the caller, nor the primary ULT, nor a scheduler's ULT.
 *  Contexts: init. Switches: may. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABT_thread_free(ABT_thread* thread);

/** ABT_thread_free() for each of `num_threads` handles; NULL handles and errors are skipped.
 *  Contexts: init. Switches: may. Errors: none. */
ABT_API_PUBLIC int ABT_thread_free_many(int num_threads, ABT_thread* threads);

/** Waits for the unit's end. A ULT is suspended, a foreign kernel thread blocked meanwhile. One joiner at a
 *  time; the handle stays valid until it is freed.
 *  Contexts: init. Switches: may. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABT_thread_join(ABT_thread thread);

/** ABT_thread_join() for each of `num_threads` handles; NULL handles and errors are skipped.
 *  Contexts: init. Switches: may. Errors: none. */
ABT_API_PUBLIC int ABT_thread_join_many(int num_threads, ABT_thread* threads);

/** Ends the calling ULT; does not return on success. Not the primary ULT. New code: ABT_self_exit().
 *  Contexts: ULT. Switches: always. Errors: INV_XSTREAM, INV_THREAD, UNINITIALIZED. */
ABT_API_PUBLIC int ABT_thread_exit(void);

/** Asks the unit to end at its next scheduling point; one that has not started never does. Not the primary
 *  ULT.
 *  Contexts: init. Switches: never. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABT_thread_cancel(ABT_thread thread);

/** The calling ULT. INV_THREAD: the caller is a tasklet. New code: ABT_self_get_thread().
 *  Contexts: ULT. Switches: never. Errors: INV_XSTREAM, INV_THREAD, UNINITIALIZED. */
ABT_API_PUBLIC int ABT_thread_self(ABT_thread* thread);

/** The identifier of the calling ULT. INV_THREAD: the caller is a tasklet. New code:
 *  ABT_self_get_thread_id().
 *  Contexts: ULT. Switches: never. Errors: INV_XSTREAM, INV_THREAD, UNINITIALIZED, MEM. */
ABT_API_PUBLIC int ABT_thread_self_id(ABT_unit_id* id);

/** The stream that ran the unit last; ABT_XSTREAM_NULL if it never ran.
 *  Contexts: init. Switches: never. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABT_thread_get_last_xstream(ABT_thread thread, ABT_xstream* xstream);

/** READY, RUNNING, BLOCKED (suspended) or TERMINATED, as it was at some moment of the call.
 *  Contexts: init. Switches: never. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABT_thread_get_state(ABT_thread thread, ABT_thread_state* state);

/** The pool to which the unit belongs.
 *  Contexts: init. Switches: never. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABT_thread_get_last_pool(ABT_thread thread, ABT_pool* pool);

/** The number of the pool to which the unit belongs (ABT_pool_get_id()).
 *  Contexts: init. Switches: never. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABT_thread_get_last_pool_id(ABT_thread thread, int* id);

/** The handle by which its pool knows the unit.
 *  Contexts: init. Switches: never. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABT_thread_get_unit(ABT_thread thread, ABT_unit* unit);

/** Makes the unit, which must be in no pool at that time, belong to `pool`. Does not put it there.
 *  Contexts: init. Switches: never. Errors: INV_THREAD, INV_POOL, MEM, SYS, UNIT. */
ABT_API_PUBLIC int ABT_thread_set_associated_pool(ABT_thread thread, ABT_pool pool);

/** Takes a ready ULT out of its pool and runs it at once in the caller's place; the caller goes to its pool.
 *  If the ULT is not ready, or the caller is no ULT, nothing happens. POOL: the pool cannot remove units. New
 *  code: ABT_self_yield_to().
 *  Contexts: init. Switches: may. Errors: INV_THREAD, POOL. */
ABT_API_PUBLIC int ABT_thread_yield_to(ABT_thread thread);

/** Lets other units run; the caller goes to its pool. Has no effect if the caller is no ULT. New code:
 *  ABT_self_yield().
 *  Contexts: init. Switches: may. Errors: none. */
ABT_API_PUBLIC int ABT_thread_yield(void);

/** Makes a ULT that has suspended itself ready; it goes to its pool. THREAD: it is not suspended.
 *  Contexts: init. Switches: may. Errors: INV_THREAD, THREAD. */
ABT_API_PUBLIC int ABT_thread_resume(ABT_thread thread);

/** Asks for the unit to go on in a pool of `xstream`. As all of these, a request: it is met when the unit
 *  next yields, is suspended or is picked, and the latest one counts. MIGRATION_TARGET: the stream does not
 *  run, or has the unit's pool already.
 *  Contexts: init. Switches: never. Errors: INV_THREAD, INV_XSTREAM, MIGRATION_TARGET, MEM, SYS. */
ABT_API_PUBLIC int ABT_thread_migrate_to_xstream(ABT_thread thread, ABT_xstream xstream);

/** Asks for the unit to go on in a pool of `sched`: the one that its `get_migr_pool` names, or the first.
 *  MIGRATION_TARGET: as above.
 *  Contexts: init. Switches: never. Errors: INV_THREAD, INV_SCHED, MIGRATION_TARGET, MEM, SYS. */
ABT_API_PUBLIC int ABT_thread_migrate_to_sched(ABT_thread thread, ABT_sched sched);

/** Asks for the unit to go on in `pool`. MIGRATION_TARGET: it belongs there already.
 *  Contexts: init. Switches: never. Errors: INV_THREAD, INV_POOL, MIGRATION_TARGET, MEM, SYS. */
ABT_API_PUBLIC int ABT_thread_migrate_to_pool(ABT_thread thread, ABT_pool pool);

/** Asks for the unit to go on on some other running stream, whatever pools that has. MIGRATION_NA: there is
 *  none.
 *  Contexts: init. Switches: never. Errors: INV_THREAD, MIGRATION_NA, MEM, SYS. */
ABT_API_PUBLIC int ABT_thread_migrate(ABT_thread thread);

/** Sets what is called, with the unit and `callback_arg`, each time the unit has migrated, by whoever moves
 *  it. NULL: nothing.
 *  Contexts: init. Switches: never. Errors: INV_THREAD, MEM, SYS. */
ABT_API_PUBLIC int ABT_thread_set_callback(ABT_thread thread,
                                           void (*callback)(ABT_thread thread, void* callback_arg),
                                           void* callback_arg);

/** Whether the unit may migrate. Has no effect on the primary ULT and on a scheduler's.
 *  Contexts: init. Switches: never. Errors: INV_THREAD, MEM, SYS. */
ABT_API_PUBLIC int ABT_thread_set_migratable(ABT_thread thread, ABT_bool migratable);

/** Whether the unit may migrate.
 *  Contexts: init. Switches: never. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABT_thread_is_migratable(ABT_thread thread, ABT_bool* is_migratable);

/** ABT_TRUE for the primary ULT.
 *  Contexts: init. Switches: never. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABT_thread_is_primary(ABT_thread thread, ABT_bool* is_primary);

/** ABT_TRUE if the unit was created without a handle.
 *  Contexts: init. Switches: never. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABT_thread_is_unnamed(ABT_thread thread, ABT_bool* is_unnamed);

/** ABT_TRUE if both handles are the same one; ABT_THREAD_NULL and ABT_TASK_NULL are equal.
 *  Contexts: init. Switches: never. Errors: none. */
ABT_API_PUBLIC int ABT_thread_equal(ABT_thread a, ABT_thread b, ABT_bool* result);

/** The size of the ULT's stack in bytes; 0 for tasklets and the primary ULT.
 *  Contexts: init. Switches: never. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABT_thread_get_stacksize(ABT_thread thread, size_t* size);

/** The lowest address and the size in bytes of the ULT's stack; NULL and 0 for tasklets and the primary ULT.
 *  Each pointer may be NULL.
 *  Contexts: init. Switches: never. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABT_thread_get_stack(ABT_thread thread, void** stack, size_t* size);

/** A number that no other unit has until the runtime is finalised.
 *  Contexts: init. Switches: never. Errors: INV_THREAD, MEM. */
ABT_API_PUBLIC int ABT_thread_get_id(ABT_thread thread, ABT_unit_id* id);

/** Sets the argument with which the unit starts, or is revived.
 *  Contexts: init. Switches: never. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABT_thread_set_arg(ABT_thread thread, void* arg);

/** The argument of the unit's function.
 *  Contexts: init. Switches: never. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABT_thread_get_arg(ABT_thread thread, void** arg);

/** The unit's function.
 *  Contexts: init. Switches: never. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABT_thread_get_thread_func(ABT_thread thread, void (**function)(void*));

/** Sets the unit's value of `key`. May be called for a unit that runs.
 *  Contexts: init. Switches: never. Errors: INV_THREAD, INV_KEY, MEM, SYS. */
ABT_API_PUBLIC int ABT_thread_set_specific(ABT_thread thread, ABT_key key, void* value);

/** The unit's value of `key`; NULL if never set.
 *  Contexts: init. Switches: never. Errors: INV_THREAD, INV_KEY. */
ABT_API_PUBLIC int ABT_thread_get_specific(ABT_thread thread, ABT_key key, void** value);

/** A new object with the attributes of a ULT, its real stack among them; the caller frees it. INV_THREAD also
 *  for a tasklet.
 *  Contexts: waiter. Switches: never. Errors: INV_THREAD, MEM, SYS. */
ABT_API_PUBLIC int ABT_thread_get_attr(ABT_thread thread, ABT_thread_attr* attr);

/* ---- Attributes of ULTs ---- */

/** Creates attributes: the default stack size (ABT_THREAD_STACKSIZE), migratable, no callback.
 *  Contexts: init. Switches: never. Errors: MEM, SYS. */
ABT_API_PUBLIC int ABT_thread_attr_create(ABT_thread_attr* new_attr);

/** Frees the attributes and sets the handle to ABT_THREAD_ATTR_NULL. ULTs made with them go on.
 *  Contexts: init. Switches: never. Errors: INV_THREAD_ATTR. */
ABT_API_PUBLIC int ABT_thread_attr_free(ABT_thread_attr* attr);

/** Sets the stack: memory of the caller's, aligned to 8 bytes, for one ULT, until that is freed. `stack`
 *  NULL: only the size, in bytes.
 *  Contexts: init. Switches: never. Errors: INV_THREAD_ATTR, INV_ARG. */
ABT_API_PUBLIC int ABT_thread_attr_set_stack(ABT_thread_attr attr, void* stack, size_t size);

/** The stack, NULL if the runtime is to provide it, and its size in bytes.
 *  Contexts: init. Switches: never. Errors: INV_THREAD_ATTR. */
ABT_API_PUBLIC int ABT_thread_attr_get_stack(ABT_thread_attr attr, void** stack, size_t* size);

/** Sets the size of the stack in bytes.
 *  Contexts: init. Switches: never. Errors: INV_THREAD_ATTR. */
ABT_API_PUBLIC int ABT_thread_attr_set_stacksize(ABT_thread_attr attr, size_t size);

/** The size of the stack in bytes.
 *  Contexts: init. Switches: never. Errors: INV_THREAD_ATTR. */
ABT_API_PUBLIC int ABT_thread_attr_get_stacksize(ABT_thread_attr attr, size_t* size);

/** Sets what is called each time the ULT has migrated (ABT_thread_set_callback()). NULL: nothing.
 *  Contexts: init. Switches: never. Errors: INV_THREAD_ATTR. */
ABT_API_PUBLIC int ABT_thread_attr_set_callback(ABT_thread_attr attr,
                                                void (*callback)(ABT_thread thread, void* callback_arg),
                                                void* callback_arg);

/** Whether the ULT may migrate.
 *  Contexts: init. Switches: never. Errors: INV_THREAD_ATTR. */
ABT_API_PUBLIC int ABT_thread_attr_set_migratable(ABT_thread_attr attr, ABT_bool is_migratable);

/* ---- Tasklets ----
 * A tasklet is an ABT_thread too; most of these are other names. */

/** Creates a tasklet, which is ready at once, in `pool`. A tasklet has no stack of its own, and may neither
 *  yield nor be suspended. `new_task` NULL: it is unnamed, and freed when it ends.
 *  Contexts: init. Switches: never. Errors: INV_POOL, MEM, SYS, UNIT. */
ABT_API_PUBLIC int ABT_task_create(ABT_pool pool, void (*function)(void*), void* arg, ABT_task* new_task);

/** ABT_task_create() in the first pool of the stream's main scheduler.
 *  Contexts: init. Switches: never. Errors: INV_XSTREAM, MEM, SYS, UNIT. */
ABT_API_PUBLIC int ABT_task_create_on_xstream(ABT_xstream xstream, void (*function)(void*), void* arg,
                                              ABT_task* new_task);

/** ABT_thread_revive() under another name.
 *  Contexts: init. Switches: never. Errors: INV_POOL, INV_TASK, MEM, SYS, UNIT. */
ABT_API_PUBLIC int ABT_task_revive(ABT_pool pool, void (*function)(void*), void* arg, ABT_task* task);

/** Waits for the tasklet's end if need be, frees it and sets the handle to ABT_TASK_NULL.
 *  Contexts: init. Switches: may. Errors: INV_TASK. */
ABT_API_PUBLIC int ABT_task_free(ABT_task* task);

/** ABT_thread_join() under another name.
 *  Contexts: init. Switches: may. Errors: INV_TASK. */
ABT_API_PUBLIC int ABT_task_join(ABT_task task);

/** ABT_thread_cancel() under another name.
 *  Contexts: init. Switches: never. Errors: INV_TASK. */
ABT_API_PUBLIC int ABT_task_cancel(ABT_task task);

/** The calling tasklet. INV_TASK: the caller is a ULT. New code: ABT_self_get_thread().
 *  Contexts: tasklet. Switches: never. Errors: INV_XSTREAM, INV_TASK, UNINITIALIZED. */
ABT_API_PUBLIC int ABT_task_self(ABT_task* task);

/** The identifier of the calling tasklet. INV_TASK: the caller is a ULT. New code: ABT_self_get_thread_id().
 *  Contexts: tasklet. Switches: never. Errors: INV_XSTREAM, INV_TASK, UNINITIALIZED, MEM. */
ABT_API_PUBLIC int ABT_task_self_id(uint64_t* id);

/** ABT_thread_get_last_xstream() under another name.
 *  Contexts: init. Switches: never. Errors: INV_TASK. */
ABT_API_PUBLIC int ABT_task_get_xstream(ABT_task task, ABT_xstream* xstream);

/** READY, RUNNING or TERMINATED. INV_TASK also for a ULT.
 *  Contexts: init. Switches: never. Errors: INV_TASK. */
ABT_API_PUBLIC int ABT_task_get_state(ABT_task task, ABT_task_state* state);

/** ABT_thread_get_last_pool() under another name.
 *  Contexts: init. Switches: never. Errors: INV_TASK. */
ABT_API_PUBLIC int ABT_task_get_last_pool(ABT_task task, ABT_pool* pool);

/** ABT_thread_get_last_pool_id() under another name.
 *  Contexts: init. Switches: never. Errors: INV_TASK. */
ABT_API_PUBLIC int ABT_task_get_last_pool_id(ABT_task task, int* id);

/** ABT_thread_set_migratable() under another name.
 *  Contexts: init. Switches: never. Errors: INV_TASK, MEM, SYS. */
ABT_API_PUBLIC int ABT_task_set_migratable(ABT_task task, ABT_bool is_migratable);

/** ABT_thread_is_migratable() under another name.
 *  Contexts: init. Switches: never. Errors: INV_TASK. */
ABT_API_PUBLIC int ABT_task_is_migratable(ABT_task task, ABT_bool* is_migratable);

/** ABT_thread_equal() under another name.
 *  Contexts: init. Switches: never. Errors: none. */
ABT_API_PUBLIC int ABT_task_equal(ABT_task a, ABT_task b, ABT_bool* result);

/** ABT_thread_get_id() under another name.
 *  Contexts: init. Switches: never. Errors: INV_TASK, MEM. */
ABT_API_PUBLIC int ABT_task_get_id(ABT_task task, uint64_t* id);

/** ABT_thread_get_arg() under another name.
 *  Contexts: init. Switches: never. Errors: INV_TASK. */
ABT_API_PUBLIC int ABT_task_get_arg(ABT_task task, void** arg);

/* These have no symbol of their own. */
#define ABT_task_is_unnamed ABT_thread_is_unnamed
#define ABT_task_set_specific ABT_thread_set_specific
#define ABT_task_get_specific ABT_thread_get_specific

/* ---- The calling unit ---- */

/** The stream that runs the caller.
 *  Contexts: unit. Switches: never. Errors: INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_xstream(ABT_xstream* xstream);

/** The rank of the stream that runs the caller.
 *  Contexts: unit. Switches: never. Errors: INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_xstream_rank(int* rank);

/** The calling ULT or tasklet.
 *  Contexts: unit. Switches: never. Errors: INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_thread(ABT_thread* thread);

/** The identifier of the calling unit.
 *  Contexts: unit. Switches: never. Errors: INV_XSTREAM, MEM. */
ABT_API_PUBLIC int ABT_self_get_thread_id(ABT_unit_id* id);

/** Sets the caller's value of `key`.
 *  Contexts: unit. Switches: never. Errors: INV_XSTREAM, INV_KEY, MEM, SYS. */
ABT_API_PUBLIC int ABT_self_set_specific(ABT_key key, void* value);

/** The caller's value of `key`; NULL if never set.
 *  Contexts: unit. Switches: never. Errors: INV_XSTREAM, INV_KEY. */
ABT_API_PUBLIC int ABT_self_get_specific(ABT_key key, void** value);

/** THREAD or TASK. From a foreign kernel thread EXT, and INV_XSTREAM.
 *  Contexts: unit. Switches: never. Errors: UNINITIALIZED, INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_type(ABT_unit_type* type);

/** ABT_TRUE in the primary ULT. INV_THREAD: the caller is a tasklet.
 *  Contexts: ULT. Switches: never. Errors: UNINITIALIZED, INV_XSTREAM, INV_THREAD. */
ABT_API_PUBLIC int ABT_self_is_primary(ABT_bool* is_primary);

/** ABT_TRUE on the primary stream.
 *  Contexts: unit. Switches: never. Errors: UNINITIALIZED, INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_on_primary_xstream(ABT_bool* on_primary);

/** ABT_TRUE if the calling unit was created without a handle.
 *  Contexts: unit. Switches: never. Errors: INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_is_unnamed(ABT_bool* is_unnamed);

/** The pool to which the caller belongs.
 *  Contexts: unit. Switches: never. Errors: INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_last_pool(ABT_pool* pool);

/** The number of the pool to which the caller belongs; -1 on failure.
 *  Contexts: unit. Switches: never. Errors: INV_XSTREAM, UNINITIALIZED. */
ABT_API_PUBLIC int ABT_self_get_last_pool_id(int* pool_id);

/** Makes the caller belong to `pool`, where it goes when it next yields or is resumed. Does not yield.
 *  Contexts: unit. Switches: never. Errors: INV_XSTREAM, INV_POOL, MEM, SYS, UNIT. */
ABT_API_PUBLIC int ABT_self_set_associated_pool(ABT_pool pool);

/** The handle by which its pool knows the caller.
 *  Contexts: unit. Switches: never. Errors: INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_unit(ABT_unit* unit);

/** Lets other units run; the caller goes to its pool.
 *  Contexts: ULT. Switches: always. Errors: INV_THREAD, INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_yield(void);

/** Runs a ready ULT, which the caller has taken out of its pool, at once in the caller's place; the caller
 *  goes to its pool.
 *  Contexts: ULT. Switches: always. Errors: INV_THREAD, INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_yield_to(ABT_thread thread);

/** Resumes a suspended ULT and runs it at once in the caller's place; the caller goes to its pool.
 *  Contexts: ULT. Switches: always. Errors: INV_THREAD, INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_resume_yield_to(ABT_thread thread);

/** Suspends the caller until ABT_thread_resume().
 *  Contexts: ULT. Switches: always. Errors: INV_XSTREAM, INV_THREAD. */
ABT_API_PUBLIC int ABT_self_suspend(void);

/** Suspends the caller and runs in its place a ready ULT, which the caller has taken out of its pool.
 *  Contexts: ULT. Switches: always. Errors: INV_THREAD, INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_suspend_to(ABT_thread thread);

/** Suspends the caller, and resumes a suspended ULT and runs it in the caller's place.
 *  Contexts: ULT. Switches: always. Errors: INV_THREAD, INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_resume_suspend_to(ABT_thread thread);

/** Ends the caller; does not return on success. Not the primary ULT.
 *  Contexts: ULT. Switches: always. Errors: INV_XSTREAM, INV_THREAD. */
ABT_API_PUBLIC int ABT_self_exit(void);

/** Ends the caller and runs in its place a ready ULT, which the caller has taken out of its pool; does not
 *  return on success. Not the primary ULT.
 *  Contexts: ULT. Switches: always. Errors: INV_THREAD, INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_exit_to(ABT_thread thread);

/** Ends the caller, and resumes a suspended ULT and runs it in the caller's place; does not return on
 *  success. Not the primary ULT.
 *  Contexts: ULT. Switches: always. Errors: INV_THREAD, INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_resume_exit_to(ABT_thread thread);

/** Runs a unit, which has been taken out of its pool, as a child of the calling ULT; returns when the unit
 *  ends, yields or is suspended. It belongs to `pool` from then on; ABT_POOL_NULL: to the one it had. With
 *  this one writes schedulers.
 *  Contexts: ULT. Switches: always. Errors: INV_XSTREAM, INV_THREAD, MEM, SYS, UNIT. */
ABT_API_PUBLIC int ABT_self_schedule(ABT_thread thread, ABT_pool pool);

/** Sets the argument with which the caller is revived.
 *  Contexts: unit. Switches: never. Errors: INV_XSTREAM, UNINITIALIZED. */
ABT_API_PUBLIC int ABT_self_set_arg(void* arg);

/** The argument of the caller's function.
 *  Contexts: unit. Switches: never. Errors: INV_XSTREAM, UNINITIALIZED. */
ABT_API_PUBLIC int ABT_self_get_arg(void** arg);

/** The caller's function.
 *  Contexts: unit. Switches: never. Errors: INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_thread_func(void (**function)(void*));

/* These have no symbol of their own. */
#define ABT_self_get_task ABT_self_get_thread
#define ABT_self_get_task_id ABT_self_get_thread_id

/* ---- Keys of a unit's own values ---- */

/** Creates a key, under which each unit may keep one pointer. `destructor` (or NULL) is called with each
 *  value that is not NULL when its unit is freed, not when that is joined, even if the key has been freed
 *  before. `*new_key` is left untouched on failure.
 *  Contexts: init. Switches: never. Errors: MEM, SYS. */
ABT_API_PUBLIC int ABT_key_create(void (*destructor)(void* value), ABT_key* new_key);

/** Frees the key and sets the handle to ABT_KEY_NULL. The values stay with their units.
 *  Contexts: init. Switches: never. Errors: INV_KEY. */
ABT_API_PUBLIC int ABT_key_free(ABT_key* key);

/** ABT_self_set_specific() under another name. INV_XSTREAM: called from a foreign kernel thread.
 *  Contexts: unit. Switches: never. Errors: INV_XSTREAM, INV_KEY, MEM, SYS, UNINITIALIZED. */
ABT_API_PUBLIC int ABT_key_set(ABT_key key, void* value);

/** ABT_self_get_specific() under another name. INV_XSTREAM: called from a foreign kernel thread.
 *  Contexts: unit. Switches: never. Errors: INV_XSTREAM, INV_KEY, UNINITIALIZED. */
ABT_API_PUBLIC int ABT_key_get(ABT_key key, void** value);

/* ---- Mutexes ---- */

/** Creates a mutex that is not recursive.
 *  Contexts: init. Switches: never. Errors: MEM, SYS. */
ABT_API_PUBLIC int ABT_mutex_create(ABT_mutex* new_mutex);

/** Creates a mutex; ABT_MUTEX_ATTR_NULL: one that is not recursive.
 *  Contexts: init. Switches: never. Errors: MEM, SYS. */
ABT_API_PUBLIC int ABT_mutex_create_with_attr(ABT_mutex_attr attr, ABT_mutex* new_mutex);

/** Frees the mutex, locked or not, and sets the handle to ABT_MUTEX_NULL. Not one in an ABT_mutex_memory.
 *  Contexts: init. Switches: never. Errors: INV_MUTEX. */
ABT_API_PUBLIC int ABT_mutex_free(ABT_mutex* mutex);

/** Locks the mutex. A ULT that has to wait is suspended; a tasklet or a foreign kernel thread blocks.
 *  Contexts: any. Switches: may. Errors: INV_MUTEX. */
ABT_API_PUBLIC int ABT_mutex_lock(ABT_mutex mutex);

/** ABT_mutex_lock() under another name.
 *  Contexts: any. Switches: may. Errors: INV_MUTEX. */
ABT_API_PUBLIC int ABT_mutex_lock_high(ABT_mutex mutex);

/** ABT_mutex_lock() under another name.
 *  Contexts: any. Switches: may. Errors: INV_MUTEX. */
ABT_API_PUBLIC int ABT_mutex_lock_low(ABT_mutex mutex);

/** Locks the mutex unless it is locked, and then returns MUTEX_LOCKED.
 *  Contexts: any. Switches: never. Errors: MUTEX_LOCKED, INV_MUTEX. */
ABT_API_PUBLIC int ABT_mutex_trylock(ABT_mutex mutex);

/** Locks the mutex; if it has to wait, it does not suspend the ULT but keeps its stream busy. If the owner
 *  waits for that stream, this never ends.
 *  Contexts: any. Switches: never. Errors: INV_MUTEX. */
ABT_API_PUBLIC int ABT_mutex_spinlock(ABT_mutex mutex);

/** Unlocks the mutex. Unless it is recursive, it need not be the unit that locked it. Undefined: it is not
 *  locked.
 *  Contexts: any. Switches: may. Errors: INV_MUTEX. */
ABT_API_PUBLIC int ABT_mutex_unlock(ABT_mutex mutex);

/** ABT_mutex_unlock(), with the wish that a waiter of the same stream come next.
 *  Contexts: any. Switches: may. Errors: INV_MUTEX. */
ABT_API_PUBLIC int ABT_mutex_unlock_se(ABT_mutex mutex);

/** ABT_mutex_unlock(), with the wish that a waiter of another stream come next.
 *  Contexts: any. Switches: may. Errors: INV_MUTEX. */
ABT_API_PUBLIC int ABT_mutex_unlock_de(ABT_mutex mutex);

/** ABT_TRUE if both handles are the same one; NULL handles are equal. `==` does that too.
 *  Contexts: any. Switches: never. Errors: none. */
ABT_API_PUBLIC int ABT_mutex_equal(ABT_mutex a, ABT_mutex b, ABT_bool* result);

/** A new object with the attributes of the mutex; the caller frees it.
 *  Contexts: init. Switches: never. Errors: INV_MUTEX, MEM, SYS. */
ABT_API_PUBLIC int ABT_mutex_get_attr(ABT_mutex mutex, ABT_mutex_attr* attr);

/* ---- Attributes of mutexes ---- */

/** Creates attributes: not recursive. `*new_attr` is left untouched on failure.
 *  Contexts: init. Switches: never. Errors: MEM, SYS. */
ABT_API_PUBLIC int ABT_mutex_attr_create(ABT_mutex_attr* new_attr);

/** Frees the attributes and sets the handle to ABT_MUTEX_ATTR_NULL.
 *  Contexts: init. Switches: never. Errors: INV_MUTEX_ATTR. */
ABT_API_PUBLIC int ABT_mutex_attr_free(ABT_mutex_attr* attr);

/** Whether the mutex may be locked again by the unit that has locked it.
 *  Contexts: init. Switches: never. Errors: INV_MUTEX_ATTR. */
ABT_API_PUBLIC int ABT_mutex_attr_set_recursive(ABT_mutex_attr attr, ABT_bool recursive);

/** Whether the mutex may be locked again by the unit that has locked it.
 *  Contexts: init. Switches: never. Errors: INV_MUTEX_ATTR. */
ABT_API_PUBLIC int ABT_mutex_attr_get_recursive(ABT_mutex_attr attr, ABT_bool* recursive);

/* ---- Condition variables ---- */

/** Creates a condition variable.
 *  Contexts: init. Switches: never. Errors: MEM, SYS. */
ABT_API_PUBLIC int ABT_cond_create(ABT_cond* new_cond);

/** Frees it and sets the handle to ABT_COND_NULL. Not one in an ABT_cond_memory. COND: somebody waits.
 *  Contexts: init. Switches: never. Errors: INV_COND, COND. */
ABT_API_PUBLIC int ABT_cond_free(ABT_cond* cond);

/** Unlocks the mutex, waits until it is woken, and locks the mutex again, also on failure. A ULT is
 *  suspended, a foreign kernel thread blocks. Those that wait at one time use the same mutex, else INV_MUTEX;
 *  when nobody waits any more, another mutex will do. COND: the caller is a tasklet. Undefined: a recursive
 *  mutex that is locked twice.
 *  Contexts: any, except tasklets. Switches: may. Errors: INV_COND, INV_MUTEX, COND. */
ABT_API_PUBLIC int ABT_cond_wait(ABT_cond cond, ABT_mutex mutex);

/** ABT_cond_wait() up to the time `abstime` (CLOCK_REALTIME), then COND_TIMEDOUT, with the mutex locked. The
 *  waiter is suspended for all that time; it does not poll.
 *  Contexts: any, except tasklets. Switches: may. Errors: COND_TIMEDOUT, INV_COND, INV_MUTEX, COND, MEM. */
ABT_API_PUBLIC int ABT_cond_timedwait(ABT_cond cond, ABT_mutex mutex, const struct timespec* abstime);

/** Wakes one waiter, if there is one. The mutex need not be locked.
 *  Contexts: any. Switches: never. Errors: INV_COND. */
ABT_API_PUBLIC int ABT_cond_signal(ABT_cond cond);

/** Wakes all waiters. The mutex need not be locked.
 *  Contexts: any. Switches: never. Errors: INV_COND. */
ABT_API_PUBLIC int ABT_cond_broadcast(ABT_cond cond);

/* ---- Read-write locks ---- */

/** Creates a lock for many readers or one writer.
 *  Contexts: init. Switches: never. Errors: MEM, SYS. */
ABT_API_PUBLIC int ABT_rwlock_create(ABT_rwlock* new_rwlock);

/** Frees the lock, locked or not, and sets the handle to ABT_RWLOCK_NULL.
 *  Contexts: init. Switches: never. Errors: INV_RWLOCK. */
ABT_API_PUBLIC int ABT_rwlock_free(ABT_rwlock* rwlock);

/** Locks it for reading; waits while a writer has it. RWLOCK: the caller is a tasklet.
 *  Contexts: waiter. Switches: may. Errors: INV_RWLOCK, RWLOCK. */
ABT_API_PUBLIC int ABT_rwlock_rdlock(ABT_rwlock rwlock);

/** Locks it for writing; waits while anybody has it. RWLOCK: the caller is a tasklet.
 *  Contexts: waiter. Switches: may. Errors: INV_RWLOCK, RWLOCK. */
ABT_API_PUBLIC int ABT_rwlock_wrlock(ABT_rwlock rwlock);

/** Unlocks it, for a reader as for a writer. Undefined: it is not locked.
 *  Contexts: init. Switches: may. Errors: INV_RWLOCK. */
ABT_API_PUBLIC int ABT_rwlock_unlock(ABT_rwlock rwlock);

/* ---- Eventuals: events with a value ---- */

/** Creates an event that carries a value of up to `nbytes` bytes; 0: none. `*new_eventual` is left untouched
 *  on failure.
 *  Contexts: init. Switches: never. Errors: INV_ARG, MEM, SYS. */
ABT_API_PUBLIC int ABT_eventual_create(int nbytes, ABT_eventual* new_eventual);

/** Frees it, set or not, and sets the handle to ABT_EVENTUAL_NULL. Nobody may be waiting. Not one in an
 *  ABT_eventual_memory.
 *  Contexts: init. Switches: never. Errors: INV_EVENTUAL. */
ABT_API_PUBLIC int ABT_eventual_free(ABT_eventual* eventual);

/** Waits until it is set and stores in `*value` where the value is, in memory of the eventual's (NULL if it
 *  carries none). `value` may be NULL. EVENTUAL: the caller is a tasklet.
 *  Contexts: waiter. Switches: may. Errors: INV_EVENTUAL, EVENTUAL. */
ABT_API_PUBLIC int ABT_eventual_wait(ABT_eventual eventual, void** value);

/** ABT_eventual_wait() up to the time `abstime` (CLOCK_REALTIME), then COND_TIMEDOUT. It does not poll.
 *  Contexts: waiter. Switches: may. Errors: COND_TIMEDOUT, INV_EVENTUAL, EVENTUAL, MEM. */
ABT_API_PUBLIC int ABT_eventual_timedwait(ABT_eventual eventual, void** value,
                                          const struct timespec* abstime);

/** Whether it is set; if so, `*value` is as in ABT_eventual_wait(), otherwise left as it is. `value` may be
 *  NULL.
 *  Contexts: init. Switches: never. Errors: INV_EVENTUAL. */
ABT_API_PUBLIC int ABT_eventual_test(ABT_eventual eventual, void** value, ABT_bool* is_ready);

/** Copies `nbytes` bytes from `value` and wakes all waiters. EVENTUAL: it is set already. INV_EVENTUAL also
 *  if it carries fewer bytes.
 *  Contexts: init. Switches: never. Errors: INV_ARG, INV_EVENTUAL, EVENTUAL. */
ABT_API_PUBLIC int ABT_eventual_set(ABT_eventual eventual, void* value, int nbytes);

/** Makes it as if it had not been set. Nobody may be waiting.
 *  Contexts: init. Switches: never. Errors: INV_EVENTUAL. */
ABT_API_PUBLIC int ABT_eventual_reset(ABT_eventual eventual);

/* ---- Futures: filled part by part ---- */

/** Creates a future that is ready once it has been set `num_compartments` times (0: it is ready now).
 *  `callback` (or NULL) is then called by the last setter, with the array of the values in no particular
 *  order, before anyone sees the future ready; it may use the future and may be suspended. `*new_future` is
 *  left untouched on failure.
 *  Contexts: init. Switches: never. Errors: MEM, SYS. */
ABT_API_PUBLIC int ABT_future_create(uint32_t num_compartments, void (*callback)(void** values),
                                     ABT_future* new_future);

/** Frees it and sets the handle to ABT_FUTURE_NULL. Nobody may be waiting.
 *  Contexts: init. Switches: never. Errors: INV_FUTURE. */
ABT_API_PUBLIC int ABT_future_free(ABT_future* future);

/** Waits until it is ready. FUTURE: the caller is a tasklet.
 *  Contexts: waiter. Switches: may. Errors: INV_FUTURE, FUTURE. */
ABT_API_PUBLIC int ABT_future_wait(ABT_future future);

/** Whether it is ready.
 *  Contexts: init. Switches: never. Errors: INV_FUTURE. */
ABT_API_PUBLIC int ABT_future_test(ABT_future future, ABT_bool* is_ready);

/** Adds a value; the last one makes it ready and wakes all waiters. FUTURE: all are set already.
 *  Contexts: init. Switches: may. Errors: INV_FUTURE, FUTURE. */
ABT_API_PUBLIC int ABT_future_set(ABT_future future, void* value);

/** Makes it as if it had never been set; one without compartments stays ready. Nobody may be waiting.
 *  Contexts: init. Switches: never. Errors: INV_FUTURE. */
ABT_API_PUBLIC int ABT_future_reset(ABT_future future);

/* ---- Barriers ---- */

/** Creates a barrier at which `num_waiters` (1 or more) meet, as often as they like.
 *  Contexts: init. Switches: never. Errors: INV_ARG, MEM, SYS. */
ABT_API_PUBLIC int ABT_barrier_create(uint32_t num_waiters, ABT_barrier* new_barrier);

/** Sets another number of waiters, 1 or more. Nobody may be waiting.
 *  Contexts: init. Switches: never. Errors: INV_ARG, INV_BARRIER, MEM, SYS. */
ABT_API_PUBLIC int ABT_barrier_reinit(ABT_barrier barrier, uint32_t num_waiters);

/** Frees it and sets the handle to ABT_BARRIER_NULL. Nobody may be waiting.
 *  Contexts: init. Switches: never. Errors: INV_BARRIER. */
ABT_API_PUBLIC int ABT_barrier_free(ABT_barrier* barrier);

/** Waits until as many as were asked for have come. A ULT is suspended, a foreign kernel thread blocks.
 *  BARRIER: the caller is a tasklet.
 *  Contexts: waiter. Switches: may. Errors: INV_BARRIER, BARRIER. */
ABT_API_PUBLIC int ABT_barrier_wait(ABT_barrier barrier);

/** The number of waiters that the barrier was made for.
 *  Contexts: init. Switches: never. Errors: INV_BARRIER. */
ABT_API_PUBLIC int ABT_barrier_get_num_waiters(ABT_barrier barrier, uint32_t* num_waiters);

/* ---- Names of error codes ---- */

/** Stores the name of the code, such as "ABT_ERR_MEM", at `text`, and its length without the terminating NUL
 *  in `*length`. Each pointer may be NULL. OTHER: there is no such code.
 *  Contexts: any. Switches: never. Errors: OTHER. */
ABT_API_PUBLIC int ABT_error_get_str(int code, char* text, size_t* length);

/* ---- Time ---- */

/** Seconds since some moment in the past, by a clock that is never set back or forward (CLOCK_MONOTONIC).
 *  Compare and subtract; it is no time of day.
 *  Contexts: any. Switches: never. Errors: none. */
ABT_API_PUBLIC double ABT_get_wtime(void);

/** Creates a timer, neither started nor stopped.
 *  Contexts: any. Switches: never. Errors: MEM, SYS. */
ABT_API_PUBLIC int ABT_timer_create(ABT_timer* new_timer);

/** Creates a timer with the times of another one.
 *  Contexts: any. Switches: never. Errors: MEM, SYS, INV_TIMER. */
ABT_API_PUBLIC int ABT_timer_dup(ABT_timer timer, ABT_timer* new_timer);

/** Frees the timer and sets the handle to ABT_TIMER_NULL.
 *  Contexts: any. Switches: never. Errors: INV_TIMER. */
ABT_API_PUBLIC int ABT_timer_free(ABT_timer* timer);

/** Notes the time as the start.
 *  Contexts: any. Switches: never. Errors: INV_TIMER. */
ABT_API_PUBLIC int ABT_timer_start(ABT_timer timer);

/** Notes the time as the stop.
 *  Contexts: any. Switches: never. Errors: INV_TIMER. */
ABT_API_PUBLIC int ABT_timer_stop(ABT_timer timer);

/** The seconds from start to stop. Undefined: one of them has not been noted.
 *  Contexts: any. Switches: never. Errors: INV_TIMER. */
ABT_API_PUBLIC int ABT_timer_read(ABT_timer timer, double* seconds);

/** ABT_timer_stop(), then ABT_timer_read().
 *  Contexts: any. Switches: never. Errors: INV_TIMER. */
ABT_API_PUBLIC int ABT_timer_stop_and_read(ABT_timer timer, double* seconds);

/** ABT_timer_stop(), then adds the seconds from start to stop to `*seconds`.
 *  Contexts: any. Switches: never. Errors: INV_TIMER. */
ABT_API_PUBLIC int ABT_timer_stop_and_add(ABT_timer timer, double* seconds);

/** About how many seconds starting and stopping a timer takes. Deprecated: it differs from call to call.
 *  Contexts: any. Switches: never. Errors: MEM, SYS. */
ABT_API_PUBLIC int ABT_timer_get_overhead(double* overhead);

/* ---- Information ----
 * What is printed is free text, and changes. */

/** Stores what the runtime is set up with; ABT_info_query_kind tells the type that `value` points to.
 *  Contexts: init. Switches: never. Errors: INV_QUERY_KIND, UNINITIALIZED. */
ABT_API_PUBLIC int ABT_info_query_config(ABT_info_query_kind query_kind, void* value);

/** Prints the configuration, for people to read.
 *  Contexts: init. Switches: never. Errors: UNINITIALIZED. */
ABT_API_PUBLIC int ABT_info_print_config(FILE* file);

/** Prints what is known of all streams.
 *  Contexts: init. Switches: never. Errors: UNINITIALIZED. */
ABT_API_PUBLIC int ABT_info_print_all_xstreams(FILE* file);

/** Prints what is known of the stream.
 *  Contexts: any. Switches: never. Errors: INV_XSTREAM. */
ABT_API_PUBLIC int ABT_info_print_xstream(FILE* file, ABT_xstream xstream);

/** Prints what is known of the scheduler.
 *  Contexts: any. Switches: never. Errors: INV_SCHED. */
ABT_API_PUBLIC int ABT_info_print_sched(FILE* file, ABT_sched sched);

/** Prints what is known of the pool.
 *  Contexts: any. Switches: never. Errors: INV_POOL. */
ABT_API_PUBLIC int ABT_info_print_pool(FILE* file, ABT_pool pool);

/** Prints what is known of the unit.
 *  Contexts: any. Switches: never. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABT_info_print_thread(FILE* file, ABT_thread thread);

/** Prints the attributes.
 *  Contexts: any. Switches: never. Errors: INV_THREAD_ATTR. */
ABT_API_PUBLIC int ABT_info_print_thread_attr(FILE* file, ABT_thread_attr attr);

/** ABT_info_print_thread() under another name. Deprecated.
 *  Contexts: any. Switches: never. Errors: INV_TASK. */
ABT_API_PUBLIC int ABT_info_print_task(FILE* file, ABT_task task);

/** Prints the stack of a ULT, which must not run meanwhile.
 *  Contexts: any. Switches: may. Errors: INV_THREAD. */
ABT_API_PUBLIC int ABT_info_print_thread_stack(FILE* file, ABT_thread thread);

/** ABT_info_print_thread_stack() for each ULT in the pool, which nobody may use meanwhile. POOL: the pool has
 *  no `print_all`.
 *  Contexts: any. Switches: may. Errors: POOL, INV_POOL. */
ABT_API_PUBLIC int ABT_info_print_thread_stacks_in_pool(FILE* file, ABT_pool pool);

/** Asks for the stacks of the ULTs in all pools to be printed once every stream has come to a stop for it;
 *  after `timeout` seconds (if that is 0 or more) without waiting for the rest. Then `callback` (or NULL) is
 *  called, with ABT_TRUE if the time ran out. Returns at once. Signal-safe.
 *  Contexts: init. Switches: never. Errors: none. */
ABT_API_PUBLIC int ABT_info_trigger_print_all_thread_stacks(FILE* file, double timeout,
                                                            void (*callback)(ABT_bool timed_out, void* arg),
                                                            void* arg);

/* ---- Tools ---- */

/** Sets what is called for each event of each unit whose bit is set in `event_mask`
 *  (ABT_TOOL_EVENT_THREAD_...). There is one callback; NULL: none.
 *  Contexts: init. Switches: never. Errors: MEM. */
ABT_API_PUBLIC int ABT_tool_register_thread_callback(ABT_tool_thread_callback_fn callback,
                                                     uint64_t event_mask, void* user_arg);

/** Stores what the event that is being reported was about; ABT_tool_query_kind tells the type that `value`
 *  points to.
 *  Contexts: callback. Switches: never. Errors: INV_ARG. */
ABT_API_PUBLIC int ABT_tool_query_thread(ABT_tool_context context, uint64_t event,
                                         ABT_tool_query_kind query_kind, void* value);
/* ---- Sanitizers ---- */

/* A switch has to be told to them, which only a library that was built with the same one does: a program with
 * a sanitizer asks for a symbol that a library without does not have. */
#if defined(__SANITIZE_ADDRESS__)
#define ABT_WITH_ADDRESS_SANITIZER 1
#elif defined(__SANITIZE_THREAD__)
#define ABT_WITH_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ABT_WITH_ADDRESS_SANITIZER 1
#elif __has_feature(thread_sanitizer)
#define ABT_WITH_THREAD_SANITIZER 1
#endif
#endif
#if defined(ABT_WITH_ADDRESS_SANITIZER)
extern const char
    this_program_has_AddressSanitizer_so_it_needs_a_libweft_that_was_built_with_it__sanitizer_address;
static const char* const ABT_built_alike __attribute__((used)) =
    &this_program_has_AddressSanitizer_so_it_needs_a_libweft_that_was_built_with_it__sanitizer_address;
#elif defined(ABT_WITH_THREAD_SANITIZER)
extern const char
    this_program_has_ThreadSanitizer_so_it_needs_a_libweft_that_was_built_with_it__sanitizer_thread;
static const char* const ABT_built_alike __attribute__((used)) =
    &this_program_has_ThreadSanitizer_so_it_needs_a_libweft_that_was_built_with_it__sanitizer_thread;
#endif

#ifdef __cplusplus
}
#endif

#endif
