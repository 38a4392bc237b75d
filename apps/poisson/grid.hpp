// SPDX-License-Identifier: MIT
// The equation: -laplace(u) = f on the unit square, u = 0 at its edge, f a dipole: a source and a sink at two
// points. Jacobi's iteration on n x n inner points: each new value is a quarter of the sum of the four
// neighbours' old ones, and of h^2 f. No value depends on an order, so all bits are the same however the rows
// are divided.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace poisson {

/// Some of the rows of the square, with a row of the neighbour's, or of the edge, above and below.
class strip {
 public:
  /// Rows `first` to `first + rows - 1` of 1 to n.
  strip(int n, int first, int rows)
      : n_(n), first_(first), rows_(rows), old_(room()), new_(room()), sources_(sources(n)) {}

  [[nodiscard]] int first() const noexcept { return first_; }
  [[nodiscard]] int rows() const noexcept { return rows_; }
  /// Of the old values: 0 and rows() + 1 are the neighbours'. n doubles.
  [[nodiscard]] double* row(int i) noexcept { return at(old_, i) + 1; }

  /// The new values of rows `from` to `to - 1`, of 1 to rows().
  void update(int from, int to) noexcept {
    for (int i = from; i < to; ++i) {
      update_row(at(old_, i - 1), at(old_, i), at(old_, i + 1), at(new_, i));
      for (const source& s : sources_) {
        if (s.row == first_ + i - 1) {
          at(new_, i)[s.column] += s.quarter;
        }
      }
    }
  }
  /// New becomes old.
  void swap() noexcept { old_.swap(new_); }

  /// Of the bits and places of all old values: of disjoint strips these add up to that of all.
  [[nodiscard]] std::uint64_t checksum() const noexcept {
    std::uint64_t sum = 0;
    for (int i = 1; i <= rows_; ++i) {
      for (int j = 1; j <= n_; ++j) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, at(old_, i) + j, sizeof bits);
        const auto place = static_cast<std::uint64_t>(first_ + i - 1) * static_cast<std::uint64_t>(n_) +
                           static_cast<std::uint64_t>(j);
        sum += bits * (2 * place + 1);
      }
    }
    return sum;
  }

 private:
  struct source {
    int row, column;
    double quarter; // of h^2 f
  };
  static std::vector<source> sources(int n) {
    const double h = 1.0 / (n + 1);
    const double strength = 10.0 * n * n * h * h / 4; // a point stands for its h^2
    return {{n / 4 + 1, n / 4 + 1, strength}, {3 * n / 4, 3 * n / 4, -strength}};
  }
  [[nodiscard]] std::size_t width() const noexcept { return static_cast<std::size_t>(n_) + 2; }
  [[nodiscard]] std::size_t room() const noexcept { return width() * (static_cast<std::size_t>(rows_) + 2); }
  [[nodiscard]] double* at(std::vector<double>& all, int i) noexcept {
    return all.data() + width() * static_cast<std::size_t>(i);
  }
  [[nodiscard]] const double* at(const std::vector<double>& all, int i) const noexcept {
    return all.data() + width() * static_cast<std::size_t>(i);
  }
  void update_row(const double* above, const double* here, const double* below,
                  double* __restrict into) const noexcept {
    for (int j = 1; j <= n_; ++j) {
      into[j] = 0.25 * (above[j] + below[j] + here[j - 1] + here[j + 1]);
    }
  }

  int n_, first_, rows_;
  std::vector<double> old_, new_;
  std::vector<source> sources_;
};

/// What part `i` of `parts` is of `count` things: where it begins. That of parts + 1: where all end.
[[nodiscard]] constexpr int part_begin(int count, int parts, int i) noexcept {
  return static_cast<int>(static_cast<std::int64_t>(count) * i / parts);
}

} // namespace poisson
