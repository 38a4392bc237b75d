// SPDX-License-Identifier: MIT
// The force between two atoms: Lennard-Jones in reduced units, shifted so that it and the potential end
// smoothly at the cutoff, without which the energy would not stay (Toxvaerd and Dyre, "Communication: Shifted
// forces in molecular dynamics", J. Chem. Phys. 134, 2011).
#pragma once

#include <cmath>

namespace weft::bench::insitu {

class pair_force {
 public:
  constexpr explicit pair_force(double at)
      : cutoff_(at), cutoff2_(at * at), c6_(1 / (cutoff2_ * cutoff2_ * cutoff2_)),
        potential_at_cutoff_(4 * (c6_ * c6_ - c6_)), slope_at_cutoff_(-24 * (2 * c6_ * c6_ - c6_) / at) {}

  [[nodiscard]] constexpr double cutoff2() const { return cutoff2_; }

  struct values {
    double potential;
    double strength; // the force over the distance; positive: away from each other
  };
  // U(r) = 4 (r^-12 - r^-6) - U(c) - (r - c) U'(c), for a squared distance below the cutoff's.
  [[nodiscard]] [[gnu::always_inline]] values operator()(double r2) const {
    const double r = std::sqrt(r2), inverse2 = 1 / r2, inverse6 = inverse2 * inverse2 * inverse2;
    return {4 * inverse6 * (inverse6 - 1) - potential_at_cutoff_ - (r - cutoff_) * slope_at_cutoff_,
            24 * inverse6 * (2 * inverse6 - 1) * inverse2 + slope_at_cutoff_ * r * inverse2};
  }

 private:
  double cutoff_, cutoff2_, c6_, potential_at_cutoff_, slope_at_cutoff_;
};

} // namespace weft::bench::insitu
