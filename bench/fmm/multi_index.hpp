// SPDX-License-Identifier: MIT
// Multi-indices n = (x, y, z), degree by degree: where the coefficient of each stands in an expansion, and
// from which earlier one it is computed. All of it is known to the compiler, so that kernels become straight
// code.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace weft::bench::fmm {

// The degree at which expansions end.
inline constexpr int order = 5;

// How many multi-indices there are up to a degree.
constexpr std::size_t terms_up_to(int degree) {
  return static_cast<std::size_t>((degree + 1) * (degree + 2) * (degree + 3) / 6);
}
inline constexpr std::size_t terms = terms_up_to(order);

struct multi_index {
  int x, y, z;

  constexpr int degree() const { return x + y + z; }
  constexpr std::size_t position() const {
    return terms_up_to(degree() - 1) + static_cast<std::size_t>((y + z) * (y + z + 1) / 2 + z);
  }
  constexpr bool contains(multi_index n) const { return n.x <= x && n.y <= y && n.z <= z; }
  friend constexpr multi_index operator+(multi_index a, multi_index b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
  }
  friend constexpr multi_index operator-(multi_index a, multi_index b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
  }
};
inline constexpr std::array<multi_index, 3> unit_index = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

// By position.
inline constexpr std::array<multi_index, terms> indices = [] {
  std::array<multi_index, terms> all{};
  for (int degree = 0; degree <= order; ++degree) {
    for (int z = 0; z <= degree; ++z) {
      for (int y = 0; y + z <= degree; ++y) {
        const multi_index n{degree - y - z, y, z};
        all[n.position()] = n;
      }
    }
  }
  return all;
}();

// n less one and two in the first axis in which it has any; `count` is what it has there.
struct predecessor {
  std::size_t axis, once, twice;
  int count;
};
constexpr predecessor predecessor_of(multi_index n) {
  const std::size_t axis = n.x > 0 ? 0 : n.y > 0 ? 1 : 2;
  const int count = n.x > 0 ? n.x : n.y > 0 ? n.y : n.z;
  const multi_index once = n - unit_index[axis];
  return {axis, once.position(), count > 1 ? (once - unit_index[axis]).position() : 0, count};
}

// f(0), f(1), ... f(Count - 1), where the argument is a constant.
template <std::size_t Count, class F>
[[gnu::always_inline]] inline void unrolled(F&& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
    (f(std::integral_constant<std::size_t, I>{}), ...);
  }(std::make_index_sequence<Count>{});
}

} // namespace weft::bench::fmm
