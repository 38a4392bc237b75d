// SPDX-License-Identifier: MIT
// The checker's futex, in place of weft/os/futex.hpp: same names and results. A deadline may pass at any
// time.
#pragma once

#include "tests/model/checker/model.hpp"

#include <cerrno>
#include <climits>
#include <cstdint>

namespace weft::os {

template <class Word>
concept futex_word = sizeof(Word) == 4 && alignof(Word) >= 4;

template <futex_word Word>
int futex_wait(const Word* word, std::uint32_t expected) noexcept {
  return model::futex_wait(word, expected, false);
}

template <futex_word Word>
int futex_wait_until(const Word* word, std::uint32_t expected, std::int64_t /*deadline_ns*/) noexcept {
  return model::futex_wait(word, expected, true);
}

template <futex_word Word>
int futex_wake(const Word* word, int count) noexcept {
  return model::futex_wake(word, count);
}

template <futex_word Word>
int futex_wake_all(const Word* word) noexcept {
  return futex_wake(word, INT_MAX);
}

} // namespace weft::os
