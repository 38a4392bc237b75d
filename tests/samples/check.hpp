// SPDX-License-Identifier: MIT
// The samples of the documentation are tests: each ends with checks that can fail.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <source_location>

namespace samples {

inline void check(bool ok, const char* what, std::source_location at = std::source_location::current()) {
  if (ok) return;
  std::fprintf(stderr, "%s:%u: FAILED: %s\n", at.file_name(), static_cast<unsigned>(at.line()), what);
  std::_Exit(1);
}

} // namespace samples
