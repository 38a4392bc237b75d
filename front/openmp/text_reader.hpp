// SPDX-License-Identifier: MIT
// What readers of a variable's text have in common: spaces count nowhere.
#pragma once

#include <cctype>

namespace weft::openmp {

class text_reader {
 protected:
  explicit text_reader(const char* text) : at_(text) {}

  // The next character that is no space; 0: the end.
  char skip() noexcept {
    while (std::isspace(static_cast<unsigned char>(*at_)) != 0)
      ++at_;
    return *at_;
  }
  bool take(char c) noexcept {
    if (skip() != c)
      return false;
    ++at_;
    return true;
  }

  const char* at_;
};

} // namespace weft::openmp
