// SPDX-License-Identifier: MIT
// What is said on the error output, in libgomp's words, since people and tests look for them.
#include "front/openmp/gomp/abi.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace weft::openmp::gomp {

void fatal(const char* format, ...) {
  va_list list;
  va_start(list, format);
  std::fputs("\nlibgomp: ", stderr);
  std::vfprintf(stderr, format, list);
  std::fputc('\n', stderr);
  va_end(list);
  std::exit(EXIT_FAILURE);
}

} // namespace weft::openmp::gomp

using namespace weft::openmp::gomp;

// #pragma omp error at(execution). `length`: of a message that may lack its end; -1: it has one.
OMP_EXPORT void GOMP_warning(const char* message, std::size_t length) {
  if (message == nullptr)
    std::fputs("\nlibgomp: error directive encountered\n", stderr);
  else if (length == static_cast<std::size_t>(-1))
    std::fprintf(stderr, "\nlibgomp: error directive encountered: %s\n", message);
  else
    std::fprintf(stderr, "\nlibgomp: error directive encountered: %.*s\n", static_cast<int>(length), message);
}
OMP_EXPORT void GOMP_error(const char* message, std::size_t length) {
  if (message == nullptr)
    fatal("fatal error: error directive encountered");
  if (length == static_cast<std::size_t>(-1))
    fatal("fatal error: error directive encountered: %s", message);
  fatal("fatal error: error directive encountered: %.*s", static_cast<int>(length), message);
}
