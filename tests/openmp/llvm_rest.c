// SPDX-License-Identifier: MIT
// Calls of LLVM's ABI that other compilers than clang make, or clang under options: as llvm.c.
#include "check.h"
#include "llvm_abi.h"

int32_t __kmpc_global_thread_num(struct ident*);
void __kmpc_barrier(struct ident*, int32_t);
int32_t __kmpc_single(struct ident*, int32_t);
void* __kmpc_copyprivate_light(struct ident*, int32_t, void*);
int32_t __kmpc_sections_init(struct ident*, int32_t);
int32_t __kmpc_next_section(struct ident*, int32_t, int32_t);
void __kmpc_end_sections(struct ident*, int32_t);
void __kmpc_dist_for_static_init_4(struct ident*, int32_t, int32_t, int32_t*, int32_t*, int32_t*, int32_t*,
                                   int32_t*, int32_t, int32_t);
void __kmpc_dist_dispatch_init_8(struct ident*, int32_t, int32_t, int32_t*, int64_t, int64_t, int64_t,
                                 int64_t);
int32_t __kmpc_dispatch_next_8(struct ident*, int32_t, int32_t*, int64_t*, int64_t*, int64_t*);
void __kmpc_team_static_init_4(struct ident*, int32_t, int32_t*, int32_t*, int32_t*, int32_t*, int32_t,
                               int32_t);
void __kmpc_init_nest_lock(struct ident*, int32_t, void*);
void __kmpc_destroy_nest_lock(struct ident*, int32_t, void*);
void __kmpc_set_nest_lock(struct ident*, int32_t, void*);
void __kmpc_unset_nest_lock(struct ident*, int32_t, void*);
int32_t __kmpc_test_nest_lock(struct ident*, int32_t, void*);
void __kmpc_init_lock(struct ident*, int32_t, void*);
void __kmpc_set_lock(struct ident*, int32_t, void*);
void __kmpc_unset_lock(struct ident*, int32_t, void*);
int32_t __kmpc_test_lock(struct ident*, int32_t, void*);
void __kmpc_threadprivate_register(struct ident*, void*, void* (*)(void*), void* (*)(void*, void*),
                                   void (*)(void*));
void* __kmpc_threadprivate_cached(struct ident*, int32_t, void*, size_t, void***);
void* __kmpc_omp_task_alloc(struct ident*, int32_t, int32_t, size_t, size_t, routine);
int32_t __kmpc_omp_task(struct ident*, int32_t, void*);
int32_t __kmpc_omp_taskwait(struct ident*, int32_t);
void __kmpc_proxy_task_completed_ooo(void*);
int omp_in_explicit_task(void);
int omp_control_tool(int, int, void*);
const char* omp_get_interop_str(const void*, int, int*);

static int threads;

static void sections(void) {
  enum { n = 7, rounds = 30 };
  int times[n] = {0};
#pragma omp parallel num_threads(threads)
  {
    const int32_t id = __kmpc_global_thread_num(&here);
    for (int k = 0; k < rounds; ++k) {
      CHECK(__kmpc_sections_init(&here, id) == 1);
      for (int32_t s; (s = __kmpc_next_section(&here, id, n)) < n;)
        __atomic_fetch_add(&times[s], 1, __ATOMIC_RELAXED);
      __kmpc_end_sections(&here, id);
    }
  }
  for (int i = 0; i < n; ++i)
    CHECK(times[i] == rounds);
}

static void copied_from_one(void) {
#pragma omp parallel num_threads(threads)
  {
    const int32_t id = __kmpc_global_thread_num(&here);
    for (long k = 0; k < 30; ++k) {
      long mine = -1;
      const int is_one = __kmpc_single(&here, id);
      if (is_one)
        mine = k;
      const long* const from = __kmpc_copyprivate_light(&here, id, is_one ? &mine : NULL);
      CHECK(*from == k);
      __kmpc_barrier(&here, id);
    }
  }
}

// Each iteration once, over all teams and their threads; the last one is one thread's.
static void loops_over_teams(void) {
  enum { n = 103 };
  for (int kind = 33; kind <= 35; ++kind) { // static with chunks, static, dynamic
    int times[n] = {0}, lasts = 0;
#pragma omp teams num_teams(3)
#pragma omp parallel num_threads(threads)
    {
      const int32_t id = __kmpc_global_thread_num(&here);
      int32_t last = 0;
      if (kind == 35) {
        int64_t lower = 0, upper = 0, stride = 0;
        int32_t of_team = 0;
        __kmpc_dist_dispatch_init_8(&here, id, kind, &of_team, 0, n - 1, 1, 5);
        while (__kmpc_dispatch_next_8(&here, id, &last, &lower, &upper, &stride)) {
          for (int64_t i = lower; i <= upper; ++i)
            __atomic_fetch_add(&times[i], 1, __ATOMIC_RELAXED);
          if (of_team && last)
            __atomic_fetch_add(&lasts, 1, __ATOMIC_RELAXED);
        }
      } else {
        int32_t lower = 0, upper = n - 1, team_upper = -1, stride = 1;
        __kmpc_dist_for_static_init_4(&here, id, kind, &last, &lower, &upper, &team_upper, &stride, 1, 5);
        CHECK(team_upper >= 0 && team_upper < n);
        for (; lower <= team_upper; lower += stride, upper += stride) {
          for (int32_t i = lower; i <= upper && i <= team_upper; ++i)
            __atomic_fetch_add(&times[i], 1, __ATOMIC_RELAXED);
          if (kind == 34)
            break;
        }
        if (last)
          __atomic_fetch_add(&lasts, 1, __ATOMIC_RELAXED);
      }
    }
    for (int i = 0; i < n; ++i)
      CHECK(times[i] == 1);
    CHECK(lasts == 1);
  }
}
static void chunks_of_teams(void) {
  enum { n = 50 };
  int times[n] = {0};
#pragma omp teams num_teams(3)
  {
    int32_t last = 0, lower = 0, upper = n - 1, stride = 1;
    __kmpc_team_static_init_4(&here, __kmpc_global_thread_num(&here), &last, &lower, &upper, &stride, 1, 4);
    for (; lower < n; lower += stride, upper += stride) {
      for (int32_t i = lower; i <= upper && i < n; ++i)
        __atomic_fetch_add(&times[i], 1, __ATOMIC_RELAXED);
    }
  }
  for (int i = 0; i < n; ++i)
    CHECK(times[i] == 1);
}

static void locks(void) {
  void *plain = NULL, *nested = NULL;
  __kmpc_init_lock(&here, 0, &plain);
  __kmpc_init_nest_lock(&here, 0, &nested);
  long under_plain = 0, under_nested = 0;
#pragma omp parallel num_threads(threads)
  for (int k = 0; k < 200; ++k) {
    __kmpc_set_lock(&here, 0, &plain);
    CHECK(__kmpc_test_lock(&here, 0, &plain) == 0);
    ++under_plain;
    __kmpc_unset_lock(&here, 0, &plain);
    __kmpc_set_nest_lock(&here, 0, &nested);
    CHECK(__kmpc_test_nest_lock(&here, 0, &nested) == 2);
    ++under_nested;
    __kmpc_unset_nest_lock(&here, 0, &nested);
    __kmpc_unset_nest_lock(&here, 0, &nested);
  }
  CHECK(under_plain == 200L * threads);
  CHECK(under_nested == 200L * threads);
  __kmpc_destroy_nest_lock(&here, 0, &nested);
}

static int plain_variable = 5, made_variable = 1;
static int ended;
static void* make(void* copy) {
  *(int*)copy = 77;
  return copy;
}
static void end(void* copy) {
  CHECK(*(int*)copy == 1000);
  __atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
}
static int* mine_of(int* original) {
  return __kmpc_threadprivate_cached(&here, __kmpc_global_thread_num(&here), original, sizeof(int), NULL);
}
static void variables_by_calls(void) {
  __kmpc_threadprivate_register(&here, &made_variable, make, NULL, end);
  CHECK(mine_of(&plain_variable) == &plain_variable);
  plain_variable = 6;
#pragma omp parallel num_threads(threads)
  {
    const int me = omp_get_thread_num();
    CHECK(*mine_of(&plain_variable) == (me == 0 ? 6 : 5));
    CHECK(*mine_of(&made_variable) == (me == 0 ? 1 : 77));
    *mine_of(&plain_variable) = 100 + me;
    *mine_of(&made_variable) = 1000;
#pragma omp barrier
    CHECK(*mine_of(&plain_variable) == 100 + me);
  }
#pragma omp parallel num_threads(threads)
  CHECK(*mine_of(&plain_variable) == 100 + omp_get_thread_num());
  omp_pause_resource_all(omp_pause_hard);
  CHECK(ended == 0 || ended == threads - 1);
}

static int ran;
static int32_t run_proxy(int32_t id, void* made) {
  (void)id;
  CHECK(omp_in_explicit_task());
  __atomic_store_n((void**)((struct kmp_task*)made)->shareds, made, __ATOMIC_RELEASE);
  ++ran;
  return 0;
}
static void tasks_that_others_complete(void) {
  void* made = NULL;
  int waited = 0;
#pragma omp parallel num_threads(2)
  {
    const int32_t id = __kmpc_global_thread_num(&here);
    CHECK(!omp_in_explicit_task());
    if (omp_get_thread_num() == 0) {
      struct kmp_task* t = __kmpc_omp_task_alloc(&here, id, 1 | 0x10, sizeof *t, sizeof(void*), run_proxy);
      t->shareds = &made;
      __kmpc_omp_task(&here, id, t);
      __kmpc_omp_taskwait(&here, id);
      CHECK(__atomic_load_n(&waited, __ATOMIC_ACQUIRE));
    } else {
      void* t = NULL;
      while ((t = __atomic_load_n(&made, __ATOMIC_ACQUIRE)) == NULL) {
      }
      __atomic_store_n(&waited, 1, __ATOMIC_RELEASE);
      __kmpc_proxy_task_completed_ooo(t);
    }
  }
  CHECK(ran == 1);
}

static void no_tool_and_no_other_runtime(void) {
  int why = 0;
  CHECK(omp_control_tool(1, 0, NULL) == -2);
  CHECK(omp_get_interop_str(NULL, -2, &why) == NULL && why == -1);
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
      {"sections", sections},
      {"copied_from_one", copied_from_one},
      {"loops_over_teams", loops_over_teams},
      {"chunks_of_teams", chunks_of_teams},
      {"locks", locks},
      {"variables_by_calls", variables_by_calls},
      {"tasks_that_others_complete", tasks_that_others_complete},
      {"no_tool_and_no_other_runtime", no_tool_and_no_other_runtime},
  };
  threads = threads_wanted();
  return RUN(cases);
}
