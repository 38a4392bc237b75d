// SPDX-License-Identifier: MIT
// The guide's samples about threads, their attributes and keys.
#include "samples.h"

#include <stdatomic.h>
#include <string.h>

static ABT_pool pool; // this stream's

static void set_flag(void* flag) {
  atomic_store((atomic_int*)flag, 1);
}

static void yield_for_ever(void* begun) {
  atomic_store((atomic_int*)begun, 1);
  for (;;) OK(ABT_self_yield());
}

static void cancel(void) {
  atomic_int begun = 0;
  // [sample abt-cancel]
  ABT_thread thread;
  OK(ABT_thread_create(pool, yield_for_ever, &begun, ABT_THREAD_ATTR_NULL, &thread));
  while (!atomic_load(&begun)) OK(ABT_thread_yield());
  OK(ABT_thread_cancel(thread)); // a request: acted on at its next yield
  OK(ABT_thread_free(&thread));
  // [/sample]
}

static void yield_until_set(void* flag) {
  while (!atomic_load((atomic_int*)flag)) OK(ABT_self_yield());
}

// [sample abt-migrate]
static void on_move(ABT_thread thread, void* moves) {
  (void)thread;
  atomic_fetch_add((atomic_int*)moves, 1);
}

static void move(ABT_thread thread, ABT_pool there, atomic_int* moves) {
  OK(ABT_thread_set_callback(thread, on_move, moves));
  OK(ABT_thread_migrate_to_pool(thread, there)); // a request: carried out at its next yield
  while (!atomic_load(moves)) OK(ABT_thread_yield());
}
// [/sample]

static void migrate(void) {
  ABT_xstream stream;
  ABT_pool there;
  OK(ABT_xstream_create(ABT_SCHED_NULL, &stream));
  OK(ABT_xstream_get_main_pools(stream, 1, &there));
  atomic_int moves = 0, stop = 0;
  ABT_thread thread;
  OK(ABT_thread_create(pool, yield_until_set, &stop, ABT_THREAD_ATTR_NULL, &thread));
  move(thread, there, &moves);
  ABT_pool last;
  OK(ABT_thread_get_last_pool(thread, &last));
  CHECK(last == there);
  atomic_store(&stop, 1);
  OK(ABT_thread_free(&thread));
  OK(ABT_xstream_free(&stream));
}

static void attr(void) {
  atomic_int ran = 0;
  // [sample abt-thread-attr]
  ABT_thread_attr attr;
  OK(ABT_thread_attr_create(&attr));
  OK(ABT_thread_attr_set_stacksize(attr, 256 * 1024));
  OK(ABT_thread_attr_set_migratable(attr, ABT_FALSE));
  ABT_thread thread;
  OK(ABT_thread_create(pool, set_flag, &ran, attr, &thread)); // copies the attributes
  OK(ABT_thread_attr_free(&attr));

  size_t size;
  OK(ABT_thread_get_stacksize(thread, &size));
  CHECK(size >= 256 * 1024);
  OK(ABT_thread_free(&thread));
  // [/sample]
  CHECK(ran == 1);
}

// [sample abt-self-suspend]
struct slot { // for one value from one ULT to another of the same stream
  ABT_thread reader;
  int value;
};

static void read_slot(void* slot) {
  struct slot* s = slot;
  OK(ABT_self_get_thread(&s->reader));
  OK(ABT_self_suspend()); // in no pool until somebody resumes it
  CHECK(s->value == 42);
}

static void write_slot(void* slot) {
  struct slot* s = slot;
  s->value = 42;
  OK(ABT_self_resume_yield_to(s->reader)); // straight to the reader; the caller becomes ready
}
// [/sample]

static void self(void) {
  struct slot slot = {ABT_THREAD_NULL, 0};
  ABT_thread reader, writer;
  OK(ABT_thread_create(pool, read_slot, &slot, ABT_THREAD_ATTR_NULL, &reader));
  ABT_thread_state state;
  do {
    OK(ABT_thread_yield());
    OK(ABT_thread_get_state(reader, &state));
  } while (state != ABT_THREAD_STATE_BLOCKED);
  OK(ABT_thread_create(pool, write_slot, &slot, ABT_THREAD_ATTR_NULL, &writer));
  OK(ABT_thread_free(&writer));
  OK(ABT_thread_free(&reader));
}

// [sample abt-key]
static ABT_key name_key; // made with: ABT_key_create(free, &name_key)

static void set_name(const char* name) {
  char* copy = malloc(strlen(name) + 1);
  CHECK(copy != NULL);
  OK(ABT_self_set_specific(name_key, strcpy(copy, name))); // freed with the unit
}

static const char* my_name(void) {
  void* name;
  OK(ABT_self_get_specific(name_key, &name));
  return name ? name : "?";
}
// [/sample]

static void introduce(void* name) {
  CHECK(strcmp(my_name(), "?") == 0);
  set_name(name);
  OK(ABT_self_yield());
  CHECK(strcmp(my_name(), name) == 0);
}

static void key(void) {
  OK(ABT_key_create(free, &name_key));
  ABT_thread one, two;
  OK(ABT_thread_create(pool, introduce, "one", ABT_THREAD_ATTR_NULL, &one));
  OK(ABT_thread_create(pool, introduce, "two", ABT_THREAD_ATTR_NULL, &two));
  OK(ABT_thread_free(&one));
  OK(ABT_thread_free(&two));
  OK(ABT_key_free(&name_key));
}

int main(int argc, char** argv) {
  OK(ABT_init(argc, argv));
  OK(ABT_self_get_last_pool(&pool));
  cancel();
  migrate();
  attr();
  self();
  key();
  OK(ABT_finalize());
  return 0;
}
