// SPDX-License-Identifier: MIT
// The function must be callable with the arguments.
// expect: no type|no match|invoke
#include "weft/weft.hpp"

void misuse() {
#ifdef CORRECT
  weft::thread t([](int) {}, 1);
#else
  weft::thread t([](int) {}, "one");
#endif
  t.join();
}
