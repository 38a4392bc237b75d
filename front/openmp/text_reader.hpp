// SPDX-License-Identifier: MIT
// What readers of a variable's text have in common: spaces count nowhere.
#pragma once

#include <cctype>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <strings.h>

namespace weft::openmp {

inline const char* skip_spaces(const char* s) noexcept {
  while (std::isspace(static_cast<unsigned char>(*s)) != 0)
    ++s;
  return s;
}

// A word without regard to case; `s` stands behind it then.
inline bool take_word(const char*& s, const char* word) noexcept {
  const char* const from = skip_spaces(s);
  const std::size_t n = std::strlen(word);
  if (strncasecmp(from, word, n) != 0 || std::isalnum(static_cast<unsigned char>(from[n])) != 0 ||
      from[n] == '_')
    return false;
  s = from + n;
  return true;
}

inline bool take_number(const char*& s, unsigned long& n) noexcept {
  const char* const from = skip_spaces(s);
  if (std::isdigit(static_cast<unsigned char>(*from)) == 0)
    return false;
  char* end = nullptr;
  errno = 0;
  n = std::strtoul(from, &end, 10);
  if (errno != 0)
    return false;
  s = end;
  return true;
}

class text_reader {
 protected:
  explicit text_reader(const char* text) : at_(text) {}

  // The next character that is no space; 0: the end.
  char skip() noexcept {
    at_ = skip_spaces(at_);
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
