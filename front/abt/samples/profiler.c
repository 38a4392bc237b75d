// SPDX-License-Identifier: MIT
// A profiler in a callback of the tool interface: how often each unit ran, yielded and waited, and for
// how long it ran. Prints a table. Where the library has no tool interface it says so and exits with 77.
#include "samples.h"

#include <pthread.h>

enum { MOST = 64, TURNS = 3, YIELDERS = 3, TASKLETS = 2 };

struct row {
  ABT_thread unit; // ABT_THREAD_NULL once it is freed: the handle may be used again
  ABT_unit_id id;
  const char* name;
  int runs, yields, waits, ends;
  double since, seconds;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // events come from all streams at once
static struct row rows[MOST];
static int row_count;

static struct row* row_of_locked(ABT_thread unit) {
  for (int i = row_count - 1; i >= 0; --i) {
    if (rows[i].unit == unit) return &rows[i];
  }
  CHECK(row_count < MOST); // also those that were there before the callback
  struct row* row = &rows[row_count++];
  row->unit = unit;
  row->name = "(the library's)";
  row->since = ABT_get_wtime(); // it may be running already
  OK(ABT_thread_get_id(unit, &row->id));
  return row;
}

// [sample abt-tool]
static void record(ABT_thread unit, ABT_xstream stream, uint64_t event, ABT_tool_context context, void* arg) {
  (void)stream, (void)context, (void)arg;
  const double now = ABT_get_wtime();
  pthread_mutex_lock(&lock); // a callback may not switch: the kernel's mutex, held briefly
  struct row* row = row_of_locked(unit);
  switch (event) {
  case ABT_TOOL_EVENT_THREAD_RUN:
    ++row->runs;
    row->since = now;
    break;
  case ABT_TOOL_EVENT_THREAD_YIELD:
    ++row->yields;
    row->seconds += now - row->since;
    break;
  case ABT_TOOL_EVENT_THREAD_SUSPEND:
    ++row->waits;
    row->seconds += now - row->since;
    break;
  case ABT_TOOL_EVENT_THREAD_FINISH:
    ++row->ends;
    row->seconds += now - row->since;
    break;
  case ABT_TOOL_EVENT_THREAD_FREE:
    row->unit = ABT_THREAD_NULL;
    break;
  }
  pthread_mutex_unlock(&lock);
}
// [/sample]

static int name(ABT_thread unit, const char* text) {
  pthread_mutex_lock(&lock);
  struct row* row = row_of_locked(unit);
  row->name = text;
  const int index = (int)(row - rows);
  pthread_mutex_unlock(&lock);
  return index;
}

static void compute(double seconds) {
  for (const double end = ABT_get_wtime() + seconds; ABT_get_wtime() < end;) {
  }
}

static void take_turns(void* arg) {
  (void)arg;
  for (int i = 0; i < TURNS; ++i) {
    compute(0.001);
    OK(ABT_self_yield());
  }
}

static ABT_eventual news;

static void wait_for_news(void* arg) {
  (void)arg;
  OK(ABT_eventual_wait(news, NULL));
}

static void bring_news(void* arg) {
  (void)arg;
  compute(0.002);
  OK(ABT_eventual_set(news, NULL, 0));
}

static void check_news(void* arg) {
  (void)arg;
  ABT_bool ready;
  OK(ABT_eventual_test(news, NULL, &ready)); // a tasklet may look, but not wait
}

int main(int argc, char** argv) {
  OK(ABT_init(argc, argv));
  // [sample abt-tool-register]
  const uint64_t all = ABT_TOOL_EVENT_THREAD_ALL;
  const int registered = ABT_tool_register_thread_callback(record, all, NULL);
  if (registered == ABT_ERR_FEATURE_NA) {
    printf("this library was built without the tool interface: there is nothing to profile with\n");
    OK(ABT_finalize());
    return 77;
  }
  OK(registered);
  // [/sample]

  ABT_xstream stream;
  ABT_pool pool;
  OK(ABT_xstream_create(ABT_SCHED_NULL, &stream));
  OK(ABT_xstream_get_main_pools(stream, 1, &pool));
  OK(ABT_eventual_create(0, &news));

  ABT_thread units[YIELDERS + TASKLETS + 2];
  int named[YIELDERS + TASKLETS + 2], count = 0;
  for (int i = 0; i < YIELDERS; ++i, ++count) {
    OK(ABT_thread_create(pool, take_turns, NULL, ABT_THREAD_ATTR_NULL, &units[count]));
    named[count] = name(units[count], "takes turns");
  }
  OK(ABT_thread_create(pool, wait_for_news, NULL, ABT_THREAD_ATTR_NULL, &units[count]));
  named[count] = name(units[count], "waits");
  const int waiter = named[count++];
  for (int i = 0; i < TASKLETS; ++i, ++count) {
    OK(ABT_task_create(pool, i == 0 ? bring_news : check_news, NULL, &units[count]));
    named[count] = name(units[count], "tasklet");
  }
  for (int i = 0; i < count; ++i) OK(ABT_thread_free(&units[i]));
  OK(ABT_eventual_free(&news));
  OK(ABT_xstream_free(&stream));
  OK(ABT_tool_register_thread_callback(NULL, ABT_TOOL_EVENT_THREAD_NONE, NULL));

  printf("%6s  %-16s %5s %7s %6s %9s\n", "unit", "what", "runs", "yields", "waits", "ms");
  for (int i = 0; i < row_count; ++i) {
    const struct row* r = &rows[i];
    printf("%6llu  %-16s %5d %7d %6d %9.3f\n", (unsigned long long)r->id, r->name, r->runs, r->yields,
           r->waits, r->seconds * 1e3);
  }
  for (int i = 0; i < count; ++i) {
    const struct row* r = &rows[named[i]];
    CHECK(r->ends == 1 && r->runs == 1 + r->yields + r->waits);
    if (i < YIELDERS) CHECK(r->yields == TURNS && r->seconds >= TURNS * 0.001);
  }
  CHECK(rows[waiter].waits <= 1);
  OK(ABT_finalize());
  return 0;
}
