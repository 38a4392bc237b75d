// SPDX-License-Identifier: MIT
// How a callable travels in a unit: in place if it fits and moves without throwing, else on the heap.
#pragma once

#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace weft::compose {

// `Unit` has `std::byte closure[n]`, aligned at 8, and `run`, which is given closure_of<...>::run.
template <class Unit, class Callable>
struct closure_of {
  static constexpr bool in_place = sizeof(Callable) <= sizeof(Unit::closure) && alignof(Callable) <= 8 &&
                                   std::is_nothrow_move_constructible_v<Callable>;
  // Whether fill() runs no code of the user's.
  static constexpr bool trivial = in_place && std::is_trivially_copyable_v<Callable>;

  static void fill(Unit& u, Callable&& c) {
    if constexpr (in_place) {
      ::new (static_cast<void*>(u.closure)) Callable(std::move(c));
    } else {
      ::new (static_cast<void*>(u.closure)) Callable*(new Callable(std::move(c)));
    }
  }
  static void drop(Unit& u) noexcept {
    if constexpr (in_place) {
      std::launder(reinterpret_cast<Callable*>(u.closure))->~Callable();
    } else {
      delete *std::launder(reinterpret_cast<Callable**>(u.closure));
    }
  }
  // The body of the thread. noexcept: an exception that leaves it ends the process, as with std::thread.
  static void run(Unit& u) noexcept {
    if constexpr (in_place) {
      Callable& c = *std::launder(reinterpret_cast<Callable*>(u.closure));
      c();
      c.~Callable();
    } else {
      const std::unique_ptr<Callable> c(*std::launder(reinterpret_cast<Callable**>(u.closure)));
      (*c)();
    }
  }
};

} // namespace weft::compose
