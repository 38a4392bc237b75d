// SPDX-License-Identifier: MIT
// The three passes over the tree. Each recurses into children side by side, and joins them before it returns.
//   upward    a cell's multipole, from its bodies or its children
//   interact  the dual-tree traversal: pairs of a target and a source cell, either far enough apart for one
//             M2L or split further, down to pairs of leaves, which are summed directly
//   downward  a cell's local expansion, handed to its children or bodies
//
// Ownership: a unit of interact(t, s) writes to t, the cells below it and their bodies, and to nothing else;
// it reads multipoles and positions, which no longer change. Where a target is split, the units have a child
// each, so they write apart; the children of a source are taken one after the other by the unit that has the
// target. So no word has two writers at a time, and sums are made in the same order whoever runs the units.
#pragma once

#include "bench/fmm/tree.hpp"

namespace weft::bench::fmm {

// Two cells interact by their expansions if the sum of their radii is less than this part of their distance.
inline constexpr float acceptance = 0.65F;

template <class Fork>
void upward(cell& c, const bodies& b) {
  if (c.is_leaf())
    return p2m(b, c.own, c.center, c.multipole);
  for_each_child<Fork>(c.own.size() >= fork_bodies, c, [&](unsigned i) { upward<Fork>(c.children[i], b); });
  for (unsigned i = 0; i < c.child_count; ++i)
    m2m(c.children[i].multipole, c.center - c.children[i].center, c.multipole);
}

inline bool far_apart(const vec& d, const cell& target, const cell& source) {
  const float r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
  const float radii = target.radius() + source.radius();
  return radii * radii < acceptance * acceptance * r2;
}

// Of two cells the larger is split, the target if they are alike.
template <class Fork>
void interact(cell& target, const cell& source, bodies& b) {
  const vec d = target.center - source.center;
  if (far_apart(d, target, source))
    return m2l(source.multipole, d, target.local);
  if (target.is_leaf() && source.is_leaf())
    return p2p(target.own, source.own, b);
  if (source.is_leaf() || (!target.is_leaf() && target.half >= source.half)) {
    const bool apart = target.own.size() + source.own.size() >= 2 * fork_bodies;
    for_each_child<Fork>(apart, target, [&](unsigned i) { interact<Fork>(target.children[i], source, b); });
  } else {
    for (unsigned i = 0; i < source.child_count; ++i)
      interact<Fork>(target, source.children[i], b);
  }
}

template <class Fork>
void downward(cell& c, bodies& b) {
  if (c.is_leaf())
    return l2p(c.local, c.center, c.own, b);
  for_each_child<Fork>(c.own.size() >= fork_bodies, c, [&](unsigned i) {
    cell& child = c.children[i];
    l2l(c.local, child.center - c.center, child.local);
    downward<Fork>(child, b);
  });
}

} // namespace weft::bench::fmm
