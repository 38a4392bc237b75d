// SPDX-License-Identifier: MIT
// See kernel.hpp.
#include "bench/fmm/kernel.hpp"

#include <cmath>

namespace weft::bench::fmm {

namespace {

// d^n / n! for every n.
[[gnu::always_inline]] inline expansion monomials(const vec& d) {
  expansion p;
  p[0] = 1;
  unrolled<terms - 1>([&](auto i) __attribute__((always_inline)) {
    constexpr std::size_t n = i + 1;
    constexpr predecessor before = predecessor_of(indices[n]);
    p[n] = p[before.once] * d[before.axis] * (1.0F / before.count);
  });
  return p;
}

// The derivatives of 1/|d|. With T(m, 0) = (-1)^m (2m-1)!! / |d|^(2m+1) and, for an axis a and i = n_a,
// T(m, n + e_a) = d_a T(m+1, n) + i T(m+1, n - e_a), the n-th one is T(0, n).
[[gnu::always_inline]] inline expansion derivatives(const vec& d) {
  const float r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
  std::array<float, order + 1> radial;
  radial[0] = 1 / std::sqrt(r2);
  for (std::size_t m = 1; m <= order; ++m)
    radial[m] = -radial[m - 1] * static_cast<float>(2 * m - 1) / r2;

  expansion above, t;
  t[0] = radial[order];
  unrolled<order>([&](auto i) __attribute__((always_inline)) {
    above = t;
    t[0] = radial[order - 1 - i];
    unrolled<terms_up_to(i + 1) - 1>([&](auto j) __attribute__((always_inline)) {
      constexpr std::size_t n = j + 1;
      constexpr predecessor before = predecessor_of(indices[n]);
      t[n] = d[before.axis] * above[before.once];
      if constexpr (before.count > 1)
        t[n] += static_cast<float>(before.count - 1) * above[before.twice];
    });
  });
  return t;
}

} // namespace

void p2m(const bodies& b, range r, const vec& center, expansion& multipole) {
  expansion sum = multipole;
  for (std::size_t j = r.first; j < r.last; ++j) {
    const expansion p = monomials(center - b.position(j));
    for (std::size_t n = 0; n < terms; ++n)
      sum[n] += b.q[j] * p[n];
  }
  multipole = sum;
}

void m2m(const expansion& child, const vec& parent_minus_child, expansion& parent) {
  const expansion p = monomials(parent_minus_child);
  unrolled<terms>([&](auto n) __attribute__((always_inline)) {
    unrolled<n + 1>([&](auto k) __attribute__((always_inline)) {
      if constexpr (indices[n].contains(indices[k]))
        parent[n] += child[k] * p[(indices[n] - indices[k]).position()];
    });
  });
}

void m2l(const expansion& multipole, const vec& target_minus_source, expansion& local) {
  const expansion d = derivatives(target_minus_source);
  unrolled<terms>([&](auto n) __attribute__((always_inline)) {
    float sum = 0;
    unrolled<terms_up_to(order - indices[n].degree())>([&](auto k) __attribute__((always_inline)) {
      sum += multipole[k] * d[(indices[n] + indices[k]).position()];
    });
    local[n] += sum;
  });
}

void l2l(const expansion& parent, const vec& child_minus_parent, expansion& child) {
  const expansion p = monomials(child_minus_parent);
  unrolled<terms>([&](auto k) __attribute__((always_inline)) {
    unrolled<terms>([&](auto n) __attribute__((always_inline)) {
      if constexpr (indices[n].contains(indices[k]))
        child[k] += parent[n] * p[(indices[n] - indices[k]).position()];
    });
  });
}

void l2p(const expansion& local, const vec& center, range r, bodies& b) {
  for (std::size_t i = r.first; i < r.last; ++i) {
    const expansion p = monomials(b.position(i) - center);
    float sum = 0;
    vec gradient{};
    unrolled<terms>([&](auto n) __attribute__((always_inline)) { sum += local[n] * p[n]; });
    unrolled<terms_up_to(order - 1)>([&](auto n) __attribute__((always_inline)) {
      unrolled<3>([&](auto axis) __attribute__((always_inline)) {
        gradient[axis] += local[(indices[n] + unit_index[axis]).position()] * p[n];
      });
    });
    b.potential[i] += sum;
    b.gx[i] += gradient[0];
    b.gy[i] += gradient[1];
    b.gz[i] += gradient[2];
  }
}

void p2p(range targets, range sources, bodies& b) {
  const float *const x = b.x.data(), *const y = b.y.data(), *const z = b.z.data(), *const q = b.q.data();
  for (std::size_t i = targets.first; i < targets.last; ++i) {
    float sum = 0, gx = 0, gy = 0, gz = 0;
    for (std::size_t j = sources.first; j < sources.last; ++j) {
      const float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
      const float r2 = dx * dx + dy * dy + dz * dz;
      const float inverse = r2 > 0 ? 1 / std::sqrt(r2) : 0; // a body does not act on itself
      const float w = q[j] * inverse, w3 = w * inverse * inverse;
      sum += w;
      gx += w3 * dx;
      gy += w3 * dy;
      gz += w3 * dz;
    }
    b.potential[i] += sum;
    b.gx[i] += gx;
    b.gy[i] += gy;
    b.gz[i] += gz;
  }
}

std::array<double, 4> direct(const bodies& b, std::size_t i) {
  double sum = 0, gx = 0, gy = 0, gz = 0;
  for (std::size_t j = 0; j < b.x.size(); ++j) {
    const double dx = static_cast<double>(b.x[j]) - static_cast<double>(b.x[i]);
    const double dy = static_cast<double>(b.y[j]) - static_cast<double>(b.y[i]);
    const double dz = static_cast<double>(b.z[j]) - static_cast<double>(b.z[i]);
    const double r2 = dx * dx + dy * dy + dz * dz;
    const double inverse = r2 > 0 ? 1 / std::sqrt(r2) : 0;
    const double w = static_cast<double>(b.q[j]) * inverse, w3 = w * inverse * inverse;
    sum += w;
    gx += w3 * dx;
    gy += w3 * dy;
    gz += w3 * dz;
  }
  return {sum, gx, gy, gz};
}

} // namespace weft::bench::fmm
