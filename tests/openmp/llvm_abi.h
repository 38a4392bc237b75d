// SPDX-License-Identifier: MIT
// What clang's programs hand to LLVM's runtime, for tests that call it as they do.
#pragma once

#include <stdint.h>

struct ident {
  int32_t a, flags, b, c;
  const char* source;
};
static struct ident here = {0, 2, 0, 0, ";unknown;unknown;0;0;;"};

typedef int32_t (*routine)(int32_t, void*);
struct kmp_task {
  void* shareds;
  routine function;
  int32_t part;
  void *data1, *data2;
};
