// SPDX-License-Identifier: MIT
// The part of a static loop that one of several gets: a member of a team, or a team of a league.
#pragma once

#include "front/openmp/kmp/abi.hpp"

#include <algorithm>
#include <type_traits>

namespace weft::openmp::kmp {

// The iterations of a loop with these bounds.
template <class Value>
std::uint64_t count_of(Value lower, Value upper, std::make_signed_t<Value> step) noexcept {
  using whole = std::make_unsigned_t<Value>;
  if (step > 0)
    return upper < lower
               ? 0
               : std::uint64_t{static_cast<whole>(static_cast<whole>(upper) - static_cast<whole>(lower))} /
                         static_cast<std::uint64_t>(step) +
                     1;
  return lower < upper
             ? 0
             : std::uint64_t{static_cast<whole>(static_cast<whole>(lower) - static_cast<whole>(upper))} /
                       (~static_cast<std::uint64_t>(step) + 1) +
                   1;
}

struct who {
  std::uint64_t number;
  std::uint64_t of;
};

// Narrows the bounds to the caller's part.
template <class Value>
void divide(const who& w, std::int32_t kind, std::int32_t* is_last, Value* lower, Value* upper,
            std::make_signed_t<Value>* stride, std::make_signed_t<Value> step,
            std::make_signed_t<Value> chunk) {
  using whole = std::make_unsigned_t<Value>;
  using difference = std::make_signed_t<Value>;
  const std::uint64_t n = count_of(*lower, *upper, step);
  const auto at = [&](std::uint64_t number) { // the value of an iteration
    return static_cast<Value>(static_cast<whole>(*lower) +
                              static_cast<whole>(number) * static_cast<whole>(step));
  };
  if (n == 0) {
    if (is_last != nullptr)
      *is_last = 0;
    *stride = step;
    return;
  }
  const bool chunked = kind == static_chunked || kind == first_ordered + 1 || kind == distribute_chunked;
  if (chunked) {
    const std::uint64_t size = chunk < 1 ? 1 : static_cast<std::uint64_t>(chunk);
    *stride = static_cast<difference>(static_cast<whole>(size * w.of) * static_cast<whole>(step));
    if (is_last != nullptr)
      *is_last = w.number == (n - 1) / size % w.of ? 1 : 0;
    const Value first = at(w.number * size);
    *upper = at(w.number * size + size - 1);
    *lower = first;
    return;
  }
  const std::uint64_t each = n / w.of;
  const std::uint64_t more = n % w.of;
  std::uint64_t low = w.number * each + std::min(w.number, more);
  std::uint64_t mine = each + (w.number < more ? 1 : 0);
  if (kind == static_simd && chunk > 1) {
    const auto unit = static_cast<std::uint64_t>(chunk);
    const std::uint64_t size = (each + (more != 0 ? 1 : 0) + unit - 1) / unit * unit;
    low = std::min(w.number * size, n);
    mine = std::min(size, n - low);
  }
  *stride = static_cast<difference>(n);
  if (is_last != nullptr)
    *is_last = mine != 0 && low + mine == n ? 1 : 0;
  const Value first = at(low);
  *upper = static_cast<Value>(static_cast<whole>(first) +
                              static_cast<whole>(mine) * static_cast<whole>(step) - static_cast<whole>(step));
  *lower = first;
}

inline who member_of_team(const thread& t) noexcept {
  return {t.at.number, t.at.team->size};
}
inline who team_of_league(const thread& t) noexcept {
  return {t.league.number, t.league.size};
}

} // namespace weft::openmp::kmp
