// SPDX-License-Identifier: MIT
// What programs ask for that are compiled with the sanitizer, or without one, as this library is
// (sanitizer.hpp).
#include "weft/arch/sanitizer.hpp"

// Weak: libabt.so is made with this file as well, and static programs have both.
extern "C" __attribute__((weak)) const char WEFT_BUILT_ALIKE = 0;
