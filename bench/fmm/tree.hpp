// SPDX-License-Identifier: MIT
// The octree, by divide and conquer: a cell with many bodies sorts them by octant and builds its children
// side by side. Cells of other branches have other bodies, so nothing is shared.
#pragma once

#include <algorithm>
#include <memory>
#include <numbers>

#include "bench/fmm/fork.hpp"
#include "bench/fmm/kernel.hpp"

namespace weft::bench::fmm {

// A cell with more bodies has children, down to a depth that bodies in one place would not end.
inline constexpr std::size_t leaf_bodies = 64;
inline constexpr int most_depth = 24;
// Children of a node with fewer bodies are called, not forked.
inline constexpr std::size_t fork_bodies = 128;

struct body {
  vec position;
  float q;
};

// A cube, and the bodies in it.
struct cell {
  float radius() const { return half * std::numbers::sqrt3_v<float>; } // of the sphere around it
  bool is_leaf() const { return child_count == 0; }

  vec center{};
  float half = 0; // of its side
  range own;
  unsigned child_count = 0;
  std::unique_ptr<cell[]> children; // those that have bodies
  expansion multipole{}, local{};
};

// Two arrays of the bodies' number.
using scratch = std::array<std::vector<body>, 2>;

// f(0) to f(child_count - 1), apart in units or by calls.
template <class Fork, class F>
void for_each_child(bool apart, const cell& c, const F& f) {
  if (apart) {
    Fork::for_each(c.child_count, f);
  } else {
    calls::for_each(c.child_count, f);
  }
}

// The smallest cube around all bodies, without children.
inline cell cube_around(const std::vector<body>& input) {
  vec low = input[0].position, high = low;
  for (const body& b : input) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], b.position[axis]);
      high[axis] = std::max(high[axis], b.position[axis]);
    }
  }
  cell root;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    root.center[axis] = (low[axis] + high[axis]) / 2;
    root.half = std::max(root.half, (high[axis] - low[axis]) / 2);
  }
  root.own = {0, input.size()};
  return root;
}

// Sorts from the input to one scratch array, from there to the other and so on, and at a leaf into the
// columns.
template <class Fork>
class tree_builder {
 public:
  tree_builder(const std::vector<body>& input, scratch& s, bodies& sorted)
      : input_(input), scratch_(s), sorted_(sorted) {}

  cell build() {
    cell root = cube_around(input_);
    build(root, input_, 0);
    return root;
  }

 private:
  using octants = std::array<std::size_t, most_children>;

  static std::size_t octant_of(const vec& p, const vec& center) {
    return (p[0] < center[0] ? 0 : 1) + (p[1] < center[1] ? 0 : 2) + (p[2] < center[2] ? 0 : 4);
  }

  void build(cell& c, const std::vector<body>& from, int depth) {
    if (c.own.size() <= leaf_bodies || depth == most_depth)
      return fill_leaf(c, from);
    std::vector<body>& to = scratch_[depth % 2];
    make_children(c, sort(c, from, to));
    for_each_child<Fork>(c.own.size() >= fork_bodies, c,
                         [&, depth](unsigned i) { build(c.children[i], to, depth + 1); });
  }

  void fill_leaf(const cell& c, const std::vector<body>& from) {
    for (std::size_t i = c.own.first; i < c.own.last; ++i) {
      sorted_.x[i] = from[i].position[0];
      sorted_.y[i] = from[i].position[1];
      sorted_.z[i] = from[i].position[2];
      sorted_.q[i] = from[i].q;
      sorted_.potential[i] = sorted_.gx[i] = sorted_.gy[i] = sorted_.gz[i] = 0;
    }
  }

  // The bodies of c by octant; returns where each octant ends.
  static octants sort(const cell& c, const std::vector<body>& from, std::vector<body>& to) {
    octants place{};
    for (std::size_t i = c.own.first; i < c.own.last; ++i)
      ++place[octant_of(from[i].position, c.center)];
    std::size_t begin = c.own.first;
    for (std::size_t& p : place)
      begin += std::exchange(p, begin);
    for (std::size_t i = c.own.first; i < c.own.last; ++i)
      to[place[octant_of(from[i].position, c.center)]++] = from[i];
    return place;
  }

  static void make_children(cell& c, const octants& ends) {
    std::size_t first = c.own.first;
    for (const std::size_t end : ends)
      c.child_count += std::exchange(first, end) == end ? 0 : 1;
    c.children = std::make_unique<cell[]>(c.child_count);
    cell* child = c.children.get();
    first = c.own.first;
    for (std::size_t octant = 0; octant < most_children; first = ends[octant++]) {
      if (first == ends[octant])
        continue;
      child->own = {first, ends[octant]};
      child->half = c.half / 2;
      for (std::size_t axis = 0; axis < 3; ++axis)
        child->center[axis] = c.center[axis] + ((octant >> axis & 1) != 0 ? child->half : -child->half);
      ++child;
    }
  }

  const std::vector<body>& input_;
  scratch& scratch_;
  bodies& sorted_;
};

} // namespace weft::bench::fmm
