// SPDX-License-Identifier: MIT
// Loops and reductions over index ranges by recursive halving: each half is a fork that idle workers steal,
// so the split follows the load and no grain has to be guessed for balance, only for overhead.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "weft/fork_join.hpp"
#include "weft/thread.hpp"

namespace weft {

namespace detail {

// How many indices [first, last) has, also where the difference of two Index overflows.
template <std::integral Index>
std::size_t count_of(Index first, Index last) {
  using bits = std::make_unsigned_t<Index>;
  return static_cast<bits>(static_cast<bits>(last) - static_cast<bits>(first));
}

template <std::integral Index>
Index middle_of(Index first, Index last) {
  using bits = std::make_unsigned_t<Index>;
  return static_cast<Index>(static_cast<bits>(first) + static_cast<bits>(count_of(first, last) / 2));
}

// About eight pieces a worker: enough to balance bodies that differ, few enough that a fork's cost does not
// show.
inline std::size_t automatic_grain(std::size_t count) {
  return std::max<std::size_t>(count / (std::size_t{8} * thread::hardware_concurrency()), 1);
}

template <std::integral Index>
std::size_t grain_of(Index first, Index last, Index wanted) {
  return wanted > 0 ? static_cast<std::size_t>(wanted) : automatic_grain(count_of(first, last));
}

template <std::integral Index, class Body>
void for_range(Index first, Index last, std::size_t grain, Body& body) {
  if (count_of(first, last) <= grain) {
    for (; first != last; ++first)
      body(first);
    return;
  }
  const Index middle = middle_of(first, last);
  auto right = fork([&, middle] { for_range(middle, last, grain, body); });
  for_range(first, middle, grain, body);
  right.join();
}

template <std::integral Index, class T, class Body, class Combine>
T reduce_range(Index first, Index last, std::size_t grain, const T& identity, Body& body, Combine& combine) {
  if (count_of(first, last) <= grain) {
    T sum = identity;
    for (; first != last; ++first)
      sum = combine(std::move(sum), body(first));
    return sum;
  }
  const Index middle = middle_of(first, last);
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
  detail::for_range<Index>(first, last, detail::grain_of<Index>(first, last, grain), body);
}

// combine over body(i) for each i, starting from `identity`; combine must be associative, and keeps the order
// of operands. Contexts, switches, errors: as parallel_for.
template <std::integral Index, class T, class Body, class Combine>
T parallel_reduce(Index first, std::type_identity_t<Index> last, T identity, Body&& body, Combine&& combine,
                  std::type_identity_t<Index> grain = 0) {
  if (first >= last)
    return identity;
  return detail::reduce_range<Index, T>(first, last, detail::grain_of<Index>(first, last, grain), identity,
                                        body, combine);
}

} // namespace weft
