// SPDX-License-Identifier: MIT
// What compiled programs rely on in abt.h, against numbers written down here: values of constants, sizes,
// offsets. layout_20.c has what a library built for the 2.0 interface lays out otherwise.
#include "abt.h"

#include <string.h>

#define VALUE(name, number) _Static_assert((name) == (number), #name)
#define NULL_VALUE(name, number) _Static_assert((uintptr_t)(name) == (number), #name)
#define SIZE(type, number) _Static_assert(sizeof(type) == (number), "size of " #type)
#define OFFSET(type, member, number)                                                                         \
  _Static_assert(offsetof(type, member) == (number), "offset of " #member " in " #type)
// The types agree, not only the sizes.
#define SAME(type, other) _Static_assert(_Generic((type)0, other: 1, default: 0), #type " is " #other)
#define TYPE_OF(expression, type) _Static_assert(_Generic((expression), type: 1, default: 0), #expression)

// ---- Version ----

VALUE(ABT_NUMVERSION, 10200300);
VALUE(sizeof(ABT_VERSION), 4);
VALUE(ABT_CALC_VERSION(1, 2, 0, 3, 0), 10200300);
VALUE(ABT_CALC_VERSION(1, 0, 7, 2, 1), 10007201);
VALUE(ABT_CALC_VERSION(1 + 1, 1 + 1, 1 + 1, 1 + 1, 1 + 1), 20202202);
VALUE(ABT_RELEASE_TYPE_ALPHA, 0);
VALUE(ABT_RELEASE_TYPE_BETA, 1);
VALUE(ABT_RELEASE_TYPE_RC, 2);
VALUE(ABT_RELEASE_TYPE_PATCH, 3);
VALUE(ABT_ENABLE_VER_20_API_VAL, 0);
#ifdef ABT_ENABLE_VER_20_API
#error "a library for the 1.x interface"
#endif

// ---- Error codes: 0 to 57 without a gap ----

VALUE(ABT_SUCCESS, 0);
VALUE(ABT_ERR_UNINITIALIZED, 1);
VALUE(ABT_ERR_MEM, 2);
VALUE(ABT_ERR_OTHER, 3);
VALUE(ABT_ERR_INV_XSTREAM, 4);
VALUE(ABT_ERR_INV_XSTREAM_RANK, 5);
VALUE(ABT_ERR_INV_XSTREAM_BARRIER, 6);
VALUE(ABT_ERR_INV_SCHED, 7);
VALUE(ABT_ERR_INV_SCHED_KIND, 8);
VALUE(ABT_ERR_INV_SCHED_PREDEF, 9);
VALUE(ABT_ERR_INV_SCHED_TYPE, 10);
VALUE(ABT_ERR_INV_SCHED_CONFIG, 11);
VALUE(ABT_ERR_INV_POOL, 12);
VALUE(ABT_ERR_INV_POOL_KIND, 13);
VALUE(ABT_ERR_INV_POOL_ACCESS, 14);
VALUE(ABT_ERR_INV_UNIT, 15);
VALUE(ABT_ERR_INV_THREAD, 16);
VALUE(ABT_ERR_INV_THREAD_ATTR, 17);
VALUE(ABT_ERR_INV_TASK, 18);
VALUE(ABT_ERR_INV_KEY, 19);
VALUE(ABT_ERR_INV_MUTEX, 20);
VALUE(ABT_ERR_INV_MUTEX_ATTR, 21);
VALUE(ABT_ERR_INV_COND, 22);
VALUE(ABT_ERR_INV_RWLOCK, 23);
VALUE(ABT_ERR_INV_EVENTUAL, 24);
VALUE(ABT_ERR_INV_FUTURE, 25);
VALUE(ABT_ERR_INV_BARRIER, 26);
VALUE(ABT_ERR_INV_TIMER, 27);
VALUE(ABT_ERR_INV_QUERY_KIND, 28);
VALUE(ABT_ERR_XSTREAM, 29);
VALUE(ABT_ERR_XSTREAM_STATE, 30);
VALUE(ABT_ERR_XSTREAM_BARRIER, 31);
VALUE(ABT_ERR_SCHED, 32);
VALUE(ABT_ERR_SCHED_CONFIG, 33);
VALUE(ABT_ERR_POOL, 34);
VALUE(ABT_ERR_UNIT, 35);
VALUE(ABT_ERR_THREAD, 36);
VALUE(ABT_ERR_TASK, 37);
VALUE(ABT_ERR_KEY, 38);
VALUE(ABT_ERR_MUTEX, 39);
VALUE(ABT_ERR_MUTEX_LOCKED, 40);
VALUE(ABT_ERR_COND, 41);
VALUE(ABT_ERR_COND_TIMEDOUT, 42);
VALUE(ABT_ERR_RWLOCK, 43);
VALUE(ABT_ERR_EVENTUAL, 44);
VALUE(ABT_ERR_FUTURE, 45);
VALUE(ABT_ERR_BARRIER, 46);
VALUE(ABT_ERR_TIMER, 47);
VALUE(ABT_ERR_MIGRATION_TARGET, 48);
VALUE(ABT_ERR_MIGRATION_NA, 49);
VALUE(ABT_ERR_MISSING_JOIN, 50);
VALUE(ABT_ERR_FEATURE_NA, 51);
VALUE(ABT_ERR_INV_TOOL_CONTEXT, 52);
VALUE(ABT_ERR_INV_ARG, 53);
VALUE(ABT_ERR_SYS, 54);
VALUE(ABT_ERR_CPUID, 55);
VALUE(ABT_ERR_INV_POOL_CONFIG, 56);
VALUE(ABT_ERR_INV_POOL_USER_DEF, 57);

// ---- NULL handles: 21, which are not 0 ----

VALUE(ABT_NULL, 0);
NULL_VALUE(ABT_XSTREAM_NULL, 0x01);
NULL_VALUE(ABT_XSTREAM_BARRIER_NULL, 0x02);
NULL_VALUE(ABT_SCHED_NULL, 0x03);
NULL_VALUE(ABT_SCHED_CONFIG_NULL, 0x04);
NULL_VALUE(ABT_POOL_NULL, 0x05);
NULL_VALUE(ABT_POOL_CONFIG_NULL, 0x06);
NULL_VALUE(ABT_UNIT_NULL, 0x07);
NULL_VALUE(ABT_THREAD_NULL, 0x08);
NULL_VALUE(ABT_THREAD_ATTR_NULL, 0x09);
NULL_VALUE(ABT_TASK_NULL, 0x0a);
NULL_VALUE(ABT_KEY_NULL, 0x0b);
NULL_VALUE(ABT_MUTEX_NULL, 0x0c);
NULL_VALUE(ABT_MUTEX_ATTR_NULL, 0x0d);
NULL_VALUE(ABT_COND_NULL, 0x0e);
NULL_VALUE(ABT_RWLOCK_NULL, 0x0f);
NULL_VALUE(ABT_EVENTUAL_NULL, 0x10);
NULL_VALUE(ABT_FUTURE_NULL, 0x11);
NULL_VALUE(ABT_BARRIER_NULL, 0x12);
NULL_VALUE(ABT_TIMER_NULL, 0x13);
NULL_VALUE(ABT_TOOL_CONTEXT_NULL, 0x14);
NULL_VALUE(ABT_POOL_USER_DEF_NULL, 0x15);
TYPE_OF(ABT_XSTREAM_NULL, ABT_xstream);
TYPE_OF(ABT_XSTREAM_BARRIER_NULL, ABT_xstream_barrier);
TYPE_OF(ABT_SCHED_NULL, ABT_sched);
TYPE_OF(ABT_SCHED_CONFIG_NULL, ABT_sched_config);
TYPE_OF(ABT_POOL_NULL, ABT_pool);
TYPE_OF(ABT_POOL_CONFIG_NULL, ABT_pool_config);
TYPE_OF(ABT_UNIT_NULL, ABT_unit);
TYPE_OF(ABT_THREAD_NULL, ABT_thread);
TYPE_OF(ABT_THREAD_ATTR_NULL, ABT_thread_attr);
TYPE_OF(ABT_TASK_NULL, ABT_task);
TYPE_OF(ABT_KEY_NULL, ABT_key);
TYPE_OF(ABT_MUTEX_NULL, ABT_mutex);
TYPE_OF(ABT_MUTEX_ATTR_NULL, ABT_mutex_attr);
TYPE_OF(ABT_COND_NULL, ABT_cond);
TYPE_OF(ABT_RWLOCK_NULL, ABT_rwlock);
TYPE_OF(ABT_EVENTUAL_NULL, ABT_eventual);
TYPE_OF(ABT_FUTURE_NULL, ABT_future);
TYPE_OF(ABT_BARRIER_NULL, ABT_barrier);
TYPE_OF(ABT_TIMER_NULL, ABT_timer);
TYPE_OF(ABT_TOOL_CONTEXT_NULL, ABT_tool_context);
TYPE_OF(ABT_POOL_USER_DEF_NULL, ABT_pool_user_def);

// ---- Handles and plain types ----

SIZE(ABT_xstream, 8);
SIZE(ABT_xstream_barrier, 8);
SIZE(ABT_sched, 8);
SIZE(ABT_sched_config, 8);
SIZE(ABT_pool, 8);
SIZE(ABT_pool_config, 8);
SIZE(ABT_unit, 8);
SIZE(ABT_thread, 8);
SIZE(ABT_thread_attr, 8);
SIZE(ABT_task, 8);
SIZE(ABT_key, 8);
SIZE(ABT_mutex, 8);
SIZE(ABT_mutex_attr, 8);
SIZE(ABT_cond, 8);
SIZE(ABT_rwlock, 8);
SIZE(ABT_eventual, 8);
SIZE(ABT_future, 8);
SIZE(ABT_barrier, 8);
SIZE(ABT_timer, 8);
SIZE(ABT_tool_context, 8);
SIZE(ABT_pool_user_def, 8);

// The tags are part of the names that C++ programs call their functions by.
SAME(ABT_xstream, struct ABT_xstream_opaque*);
SAME(ABT_xstream_barrier, struct ABT_xstream_barrier_opaque*);
SAME(ABT_sched, struct ABT_sched_opaque*);
SAME(ABT_sched_config, struct ABT_sched_config_opaque*);
SAME(ABT_pool, struct ABT_pool_opaque*);
SAME(ABT_pool_config, struct ABT_pool_config_opaque*);
SAME(ABT_unit, struct ABT_unit_opaque*);
SAME(ABT_thread, struct ABT_thread_opaque*);
SAME(ABT_thread_attr, struct ABT_thread_attr_opaque*);
SAME(ABT_task, struct ABT_thread_opaque*);
SAME(ABT_key, struct ABT_key_opaque*);
SAME(ABT_mutex, struct ABT_mutex_opaque*);
SAME(ABT_mutex_attr, struct ABT_mutex_attr_opaque*);
SAME(ABT_cond, struct ABT_cond_opaque*);
SAME(ABT_rwlock, struct ABT_rwlock_opaque*);
SAME(ABT_eventual, struct ABT_eventual_opaque*);
SAME(ABT_future, struct ABT_future_opaque*);
SAME(ABT_barrier, struct ABT_barrier_opaque*);
SAME(ABT_timer, struct ABT_timer_opaque*);
SAME(ABT_tool_context, struct ABT_tool_context_opaque*);
SAME(ABT_pool_user_def, struct ABT_pool_def*);

SAME(ABT_bool, int);
SAME(ABT_unit_id, uint64_t);
SAME(ABT_thread_id, uint64_t);
SAME(ABT_pool_context, uint64_t);
VALUE(ABT_TRUE, 1);
VALUE(ABT_FALSE, 0);
VALUE(ABT_XSTREAM_ANY_RANK, -1);

// ---- Enums ----

SIZE(ABT_xstream_state, 4);
VALUE(ABT_XSTREAM_STATE_RUNNING, 0);
VALUE(ABT_XSTREAM_STATE_TERMINATED, 1);

SIZE(ABT_thread_state, 4);
VALUE(ABT_THREAD_STATE_READY, 0);
VALUE(ABT_THREAD_STATE_RUNNING, 1);
VALUE(ABT_THREAD_STATE_BLOCKED, 2);
VALUE(ABT_THREAD_STATE_TERMINATED, 3);

SIZE(ABT_task_state, 4);
VALUE(ABT_TASK_STATE_READY, 0);
VALUE(ABT_TASK_STATE_RUNNING, 1);
VALUE(ABT_TASK_STATE_TERMINATED, 2);

SIZE(ABT_sched_state, 4);
VALUE(ABT_SCHED_STATE_READY, 0);
VALUE(ABT_SCHED_STATE_RUNNING, 1);
VALUE(ABT_SCHED_STATE_STOPPED, 2);
VALUE(ABT_SCHED_STATE_TERMINATED, 3);

SIZE(ABT_sched_predef, 4);
VALUE(ABT_SCHED_DEFAULT, 0);
VALUE(ABT_SCHED_BASIC, 1);
VALUE(ABT_SCHED_PRIO, 2);
VALUE(ABT_SCHED_RANDWS, 3);
VALUE(ABT_SCHED_BASIC_WAIT, 4);

SIZE(ABT_sched_type, 4);
VALUE(ABT_SCHED_TYPE_ULT, 0);
VALUE(ABT_SCHED_TYPE_TASK, 1);

SIZE(ABT_pool_kind, 4);
VALUE(ABT_POOL_FIFO, 0);
VALUE(ABT_POOL_FIFO_WAIT, 1);
VALUE(ABT_POOL_RANDWS, 2);

SIZE(ABT_pool_access, 4);
VALUE(ABT_POOL_ACCESS_PRIV, 0);
VALUE(ABT_POOL_ACCESS_SPSC, 1);
VALUE(ABT_POOL_ACCESS_MPSC, 2);
VALUE(ABT_POOL_ACCESS_SPMC, 3);
VALUE(ABT_POOL_ACCESS_MPMC, 4);

SIZE(ABT_unit_type, 4);
VALUE(ABT_UNIT_TYPE_THREAD, 0);
VALUE(ABT_UNIT_TYPE_TASK, 1);
VALUE(ABT_UNIT_TYPE_XSTREAM, 2);
VALUE(ABT_UNIT_TYPE_EXT, 3);

SIZE(ABT_info_query_kind, 4);
VALUE(ABT_INFO_QUERY_KIND_ENABLED_DEBUG, 0);
VALUE(ABT_INFO_QUERY_KIND_ENABLED_PRINT_ERRNO, 1);
VALUE(ABT_INFO_QUERY_KIND_ENABLED_LOG, 2);
VALUE(ABT_INFO_QUERY_KIND_ENABLED_VALGRIND, 3);
VALUE(ABT_INFO_QUERY_KIND_ENABLED_CHECK_ERROR, 4);
VALUE(ABT_INFO_QUERY_KIND_ENABLED_CHECK_POOL_PRODUCER, 5);
VALUE(ABT_INFO_QUERY_KIND_ENABLED_CHECK_POOL_CONSUMER, 6);
VALUE(ABT_INFO_QUERY_KIND_ENABLED_PRESERVE_FPU, 7);
VALUE(ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL, 8);
VALUE(ABT_INFO_QUERY_KIND_ENABLED_TASK_CANCEL, 9);
VALUE(ABT_INFO_QUERY_KIND_ENABLED_MIGRATION, 10);
VALUE(ABT_INFO_QUERY_KIND_ENABLED_STACKABLE_SCHED, 11);
VALUE(ABT_INFO_QUERY_KIND_ENABLED_EXTERNAL_THREAD, 12);
VALUE(ABT_INFO_QUERY_KIND_ENABLED_SCHED_SLEEP, 13);
VALUE(ABT_INFO_QUERY_KIND_ENABLED_PRINT_CONFIG, 14);
VALUE(ABT_INFO_QUERY_KIND_ENABLED_AFFINITY, 15);
VALUE(ABT_INFO_QUERY_KIND_MAX_NUM_XSTREAMS, 16);
VALUE(ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE, 17);
VALUE(ABT_INFO_QUERY_KIND_DEFAULT_SCHED_STACKSIZE, 18);
VALUE(ABT_INFO_QUERY_KIND_DEFAULT_SCHED_EVENT_FREQ, 19);
VALUE(ABT_INFO_QUERY_KIND_DEFAULT_SCHED_SLEEP_NSEC, 20);
VALUE(ABT_INFO_QUERY_KIND_ENABLED_TOOL, 21);
VALUE(ABT_INFO_QUERY_KIND_FCONTEXT, 22);
VALUE(ABT_INFO_QUERY_KIND_DYNAMIC_PROMOTION, 23);
VALUE(ABT_INFO_QUERY_KIND_ENABLED_STACK_UNWIND, 24);
VALUE(ABT_INFO_QUERY_KIND_ENABLED_STACK_OVERFLOW_CHECK, 25);
VALUE(ABT_INFO_QUERY_KIND_WAIT_POLICY, 26);
VALUE(ABT_INFO_QUERY_KIND_ENABLED_LAZY_STACK_ALLOC, 27);

SIZE(ABT_tool_query_kind, 4);
VALUE(ABT_TOOL_QUERY_KIND_POOL, 0);
VALUE(ABT_TOOL_QUERY_KIND_STACK_DEPTH, 1);
VALUE(ABT_TOOL_QUERY_KIND_CALLER_TYPE, 2);
VALUE(ABT_TOOL_QUERY_KIND_CALLER_HANDLE, 3);
VALUE(ABT_TOOL_QUERY_KIND_SYNC_OBJECT_TYPE, 4);
VALUE(ABT_TOOL_QUERY_KIND_SYNC_OBJECT_HANDLE, 5);

SIZE(ABT_exec_entity_type, 4);
VALUE(ABT_EXEC_ENTITY_TYPE_EXT, 0);
VALUE(ABT_EXEC_ENTITY_TYPE_THREAD, 1);

SIZE(ABT_sync_event_type, 4);
VALUE(ABT_SYNC_EVENT_TYPE_UNKNOWN, 0);
VALUE(ABT_SYNC_EVENT_TYPE_USER, 1);
VALUE(ABT_SYNC_EVENT_TYPE_OTHER, 2);
VALUE(ABT_SYNC_EVENT_TYPE_XSTREAM_JOIN, 3);
VALUE(ABT_SYNC_EVENT_TYPE_THREAD_JOIN, 4);
VALUE(ABT_SYNC_EVENT_TYPE_MUTEX, 5);
VALUE(ABT_SYNC_EVENT_TYPE_COND, 6);
VALUE(ABT_SYNC_EVENT_TYPE_RWLOCK, 7);
VALUE(ABT_SYNC_EVENT_TYPE_EVENTUAL, 8);
VALUE(ABT_SYNC_EVENT_TYPE_FUTURE, 9);
VALUE(ABT_SYNC_EVENT_TYPE_BARRIER, 10);

SIZE(ABT_sched_config_type, 4);
VALUE(ABT_SCHED_CONFIG_INT, 0);
VALUE(ABT_SCHED_CONFIG_DOUBLE, 1);
VALUE(ABT_SCHED_CONFIG_PTR, 2);

SIZE(ABT_pool_config_type, 4);
VALUE(ABT_POOL_CONFIG_INT, 0);
VALUE(ABT_POOL_CONFIG_DOUBLE, 1);
VALUE(ABT_POOL_CONFIG_PTR, 2);

// Programs name them with and without the word enum; the types of configuration values have no tag.
SAME(ABT_xstream_state, enum ABT_xstream_state);
SAME(ABT_thread_state, enum ABT_thread_state);
SAME(ABT_task_state, enum ABT_task_state);
SAME(ABT_sched_state, enum ABT_sched_state);
SAME(ABT_sched_predef, enum ABT_sched_predef);
SAME(ABT_sched_type, enum ABT_sched_type);
SAME(ABT_pool_kind, enum ABT_pool_kind);
SAME(ABT_pool_access, enum ABT_pool_access);
SAME(ABT_unit_type, enum ABT_unit_type);
SAME(ABT_info_query_kind, enum ABT_info_query_kind);
SAME(ABT_tool_query_kind, enum ABT_tool_query_kind);
SAME(ABT_exec_entity_type, enum ABT_exec_entity_type);
SAME(ABT_sync_event_type, enum ABT_sync_event_type);

// ---- Bits ----

TYPE_OF(ABT_TOOL_EVENT_THREAD_ALL, uint64_t);
VALUE(ABT_TOOL_EVENT_THREAD_ALL, 0xfff);
VALUE(ABT_TOOL_EVENT_THREAD_NONE, 0);
VALUE(ABT_TOOL_EVENT_THREAD_CREATE, 0x1);
VALUE(ABT_TOOL_EVENT_THREAD_JOIN, 0x2);
VALUE(ABT_TOOL_EVENT_THREAD_FREE, 0x4);
VALUE(ABT_TOOL_EVENT_THREAD_REVIVE, 0x8);
VALUE(ABT_TOOL_EVENT_THREAD_RUN, 0x10);
VALUE(ABT_TOOL_EVENT_THREAD_FINISH, 0x20);
VALUE(ABT_TOOL_EVENT_THREAD_CANCEL, 0x40);
VALUE(ABT_TOOL_EVENT_THREAD_YIELD, 0x80);
VALUE(ABT_TOOL_EVENT_THREAD_SUSPEND, 0x100);
VALUE(ABT_TOOL_EVENT_THREAD_RESUME, 0x200);

TYPE_OF(ABT_POOL_CONTEXT_OP_POOL_OTHER, uint64_t);
VALUE(ABT_POOL_CONTEXT_PRIO_DEFAULT_PRIO, 0x0);
VALUE(ABT_POOL_CONTEXT_PRIO_HIGH_PRIO, 0x1);
VALUE(ABT_POOL_CONTEXT_PRIO_LOW_PRIO, 0x2);
VALUE(ABT_POOL_CONTEXT_OWNER_DEFAULT, 0x0);
VALUE(ABT_POOL_CONTEXT_OWNER_PRIMARY, 0x100);
VALUE(ABT_POOL_CONTEXT_OWNER_SECONDARY, 0x200);
VALUE(ABT_POOL_CONTEXT_OP_POOL_OTHER, 0x0);
VALUE(ABT_POOL_CONTEXT_OP_THREAD_CREATE, 0x1000);
VALUE(ABT_POOL_CONTEXT_OP_THREAD_CREATE_TO, 0x2000);
VALUE(ABT_POOL_CONTEXT_OP_THREAD_REVIVE, 0x4000);
VALUE(ABT_POOL_CONTEXT_OP_THREAD_REVIVE_TO, 0x8000);
VALUE(ABT_POOL_CONTEXT_OP_THREAD_YIELD, 0x10000);
VALUE(ABT_POOL_CONTEXT_OP_THREAD_YIELD_TO, 0x20000);
VALUE(ABT_POOL_CONTEXT_OP_THREAD_RESUME_YIELD_TO, 0x40000);
VALUE(ABT_POOL_CONTEXT_OP_THREAD_YIELD_LOOP, 0x80000);
VALUE(ABT_POOL_CONTEXT_OP_THREAD_RESUME, 0x100000);
VALUE(ABT_POOL_CONTEXT_OP_THREAD_MIGRATE, 0x200000);

// ---- Structs ----

SIZE(ABT_mutex_memory, 64);
_Static_assert(_Alignof(ABT_mutex_memory) == 4, "ABT_mutex_memory");
SIZE(ABT_cond_memory, 64);
_Static_assert(_Alignof(ABT_cond_memory) == 4, "ABT_cond_memory");
SIZE(ABT_eventual_memory, 64);
_Static_assert(_Alignof(ABT_eventual_memory) == 4, "ABT_eventual_memory");

SIZE(ABT_sched_config_var, 8);
OFFSET(ABT_sched_config_var, idx, 0);
OFFSET(ABT_sched_config_var, type, 4);
SIZE(ABT_pool_config_var, 8);
OFFSET(ABT_pool_config_var, key, 0);
OFFSET(ABT_pool_config_var, type, 4);
TYPE_OF(&ABT_sched_config_var_end, ABT_sched_config_var*);
TYPE_OF(&ABT_sched_config_access, ABT_sched_config_var*);
TYPE_OF(&ABT_sched_config_automatic, ABT_sched_config_var*);
TYPE_OF(&ABT_sched_basic_freq, ABT_sched_config_var*);
TYPE_OF(&ABT_pool_config_automatic, const ABT_pool_config_var*);

SIZE(ABT_sched_def, 40);
OFFSET(ABT_sched_def, type, 0);
OFFSET(ABT_sched_def, init, 8);
OFFSET(ABT_sched_def, run, 16);
OFFSET(ABT_sched_def, free, 24);
OFFSET(ABT_sched_def, get_migr_pool, 32);

SIZE(ABT_pool_def, 128);
SAME(ABT_pool_user_def, ABT_pool_def*);
OFFSET(ABT_pool_def, access, 0);
OFFSET(ABT_pool_def, u_get_type, 8);
OFFSET(ABT_pool_def, u_get_thread, 16);
OFFSET(ABT_pool_def, u_get_task, 24);
OFFSET(ABT_pool_def, u_is_in_pool, 32);
OFFSET(ABT_pool_def, u_create_from_thread, 40);
OFFSET(ABT_pool_def, u_create_from_task, 48);
OFFSET(ABT_pool_def, u_free, 56);
OFFSET(ABT_pool_def, p_init, 64);
OFFSET(ABT_pool_def, p_get_size, 72);
OFFSET(ABT_pool_def, p_push, 80);
OFFSET(ABT_pool_def, p_pop, 88);
OFFSET(ABT_pool_def, p_pop_timedwait, 96);
OFFSET(ABT_pool_def, p_remove, 104);
OFFSET(ABT_pool_def, p_free, 112);
OFFSET(ABT_pool_def, p_print_all, 120);

// ---- What is an object and not a constant ----

static const ABT_mutex_memory plain_mutex = ABT_MUTEX_INITIALIZER;
static const ABT_mutex_memory recursive_mutex = ABT_RECURSIVE_MUTEX_INITIALIZER;
static const ABT_cond_memory cond = ABT_COND_INITIALIZER;
static const ABT_eventual_memory eventual = ABT_EVENTUAL_INITIALIZER;

int main(void) {
  static const int zero[16];
  static const int one[16] = {1};
  int wrong = 0;
  wrong |= strcmp(ABT_VERSION, "1.2") != 0;
  wrong |= memcmp(&plain_mutex, zero, 64) != 0;
  wrong |= memcmp(&recursive_mutex, one, 64) != 0;
  wrong |= memcmp(&cond, zero, 64) != 0;
  wrong |= memcmp(&eventual, zero, 64) != 0;
  wrong |= (const void*)ABT_MUTEX_MEMORY_GET_HANDLE(&plain_mutex) != (const void*)&plain_mutex;
  wrong |= (const void*)ABT_COND_MEMORY_GET_HANDLE(&cond) != (const void*)&cond;
  wrong |= (const void*)ABT_EVENTUAL_MEMORY_GET_HANDLE(&eventual) != (const void*)&eventual;
  return wrong;
}
