// SPDX-License-Identifier: MIT
// What the exported functions of LLVM's ABI share. Each gets a description of its place in the source, and
// the number of the calling thread; neither is needed here.
#pragma once

#include "front/openmp/task.hpp"
#include "front/openmp/team.hpp"
#include "front/openmp/thread.hpp"
#include "front/openmp/work_share.hpp"

#include <cstddef>
#include <cstdint>

#define KMP_EXPORT extern "C" __attribute__((visibility("default")))

namespace weft::openmp::kmp {

struct ident;

/// The kinds of schedules, without the marks of monotonic and nonmonotonic.
enum schedule_kind : std::int32_t {
  static_chunked = 33,
  static_even = 34,
  dynamic_chunked = 35,
  guided_chunked = 36,
  by_runtime = 37,
  automatic = 38,
  static_simd = 45, // chunks of a multiple of what is given for a chunk; and the next two
  guided_simd = 46,
  runtime_simd = 47,
  first_ordered = 64, // from here on the same once more, for ordered loops
  ordered_distance = 32,
  distribute_chunked = 91,
  distribute_even = 92,
  without_marks = ~(3 << 29),
};

/// Says a program's own message; severity 2: and ends the process.
void say_error(int severity, const char* text);

} // namespace weft::openmp::kmp
