// SPDX-License-Identifier: MIT
// Where the bodies are. All have the same charge; together they have 1.
#pragma once

#include <cmath>
#include <numbers>
#include <random>

#include "bench/fmm/tree.hpp"

namespace weft::bench::fmm {

// In the unit cube, each place as likely as another: all leaves are of one depth, or two.
inline vec uniform(std::mt19937& random) {
  std::uniform_real_distribution<float> side(0, 1);
  return {side(random), side(random), side(random)};
}

// A star cluster after Plummer, dense in the middle; what is farther out than 20 of its radii is drawn again.
inline vec plummer(std::mt19937& random) {
  std::uniform_real_distribution<float> part(0, 1);
  float r = 0;
  do {
    r = 1 / std::sqrt(std::pow(1 - part(random), -2.0F / 3) - 1);
  } while (!(r < 20));
  const float z = 2 * part(random) - 1, ring = r * std::sqrt(1 - z * z);
  const float angle = 2 * std::numbers::pi_v<float> * part(random);
  return {ring * std::cos(angle), ring * std::sin(angle), r * z};
}

inline std::vector<body> make_bodies(std::size_t n, vec (*place)(std::mt19937&)) {
  std::mt19937 random(1);
  std::vector<body> all(n);
  for (body& b : all)
    b = {place(random), 1 / static_cast<float>(n)};
  return all;
}

} // namespace weft::bench::fmm
