// SPDX-License-Identifier: MIT
// The checker's side of the seam in weft/base/atomic_backend.hpp: the same names, every operation a choice.
#pragma once

#include "tests/model/checker/backend.hpp"
#include "tests/model/checker/sites.hpp"

#include <cstddef>
#include <source_location>

#include "weft/base/portable_look.hpp"

namespace weft::base::backend {

template <class T>
using cell = model::cell<T>;

// Where an operation stands, so that the checker can weaken it.
using site = std::source_location;
template <class T>
constexpr T& marked(T& c, const site& at) noexcept {
  if (!std::is_constant_evaluated()) {
    model::sites::standing = at;
  }
  return c;
}

using look = portable_look;

template <class T>
using plain = model::var<T>;

constexpr std::size_t scaled(std::size_t /*production*/, std::size_t modelled) noexcept {
  return modelled;
}

inline void thread_fence(std::memory_order order, const site& at = site()) noexcept {
  model::sites::standing = at;
  model::on_fence(order);
}

// The checker never reorders a thread's own operations: weak order shows in what loads return.
inline void compiler_fence() noexcept {}

inline void yield_kernel_thread() noexcept {
  model::on_relax();
}

} // namespace weft::base::backend
