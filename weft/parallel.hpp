// SPDX-License-Identifier: MIT
// Loops and reductions over index ranges by recursive halving: each half is a fork that idle workers steal,
// so the split follows the load and no grain has to be guessed for balance, only for overhead.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "weft/fork_join.hpp"
#include "weft/thread.hpp"

namespace weft {

namespace detail {

// About eight pieces a worker: enough to balance bodies that differ, few enough that a fork's cost does not
// show.
template <std::integral Index>
Index automatic_grain(Index count) {
  const Index pieces = static_cast<Index>(8 * thread::hardware_concurrency());
  const Index grain = static_cast<Index>(count / pieces);
  return grain > 0 ? grain : Index{1};
}

template <std::integral Index, class Body>
void for_range(Index first, Index last, Index grain, Body& body) {
  if (last - first <= grain) {
    for (; first != last; ++first)
      body(first);
    return;
  }
  const Index middle = static_cast<Index>(first + (last - first) / 2);
  auto right = fork([&, middle] { for_range(middle, last, grain, body); });
  for_range(first, middle, grain, body);
  right.join();
}

template <std::integral Index, class T, class Body, class Combine>
T reduce_range(Index first, Index last, Index grain, const T& identity, Body& body, Combine& combine) {
  if (last - first <= grain) {
    T sum = identity;
    for (; first != last; ++first)
      sum = combine(std::move(sum), body(first));
    return sum;
  }
  const Index middle = static_cast<Index>(first + (last - first) / 2);
  auto right = fork([&, middle] { return reduce_range(middle, last, grain, identity, body, combine); });
  T left = reduce_range(first, middle, grain, identity, body, combine);
  return combine(std::move(left), right.join());
}

} // namespace detail

// body(i) for each i in [first, last), in any order and in parallel; `grain` indices at a time, 0: chosen
// from the number of workers. An exception of a body is thrown when the forked parts have been joined; which
// one, if several throw, is open. Contexts: thread, foreign kernel thread. Switches: may.
template <std::integral Index, class Body>
void parallel_for(Index first, std::type_identity_t<Index> last, Body&& body,
                  std::type_identity_t<Index> grain = 0) {
  if (first >= last)
    return;
  detail::for_range<Index>(first, last, grain > 0 ? grain : detail::automatic_grain<Index>(last - first),
                           body);
}

// combine over body(i) for each i, starting from `identity`; combine must be associative, and keeps the order
// of operands. Contexts, switches, errors: as parallel_for.
template <std::integral Index, class T, class Body, class Combine>
T parallel_reduce(Index first, std::type_identity_t<Index> last, T identity, Body&& body, Combine&& combine,
                  std::type_identity_t<Index> grain = 0) {
  if (first >= last)
    return identity;
  const Index piece = grain > 0 ? grain : detail::automatic_grain<Index>(last - first);
  return detail::reduce_range<Index, T>(first, last, piece, identity, body, combine);
}

} // namespace weft
