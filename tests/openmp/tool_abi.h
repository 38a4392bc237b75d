// SPDX-License-Identifier: MIT
// What of OMPT, the standard's interface for tools, tool.c uses: gcc brings no header for it.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef union {
  uint64_t value;
  void* ptr;
} word;

struct frame {
  word exit, enter;
  int exit_flags, enter_flags;
};

struct dependence {
  word variable;
  int type;
};

typedef void (*any_function)(void);
typedef any_function (*lookup_function)(const char* name);

struct started {
  int (*initialize)(lookup_function, int device, word* data);
  void (*finalize)(word* data);
  word data;
};

enum event {
  event_thread_begin = 1,
  event_thread_end = 2,
  event_parallel_begin = 3,
  event_parallel_end = 4,
  event_task_create = 5,
  event_task_schedule = 6,
  event_implicit_task = 7,
  event_target = 8,
  event_sync_region_wait = 16,
  event_mutex_released = 17,
  event_dependences = 18,
  event_task_dependence = 19,
  event_work = 20,
  event_sync_region = 23,
  event_lock_init = 24,
  event_lock_destroy = 25,
  event_mutex_acquire = 26,
  event_mutex_acquired = 27,
  event_nest_lock = 28,
  event_cancel = 30,
  event_dispatch = 32,
  events = 38,
};

enum { scope_begin = 1, scope_end = 2 };
enum { set_never = 1, set_always = 5 };
enum { task_initial = 1, task_implicit = 2, task_explicit = 4 };
enum {
  status_complete = 1,
  status_yield = 2,
  status_cancel = 3,
  status_detach = 4,
  status_early = 5,
  status_late = 6,
  status_switch = 7
};
enum { sync_explicit = 3, sync_taskwait = 5, sync_group = 6, sync_end_of_region = 9 };
enum { mutex_lock = 1, mutex_test_lock = 2, mutex_nest = 3, mutex_critical = 5 };
enum { state_serial = 0, state_parallel = 1, state_undefined = 0x102 };
enum { type_in = 1 };

// --- the functions that a tool finds by name ---

static uint64_t (*unique_id)(void);
static word* (*thread_data)(void);
static int (*set_callback)(int, any_function);
static int (*get_callback)(int, any_function*);
static int (*get_state)(uint64_t*);
static int (*parallel_info)(int, word**, int*);
static int (*task_info)(int, int*, word**, struct frame**, word**, int*);
static int (*task_memory)(void**, size_t*, int);
static int (*enumerate_states)(int, int*, const char**);
static int (*enumerate_mutexes)(int, int*, const char**);
static int (*number_of_procs)(void);
static void (*finalize_tool)(void);

static void find_functions(lookup_function lookup) {
#define FIND(variable, name) *(any_function*)&variable = lookup("ompt_" name)
  FIND(unique_id, "get_unique_id");
  FIND(thread_data, "get_thread_data");
  FIND(set_callback, "set_callback");
  FIND(get_callback, "get_callback");
  FIND(get_state, "get_state");
  FIND(parallel_info, "get_parallel_info");
  FIND(task_info, "get_task_info");
  FIND(task_memory, "get_task_memory");
  FIND(enumerate_states, "enumerate_states");
  FIND(enumerate_mutexes, "enumerate_mutex_impls");
  FIND(number_of_procs, "get_num_procs");
  FIND(finalize_tool, "finalize_tool");
#undef FIND
}
