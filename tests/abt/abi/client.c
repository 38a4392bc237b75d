// SPDX-License-Identifier: MIT
// Stands for a program that was compiled against Argobots long ago: it does not include abt.h, but declares
// what it uses by itself, with the numbers that such a program has compiled in.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// ---- What the program was compiled with ----

// Every handle is a pointer; only the NULL values differ.
typedef void* handle;
#define NULL_HANDLE(number) ((handle)(uintptr_t)(number))
// clang-format off
enum {
  null_xstream = 0x01, null_sched = 0x03, null_sched_config = 0x04, null_pool = 0x05,
  null_pool_config = 0x06, null_unit = 0x07, null_thread = 0x08, null_attr = 0x09, null_task = 0x0a,
  null_key = 0x0b, null_mutex = 0x0c, null_mutex_attr = 0x0d, null_cond = 0x0e, null_rwlock = 0x0f,
  null_eventual = 0x10, null_future = 0x11, null_barrier = 0x12, null_timer = 0x13, null_user_def = 0x15
};
enum {
  ok = 0, err_uninitialized = 1, err_inv_xstream = 4, err_inv_pool = 12, err_inv_thread = 16,
  err_inv_task = 18, err_inv_mutex = 20, err_inv_eventual = 24, err_inv_query_kind = 28,
  err_mutex_locked = 40, err_cond_timedout = 42, err_eventual = 44, err_future = 45, err_inv_arg = 53
};
typedef struct { int index, type; } variable; // passed by value in one register
// clang-format on
typedef void function(void*);

extern variable ABT_sched_config_var_end, ABT_sched_config_access, ABT_sched_config_automatic;
extern variable ABT_sched_basic_freq;
extern const variable ABT_pool_config_automatic;

// One type for all functions of the same signature, so that this stays readable.
typedef int takes_nothing(void);
takes_nothing ABT_finalize, ABT_initialized, ABT_thread_yield, ABT_self_suspend;
typedef int handle_to_handle(handle, handle*);
handle_to_handle ABT_xstream_create, ABT_pool_pop, ABT_pool_pop_thread, ABT_unit_get_thread;
typedef int makes_or_frees(handle*);
makes_or_frees ABT_xstream_free, ABT_xstream_self, ABT_sched_free, ABT_sched_config_free,
    ABT_pool_config_create, ABT_pool_config_free, ABT_pool_free, ABT_pool_user_def_free, ABT_thread_free,
    ABT_thread_self, ABT_thread_attr_create, ABT_thread_attr_free, ABT_task_free, ABT_key_free,
    ABT_mutex_create, ABT_mutex_free, ABT_mutex_attr_create, ABT_mutex_attr_free, ABT_cond_create,
    ABT_cond_free, ABT_rwlock_create, ABT_rwlock_free, ABT_eventual_free, ABT_future_free, ABT_barrier_free,
    ABT_timer_create, ABT_timer_free;
typedef int takes_handle(handle);
takes_handle ABT_xstream_join, ABT_xstream_revive, ABT_xstream_check_events, ABT_thread_join,
    ABT_thread_resume, ABT_task_join, ABT_mutex_lock, ABT_mutex_trylock, ABT_mutex_unlock, ABT_cond_signal,
    ABT_cond_broadcast, ABT_rwlock_rdlock, ABT_rwlock_wrlock, ABT_rwlock_unlock, ABT_eventual_reset,
    ABT_future_wait, ABT_barrier_wait, ABT_timer_start;
typedef int gets_own_int(int*);
gets_own_int ABT_xstream_self_rank, ABT_xstream_get_num, ABT_self_get_type;
typedef int gets_int(handle, int*);
gets_int ABT_xstream_get_rank, ABT_xstream_get_state, ABT_sched_has_to_stop, ABT_pool_get_access,
    ABT_thread_get_state, ABT_task_get_state;
typedef int gets_pointer(handle, void**);
gets_pointer ABT_sched_get_data, ABT_pool_get_data, ABT_key_get, ABT_eventual_wait;
typedef int sets_pointer(handle, void*);
sets_pointer ABT_sched_set_data, ABT_pool_set_data, ABT_key_set, ABT_future_set;
typedef int gets_value(handle, int, int*, void*);
gets_value ABT_sched_config_get, ABT_pool_config_get;
typedef int gets_size(handle, size_t*);
gets_size ABT_pool_get_size, ABT_thread_get_stacksize;
typedef int takes_handles(handle, handle);
takes_handles ABT_xstream_run_unit, ABT_self_schedule, ABT_cond_wait;
typedef int starts_ult(handle, function*, void*, handle, handle*);
starts_ult ABT_thread_create, ABT_thread_create_on_xstream;
typedef int starts_unit(handle, function*, void*, handle*);
starts_unit ABT_thread_revive, ABT_task_create;
int ABT_init(int, char**);
int ABT_xstream_create_basic(int, int, handle*, handle, handle*);
int ABT_xstream_get_main_pools(handle, int, handle*);
int ABT_sched_create(void*, int, handle*, handle, handle*);
int ABT_sched_get_pools(handle, int, int, handle*);
int ABT_sched_config_create(handle*, ...);
int ABT_sched_config_read(handle, int, ...);
int ABT_pool_config_set(handle, int, int, const void*);
int ABT_pool_create(void*, handle, handle*);
int ABT_pool_create_basic(int, int, int, handle*);
int ABT_pool_user_def_create(handle (*)(handle, handle), void (*)(handle, handle), int (*)(handle),
                             handle (*)(handle, uint64_t), void (*)(handle, handle, uint64_t), handle*);
int ABT_thread_get_id(handle, uint64_t*);
int ABT_thread_attr_set_stacksize(handle, size_t);
int ABT_key_create(function*, handle*);
int ABT_cond_timedwait(handle, handle, const struct timespec*);
int ABT_eventual_create(int, handle*);
int ABT_eventual_test(handle, void**, int*);
int ABT_eventual_set(handle, void*, int);
int ABT_future_create(uint32_t, void (*)(void**), handle*);
int ABT_barrier_create(uint32_t, handle*);
int ABT_barrier_get_num_waiters(handle, uint32_t*);
int ABT_error_get_str(int, char*, size_t*);
double ABT_get_wtime(void);
int ABT_timer_stop_and_read(handle, double*);
int ABT_info_query_config(int, void*);

// ---- Checks ----

static void check_equal(long long expected, long long found, const char* what, int line) {
  if (expected == found)
    return;
  fprintf(stderr, "client.c:%d: %s is %lld, not %lld\n", line, what, found, expected);
  exit(1);
}
#define EQUAL(expected, what) check_equal((long long)(expected), (long long)(what), #what, __LINE__)
#define OK(call) EQUAL(ok, call)
#define IS_NULL(number, what) EQUAL(number, (uintptr_t)(what))
#define FREE(free, object, null) EQUAL(ok, free(&(object))), IS_NULL(null, object)

static handle self_pool(void) {
  handle xstream, pool;
  OK(ABT_xstream_self(&xstream));
  OK(ABT_xstream_get_main_pools(xstream, 1, &pool));
  return pool;
}

static void increment(void* counter) {
  __atomic_fetch_add((int*)counter, 1, __ATOMIC_SEQ_CST);
}

// ---- Mutex, condition variable and eventual in the program's own memory ----

static int static_mutex[16], static_recursive[16] = {1}, static_cond[16], static_eventual[16];

static void use_static_memory(void) {
  int ready = 7;
  OK(ABT_mutex_lock(static_mutex));
  EQUAL(err_mutex_locked, ABT_mutex_trylock(static_mutex));
  OK(ABT_mutex_unlock(static_mutex));
  OK(ABT_mutex_lock(static_recursive));
  OK(ABT_mutex_lock(static_recursive));
  OK(ABT_mutex_unlock(static_recursive));
  OK(ABT_mutex_unlock(static_recursive));
  OK(ABT_cond_broadcast(static_cond));
  OK(ABT_eventual_test(static_eventual, NULL, &ready));
  EQUAL(0, ready);
  OK(ABT_eventual_set(static_eventual, NULL, 0));
  OK(ABT_eventual_test(static_eventual, NULL, &ready));
  EQUAL(1, ready);
  OK(ABT_eventual_wait(static_eventual, NULL));
  OK(ABT_eventual_reset(static_eventual));
}

static void without_runtime(void) {
  char name[64];
  size_t length = 0;
  int type = 9, number = 9;
  handle xstream = NULL, thread = NULL, timer;
  double seconds = -1;
  EQUAL(err_uninitialized, ABT_initialized());
  EQUAL(err_uninitialized, ABT_self_get_type(&type));
  EQUAL(3, type);
  EQUAL(err_uninitialized, ABT_xstream_self(&xstream));
  IS_NULL(null_xstream, xstream);
  EQUAL(err_uninitialized, ABT_thread_self(&thread));
  IS_NULL(null_thread, thread);
  EQUAL(err_uninitialized, ABT_xstream_get_num(&number));
  OK(ABT_error_get_str(42, name, &length));
  EQUAL(0, strcmp(name, "ABT_ERR_COND_TIMEDOUT"));
  EQUAL(21, length);
  OK(ABT_error_get_str(57, name, NULL));
  EQUAL(0, strcmp(name, "ABT_ERR_INV_POOL_USER_DEF"));
  EQUAL(3, ABT_error_get_str(58, name, NULL));
  OK(ABT_timer_create(&timer));
  OK(ABT_timer_start(timer));
  OK(ABT_timer_stop_and_read(timer, &seconds));
  EQUAL(1, seconds >= 0 && seconds < 60);
  FREE(ABT_timer_free, timer, null_timer);
  EQUAL(1, ABT_get_wtime() > 0);
  use_static_memory();
}

// ---- Streams, pools, ULTs, tasklets ----

static void test_threads(void) {
  handle pool = self_pool(), xstream, thread, task, attr;
  int count = 0, state = -1, rank = -1, number = 0, type = -1;
  uint64_t id[2];
  size_t size = 0;
  OK(ABT_self_get_type(&type));
  EQUAL(0, type);
  OK(ABT_xstream_self_rank(&rank));
  EQUAL(0, rank);

  OK(ABT_xstream_create(NULL_HANDLE(null_sched), &xstream));
  OK(ABT_xstream_get_rank(xstream, &rank));
  EQUAL(1, rank);
  OK(ABT_xstream_get_num(&number));
  EQUAL(2, number);
  OK(ABT_thread_create_on_xstream(xstream, increment, &count, NULL_HANDLE(null_attr), &thread));
  OK(ABT_thread_join(thread));
  EQUAL(1, count);
  OK(ABT_thread_get_state(thread, &state));
  EQUAL(3, state);
  OK(ABT_thread_revive(pool, increment, &count, &thread));
  FREE(ABT_thread_free, thread, null_thread);
  EQUAL(2, count);
  OK(ABT_xstream_join(xstream));
  OK(ABT_xstream_get_state(xstream, &state));
  EQUAL(1, state);
  OK(ABT_xstream_revive(xstream));
  OK(ABT_xstream_get_state(xstream, &state));
  EQUAL(0, state);
  FREE(ABT_xstream_free, xstream, null_xstream);

  OK(ABT_thread_attr_create(&attr));
  OK(ABT_thread_attr_set_stacksize(attr, 65536));
  OK(ABT_thread_create(pool, increment, &count, attr, &thread));
  FREE(ABT_thread_attr_free, attr, null_attr);
  EQUAL(0, (uintptr_t)thread & 1); // MPICH keeps a bit of its own there
  OK(ABT_thread_get_stacksize(thread, &size));
  EQUAL(1, size >= 65536);
  OK(ABT_task_create(pool, increment, &count, &task));
  OK(ABT_thread_get_id(thread, &id[0]));
  OK(ABT_thread_get_id(task, &id[1]));
  EQUAL(1, id[0] != id[1]);
  OK(ABT_thread_create(pool, increment, &count, NULL_HANDLE(null_attr), NULL));
  OK(ABT_thread_free(&thread));
  OK(ABT_task_join(task));
  OK(ABT_task_get_state(task, &state));
  EQUAL(2, state);
  FREE(ABT_task_free, task, null_task);
  while (__atomic_load_n(&count, __ATOMIC_SEQ_CST) < 5)
    OK(ABT_thread_yield());
}

static void suspend(void* resumed) {
  OK(ABT_self_suspend());
  *(int*)resumed = 1;
}

static void test_suspend(void) {
  handle thread;
  int state = 0, resumed = 0;
  OK(ABT_thread_create(self_pool(), suspend, &resumed, NULL_HANDLE(null_attr), &thread));
  while (state != 2) {
    OK(ABT_thread_yield());
    OK(ABT_thread_get_state(thread, &state));
  }
  OK(ABT_thread_resume(thread));
  OK(ABT_thread_free(&thread));
  EQUAL(1, resumed);
}

static void test_refusals(void) {
  handle none = NULL_HANDLE(null_thread), task = NULL_HANDLE(null_task), pool = NULL_HANDLE(null_pool);
  handle thread = NULL, value[2];
  EQUAL(err_inv_thread, ABT_thread_join(none));
  EQUAL(err_inv_thread, ABT_thread_join(task));
  EQUAL(err_inv_thread, ABT_thread_free(&none));
  EQUAL(err_inv_task, ABT_task_join(task));
  EQUAL(err_inv_pool, ABT_thread_create(pool, increment, NULL, NULL_HANDLE(null_attr), &thread));
  IS_NULL(null_thread, thread);
  EQUAL(err_inv_xstream, ABT_xstream_join(NULL_HANDLE(null_xstream)));
  EQUAL(err_inv_mutex, ABT_mutex_lock(NULL_HANDLE(null_mutex)));
  EQUAL(err_inv_query_kind, ABT_info_query_config(28, value));
}

// ---- A pool of the old style, and a scheduler, as bytes of a struct; both keep units in an array ----

struct ring {
  handle unit[64];
  int first, last, made, freed, init_calls, free_calls;
};
static struct ring rings[2]; // old style, new style

static handle make_unit(handle thread) {
  handle* unit = malloc(16);
  *unit = thread;
  rings[0].made++;
  return unit;
}
static void free_unit(handle* unit) {
  free(*unit);
  rings[0].freed++;
}
static int unit_in_pool(handle unit) {
  return unit == NULL;
}
static int init_pool(handle pool, handle config) {
  int number = 0, type = -1;
  OK(ABT_pool_config_get(config, 5, &type, &number));
  EQUAL(1, type == 0 && number == 99);
  rings[0].init_calls++;
  return ABT_pool_set_data(pool, &rings[0]);
}
static struct ring* ring_of(handle pool) {
  void* data;
  OK(ABT_pool_get_data(pool, &data));
  return data;
}
static size_t pool_size(handle pool) {
  const struct ring* r = ring_of(pool);
  return (size_t)(r->last - r->first);
}
static void push(handle pool, handle unit) {
  struct ring* r = ring_of(pool);
  EQUAL(1, r->last - r->first < 64);
  r->unit[r->last++ % 64] = unit;
}
static handle pop(handle pool) {
  struct ring* r = ring_of(pool);
  return r->first == r->last ? NULL_HANDLE(null_unit) : r->unit[r->first++ % 64];
}
static int free_pool(handle pool) {
  ring_of(pool)->free_calls++;
  return ok;
}

static int sched_events, sched_frequency;
static double sched_ratio;
static void* sched_pointer;

static int init_sched(handle sched, handle config) {
  OK(ABT_sched_config_read(config, 3, &sched_events, &sched_ratio, &sched_pointer));
  OK(ABT_sched_config_get(config, -4, NULL, &sched_frequency));
  return ABT_sched_set_data(sched, &sched_events);
}
static void run_sched(handle sched) {
  handle pool, unit, thread, same;
  int stop = 0;
  OK(ABT_sched_get_pools(sched, 1, 0, &pool));
  while (!stop) {
    OK(ABT_pool_pop(pool, &unit));
    if (unit != NULL_HANDLE(null_unit)) {
      OK(ABT_unit_get_thread(unit, &thread));
      same = *(handle*)unit; // what make_unit() has put there
      EQUAL(1, same == thread);
      OK(ABT_xstream_run_unit(unit, pool));
    }
    OK(ABT_xstream_check_events(sched));
    OK(ABT_sched_has_to_stop(sched, &stop));
  }
}
static int free_sched(handle sched) {
  void* data;
  OK(ABT_sched_get_data(sched, &data));
  EQUAL(1, data == &sched_events);
  sched_events = -1;
  return ok;
}

// Stores a function at its place in a struct.
static void put(unsigned char* bytes, size_t offset, void (*f)(void)) {
  memcpy(bytes + offset, &f, 8);
}
#define PUT(bytes, offset, f) put(bytes, offset, (void (*)(void))(f))

static void test_definitions(void) {
  unsigned char pool_def[128] = {0}, sched_def[40] = {0};
  const variable extra[3] = {{0, 0}, {1, 1}, {2, 2}};
  handle pool, pool_config, sched, config, xstream, thread, task;
  int access = 2, number = 99, count = 0, type = -1;
  double ratio = 0;

  memcpy(pool_def, &access, 4);
  PUT(pool_def, 32, unit_in_pool);
  PUT(pool_def, 40, make_unit);
  PUT(pool_def, 56, free_unit);
  PUT(pool_def, 64, init_pool);
  PUT(pool_def, 72, pool_size);
  PUT(pool_def, 80, push);
  PUT(pool_def, 88, pop);
  PUT(pool_def, 112, free_pool);
  OK(ABT_pool_config_create(&pool_config));
  OK(ABT_pool_config_set(pool_config, 5, 0, &number));
  number = 0;
  const variable automatic = ABT_pool_config_automatic;
  OK(ABT_pool_config_set(pool_config, automatic.index, automatic.type, &number));
  OK(ABT_pool_create(pool_def, pool_config, &pool));
  FREE(ABT_pool_config_free, pool_config, null_pool_config);
  EQUAL(1, rings[0].init_calls);
  OK(ABT_pool_get_access(pool, &access));
  EQUAL(2, access);

  PUT(sched_def, 8, init_sched);
  PUT(sched_def, 16, run_sched);
  PUT(sched_def, 24, free_sched);
  OK(ABT_sched_config_create(&config, extra[0], 17, extra[1], 2.5, ABT_sched_basic_freq, 31, extra[2],
                             (void*)&number, ABT_sched_config_access, 4, ABT_sched_config_automatic, 0,
                             ABT_sched_config_var_end));
  OK(ABT_sched_config_get(config, 1, &type, &ratio));
  EQUAL(1, type == 1 && ratio == 2.5);
  EQUAL(err_inv_arg, ABT_sched_config_get(config, 3, NULL, NULL));
  OK(ABT_sched_create(sched_def, 1, &pool, config, &sched));
  FREE(ABT_sched_config_free, config, null_sched_config);
  EQUAL(17, sched_events);
  EQUAL(1, sched_ratio == 2.5);
  EQUAL(1, sched_pointer == &number);
  EQUAL(31, sched_frequency);

  OK(ABT_thread_create(pool, increment, &count, NULL_HANDLE(null_attr), &thread));
  OK(ABT_task_create(pool, increment, &count, &task));
  size_t size = 0;
  OK(ABT_pool_get_size(pool, &size));
  EQUAL(2, size);
  OK(ABT_xstream_create(sched, &xstream));
  OK(ABT_thread_free(&thread));
  OK(ABT_task_free(&task));
  EQUAL(2, count);
  OK(ABT_xstream_free(&xstream));
  FREE(ABT_sched_free, sched, null_sched);
  EQUAL(-1, sched_events);
  FREE(ABT_pool_free, pool, null_pool);
  EQUAL(1, rings[0].free_calls);
  EQUAL(1, rings[0].made == 2 && rings[0].freed == 2);
}

// ---- A pool of the new style ----

static handle user_make_unit(handle pool, handle thread) {
  ring_of(pool)->made++;
  handle* unit = malloc(16);
  *unit = thread;
  return unit;
}
static void user_free_unit(handle pool, handle unit) {
  ring_of(pool)->freed++;
  free(unit);
}
static int user_is_empty(handle pool) {
  return pool_size(pool) == 0;
}
static handle user_pop(handle pool, uint64_t context) {
  EQUAL(0, context & ~(uint64_t)0x3ff303);
  const handle unit = pop(pool);
  return unit == NULL_HANDLE(null_unit) ? NULL_HANDLE(null_thread) : *(handle*)unit;
}
static void user_push(handle pool, handle unit, uint64_t context) {
  EQUAL(0x1000, context & 0x3ff000); // a unit that has been created
  push(pool, unit);
}

static void test_user_pool(void) {
  handle definition, pool, thread, taken;
  int count = 0, access = -1;
  OK(ABT_pool_user_def_create(user_make_unit, user_free_unit, user_is_empty, user_pop, user_push,
                              &definition));
  OK(ABT_pool_create(definition, NULL_HANDLE(null_pool_config), &pool));
  FREE(ABT_pool_user_def_free, definition, null_user_def);
  OK(ABT_pool_set_data(pool, &rings[1]));
  OK(ABT_pool_get_access(pool, &access));
  EQUAL(4, access);
  OK(ABT_thread_create(pool, increment, &count, NULL_HANDLE(null_attr), &thread));
  OK(ABT_pool_pop_thread(pool, &taken));
  EQUAL(1, taken == thread);
  OK(ABT_self_schedule(taken, NULL_HANDLE(null_pool)));
  EQUAL(1, count);
  OK(ABT_pool_pop_thread(pool, &taken));
  IS_NULL(null_thread, taken);
  OK(ABT_thread_free(&thread));
  OK(ABT_pool_free(&pool));
  EQUAL(1, rings[1].made == 1 && rings[1].freed == 1);
}

// ---- Values of one's own, and waiting ----

static handle key, barrier, future, eventual, lock;
static int destroyed, future_sum, met;
static void destroy(void* value) {
  destroyed += (int)(intptr_t)value;
}
static void sum_up(void** values) {
  for (int i = 0; i < 3; ++i)
    future_sum += (int)(intptr_t)values[i];
}
static void meet(void* argument) {
  void* value = &value;
  OK(ABT_key_get(key, &value));
  EQUAL(0, (intptr_t)value);
  OK(ABT_key_set(key, argument));
  OK(ABT_future_set(future, argument));
  OK(ABT_barrier_wait(barrier));
  OK(ABT_eventual_wait(eventual, &value));
  EQUAL(4711, *(int*)value);
  OK(ABT_rwlock_wrlock(lock));
  met++;
  OK(ABT_rwlock_unlock(lock));
  OK(ABT_key_get(key, &value));
  EQUAL(1, value == argument);
}

static void test_waiting(void) {
  handle thread[3], xstream, pool;
  uint32_t waiters = 0;
  int value = 4711;
  OK(ABT_key_create(destroy, &key));
  OK(ABT_barrier_create(4, &barrier));
  OK(ABT_barrier_get_num_waiters(barrier, &waiters));
  EQUAL(4, waiters);
  OK(ABT_future_create(3, sum_up, &future));
  OK(ABT_eventual_create(4, &eventual));
  OK(ABT_rwlock_create(&lock));
  OK(ABT_pool_create_basic(0, 4, 1, &pool));
  OK(ABT_xstream_create_basic(0, 1, &pool, NULL_HANDLE(null_sched_config), &xstream));
  for (int i = 0; i < 3; ++i) {
    void* const argument = (void*)(intptr_t)(i + 1);
    OK(ABT_thread_create(i ? pool : self_pool(), meet, argument, NULL_HANDLE(null_attr), &thread[i]));
  }
  OK(ABT_barrier_wait(barrier));
  OK(ABT_future_wait(future));
  EQUAL(6, future_sum);
  EQUAL(err_future, ABT_future_set(future, NULL));
  OK(ABT_rwlock_rdlock(lock));
  EQUAL(err_inv_eventual, ABT_eventual_set(eventual, &value, 5));
  OK(ABT_eventual_set(eventual, &value, 4));
  EQUAL(err_eventual, ABT_eventual_set(eventual, &value, 4));
  EQUAL(0, met);
  OK(ABT_rwlock_unlock(lock));
  for (int i = 0; i < 3; ++i)
    OK(ABT_thread_free(&thread[i]));
  EQUAL(3, met);
  EQUAL(6, destroyed);
  OK(ABT_xstream_free(&xstream));
  FREE(ABT_key_free, key, null_key);
  FREE(ABT_barrier_free, barrier, null_barrier);
  FREE(ABT_future_free, future, null_future);
  FREE(ABT_eventual_free, eventual, null_eventual);
  FREE(ABT_rwlock_free, lock, null_rwlock);
}

static void wake(void* flag) {
  OK(ABT_mutex_lock(static_mutex));
  *(int*)flag = 1;
  OK(ABT_mutex_unlock(static_mutex));
  OK(ABT_cond_signal(static_cond));
}

static void test_mutex_and_cond(void) {
  handle mutex, cond, attr, thread;
  struct timespec now;
  int flag = 0;
  OK(ABT_mutex_create(&mutex));
  OK(ABT_cond_create(&cond));
  OK(ABT_mutex_lock(mutex));
  clock_gettime(CLOCK_REALTIME, &now);
  EQUAL(err_cond_timedout, ABT_cond_timedwait(cond, mutex, &now));
  EQUAL(err_mutex_locked, ABT_mutex_trylock(mutex));
  OK(ABT_mutex_unlock(mutex));
  FREE(ABT_cond_free, cond, null_cond);
  FREE(ABT_mutex_free, mutex, null_mutex);
  OK(ABT_mutex_attr_create(&attr));
  FREE(ABT_mutex_attr_free, attr, null_mutex_attr);

  OK(ABT_mutex_lock(static_mutex));
  OK(ABT_thread_create(self_pool(), wake, &flag, NULL_HANDLE(null_attr), &thread));
  while (!flag)
    OK(ABT_cond_wait(static_cond, static_mutex));
  OK(ABT_mutex_unlock(static_mutex));
  OK(ABT_thread_free(&thread));
}

// ---- What the configuration is asked for, with the size of each answer ----

static void test_info(void) {
  static const unsigned char size[28] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
                                         4, 4, 4, 8, 8, 8, 8, 4, 4, 4, 4, 4, 4, 4};
  for (int kind = 0; kind < 28; ++kind) {
    unsigned char answer[16];
    size_t written = sizeof(answer);
    memset(answer, 0xa5, sizeof(answer));
    OK(ABT_info_query_config(kind, answer));
    while (written > 0 && answer[written - 1] == 0xa5)
      --written;
    EQUAL(size[kind], written);
  }
}

int main(int argc, char** argv) {
  // The program has copies of these; the library has to look at the copies.
  static const int values[5][2] = {{-1, 0}, {-2, 0}, {-3, 0}, {-4, 0}, {-2, 0}};
  const variable found[5] = {ABT_sched_config_var_end, ABT_sched_config_access, ABT_sched_config_automatic,
                             ABT_sched_basic_freq, ABT_pool_config_automatic};
  for (int i = 0; i < 5; ++i) {
    EQUAL(values[i][0], found[i].index);
    EQUAL(values[i][1], found[i].type);
  }

  without_runtime();
  for (int round = 0; round < 2; ++round) {
    memset(rings, 0, sizeof(rings));
    destroyed = future_sum = met = 0;
    OK(ABT_init(argc, argv));
    OK(ABT_initialized());
    use_static_memory();
    test_threads();
    test_suspend();
    test_refusals();
    test_definitions();
    test_user_pool();
    test_waiting();
    test_mutex_and_cond();
    test_info();
    OK(ABT_finalize());
    without_runtime();
  }
  puts("client: all as compiled in");
  return 0;
}
