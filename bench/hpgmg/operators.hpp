// SPDX-License-Identifier: MIT
// What is done to a tile: ghost cells, smoothing, residual, and the way to the coarser level and back.
#pragma once

#include "bench/hpgmg/level.hpp"

namespace weft::bench::hpgmg {

// Ghost cells of u: the neighbour's cells, or minus the box's own at the boundary.
inline void exchange(level& l, const tile& t) {
  box& b = l.boxes[static_cast<std::size_t>(t.box)];
  const int last = l.side - 1;
  const auto from = [&](std::size_t face) -> const field* {
    return b.neighbour[face] >= 0 ? &l.boxes[static_cast<std::size_t>(b.neighbour[face])].u : nullptr;
  };
  const std::array<const field*, 6> other = {from(0), from(1), from(2), from(3), from(4), from(5)};
  for (int k = t.k0; k < t.k1; ++k) {
    for (int m = 0; m < l.side; ++m) {
      b.u(-1, m, k) = other[0] != nullptr ? (*other[0])(last, m, k) : -b.u(0, m, k);
      b.u(l.side, m, k) = other[1] != nullptr ? (*other[1])(0, m, k) : -b.u(last, m, k);
      b.u(m, -1, k) = other[2] != nullptr ? (*other[2])(m, last, k) : -b.u(m, 0, k);
      b.u(m, l.side, k) = other[3] != nullptr ? (*other[3])(m, 0, k) : -b.u(m, last, k);
    }
  }
  for (int j = 0; j < l.side; ++j) {
    for (int i = 0; i < l.side; ++i) {
      if (t.k0 == 0)
        b.u(i, j, -1) = other[4] != nullptr ? (*other[4])(i, j, last) : -b.u(i, j, 0);
      if (t.k1 == l.side)
        b.u(i, j, l.side) = other[5] != nullptr ? (*other[5])(i, j, 0) : -b.u(i, j, last);
    }
  }
}

// f - A u in a row: calls use(i, residual) for every cell from `first` on, `step` apart.
template <class Use>
inline void for_row(const level& l, const box& b, int j, int k, int first, int step, Use&& use) {
  const double *u = b.u.row(j, k), *f = b.f.row(j, k);
  const double *south = b.u.row(j - 1, k), *north = b.u.row(j + 1, k);
  const double *below = b.u.row(j, k - 1), *above = b.u.row(j, k + 1);
  const double *bx = b.beta[0].row(j, k), *by = b.beta[1].row(j, k), *by1 = b.beta[1].row(j + 1, k);
  const double *bz = b.beta[2].row(j, k), *bz1 = b.beta[2].row(j, k + 1);
  for (int i = first; i < l.side; i += step) {
    const double au = bx[i] * (u[i] - u[i - 1]) - bx[i + 1] * (u[i + 1] - u[i]) + by[i] * (u[i] - south[i]) -
                      by1[i] * (north[i] - u[i]) + bz[i] * (u[i] - below[i]) - bz1[i] * (above[i] - u[i]);
    use(i, f[i] - au);
  }
}

// Gauss-Seidel of the cells of one colour.
inline void smooth(level& l, const tile& t, int colour) {
  box& b = l.boxes[static_cast<std::size_t>(t.box)];
  for (int k = t.k0; k < t.k1; ++k) {
    for (int j = 0; j < l.side; ++j) {
      const int first = (b.origin[0] + b.origin[1] + b.origin[2] + j + k + colour) & 1;
      double* u = b.u.row(j, k);
      const double* inverse = b.inverse_diagonal.row(j, k);
      for_row(l, b, j, k, first, 2, [&](int i, double residual) { u[i] += inverse[i] * residual; });
    }
  }
}

// Returns the largest.
inline double residual(level& l, const tile& t) {
  box& b = l.boxes[static_cast<std::size_t>(t.box)];
  double largest = 0;
  for (int k = t.k0; k < t.k1; ++k) {
    for (int j = 0; j < l.side; ++j) {
      double* r = b.r.row(j, k);
      for_row(l, b, j, k, 0, 1, [&](int i, double value) {
        r[i] = value;
        largest = std::max(largest, std::fabs(value));
      });
    }
  }
  return largest;
}

// Where the cells of a fine box stand on the coarse level.
struct place {
  box& coarse;
  std::array<int, 3> offset;
};
inline place place_of(level& coarse, const box& fine) {
  std::array<int, 3> at{}, offset{};
  for (std::size_t d = 0; d < 3; ++d) {
    at[d] = fine.origin[d] / 2 / coarse.side;
    offset[d] = fine.origin[d] / 2 % coarse.side;
  }
  return {coarse.boxes[static_cast<std::size_t>(coarse.box_at(at[0], at[1], at[2]))], offset};
}

// The mean of eight cells of `from` becomes the coarse level's f. (A tile has an even number of planes.)
inline void restrict_to(level& coarse, level& fine, const tile& t, field box::* from) {
  box& b = fine.boxes[static_cast<std::size_t>(t.box)];
  const field& v = b.*from;
  place to = place_of(coarse, b);
  for (int k = t.k0; k < t.k1; k += 2) {
    for (int j = 0; j < fine.side; j += 2) {
      const double *a = v.row(j, k), *c = v.row(j + 1, k), *d = v.row(j, k + 1), *e = v.row(j + 1, k + 1);
      double* f = to.coarse.f.row(to.offset[1] + j / 2, to.offset[2] + k / 2) + to.offset[0];
      for (int i = 0; i < fine.side; i += 2) {
        f[i / 2] = 0.125 * (a[i] + a[i + 1] + c[i] + c[i + 1] + d[i] + d[i + 1] + e[i] + e[i + 1]);
      }
    }
  }
}

// u += what the coarse level has, linear in each direction; its ghost cells are filled.
inline void interpolate(level& coarse, level& fine, const tile& t) {
  box& b = fine.boxes[static_cast<std::size_t>(t.box)];
  const place from = place_of(coarse, b);
  const field& c = from.coarse.u;
  for (int k = t.k0; k < t.k1; ++k) {
    const int z = from.offset[2] + k / 2, dz = k % 2 == 0 ? -1 : 1;
    for (int j = 0; j < fine.side; ++j) {
      const int y = from.offset[1] + j / 2, dy = j % 2 == 0 ? -1 : 1;
      double* u = b.u.row(j, k);
      for (int i = 0; i < fine.side; ++i) {
        const int x = from.offset[0] + i / 2, dx = i % 2 == 0 ? -1 : 1;
        const double here = c(x, y, z);
        u[i] +=
            here + 0.25 * ((c(x + dx, y, z) - here) + (c(x, y + dy, z) - here) + (c(x, y, z + dz) - here));
      }
    }
  }
}

} // namespace weft::bench::hpgmg
