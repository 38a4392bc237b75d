/* SPDX-License-Identifier: MIT */
/* Is loaded while threads run; its variables are part of each thread's block. */
static __thread int begins_with_42 __attribute__((tls_model("initial-exec"))) = 42;
static __thread int begins_with_zeros[4] __attribute__((tls_model("initial-exec")));
static __thread int* is_relocated __attribute__((tls_model("initial-exec"))) = &(int){7};
static int sum_when_loaded;

static int sum(void) {
  return begins_with_42 + begins_with_zeros[0] + begins_with_zeros[3] + *is_relocated;
}

__attribute__((constructor)) static void start(void) {
  sum_when_loaded = is_relocated != 0 ? sum() : 0;
}

/* What the constructor's thread found. */
__attribute__((visibility("default"))) int sum_in_constructor(void) {
  return sum_when_loaded;
}
/* The first call of a thread is 49, each later one a thousand more. */
__attribute__((visibility("default"))) int add_1000(void) {
  const int before = is_relocated != 0 ? sum() : 0;
  begins_with_42 += 400;
  begins_with_zeros[0] += 300;
  begins_with_zeros[3] += 300;
  return before;
}
