// SPDX-License-Identifier: MIT
// The mathematics of the method: expansions of 1/r in Cartesian Taylor series, and sums over pairs of bodies.
//   multipole  M_k of bodies y_j around c:   sum of q_j (c - y_j)^k / k!
//   local      L_n of a potential around c:  its n-th derivative at c
//   M2L        L_n += sum over |k| <= order - |n| of M_k D_{n+k}(r), D_n the n-th derivative of 1/|r|
// Compiled once and by one compiler (kernel.cpp), so that no peer is judged by its compiler's vectoriser.
#pragma once

#include <vector>

#include "bench/fmm/multi_index.hpp"

namespace weft::bench::fmm {

using vec = std::array<float, 3>;
using expansion = std::array<float, terms>;

constexpr vec operator-(const vec& a, const vec& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

// Bodies [first, last).
struct range {
  std::size_t first = 0, last = 0;
  std::size_t size() const { return last - first; }
};

// A column for each quantity. The kernels add to the potential and its gradient.
struct bodies {
  explicit bodies(std::size_t n) : x(n), y(n), z(n), q(n), potential(n), gx(n), gy(n), gz(n) {}
  vec position(std::size_t i) const { return {x[i], y[i], z[i]}; }

  std::vector<float> x, y, z, q, potential, gx, gy, gz;
};

void p2m(const bodies& b, range r, const vec& center, expansion& multipole);
void m2m(const expansion& child, const vec& parent_minus_child, expansion& parent);
void m2l(const expansion& multipole, const vec& target_minus_source, expansion& local);
void l2l(const expansion& parent, const vec& child_minus_parent, expansion& child);
void l2p(const expansion& local, const vec& center, range r, bodies& b);
void p2p(range targets, range sources, bodies& b);

// The potential of all bodies at the i-th and its gradient, summed directly in double.
std::array<double, 4> direct(const bodies& b, std::size_t i);

} // namespace weft::bench::fmm
