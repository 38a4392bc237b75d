// SPDX-License-Identifier: MIT
// The checker's futex, in place of weft/os/futex.hpp: same names and results. A deadline may pass at any
// time.
#pragma once

#include "tests/model/checker/model.hpp"
#include "tests/model/checker/sites.hpp"

#include <cerrno>
#include <climits>
#include <cstdint>
#include <source_location>

namespace weft::os {

template <class Word>
concept futex_word = sizeof(Word) == 4 && alignof(Word) >= 4;

template <futex_word Word>
int futex_wait(const Word* word, std::uint32_t expected,
               const std::source_location& at = std::source_location::current()) noexcept {
  model::sites::standing = at;
  return model::futex_wait(word, expected, false);
}

template <futex_word Word>
int futex_wait_until(const Word* word, std::uint32_t expected, std::int64_t /*deadline_ns*/,
                     const std::source_location& at = std::source_location::current()) noexcept {
  model::sites::standing = at;
  return model::futex_wait(word, expected, true);
}

template <futex_word Word>
int futex_wake(const Word* word, int count,
               const std::source_location& at = std::source_location::current()) noexcept {
  model::sites::standing = at;
  return model::futex_wake(word, count);
}

template <futex_word Word>
int futex_wake_all(const Word* word,
                   const std::source_location& at = std::source_location::current()) noexcept {
  return futex_wake(word, INT_MAX, at);
}

} // namespace weft::os
