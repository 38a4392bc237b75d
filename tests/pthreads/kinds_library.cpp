// SPDX-License-Identifier: MIT
#include "tests/pthreads/kinds.hpp"

#include <cstdio>

extern "C" void tell_kinds_of_library() {
  std::printf("library pthreads %s\nlibrary c11 %s\nlibrary c++ %s\n", begun_by_pthreads(), begun_by_c11(),
              begun_by_cpp());
}
