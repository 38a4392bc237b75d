// SPDX-License-Identifier: MIT
// How a node calls for its children. A library gives a type with
//   static void for_each(unsigned count, const F& f)   f(0) to f(count - 1), each in a unit of its own
// which creates all units, at most most_children, and then joins them.
#pragma once

#include <cstddef>

namespace weft::bench::fmm {

inline constexpr unsigned most_children = 8;

// Plain calls.
struct calls {
  template <class F>
  static void for_each(unsigned count, const F& f) {
    for (unsigned i = 0; i < count; ++i)
      f(i);
  }
};

// Plain calls that count the units that there would be, and those of them that would create none.
struct counted_calls {
  static inline std::size_t units = 0, leaf_units = 0;

  template <class F>
  static void for_each(unsigned count, const F& f) {
    for (unsigned i = 0; i < count; ++i) {
      const std::size_t before = ++units;
      f(i);
      leaf_units += units == before ? 1 : 0;
    }
  }
};

} // namespace weft::bench::fmm
