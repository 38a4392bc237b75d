// SPDX-License-Identifier: MIT
// How a thread starts and where it runs, as types: thread<P>::fork<Technique>(f). Names and figures are those
// of the threading-techniques paper; libweft has all twelve (weft/technique), a composed runtime these.
#pragma once

#include <type_traits>

namespace weft::compose {

// Parent first: the new thread is made ready and has no stack before it starts (the paper's Full-L). A join
// that finds it at hand, not started, runs it by a call on the joiner's stack, if there is room for it.
struct inline_join {
  static constexpr bool starts_at_once = false;
  static constexpr bool own_stack = false;
};

// Parent first, and always on a stack of its own: Full-L.
struct full_lazy {
  static constexpr bool starts_at_once = false;
  static constexpr bool own_stack = true;
};

// The new thread runs at once, on a stack of its own, and its creator is ready meanwhile: C-Full, but that
// the stack is given back at the end. Where no stack can be had it starts later, as by inline_join.
struct child_first {
  static constexpr bool starts_at_once = true;
  static constexpr bool own_stack = false;
};

// The techniques that a runtime knows; the first is that of thread's constructor.
template <class First, class... Others>
struct technique_set {
  using first = First;
  template <class T>
  static constexpr bool has = (std::is_same_v<T, First> || ... || std::is_same_v<T, Others>);
  // Whether a join may find a thread that has not started and may run on the joiner's stack.
  static constexpr bool any_inline = (!First::own_stack || ... || !Others::own_stack);
  // Whether that differs from thread to thread.
  static constexpr bool mixed = any_inline && (First::own_stack || ... || Others::own_stack);
};

} // namespace weft::compose
