// SPDX-License-Identifier: MIT
// LLVM's ABI, called as clang's programs call it, so that it is tested where there is no clang: what the
// compiler would make of a region, loops, tasks.
#include "check.h"
#include "llvm_abi.h"

struct dependence {
  void* address;
  size_t bytes;
  uint8_t flags;
};

int32_t __kmpc_global_thread_num(struct ident*);
void __kmpc_fork_call(struct ident*, int32_t, void*, ...);
void __kmpc_push_num_threads(struct ident*, int32_t, int32_t);
void __kmpc_serialized_parallel(struct ident*, int32_t);
void __kmpc_end_serialized_parallel(struct ident*, int32_t);
void __kmpc_barrier(struct ident*, int32_t);
void __kmpc_for_static_init_4(struct ident*, int32_t, int32_t, int32_t*, int32_t*, int32_t*, int32_t*,
                              int32_t, int32_t);
void __kmpc_for_static_fini(struct ident*, int32_t);
void __kmpc_dispatch_init_8(struct ident*, int32_t, int32_t, int64_t, int64_t, int64_t, int64_t);
int32_t __kmpc_dispatch_next_8(struct ident*, int32_t, int32_t*, int64_t*, int64_t*, int64_t*);
void __kmpc_ordered(struct ident*, int32_t);
void __kmpc_end_ordered(struct ident*, int32_t);
int32_t __kmpc_single(struct ident*, int32_t);
void __kmpc_end_single(struct ident*, int32_t);
void __kmpc_critical(struct ident*, int32_t, int32_t*);
void __kmpc_end_critical(struct ident*, int32_t, int32_t*);
int32_t __kmpc_reduce(struct ident*, int32_t, int32_t, size_t, void*, void (*)(void*, void*), int32_t*);
void __kmpc_end_reduce(struct ident*, int32_t, int32_t*);
void* __kmpc_omp_task_alloc(struct ident*, int32_t, int32_t, size_t, size_t, routine);
int32_t __kmpc_omp_task(struct ident*, int32_t, void*);
int32_t __kmpc_omp_task_with_deps(struct ident*, int32_t, void*, int32_t, struct dependence*, int32_t,
                                  struct dependence*);
int32_t __kmpc_omp_taskwait(struct ident*, int32_t);
void __kmpc_atomic_float8_add(struct ident*, int32_t, double*, double);

static int threads;
static int32_t name[8];

static void fork_any_number(void (*f)(int32_t*, int32_t*, long*), long* argument) {
  __kmpc_push_num_threads(&here, __kmpc_global_thread_num(&here), threads);
  __kmpc_fork_call(&here, 1, (void*)f, argument);
}

static void in_region(int32_t* id, int32_t* number, long* sum) {
  (void)number;
  CHECK(*id == __kmpc_global_thread_num(&here));
  CHECK(omp_get_num_threads() == threads);
  __kmpc_critical(&here, *id, name);
  *sum += omp_get_thread_num();
  __kmpc_end_critical(&here, *id, name);
  __kmpc_barrier(&here, *id);
  CHECK(*sum == threads * (threads - 1) / 2);
  __kmpc_barrier(&here, *id);
  if (__kmpc_single(&here, *id)) {
    *sum = 0;
    __kmpc_end_single(&here, *id);
  }
  __kmpc_barrier(&here, *id);
  if (__kmpc_reduce(&here, *id, 1, 8, NULL, NULL, name) == 1) {
    *sum += 1;
    __kmpc_end_reduce(&here, *id, name);
  }
  CHECK(*sum == threads);
}
static void regions(void) {
  for (int i = 0; i < 50; ++i) {
    long sum = 0;
    fork_any_number(in_region, &sum);
  }
  const int32_t id = __kmpc_global_thread_num(&here);
  __kmpc_serialized_parallel(&here, id);
  CHECK(omp_get_level() == 1 && omp_get_num_threads() == 1);
  __kmpc_end_serialized_parallel(&here, id);
  CHECK(omp_get_level() == 0);
}

enum { n = 1000 };
static int times[n];

static void static_loop(int32_t* id, int32_t* number, long* kind) {
  (void)number;
  int32_t last = 0, lower = 0, upper = n - 1, stride = 1;
  const int32_t chunk = 7;
  __kmpc_for_static_init_4(&here, *id, (int32_t)*kind, &last, &lower, &upper, &stride, 1, chunk);
  for (; lower < n; lower += stride, upper += stride) {
    for (int32_t i = lower; i <= upper && i < n; ++i)
      ++times[i];
    if (*kind == 34)
      break;
  }
  __kmpc_for_static_fini(&here, *id);
}
static int next_in_order;
static void dispatched_loop(int32_t* id, int32_t* number, long* kind) {
  (void)number;
  const int ordered = *kind >= 64 && *kind < 91;
  int32_t last = 0;
  int64_t lower = 0, upper = 0, stride = 0;
  __kmpc_dispatch_init_8(&here, *id, (int32_t)*kind, 0, n - 1, 1, 3);
  while (__kmpc_dispatch_next_8(&here, *id, &last, &lower, &upper, &stride)) {
    CHECK(last == (upper == n - 1) && stride == 1);
    for (int64_t i = lower; i <= upper; ++i) {
      ++times[i];
      if (ordered) {
        __kmpc_ordered(&here, *id);
        CHECK(next_in_order == i);
        ++next_in_order;
        __kmpc_end_ordered(&here, *id);
      }
    }
  }
}
static void check_once(int how_often) {
  for (int i = 0; i < n; ++i)
    CHECK(times[i] == how_often);
}
static void loops(void) {
  const long static_kinds[] = {33, 34}, kinds[] = {33, 35, 36, 37, 38, 65, 66, 67, 68, 70, 35 | 1 << 30};
  int rounds = 0;
  for (int k = 0; k < 2; ++k) {
    long kind = static_kinds[k];
    fork_any_number(static_loop, &kind);
    check_once(++rounds);
  }
  for (int k = 0; k < 11; ++k) {
    long kind = kinds[k];
    next_in_order = 0;
    fork_any_number(dispatched_loop, &kind);
    check_once(++rounds);
  }
}

static long chain;
static int32_t add_one(int32_t id, void* made) {
  (void)id;
  long** const to = ((struct kmp_task*)made)->shareds;
  __atomic_fetch_add(*to, 1, __ATOMIC_RELAXED);
  return 0;
}
static int32_t next_of_chain(int32_t id, void* made) {
  (void)id;
  const long wanted = **(long**)((struct kmp_task*)made)->shareds;
  (void)wanted;
  chain = chain * 2 + 1; // alone, by its dependence
  return 0;
}
static void with_tasks(int32_t* id, int32_t* number, long* count) {
  (void)number;
  for (int i = 0; i < 100; ++i) {
    struct kmp_task* t = __kmpc_omp_task_alloc(&here, *id, 1, sizeof *t, sizeof(long*), add_one);
    *(long**)t->shareds = count;
    __kmpc_omp_task(&here, *id, t);
  }
  __kmpc_omp_taskwait(&here, *id);
  if (__kmpc_single(&here, *id)) {
    for (int i = 0; i < 40; ++i) {
      struct kmp_task* t = __kmpc_omp_task_alloc(&here, *id, 1, sizeof *t, sizeof(long*), next_of_chain);
      *(long**)t->shareds = count;
      struct dependence d = {&chain, sizeof chain, 3};
      __kmpc_omp_task_with_deps(&here, *id, t, 1, &d, 0, NULL);
    }
    __kmpc_end_single(&here, *id);
  }
  __kmpc_barrier(&here, *id);
}
static void tasks(void) {
  long count = 0;
  chain = 0;
  fork_any_number(with_tasks, &count);
  CHECK(count == 100L * threads);
  CHECK(chain == (1L << 40) - 1);
}

static void floating_point(int32_t* id, int32_t* number, long* sum) {
  (void)number;
  for (int i = 0; i < 1000; ++i)
    __kmpc_atomic_float8_add(&here, *id, (double*)sum, 0.5);
}
static void atomics(void) {
  double sum = 0;
  fork_any_number(floating_point, (long*)&sum);
  CHECK(sum == 500.0 * threads);
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
      {"regions", regions},
      {"loops", loops},
      {"tasks", tasks},
      {"atomics", atomics},
  };
  threads = threads_wanted();
  return RUN(cases);
}
