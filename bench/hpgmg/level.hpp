// SPDX-License-Identifier: MIT
// A level of the multigrid: cells of a cube in boxes, each with a layer of ghost cells around it, and the
// tiles of boxes by which work is dealt out.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace weft::bench::hpgmg {

// Planes [k0, k1) of a box.
struct tile {
  int box, k0, k1;
};

// One number a cell and ghost cell of a box.
class field {
 public:
  field() = default;
  explicit field(int side)
      : stride_(side + 2), values_(static_cast<std::size_t>(stride_) * stride_ * stride_) {}
  double& operator()(int i, int j, int k) { return values_[at(i, j, k)]; }
  double operator()(int i, int j, int k) const { return values_[at(i, j, k)]; }
  // The cell (0, j, k): cells of a row are neighbours in memory.
  double* row(int j, int k) { return &values_[at(0, j, k)]; }
  const double* row(int j, int k) const { return &values_[at(0, j, k)]; }
  void clear() { std::fill(values_.begin(), values_.end(), 0.0); }

 private:
  std::size_t at(int i, int j, int k) const {
    return (static_cast<std::size_t>(k + 1) * stride_ + static_cast<std::size_t>(j + 1)) * stride_ +
           static_cast<std::size_t>(i + 1);
  }
  int stride_ = 0;
  std::vector<double> values_;
};

struct box {
  std::array<int, 3> origin{};    // of its first cell, in cells of the level
  std::array<int, 6> neighbour{}; // -x +x -y +y -z +z; -1: the boundary
  field u, f, r, inverse_diagonal;
  std::array<field, 3> beta; // of the face before the cell, in each direction, times 1 / h^2
};

// The coefficient of the problem: div (beta grad u) = f.
inline double beta_at(double x, double y, double z) {
  const auto wave = [](double t) { return std::sin(2 * std::numbers::pi * t); };
  return 1.0 + 0.25 * wave(x) * wave(y) * wave(z);
}

struct level {
  level(int cells, int side) : n(cells), side(side), across(cells / side), h(1.0 / cells) {
    boxes.resize(static_cast<std::size_t>(across) * across * across);
    for (int b = 0; b < static_cast<int>(boxes.size()); ++b)
      fill(b);
    const int thick = std::min(side, 8);
    for (int b = 0; b < static_cast<int>(boxes.size()); ++b) {
      for (int k = 0; k < side; k += thick)
        tiles.push_back({b, k, std::min(k + thick, side)});
    }
  }

  int box_at(int x, int y, int z) const { return (z * across + y) * across + x; }

  int n, side, across; // cells in each direction; of a box; boxes in each direction
  double h;
  std::vector<box> boxes;
  std::vector<tile> tiles;

 private:
  void fill(int number) {
    box& b = boxes[static_cast<std::size_t>(number)];
    const std::array<int, 3> at = {number % across, number / across % across, number / across / across};
    for (std::size_t d = 0; d < 3; ++d) {
      b.origin[d] = at[d] * side;
      for (const int step : {-1, 1}) {
        std::array<int, 3> to = at;
        to[d] += step;
        const bool inside = to[d] >= 0 && to[d] < across;
        b.neighbour[2 * d + (step > 0 ? 1 : 0)] = inside ? box_at(to[0], to[1], to[2]) : -1;
      }
    }
    b.u = b.f = b.r = b.inverse_diagonal = field(side);
    for (field& each : b.beta)
      each = field(side);
    for (int k = 0; k <= side; ++k)
      for (int j = 0; j <= side; ++j)
        for (int i = 0; i <= side; ++i)
          fill_faces(b, i, j, k);
    for (int k = 0; k < side; ++k)
      for (int j = 0; j < side; ++j)
        for (int i = 0; i < side; ++i)
          fill_diagonal(b, i, j, k);
  }
  void fill_faces(box& b, int i, int j, int k) const {
    const double x = b.origin[0] + i, y = b.origin[1] + j, z = b.origin[2] + k;
    b.beta[0](i, j, k) = beta_at(x * h, (y + 0.5) * h, (z + 0.5) * h) / (h * h);
    b.beta[1](i, j, k) = beta_at((x + 0.5) * h, y * h, (z + 0.5) * h) / (h * h);
    b.beta[2](i, j, k) = beta_at((x + 0.5) * h, (y + 0.5) * h, z * h) / (h * h);
  }
  // The value in the ghost cell behind the boundary is minus that of the cell: 0 on the face.
  void fill_diagonal(box& b, int i, int j, int k) const {
    const auto face = [&](std::size_t d, int in_box, double beta) {
      const int cell = b.origin[d] + in_box;
      return cell == 0 || cell == n ? 2 * beta : beta;
    };
    const double sum = face(0, i, b.beta[0](i, j, k)) + face(0, i + 1, b.beta[0](i + 1, j, k)) +
                       face(1, j, b.beta[1](i, j, k)) + face(1, j + 1, b.beta[1](i, j + 1, k)) +
                       face(2, k, b.beta[2](i, j, k)) + face(2, k + 1, b.beta[2](i, j, k + 1));
    b.inverse_diagonal(i, j, k) = 1.0 / sum;
  }
};

} // namespace weft::bench::hpgmg
