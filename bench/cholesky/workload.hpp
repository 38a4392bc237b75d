// SPDX-License-Identifier: MIT
// cholesky: the lower factor of a symmetric matrix of order n, by tiles of tile_order: a task a tile and
// step, which depends on what it reads, and calls a library of linear algebra that opens a region of its own
// for it. Between the threads of those regions the library spins. "Lightweight Preemptive User-Level
// Threads", the Cholesky of its evaluation. The library is Intel's MKL: BENCH_MKL is the path of its
// libmkl_rt.so. Or OpenBLAS, made for OpenMP: BENCH_OPENBLAS is the path of its libopenblas.so.0. That one
// opens no region where it is called from one, so tasks are all that is in parallel then; and it needs the
// runtime that answers as libgomp, which programs of gcc have.
//
// A form is tiles.<policy>: how threads wait. `workers`: the threads of the tasks' team, and of each region
// in one.
#pragma once

#include <dlfcn.h>

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "bench/common/bench.hpp"

namespace weft::bench::cholesky {

inline constexpr int tile_order = 256;

inline options defaults() {
  return {.n = 2048, .rounds = 1, .repeats = 3, .workers = 8, .form = {}};
}

inline std::vector<std::string> forms() {
  return {"tiles.default", "tiles.active", "tiles.passive"};
}

inline double operations(std::size_t n) {
  const auto order = static_cast<double>(n);
  return order * order * order / 3;
}

using matrix = std::vector<double>; // n x n, a column after the other

// Its diagonal dominates, so it is positive definite.
inline matrix symmetric(std::size_t n) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> number(-1, 1);
  matrix a(n * n);
  for (std::size_t column = 0; column < n; ++column) {
    for (std::size_t row = column; row < n; ++row)
      a[row + column * n] = a[column + row * n] = number(random);
    a[column + column * n] += static_cast<double>(n);
  }
  return a;
}

// The largest difference of two lower triangles, beside their largest element.
inline double difference(const matrix& a, const matrix& b, std::size_t n) {
  double most = 0, largest = 0;
  for (std::size_t column = 0; column < n; ++column) {
    for (std::size_t row = column; row < n; ++row) {
      most = std::fmax(most, std::fabs(a[row + column * n] - b[row + column * n]));
      largest = std::fmax(largest, std::fabs(a[row + column * n]));
    }
  }
  return most / largest;
}

// The functions of BLAS and LAPACK that it takes, by their Fortran names.
struct linear_algebra {
  void (*factor)(const char* uplo, const int* n, double* a, const int* lda, int* info) = nullptr;
  void (*solve)(const char* side, const char* uplo, const char* transposed, const char* unit, const int* m,
                const int* n, const double* alpha, const double* a, const int* lda, double* b,
                const int* ldb) = nullptr;
  void (*square)(const char* uplo, const char* transposed, const int* n, const int* k, const double* alpha,
                 const double* a, const int* lda, const double* beta, double* c, const int* ldc) = nullptr;
  void (*multiply)(const char* a_transposed, const char* b_transposed, const int* m, const int* n,
                   const int* k, const double* alpha, const double* a, const int* lda, const double* b,
                   const int* ldb, const double* beta, double* c, const int* ldc) = nullptr;
};

// `layer`: the OpenMP ABI whose runtime the process has. What is not to be had: is a wrong answer.
inline linear_algebra load(recorder& rec, const char* layer, unsigned threads) {
  setenv("MKL_THREADING_LAYER", layer, 1);
  setenv("MKL_INTERFACE_LAYER", "LP64", 1);
  setenv("MKL_NUM_THREADS", std::to_string(threads).c_str(), 1);
  setenv("MKL_DYNAMIC", "FALSE", 1);
  linear_algebra found;
  const char* path = std::getenv("BENCH_MKL");
  if (path == nullptr)
    path = std::getenv("BENCH_OPENBLAS");
  void* const library = path != nullptr ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : nullptr;
  if (library != nullptr) {
    const auto find = [library](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    };
    find(found.factor, "dpotrf_");
    find(found.solve, "dtrsm_");
    find(found.square, "dsyrk_");
    find(found.multiply, "dgemm_");
  }
  rec.check(found.factor != nullptr && found.solve != nullptr && found.square != nullptr &&
                found.multiply != nullptr,
            "BENCH_MKL is the path of MKL's libmkl_rt.so, or BENCH_OPENBLAS that of libopenblas.so.0");
  return found;
}

} // namespace weft::bench::cholesky
