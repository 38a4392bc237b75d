// SPDX-License-Identifier: MIT
// What LLVM's runtime has beyond what llvm.c and llvm_rest.c call: atomic updates by calls, kmp_..., lists of
// numbers of threads, omp_all_memory, loops for vectors, and what it says in another way than libgomp.
#define _GNU_SOURCE
#include "check.h"
#include "llvm_abi.h"

#include <complex.h>
#include <limits.h>
#include <stdbool.h>
#include <unistd.h>

struct numbered_task {
  struct kmp_task of_runtime;
  long mine;
};
struct dependence {
  size_t address;
  size_t bytes;
  uint8_t flags;
};

int32_t __kmpc_global_thread_num(struct ident*);
void __kmpc_fork_call(struct ident*, int32_t, void*, ...);
void __kmpc_push_num_threads(struct ident*, int32_t, int32_t);
void __kmpc_push_num_threads_list(struct ident*, int32_t, uint32_t, const int*);
void __kmpc_push_num_threads_strict(struct ident*, int32_t, int32_t, int, const char*);
void* __kmpc_omp_task_alloc(struct ident*, int32_t, int32_t, size_t, size_t, routine);
int32_t __kmpc_omp_task_with_deps(struct ident*, int32_t, void*, int32_t, struct dependence*, int32_t,
                                  struct dependence*);
int32_t __kmpc_omp_taskwait(struct ident*, int32_t);
void __kmpc_dispatch_init_4(struct ident*, int32_t, int32_t, int32_t, int32_t, int32_t, int32_t);
int32_t __kmpc_dispatch_next_4(struct ident*, int32_t, int32_t*, int32_t*, int32_t*, int32_t*);
void __kmpc_for_static_init_4(struct ident*, int32_t, int32_t, int32_t*, int32_t*, int32_t*, int32_t*,
                              int32_t, int32_t);
int __kmpc_get_target_offload(void);

static int threads;

// --- atomic updates ---

void __kmpc_atomic_fixed1_add(struct ident*, int, int8_t*, int8_t);
void __kmpc_atomic_fixed2_andl(struct ident*, int, int16_t*, int16_t);
int32_t __kmpc_atomic_fixed4_sub_cpt_rev(struct ident*, int, int32_t*, int32_t, int);
void __kmpc_atomic_fixed4u_shr(struct ident*, int, uint32_t*, uint32_t);
void __kmpc_atomic_fixed8_eqv(struct ident*, int, int64_t*, int64_t);
int64_t __kmpc_atomic_fixed8_max_cpt(struct ident*, int, int64_t*, int64_t, int);
void __kmpc_atomic_fixed4_mul_float8(struct ident*, int, int32_t*, double);
float __kmpc_atomic_float4_swp(struct ident*, int, float*, float);
double __kmpc_atomic_float8_rd(struct ident*, int, double*);
void __kmpc_atomic_float10_add(struct ident*, int, long double*, long double);
long double __kmpc_atomic_float10_min_cpt(struct ident*, int, long double*, long double, int);
void __kmpc_atomic_cmplx4_mul_cpt(struct ident*, int, float complex*, float complex, float complex*, int);
void __kmpc_atomic_cmplx8_add(struct ident*, int, double complex*, double complex);
bool __kmpc_atomic_bool_4_cas(struct ident*, int, int32_t*, int32_t, int32_t);
bool __kmpc_atomic_bool_2_cas_cpt(struct ident*, int, int16_t*, int16_t, int16_t, int16_t*);
int64_t __kmpc_atomic_val_8_cas_cpt(struct ident*, int, int64_t*, int64_t, int64_t, int64_t*);
void __kmpc_atomic_4(struct ident*, int, void*, void*, void (*)(void*, void*, void*));
void __kmpc_atomic_16(struct ident*, int, void*, void*, void (*)(void*, void*, void*));
void __kmpc_atomic_start(void);
void __kmpc_atomic_end(void);

static void add_int(void* to, void* x, void* v) {
  *(int*)to = *(int*)x + *(int*)v;
}
static void add_pair(void* to, void* x, void* v) {
  for (int i = 0; i < 2; ++i)
    ((long*)to)[i] = ((long*)x)[i] + ((long*)v)[i];
}

struct sums {
  long double reals;
  double complex pairs;
  long by_function[2];
  int small, of_section;
};
static void add_up(int32_t* id, int32_t* number, struct sums* s) {
  (void)number;
  int one = 1;
  long both[2] = {1, 2};
  for (int i = 0; i < 500; ++i) {
    __kmpc_atomic_float10_add(&here, *id, &s->reals, 0.5L);
    __kmpc_atomic_cmplx8_add(&here, *id, &s->pairs, 1 + 2 * I);
    __kmpc_atomic_16(&here, *id, s->by_function, both, add_pair);
    __kmpc_atomic_4(&here, *id, &s->small, &one, add_int);
    __kmpc_atomic_start();
    ++s->of_section;
    __kmpc_atomic_end();
  }
}
static void atomics_by_calls(void) {
  int8_t a = 127;
  __kmpc_atomic_fixed1_add(&here, 0, &a, 1);
  CHECK(a == -128);
  int16_t b = 4;
  __kmpc_atomic_fixed2_andl(&here, 0, &b, 2);
  CHECK(b == 1);
  int32_t c = 3;
  CHECK(__kmpc_atomic_fixed4_sub_cpt_rev(&here, 0, &c, 10, 0) == 3 && c == 7);
  __kmpc_atomic_fixed4_mul_float8(&here, 0, &c, 1.5);
  CHECK(c == 10);
  uint32_t d = 0x80000000U;
  __kmpc_atomic_fixed4u_shr(&here, 0, &d, 4);
  CHECK(d == 0x08000000U);
  int64_t e = 5;
  __kmpc_atomic_fixed8_eqv(&here, 0, &e, 3);
  CHECK(e == ~6);
  CHECK(__kmpc_atomic_fixed8_max_cpt(&here, 0, &e, 9, 1) == 9 && e == 9);
  float f = 1.5F;
  CHECK(__kmpc_atomic_float4_swp(&here, 0, &f, 2.5F) == 1.5F && f == 2.5F);
  double g = 3.5;
  CHECK(__kmpc_atomic_float8_rd(&here, 0, &g) == 3.5);
  long double h = 4;
  CHECK(__kmpc_atomic_float10_min_cpt(&here, 0, &h, 3, 1) == 3 && h == 3);
  float complex k = 1 + 2 * I;
  float complex seen = 0;
  __kmpc_atomic_cmplx4_mul_cpt(&here, 0, &k, 3 - I, &seen, 0);
  CHECK(seen == 1 + 2 * I && k == 5 + 5 * I);
  CHECK(!__kmpc_atomic_bool_4_cas(&here, 0, &c, 9, 8) && c == 10);
  CHECK(__kmpc_atomic_bool_4_cas(&here, 0, &c, 10, 8) && c == 8);
  int16_t was = 0;
  CHECK(!__kmpc_atomic_bool_2_cas_cpt(&here, 0, &b, 5, 6, &was) && was == 1 && b == 1);
  int64_t now = 0;
  CHECK(__kmpc_atomic_val_8_cas_cpt(&here, 0, &e, 9, 12, &now) == 9 && now == 12 && e == 12);

  struct sums s = {0};
  __kmpc_push_num_threads(&here, 0, threads);
  __kmpc_fork_call(&here, 1, (void*)add_up, &s);
  const int n = threads * 500;
  CHECK(s.reals == n / 2.0L && s.pairs == n + 2 * n * I && s.small == n && s.of_section == n);
  CHECK(s.by_function[0] == n && s.by_function[1] == 2 * n);
}

// --- kmp_... ---

void* kmp_malloc(size_t);
void* kmp_calloc(size_t, size_t);
void* kmp_realloc(void*, size_t);
void* kmp_aligned_malloc(size_t, size_t);
void kmp_free(void*);
void kmp_set_defaults(const char*);
void kmp_set_stacksize_s(size_t);
size_t kmp_get_stacksize_s(void);
int kmp_get_stacksize(void);
void kmp_set_blocktime(int);
int kmp_get_blocktime(void);
void kmp_set_disp_num_buffers(int);

static void memory_by_calls(void) {
  char* block = kmp_calloc(10, 10);
  CHECK(block != NULL && block[0] == 0 && block[99] == 0);
  block = kmp_realloc(block, 1000);
  block[999] = 1;
  kmp_free(block);
  kmp_free(kmp_malloc(10));
  for (size_t align = 1; align <= 4096; align *= 2) {
    void* const aligned = kmp_aligned_malloc(100, align);
    CHECK(aligned != NULL && (uintptr_t)aligned % align == 0);
    kmp_free(aligned);
  }
  CHECK(kmp_aligned_malloc(100, 48) == NULL);
}

static void settings_by_calls(void) {
  kmp_set_defaults("OMP_NUM_THREADS=3|OMP_SCHEDULE=guided,5|OMP_TARGET_OFFLOAD=DISABLED|no variable|");
  CHECK(omp_get_max_threads() == 3 && __kmpc_get_target_offload() == 0);
  omp_sched_t kind;
  int chunk = 0;
  omp_get_schedule(&kind, &chunk);
  CHECK(kind == omp_sched_guided && chunk == 5);
  int seen = 0;
#pragma omp parallel
#pragma omp single
  seen = omp_get_num_threads();
  CHECK(seen == 3);
  kmp_set_defaults("OMP_TARGET_OFFLOAD=mandatory");
  CHECK(__kmpc_get_target_offload() == 2 && omp_get_max_threads() == 3);
  kmp_set_stacksize_s((size_t)3 << 20);
  CHECK(kmp_get_stacksize_s() == (size_t)3 << 20 && kmp_get_stacksize() == 3 << 20);
  kmp_set_blocktime(7);
  CHECK(kmp_get_blocktime() == 7);
  kmp_set_blocktime(INT_MAX);
  CHECK(kmp_get_blocktime() == INT_MAX);
  kmp_set_disp_num_buffers(3);
  kmp_set_blocktime(0);
  CHECK(kmp_get_blocktime() == 0);
}

// --- numbers of threads ---

static int sizes[4];
static void deeper(int32_t* id, int32_t* number, const long* level) {
  (void)number;
  if (omp_get_thread_num() != 0)
    return;
  sizes[*level] = omp_get_num_threads();
  const long next = *level + 1;
  if (next < 4)
    __kmpc_fork_call(&here, 1, (void*)deeper, &next);
  CHECK(*id == __kmpc_global_thread_num(&here));
}
static void lists_of_numbers(void) {
  omp_set_max_active_levels(4);
  omp_set_num_threads(2);
  const int list[] = {4, 3};
  const long first = 0;
  __kmpc_push_num_threads_list(&here, 0, 2, list);
  __kmpc_fork_call(&here, 1, (void*)deeper, &first);
  CHECK(sizes[0] == 4 && sizes[1] == 3 && sizes[2] == 3 && sizes[3] == 3);
  __kmpc_fork_call(&here, 1, (void*)deeper, &first);
  CHECK(sizes[0] == 2 && sizes[1] == 2 && sizes[3] == 2);
}

// What is written to a stream's file while `f` runs.
static size_t written_by(FILE* stream, void (*f)(void), char* text, size_t bytes) {
  fflush(stream);
  FILE* const file = tmpfile();
  const int kept = dup(fileno(stream));
  dup2(fileno(file), fileno(stream));
  f();
  fflush(stream);
  dup2(kept, fileno(stream));
  close(kept);
  rewind(file);
  const size_t n = fread(text, 1, bytes - 1, file);
  text[n] = '\0';
  fclose(file);
  return n;
}

static void nothing(int32_t* id, int32_t* number) {
  (void)id;
  (void)number;
}
static void strict_regions(void) {
  omp_set_max_active_levels(1);
  __kmpc_push_num_threads_strict(&here, 0, threads, 1, "never said");
  __kmpc_fork_call(&here, 0, (void*)nothing);
  kmp_set_defaults("OMP_THREAD_LIMIT=2");
  __kmpc_push_num_threads_strict(&here, 0, 5, 1, "too few for me");
  __kmpc_fork_call(&here, 0, (void*)nothing);
  __kmpc_push_num_threads_strict(&here, 0, 6, 1, NULL);
  __kmpc_fork_call(&here, 0, (void*)nothing);
  __kmpc_fork_call(&here, 0, (void*)nothing);
}
static void strict_numbers(void) {
  char text[1000];
  written_by(stderr, strict_regions, text, sizeof text);
  CHECK(strstr(text, "never") == NULL && strstr(text, "too few for me") != NULL);
  CHECK(strstr(text, "a region of 6 threads has 2") != NULL);
}

// --- tasks ---

static int running, most_running, order[40], ended;
static int32_t body(int32_t id, void* task) {
  (void)id;
  const long mine = ((struct numbered_task*)task)->mine;
  int now = 0;
#pragma omp atomic capture
  now = ++running;
  if (mine % 10 == 9)
    CHECK(now == 1); // of all memory: alone
  if (mine % 10 != 9)
    usleep(200);
#pragma omp critical(of_order)
  {
    order[ended++] = (int)mine;
    most_running = now > most_running ? now : most_running;
  }
#pragma omp atomic
  --running;
  return 0;
}
static void make(int32_t id, long number, struct dependence d) {
  struct numbered_task* const t = __kmpc_omp_task_alloc(&here, id, 1, sizeof *t, 0, body);
  t->mine = number;
  __kmpc_omp_task_with_deps(&here, id, t, 1, &d, 0, NULL);
}
static void make_all(int32_t* id, int32_t* number, const char* at) {
  (void)number;
  if (omp_get_thread_num() != 0)
    return;
  for (long i = 0; i < 30; ++i) {
    if (i % 10 != 9)
      make(*id, i, (struct dependence){(size_t)(at + i), 1, 1 + i % 2});
    else
      make(*id, i, i == 9 ? (struct dependence){0, 0, 0x80} : (struct dependence){(size_t)-1, 0, 2});
  }
  __kmpc_omp_taskwait(&here, *id);
}
static void all_memory(void) {
  char at[40];
  __kmpc_push_num_threads(&here, 0, threads);
  __kmpc_fork_call(&here, 1, (void*)make_all, at);
  CHECK(ended == 30 && order[9] == 9 && order[19] == 19 && order[29] == 29);
}

static int after;
static int32_t after_it(int32_t id, void* task) {
  (void)id;
  (void)task;
  after = ended;
  return 0;
}
static void wait_by_a_task(int32_t* id, int32_t* number, char* at) {
  (void)number;
  if (omp_get_thread_num() != 0)
    return;
  make(*id, 1, (struct dependence){(size_t)at, 1, 2});
  struct dependence d[2] = {{(size_t)at, 1, 1}, {(size_t)(at + 1), 1, 2}};
  void* empty = __kmpc_omp_task_alloc(&here, *id, 1, sizeof(struct numbered_task), 0, NULL);
  __kmpc_omp_task_with_deps(&here, *id, empty, 2, d, 0, NULL);
  void* last = __kmpc_omp_task_alloc(&here, *id, 1, sizeof(struct numbered_task), 0, after_it);
  __kmpc_omp_task_with_deps(&here, *id, last, 1, &d[1], 0, NULL);
}
static void tasks_of_dependences_only(void) {
  char at[2];
  __kmpc_push_num_threads(&here, 0, threads);
  __kmpc_fork_call(&here, 1, (void*)wait_by_a_task, at);
  CHECK(after == 1);
}

// --- loops for vectors: chunks have a multiple of the iterations that one step of a vector takes ---

enum { n = 1003, width = 8 };
static int times[n];
static void of_vectors(int32_t* id, int32_t* number, const long* kind) {
  (void)number;
  int32_t last = 0, lower = 0, upper = 0, step = 0;
  omp_sched_t schedule;
  int chunk = 0;
  omp_get_schedule(&schedule, &chunk);
  const int unit = *kind == 47 && schedule != omp_sched_auto ? chunk * width : width;
  __kmpc_dispatch_init_4(&here, *id, (int32_t)*kind, 0, n - 1, 1, width);
  while (__kmpc_dispatch_next_4(&here, *id, &last, &lower, &upper, &step)) {
    CHECK(lower % unit == 0 && (upper == n - 1 || (upper + 1) % unit == 0));
    for (int32_t i = lower; i <= upper; ++i) {
#pragma omp atomic
      ++times[i];
    }
  }
}
static void in_one_piece(int32_t* id, int32_t* number, const long* kind) {
  (void)number;
  int32_t last = 0, lower = 0, upper = n - 1, stride = 1;
  __kmpc_for_static_init_4(&here, *id, (int32_t)*kind, &last, &lower, &upper, &stride, 1, width);
  CHECK(lower > upper || (lower % width == 0 && (upper == n - 1 || (upper + 1) % width == 0)));
  CHECK((last != 0) == (lower <= upper && upper == n - 1));
  for (int32_t i = lower; i <= upper; ++i) {
#pragma omp atomic
    ++times[i];
  }
}
static void loops_for_vectors(void) {
  int want = 0;
  for (long kind = 45; kind <= 47; ++kind) {
    for (int schedule = 1; schedule <= 4; ++schedule) {
      omp_set_schedule((omp_sched_t)schedule, 3);
      __kmpc_push_num_threads(&here, 0, threads);
      __kmpc_fork_call(&here, 1, (void*)of_vectors, &kind);
      ++want;
    }
  }
  const long kind = 45;
  __kmpc_push_num_threads(&here, 0, threads);
  __kmpc_fork_call(&here, 1, (void*)in_one_piece, &kind);
  ++want;
  for (int i = 0; i < n; ++i)
    CHECK(times[i] == want);
}

// --- what it says ---

void of_llvm_get_schedule(omp_sched_t* kind, int* chunk);
size_t of_llvm_capture_affinity(char* buffer, size_t bytes, const char* format);
__asm__(".symver of_llvm_get_schedule, omp_get_schedule@VERSION");
__asm__(".symver of_llvm_capture_affinity, omp_capture_affinity@VERSION");

static void two_default_schedules(void) {
  omp_sched_t kind = omp_sched_auto;
  int chunk = -1;
  of_llvm_get_schedule(&kind, &chunk);
  CHECK(kind == omp_sched_static && chunk == 0);
  omp_get_schedule(&kind, &chunk);
  CHECK(kind == omp_sched_dynamic && chunk == 1);
  omp_set_schedule(omp_sched_static, 0);
  of_llvm_get_schedule(&kind, &chunk);
  CHECK(kind == omp_sched_static && chunk == 0);
}

static void regions_to_show(void) {
  for (int i = 0; i < 2; ++i) {
    for (int size = 2; size <= 3; ++size) {
      for (int again = 0; again < 3; ++again) {
        __kmpc_push_num_threads(&here, 0, size);
        __kmpc_fork_call(&here, 0, (void*)nothing);
      }
    }
  }
}
static void affinities(void) {
  char text[1000];
  of_llvm_capture_affinity(text, sizeof text, "%n|%03n|%.3n|%{nothing}|%?|%%");
  CHECK(strcmp(text, "0|0  |  0|undefined|undefined|%") == 0);
  of_llvm_capture_affinity(text, sizeof text, NULL);
  CHECK(strncmp(text, "OMP: pid ", 9) == 0);
  omp_set_affinity_format("<%n of %N>");
  kmp_set_defaults("OMP_DISPLAY_AFFINITY=true");
  written_by(stdout, regions_to_show, text, sizeof text);
  int lines = 0;
  for (const char* at = text; (at = strchr(at, '\n')) != NULL; ++at)
    ++lines;
  CHECK(lines == 2 * (2 + 3) && strstr(text, "<1 of 2>\n") != NULL && strstr(text, "<2 of 3>\n") != NULL);
}

static const struct test_case cases[] = {
    {"atomics_by_calls", atomics_by_calls},
    {"memory_by_calls", memory_by_calls},
    {"settings_by_calls", settings_by_calls},
    {"lists_of_numbers", lists_of_numbers},
    {"strict_numbers", strict_numbers},
    {"all_memory", all_memory},
    {"tasks_of_dependences_only", tasks_of_dependences_only},
    {"loops_for_vectors", loops_for_vectors},
    {"two_default_schedules", two_default_schedules},
    {"affinities", affinities},
};

int main(int argc, char** argv) {
  threads = threads_wanted();
  return RUN(cases);
}
