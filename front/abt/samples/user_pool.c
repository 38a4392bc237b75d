// SPDX-License-Identifier: MIT
// Pools written by the user over one list, defined in the new style (units go in, threads come out) and in
// the old one (units both ways). Both hand out the newest unit first, unless a configuration says otherwise.
#include "samples.h"

#include <pthread.h>
#include <string.h>

// What the pool knows of a unit. Its address is the ABT_unit: aligned to 4 bytes at least.
struct entry {
  ABT_thread thread;
  struct entry *newer, *older;
  ABT_bool inside;
};

// The lock is the kernel's: a pool may not wait by switching.
struct list {
  pthread_mutex_t lock;
  struct entry *newest, *oldest;
  size_t size;
  int newest_first;
};

enum { NEWEST_FIRST = 0 }; // key of the configuration

static struct list* list_of(ABT_pool pool) {
  void* data;
  OK(ABT_pool_get_data(pool, &data));
  return data;
}

static struct entry* entry_of(ABT_unit unit) {
  return (struct entry*)unit;
}

static void insert(struct list* list, struct entry* e) {
  pthread_mutex_lock(&list->lock);
  e->newer = NULL;
  e->older = list->newest;
  *(list->newest ? &list->newest->newer : &list->oldest) = e;
  list->newest = e;
  e->inside = ABT_TRUE;
  ++list->size;
  pthread_mutex_unlock(&list->lock);
}

static void unlink_locked(struct list* list, struct entry* e) {
  *(e->newer ? &e->newer->older : &list->newest) = e->older;
  *(e->older ? &e->older->newer : &list->oldest) = e->newer;
  e->inside = ABT_FALSE;
  --list->size;
}

static struct entry* take(struct list* list) {
  pthread_mutex_lock(&list->lock);
  struct entry* e = list->newest_first ? list->newest : list->oldest;
  if (e) unlink_locked(list, e);
  pthread_mutex_unlock(&list->lock);
  return e;
}

static size_t size_of(struct list* list) {
  pthread_mutex_lock(&list->lock);
  const size_t size = list->size;
  pthread_mutex_unlock(&list->lock);
  return size;
}

// Both styles begin alike.
// [sample abt-pool-init]
static int begin(ABT_pool pool, ABT_pool_config config) {
  struct list* list = calloc(1, sizeof *list);
  pthread_mutex_init(&list->lock, NULL);
  list->newest_first = 1;
  if (config != ABT_POOL_CONFIG_NULL) {
    // An error means that the key has no value: the default stays.
    (void)ABT_pool_config_get(config, NEWEST_FIRST, NULL, &list->newest_first);
  }
  return ABT_pool_set_data(pool, list);
}
// [/sample]

// --- new style ---

// [sample abt-pool-user-def]
static ABT_unit create_unit(ABT_pool pool, ABT_thread thread) {
  (void)pool;
  struct entry* e = calloc(1, sizeof *e);
  e->thread = thread;
  return (ABT_unit)e;
}
static void free_unit(ABT_pool pool, ABT_unit unit) {
  (void)pool;
  free(entry_of(unit));
}
static ABT_bool is_empty(ABT_pool pool) {
  return size_of(list_of(pool)) == 0 ? ABT_TRUE : ABT_FALSE;
}
static ABT_thread pop(ABT_pool pool, ABT_pool_context context) {
  (void)context;
  struct entry* e = take(list_of(pool));
  return e ? e->thread : ABT_THREAD_NULL;
}
static void push(ABT_pool pool, ABT_unit unit, ABT_pool_context context) {
  (void)context; // says who pushes and why
  insert(list_of(pool), entry_of(unit));
}
// [/sample]

static void end(ABT_pool pool) {
  struct list* list = list_of(pool);
  pthread_mutex_destroy(&list->lock);
  free(list);
}
static size_t get_size(ABT_pool pool) {
  return size_of(list_of(pool));
}

static ABT_pool new_style(ABT_pool_config config) {
  ABT_pool pool;
  // [sample abt-pool-create]
  ABT_pool_user_def def;
  OK(ABT_pool_user_def_create(create_unit, free_unit, is_empty, pop, push, &def));
  OK(ABT_pool_user_def_set_init(def, begin));
  OK(ABT_pool_user_def_set_free(def, end));
  OK(ABT_pool_user_def_set_get_size(def, get_size));
  OK(ABT_pool_create(def, config, &pool)); // calls begin()
  OK(ABT_pool_user_def_free(&def));        // the pool has a copy
  // [/sample]
  return pool;
}

// --- old style ---

static ABT_unit old_create_unit(ABT_thread thread) {
  return create_unit(ABT_POOL_NULL, thread);
}
static void old_free_unit(ABT_unit* unit) {
  free(entry_of(*unit));
  *unit = ABT_UNIT_NULL;
}
static ABT_bool old_is_in_pool(ABT_unit unit) {
  return entry_of(unit)->inside;
}
static void old_push(ABT_pool pool, ABT_unit unit) {
  insert(list_of(pool), entry_of(unit));
}
static ABT_unit old_pop(ABT_pool pool) {
  struct entry* e = take(list_of(pool));
  return e ? (ABT_unit)e : ABT_UNIT_NULL;
}
static int old_remove(ABT_pool pool, ABT_unit unit) {
  struct list* list = list_of(pool);
  struct entry* e = entry_of(unit);
  pthread_mutex_lock(&list->lock);
  const ABT_bool inside = e->inside;
  if (inside) unlink_locked(list, e);
  pthread_mutex_unlock(&list->lock);
  return inside ? ABT_SUCCESS : ABT_ERR_POOL;
}
static int old_end(ABT_pool pool) {
  end(pool);
  return ABT_SUCCESS;
}

static ABT_pool old_style(ABT_pool_config config) {
  ABT_pool pool;
  // [sample abt-pool-old]
  ABT_pool_def def = {.access = ABT_POOL_ACCESS_MPMC,
                      .u_is_in_pool = old_is_in_pool, // this one and p_remove: for ABT_thread_yield_to()
                      .u_create_from_thread = old_create_unit,
                      .u_free = old_free_unit,
                      .p_init = begin,
                      .p_get_size = get_size,
                      .p_push = old_push,
                      .p_pop = old_pop,
                      .p_remove = old_remove,
                      .p_free = old_end};
  OK(ABT_pool_create(&def, config, &pool));
  // [/sample]
  return pool;
}

// --- both at work ---

static char order[8];
static int ran; // one stream runs them all

static void note(void* letter) {
  order[ran++] = *(char*)letter;
}

static void try(ABT_pool pool, const char* how, const char* expected) {
  memset(order, 0, sizeof order);
  ran = 0;
  char letters[] = "abcd";
  ABT_thread threads[4];
  for (int i = 0; i < 4; ++i) {
    OK(ABT_thread_create(pool, note, &letters[i], ABT_THREAD_ATTR_NULL, &threads[i]));
  }
  // [sample abt-unit]
  ABT_unit unit;
  ABT_thread same;
  OK(ABT_thread_get_unit(threads[0], &unit)); // what the pool's create_unit returned
  OK(ABT_unit_get_thread(unit, &same));
  CHECK(same == threads[0]);
  // [/sample]
  size_t size;
  OK(ABT_pool_get_size(pool, &size));
  CHECK(size == 4);

  ABT_xstream stream;
  OK(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &stream));
  OK(ABT_xstream_free(&stream)); // joins: the pool is drained first
  for (int i = 0; i < 4; ++i) OK(ABT_thread_free(&threads[i]));
  OK(ABT_pool_free(&pool)); // calls end()

  printf("%s: %s\n", how, order);
  CHECK(strcmp(order, expected) == 0);
}

int main(int argc, char** argv) {
  OK(ABT_init(argc, argv));
  // [sample abt-pool-config]
  ABT_pool_config config;
  const int newest_first = 0;
  OK(ABT_pool_config_create(&config));
  OK(ABT_pool_config_set(config, NEWEST_FIRST, ABT_POOL_CONFIG_INT, &newest_first));
  // [/sample]

  try(new_style(ABT_POOL_CONFIG_NULL), "new style, newest first", "dcba");
  try(new_style(config), "new style, oldest first", "abcd");
  try(old_style(ABT_POOL_CONFIG_NULL), "old style, newest first", "dcba");
  try(old_style(config), "old style, oldest first", "abcd");

  OK(ABT_pool_config_free(&config));
  OK(ABT_finalize());
  return 0;
}
