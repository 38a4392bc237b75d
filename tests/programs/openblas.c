// SPDX-License-Identifier: MIT
// OpenBLAS's OpenMP build: products, a Cholesky factor and a solution, compared with plain loops; also from
// two pthreads and from inside a region, as programs call it. No header is needed: these are Fortran's names.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

extern void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                   const int*, const double*, const int*, const double*, double*, const int*);
extern void dpotrf_(const char*, const int*, double*, const int*, int*);
extern void dpotrs_(const char*, const int*, const int*, const double*, const int*, double*, const int*,
                    int*);
extern int openblas_get_parallel(void);

enum { n = 420 };

static double* matrix(double seed) {
  double* const m = malloc(sizeof(double) * n * n);
  for (int i = 0; i < n * n; ++i)
    m[i] = sin(seed * (i + 1));
  return m;
}

// The largest difference of a * b, as the library and as loops compute it; keeps the product.
static double product(const double* a, const double* b, double* c) {
  const int size = n;
  const double one = 1, zero = 0;
  dgemm_("N", "T", &size, &size, &size, &one, a, &size, b, &size, &zero, c, &size);
  double worst = 0;
  for (int i = 0; i < n; i += 7) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k)
        sum += a[i + k * n] * b[j + k * n];
      worst = fmax(worst, fabs(sum - c[i + j * n]));
    }
  }
  return worst;
}

static double solved(double seed, int is_printed) {
  double *a = matrix(seed), *c = matrix(seed), x[n];
  const int size = n, one = 1;
  int info = 0;
  double worst = product(a, a, c); // positive definite, with what follows
  for (int i = 0; i < n; ++i)
    c[i + i * n] += n;
  double* const factor = malloc(sizeof(double) * n * n);
  for (int i = 0; i < n * n; ++i)
    factor[i] = c[i];
  for (int i = 0; i < n; ++i)
    x[i] = i;
  dpotrf_("L", &size, factor, &size, &info);
  if (info == 0)
    dpotrs_("L", &size, &one, factor, &size, x, &size, &info);
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int k = 0; k < n; ++k)
      sum += c[i + k * n] * x[k];
    worst = fmax(worst, fabs(sum - i));
    if (is_printed && i % 20 == 0)
      printf("%d %.15g %.15g\n", i, factor[i + i * n], x[i]);
  }
  free(a);
  free(c);
  free(factor);
  return info == 0 ? worst : HUGE_VAL;
}

static void* from_another(void* result) {
  for (int turn = 0; turn < 4; ++turn)
    *(double*)result = fmax(*(double*)result, solved(0.7, 0));
  return NULL;
}

int main(void) {
  if (openblas_get_parallel() != 2) // not the OpenMP build
    return 2;
  double worst[4] = {solved(0.37, 1)};
  pthread_t others[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&others[i], NULL, from_another, &worst[1 + i]);
  for (int i = 0; i < 2; ++i)
    pthread_join(others[i], NULL);
  double inside = 0;
#pragma omp parallel for reduction(max : inside)
  for (int i = 0; i < 4; ++i)
    inside = fmax(inside, solved(0.1 + i, 0));
  worst[3] = inside;
  for (int i = 0; i < 4; ++i) {
    if (!(worst[i] < 1e-8)) {
      fprintf(stderr, "differs by %g\n", worst[i]);
      return 1;
    }
  }
  return 0;
}
