// SPDX-License-Identifier: MIT
// By tasks of OpenMP, for any runtime of it: MKL's regions are the same runtime's.
#include <omp.h>

#include "bench/cholesky/workload.hpp"
#include "bench/peer/openmp.hpp"

namespace bench = weft::bench;
namespace cholesky = weft::bench::cholesky;

namespace {

#ifdef __clang__
constexpr const char* layer = "INTEL";
#else
constexpr const char* layer = "GNU";
#endif

constexpr double one = 1, minus_one = -1;

struct tiles {
  double* a;
  int n;
  [[nodiscard]] int count() const { return (n + cholesky::tile_order - 1) / cholesky::tile_order; }
  [[nodiscard]] int order(int k) const {
    return std::min(cholesky::tile_order, n - k * cholesky::tile_order);
  }
  [[nodiscard]] double* at(int row, int column) const {
    return a + row * cholesky::tile_order + static_cast<std::ptrdiff_t>(column) * cholesky::tile_order * n;
  }
};

// What stands on the diagonal first, then what is below it, then what is right of that.
void factor(const cholesky::linear_algebra& by, tiles t) {
  const int count = t.count(), n = t.n;
  for (int k = 0; k < count; ++k) {
    double* const diagonal = t.at(k, k);
#pragma omp task depend(inout : diagonal[0])
    {
      const int order = t.order(k);
      int info = 0;
      by.factor("L", &order, diagonal, &n, &info);
    }
    for (int row = k + 1; row < count; ++row) {
      double* const below = t.at(row, k);
#pragma omp task depend(in : diagonal[0]) depend(inout : below[0])
      {
        const int rows = t.order(row), columns = t.order(k);
        by.solve("R", "L", "T", "N", &rows, &columns, &one, diagonal, &n, below, &n);
      }
    }
    for (int row = k + 1; row < count; ++row) {
      const double* const left = t.at(row, k);
      double* const square = t.at(row, row);
#pragma omp task depend(in : left[0]) depend(inout : square[0])
      {
        const int order = t.order(row), inner = t.order(k);
        by.square("L", "N", &order, &inner, &minus_one, left, &n, &one, square, &n);
      }
      for (int column = k + 1; column < row; ++column) {
        const double* const above = t.at(column, k);
        double* const product = t.at(row, column);
#pragma omp task depend(in : left[0], above[0]) depend(inout : product[0])
        {
          const int rows = t.order(row), columns = t.order(column), inner = t.order(k);
          by.multiply("N", "T", &rows, &columns, &inner, &minus_one, left, &n, above, &n, &one, product, &n);
        }
      }
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, cholesky::defaults(), cholesky::forms());
  const std::string& form = rec.opt().form;
  bench::openmp::wait_with_policy(form.substr(form.find('.') + 1), argv);
  bench::openmp::check_runtime(rec);
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  const auto threads = static_cast<int>(rec.opt().workers);
  const cholesky::linear_algebra by = cholesky::load(rec, layer, rec.opt().workers);
  if (by.factor == nullptr)
    return rec.finish();
  const auto n = static_cast<int>(rec.opt().n);
  const cholesky::matrix given = cholesky::symmetric(rec.opt().n);
  cholesky::matrix expected = given;
  int info = 0;
  by.factor("L", &n, expected.data(), &n, &info);
  rec.check(info == 0, "the matrix is positive definite");

  rec.unit("ms for a factor");
  double least = 0;
  for (std::size_t repeat = 0; repeat < rec.opt().repeats; ++repeat) {
    cholesky::matrix a = given;
    const std::int64_t begin = bench::now_ns();
#pragma omp parallel num_threads(threads)
#pragma omp single
    factor(by, {a.data(), n});
    const auto ns = static_cast<double>(bench::now_ns() - begin);
    rec.add_sample(ns / 1e6);
    rec.add_ops(1);
    least = repeat == 0 ? ns : std::fmin(least, ns);
    rec.check(cholesky::difference(a, expected, rec.opt().n) < 1e-12, "the factor");
  }
  rec.extra("gigaflops", cholesky::operations(rec.opt().n) / least);
  return rec.finish();
}
