// SPDX-License-Identifier: MIT
// A program with a tool in it: what the runtime tells of regions, tasks, waits and locks, in which order, and
// what the tool may ask. The tool keeps a record of each region and task in the words that it is given, and
// finds there whether what it hears next can be so.
#include "check.h"
#include "tool_abi.h"

#include <pthread.h>
#include <unistd.h>

struct region_record {
  uint64_t id;
  int size; // as its implicit tasks say
  int begun, ended;
  int closed;
};

struct task_record {
  uint64_t id;
  struct region_record* region;
  struct task_record* creator;
  int is_explicit;
  int runs, ended;
  int regions[12]; // of waits, by kind: open now
  int waits[12];
};

static int started, ended; // the tool itself
static int threads;
static int told[events];
static int open_threads;
static __thread struct task_record* current;
static __thread uint64_t acquiring; // a mutex

static int add(int* to, int n) {
  return __atomic_add_fetch(to, n, __ATOMIC_SEQ_CST);
}
static int get(const int* from) {
  return __atomic_load_n(from, __ATOMIC_SEQ_CST);
}
static void hear(enum event e) {
  add(&told[e], 1);
  if (e != event_thread_begin)
    CHECK(thread_data() != NULL && thread_data()->value != 0);
}

static struct task_record* new_task(struct region_record* of, int is_explicit) {
  struct task_record* const k = calloc(1, sizeof *k);
  k->id = unique_id();
  k->region = of;
  k->is_explicit = is_explicit;
  return k;
}

// --- what it is told ---

static void on_thread_begin(int kind, word* data) {
  hear(event_thread_begin);
  CHECK(kind == 1 || kind == 2);
  CHECK(data->value == 0);
  data->value = unique_id();
  CHECK(thread_data() == data);
  add(&open_threads, 1);
}
static void on_thread_end(word* data) {
  hear(event_thread_end);
  CHECK(thread_data() == data);
  add(&open_threads, -1);
}

static void on_parallel_begin(word* opener, const struct frame* where, word* data, unsigned wanted, int flags,
                              const void* from) {
  hear(event_parallel_begin);
  CHECK(opener->ptr == current);
  CHECK(where->enter.ptr != NULL);
  CHECK(data->value == 0 && wanted >= 1 && from != NULL);
  CHECK((flags & 0x80000000) != 0);
  struct region_record* const r = calloc(1, sizeof *r);
  r->id = unique_id();
  data->ptr = r;
}
static void on_parallel_end(word* data, word* opener, int flags, const void* from) {
  (void)flags;
  hear(event_parallel_end);
  struct region_record* const r = data->ptr;
  CHECK(from != NULL);
  CHECK(opener->ptr == current);
  CHECK(get(&r->begun) == r->size && get(&r->ended) == r->size);
  CHECK(add(&r->closed, 1) == 1);
}

static void on_implicit_task(int endpoint, word* region, word* data, unsigned size, unsigned number,
                             int flags) {
  hear(event_implicit_task);
  if ((flags & task_initial) != 0) {
    if (endpoint == scope_begin) {
      CHECK(region->value == 0 && data->value == 0);
      region->ptr = calloc(1, sizeof(struct region_record));
      data->ptr = current = new_task(region->ptr, 0);
    } else {
      CHECK(data->ptr == current && region == NULL);
    }
    return;
  }
  if (endpoint == scope_begin) {
    struct region_record* const r = region->ptr;
    CHECK(data->value == 0 && number < size);
    CHECK(get(&r->closed) == 0);
    r->size = (int)size; // all of them say the same
    add(&r->begun, 1);
    struct task_record* const k = new_task(r, 0);
    k->creator = current; // the master's, whom this one stands in for
    data->ptr = current = k;
    word* in = NULL;
    int of = 0;
    CHECK(parallel_info(0, &in, &of) == 2 && in->ptr == r && of == (int)size);
    return;
  }
  struct task_record* const k = data->ptr;
  CHECK(k == current && region == NULL);
  for (int i = 0; i < 12; ++i)
    CHECK(k->regions[i] == 0 && k->waits[i] == 0);
  CHECK(k->ended++ == 0);
  CHECK(get(&k->region->closed) == 0);
  add(&k->region->ended, 1);
  current = number == 0 ? k->creator : NULL;
}

static void on_task_create(word* creator, const struct frame* where, word* data, int flags, int dependences,
                           const void* from) {
  (void)dependences;
  hear(event_task_create);
  CHECK(creator->ptr == current && data->value == 0);
  CHECK((flags & task_explicit) != 0 && where->enter.ptr != NULL && from != NULL);
  struct task_record* const k = new_task(current->region, 1);
  k->creator = current;
  data->ptr = k;
}
static int begun_tasks, complete_tasks, cancelled_tasks, detached_tasks, late_tasks;
static void on_task_schedule(word* before, int status, word* after) {
  hear(event_task_schedule);
  struct task_record* const from = before->ptr;
  struct task_record* const to = after != NULL ? after->ptr : NULL;
  if (status == status_late || status == status_early) {
    CHECK(to == NULL);
    if (status == status_late)
      add(&late_tasks, 1);
    return;
  }
  CHECK(from == current && to != NULL);
  if (status == status_switch || status == status_yield) {
    if (to->is_explicit && to->runs++ == 0)
      add(&begun_tasks, 1);
  } else {
    CHECK(from->is_explicit && from->ended++ == 0);
    add(status == status_complete ? &complete_tasks
        : status == status_detach ? &detached_tasks
                                  : &cancelled_tasks,
        1);
  }
  current = to;
}
static int dependences_told, pairs_told;
static void on_dependences(word* data, const struct dependence* list, int count) {
  hear(event_dependences);
  CHECK(((struct task_record*)data->ptr)->is_explicit);
  for (int i = 0; i < count; ++i)
    CHECK(list[i].variable.ptr != NULL && list[i].type >= type_in);
  add(&dependences_told, count);
}
static void on_task_dependence(word* first, word* second) {
  hear(event_task_dependence);
  CHECK(first->ptr != second->ptr);
  add(&pairs_told, 1);
}

static int kinds[12];
static void on_sync_region(int kind, int endpoint, word* region, word* data, const void* from) {
  (void)from;
  hear(event_sync_region);
  struct task_record* const k = data->ptr;
  CHECK(k == current);
  CHECK(region == NULL ? kind == sync_end_of_region && endpoint == scope_end : region->ptr == k->region);
  if (endpoint == scope_begin) {
    add(&kinds[kind], 1);
    ++k->regions[kind];
  } else {
    CHECK(--k->regions[kind] >= 0);
    CHECK(k->waits[kind] == 0);
  }
}
static void on_sync_region_wait(int kind, int endpoint, word* region, word* data, const void* from) {
  (void)region;
  (void)from;
  hear(event_sync_region_wait);
  struct task_record* const k = data->ptr;
  CHECK(k == current && k->regions[kind] > 0);
  k->waits[kind] += endpoint == scope_begin ? 1 : -1;
  CHECK(k->waits[kind] == (endpoint == scope_begin ? 1 : 0));
}

static int open_work;
static void on_work(int kind, int endpoint, word* region, word* data, uint64_t count, const void* from) {
  (void)count;
  hear(event_work);
  CHECK(kind >= 1 && kind <= 13 && from != NULL);
  CHECK(region->ptr == current->region && data->ptr == current);
  add(&open_work, endpoint == scope_begin ? 1 : -1);
}
static int iterations_told, sections_told;
static void on_dispatch(word* region, word* data, int kind, word instance) {
  hear(event_dispatch);
  CHECK(region->ptr == current->region && data->ptr == current);
  if (kind == 2)
    add(&sections_told, 1);
  else
    add(&iterations_told, (int)((uint64_t*)instance.ptr)[1]);
}

static void on_mutex_acquire(int kind, unsigned hint, unsigned impl, uint64_t id, const void* from) {
  (void)kind;
  (void)hint;
  (void)impl;
  hear(event_mutex_acquire);
  CHECK(id != 0 && from != NULL);
  acquiring = id;
}
static int held;
static void on_mutex_acquired(int kind, uint64_t id, const void* from) {
  (void)kind;
  (void)from;
  hear(event_mutex_acquired);
  CHECK(acquiring == id);
  acquiring = 0;
  add(&held, 1);
}
static void on_mutex_released(int kind, uint64_t id, const void* from) {
  (void)kind;
  (void)id;
  (void)from;
  hear(event_mutex_released);
  CHECK(add(&held, -1) >= 0);
}
static int nested;
static void on_nest_lock(int endpoint, uint64_t id, const void* from) {
  (void)id;
  (void)from;
  hear(event_nest_lock);
  CHECK(add(&nested, endpoint == scope_begin ? 1 : -1) >= 0);
}
static void on_lock_init(int kind, unsigned hint, unsigned impl, uint64_t id, const void* from) {
  (void)hint;
  (void)impl;
  hear(event_lock_init);
  CHECK((kind == mutex_lock || kind == mutex_nest) && id != 0 && from != NULL);
}
static void on_lock_destroy(int kind, uint64_t id, const void* from) {
  hear(event_lock_destroy);
  CHECK((kind == mutex_lock || kind == mutex_nest) && id != 0 && from != NULL);
}
static int activated, detected;
static void on_cancel(word* data, int flags, const void* from) {
  (void)from;
  hear(event_cancel);
  if ((flags & 0x40) != 0) // a task that is dropped
    return;
  CHECK(data->ptr == current);
  add((flags & 0x10) != 0 ? &activated : &detected, 1);
}

// --- its beginning and end ---

static int initialize(lookup_function lookup, int device, word* data) {
  CHECK(device == 0 && data->value == 4711);
  started = 1;
  find_functions(lookup);
  CHECK(lookup("ompt_no_such_function") == NULL);
#define LISTEN(name) CHECK(set_callback(event_##name, (any_function) & on_##name) == set_always)
  LISTEN(thread_begin);
  LISTEN(thread_end);
  LISTEN(parallel_begin);
  LISTEN(parallel_end);
  LISTEN(implicit_task);
  LISTEN(task_create);
  LISTEN(task_schedule);
  LISTEN(dependences);
  LISTEN(task_dependence);
  LISTEN(sync_region);
  LISTEN(sync_region_wait);
  LISTEN(work);
  LISTEN(dispatch);
  LISTEN(mutex_acquire);
  LISTEN(mutex_acquired);
  LISTEN(mutex_released);
  LISTEN(nest_lock);
  LISTEN(lock_init);
  LISTEN(lock_destroy);
  LISTEN(cancel);
  CHECK(set_callback(event_target, (any_function)&on_cancel) == set_never);
  return 1;
}

static int is_early; // what is open now stays so

// All threads have ended then, and all regions: what is wrong is said by the status of the process.
static void finalize(word* data) {
  CHECK(data->value == 4711);
  CHECK(ended++ == 0);
  if (is_early)
    return;
  CHECK(get(&told[event_thread_begin]) == get(&told[event_thread_end]) && get(&open_threads) == 0);
  CHECK(get(&told[event_parallel_begin]) == get(&told[event_parallel_end]));
  CHECK(get(&told[event_implicit_task]) % 2 == 0);
  if (failures != 0)
    _exit(1);
}

void* ompt_start_tool(unsigned version, const char* runtime) {
  static struct started tool = {&initialize, &finalize, {4711}};
  CHECK(version >= 201811 && runtime != NULL);
  return &tool;
}

// --- cases ---

static void regions(void) {
  enum { rounds = 20 };
  for (int round = 0; round < rounds; ++round) {
#pragma omp parallel num_threads(threads)
    {
      CHECK(get_state(NULL) == state_parallel);
      word *data = NULL, *of_team = NULL;
      struct frame* where = NULL;
      int flags = 0, number = -1, size = 0;
      CHECK(task_info(0, &flags, &data, &where, &of_team, &number) == 2);
      CHECK((flags & task_implicit) != 0 && number == omp_get_thread_num() && data->ptr == current);
      CHECK(where->exit.ptr != NULL && where->enter.ptr == NULL);
      CHECK(task_info(1, &flags, NULL, &where, NULL, &number) == 2);
      CHECK((flags & task_initial) != 0 && number == 0 && where->enter.ptr != NULL);
      CHECK(task_info(2, NULL, NULL, NULL, NULL, NULL) == 0);
      CHECK(parallel_info(0, &data, &size) == 2 && size == threads && data == of_team);
      CHECK(parallel_info(1, &data, &size) == 2 && size == 1 && parallel_info(2, NULL, NULL) == 0);
#pragma omp barrier
      CHECK(get_state(NULL) == state_parallel);
    }
    CHECK(get_state(NULL) == state_serial);
  }
  CHECK(told[event_parallel_begin] == rounds && told[event_parallel_end] == rounds);
  CHECK(told[event_implicit_task] == 2 * rounds * threads + 1);
  CHECK(kinds[sync_explicit] == rounds * threads);
  CHECK(kinds[sync_end_of_region] == (threads > 1 ? rounds * threads : 0));
}

static void nested_regions(void) {
  omp_set_max_active_levels(2);
  enum { rounds = 5 };
  for (int round = 0; round < rounds; ++round) {
#pragma omp parallel num_threads(threads)
#pragma omp parallel num_threads(2)
    {
      int number = -1, size = 0;
      CHECK(parallel_info(0, NULL, &size) == 2 && size == 2);
      CHECK(parallel_info(1, NULL, &size) == 2 && size == threads);
      CHECK(task_info(1, NULL, NULL, NULL, NULL, &number) == 2 && number == omp_get_ancestor_thread_num(1));
      CHECK(task_info(3, NULL, NULL, NULL, NULL, NULL) == 0);
    }
  }
  CHECK(told[event_parallel_begin] == rounds * (threads + 1));
  CHECK(told[event_parallel_end] == rounds * (threads + 1));
  CHECK(told[event_implicit_task] == 2 * rounds * (threads + 2 * threads) + 1);
}

enum { deepest = 6 };
static int sum;
static void descend(int depth) {
  int flags = 0;
  CHECK(task_info(0, &flags, NULL, NULL, NULL, NULL) == 2 && (flags & task_explicit) != 0);
  void* memory = NULL;
  size_t bytes = 0;
  CHECK(task_memory(&memory, &bytes, 0) == 0);
  CHECK(depth == deepest || (memory != NULL && bytes >= sizeof depth)); // the first one captures nothing
  add(&sum, 1);
  for (int i = 0; i < 2 && depth > 0; ++i) {
#pragma omp task
    descend(depth - 1);
  }
#pragma omp taskwait
}

static void tasks(void) {
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp taskgroup
    {
#pragma omp task
      descend(deepest);
    }
#pragma omp task if (0)
    add(&sum, 1);
#pragma omp task final(1)
    add(&sum, 1);
  }
  CHECK(sum == 127 + 2);
  CHECK(told[event_task_create] == sum && begun_tasks == sum && complete_tasks == sum);
  CHECK(kinds[sync_taskwait] == 127 && kinds[sync_group] == 1);
}

static void dependences(void) {
  enum { chain = 10 };
  int value = 0, wrong = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    for (int i = 0; i < chain; ++i) {
#pragma omp task depend(inout : value) shared(value, wrong) firstprivate(i)
      {
        wrong += value != i;
        value = i + 1;
      }
    }
#pragma omp taskwait
  }
  CHECK(value == chain && wrong == 0);
  CHECK(dependences_told == chain && told[event_dependences] == chain);
  CHECK(pairs_told < chain && complete_tasks == chain);
}

static void detached(void) {
  int is_set = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    omp_event_handle_t handle;
#pragma omp task detach(handle) shared(is_set)
    is_set = 1;
#pragma omp task firstprivate(handle)
    omp_fulfill_event(handle);
  }
  CHECK(is_set == 1);
  CHECK(begun_tasks == 2 && complete_tasks + detached_tasks == 2 && detached_tasks == late_tasks);
}

static void work(void) {
  enum { n = 100 };
  int done = 0;
#pragma omp parallel num_threads(threads) reduction(+ : done)
  {
#pragma omp for schedule(dynamic, 3)
    for (int i = 0; i < n; ++i)
      ++done;
    CHECK(parallel_info(0, NULL, NULL) == 2);
#pragma omp sections
    {
#pragma omp section
      ++done;
#pragma omp section
      ++done;
    }
#pragma omp single
    ++done;
  }
  CHECK(done == n + 3);
  CHECK(iterations_told == n);
  CHECK(sections_told >= 1);
  CHECK(open_work == 0);
  CHECK(told[event_work] == 2 * 3 * threads);
}

static void locks(void) {
  enum { rounds = 50 };
  omp_lock_t lock;
  omp_nest_lock_t nest;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest);
  int counted = 0, tested = 0;
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < rounds; ++i) {
    omp_set_lock(&lock);
    ++counted;
    omp_unset_lock(&lock);
    omp_set_nest_lock(&nest);
    omp_set_nest_lock(&nest);
    ++counted;
    omp_unset_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
#pragma omp critical(named)
    ++counted;
    if (omp_test_lock(&lock)) {
      ++tested;
      omp_unset_lock(&lock);
    }
  }
  omp_destroy_lock(&lock);
  omp_destroy_nest_lock(&nest);
  CHECK(held == 0 && nested == 0);
  CHECK(told[event_mutex_acquired] == 3 * rounds * threads + tested);
  CHECK(told[event_mutex_released] == told[event_mutex_acquired]);
  CHECK(told[event_nest_lock] == 2 * rounds * threads);
  CHECK(told[event_lock_init] == 2 && told[event_lock_destroy] == 2);
  CHECK(counted > 0);
}

static void cancellation(void) {
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
    }
    for (;;) { // until it is cancelled
#pragma omp cancellation point parallel
    }
  }
  CHECK(activated == 1 && detected == threads - 1);
  CHECK(told[event_parallel_end] == 1);
}

static void* run_regions(void* argument) {
#pragma omp parallel num_threads(threads)
  CHECK(get_state(NULL) == state_parallel);
  return argument;
}

static void other_pthreads(void) {
  run_regions(NULL);
  const int before = told[event_thread_begin];
  pthread_t other;
  CHECK(pthread_create(&other, NULL, &run_regions, NULL) == 0);
  pthread_join(other, NULL);
  CHECK(told[event_thread_begin] == before + threads); // it, and its members
  CHECK(told[event_thread_end] == threads);            // who end with it
  CHECK(told[event_parallel_begin] == 2);
}

static void lists(void) {
  CHECK(omp_get_max_threads() > 0); // the runtime is there
  int state = state_undefined, impl = 0, n = 0, serial = 0;
  const char* name = NULL;
  while (enumerate_states(state, &state, &name)) {
    CHECK(name != NULL && strncmp(name, "ompt_state_", 11) == 0);
    serial += state == state_serial;
    CHECK(++n < 100);
  }
  CHECK(n > 10 && serial == 1);
  CHECK(enumerate_mutexes(impl, &impl, &name) == 1 && impl != 0 && name != NULL);
  CHECK(enumerate_mutexes(impl, &impl, &name) == 0);
  CHECK(number_of_procs() == omp_get_num_procs());
  any_function f = NULL;
  CHECK(get_callback(event_cancel, &f) == 1 && f == (any_function)&on_cancel);
  CHECK(get_callback(event_target, &f) == 0 && get_callback(events + 9, &f) == 0);
}

// The tool goes in the middle of a region, which goes on.
static void gone_early(void) {
#pragma omp parallel num_threads(threads)
  {
#pragma omp barrier
#pragma omp single
    {
      is_early = 1;
      finalize_tool();
    }
#pragma omp barrier
#pragma omp task
    add(&sum, 1);
  }
  CHECK(sum == threads && ended == 1 && told[event_task_create] == 0);
}

// OMP_TOOL=disabled.
static void not_wanted(void) {
#pragma omp parallel num_threads(threads)
#pragma omp task
  add(&sum, 1);
  CHECK(sum == threads && started == 0 && told[event_parallel_begin] == 0);
}

int main(int argc, char** argv) {
  threads = threads_wanted();
  static const struct test_case cases[] = {
      {"regions", regions},
      {"nested_regions", nested_regions},
      {"tasks", tasks},
      {"dependences", dependences},
      {"detached", detached},
      {"work", work},
      {"locks", locks},
      {"cancellation", cancellation},
      {"other_pthreads", other_pthreads},
      {"lists", lists},
      {"gone_early", gone_early},
      {"not_wanted", not_wanted},
  };
  return RUN(cases);
}
