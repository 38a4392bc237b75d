// SPDX-License-Identifier: MIT
// How a callable travels in a descriptor: in place if it fits into 24 bytes and moves without throwing, else
// on the heap.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "weft/base/bind_call.hpp"
#include "weft/unit/descriptor.hpp"
#include "weft/unit/exit.hpp"

namespace weft::detail {

template <class Callable>
class closure {
 public:
  static constexpr bool in_place = sizeof(Callable) <= sizeof(unit::descriptor::closure) &&
                                   alignof(Callable) <= 8 && std::is_nothrow_move_constructible_v<Callable>;
  // Whether fill() can neither throw nor run code of the user's.
  static constexpr bool trivial = in_place && std::is_trivially_copyable_v<Callable>;

  static void fill(unit::descriptor& u, Callable&& c) {
    if constexpr (in_place) {
      ::new (static_cast<void*>(u.closure)) Callable(std::move(c));
    } else {
      ::new (static_cast<void*>(u.closure)) Callable*(new Callable(std::move(c)));
    }
  }

  static Callable& in(unit::descriptor& u) noexcept {
    if constexpr (in_place) {
      return *std::launder(reinterpret_cast<Callable*>(u.closure));
    } else {
      return **std::launder(reinterpret_cast<Callable**>(u.closure));
    }
  }

  static void drop(unit::descriptor& u) noexcept {
    if constexpr (in_place) {
      in(u).~Callable();
    } else {
      delete &in(u);
    }
  }

  static void run_thread(unit::descriptor& u) {
    if constexpr (in_place && std::is_trivially_destructible_v<Callable>) {
      std::move(in(u))();
    } else {
      const dropper at_end{u};
      std::move(in(u))(); // once, as std::thread calls its copy
    }
  }

  // A tasklet has no frame below it that could catch the request to end; an exception that escapes ends the
  // process.
  static void run_tasklet(unit::descriptor& u) noexcept {
    try {
      run_thread(u);
    } catch (const unit::exit_request&) {
    }
  }

  // "... [with Callable = parse(int)::<lambda()>]": the compiler's own words for the type.
  static constexpr const char* label() noexcept { return __PRETTY_FUNCTION__; }

  // Where the descriptor has the address of the function that is called; 0: it is no function's.
  static constexpr std::size_t name_at() noexcept {
    return in_place && base::begins_with_function<Callable> ? offsetof(unit::descriptor, closure) : 0;
  }

  static constexpr unit::operations thread_operations{&run_thread, &drop,   nullptr,  label(),
                                                      nullptr,     nullptr, name_at()};
  static constexpr unit::operations tasklet_operations{&run_tasklet, &drop,   nullptr,  label(),
                                                       nullptr,      nullptr, name_at()};

 private:
  struct dropper {
    unit::descriptor& u;
    ~dropper() { drop(u); }
  };
};

using base::bind_call;

} // namespace weft::detail
