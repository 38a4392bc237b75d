// SPDX-License-Identifier: MIT
// What the exported functions of LLVM's ABI share. Each gets a description of its place in the source, which
// only tools ask for, and the number of the calling thread, which nobody needs.
#pragma once

#include "front/openmp/task.hpp"
#include "front/openmp/team.hpp"
#include "front/openmp/thread.hpp"
#include "front/openmp/work_share.hpp"

#include <cstddef>
#include <cstdint>

#define KMP_EXPORT extern "C" __attribute__((visibility("default")))

namespace weft::openmp::kmp {

/// The place in the source of a call, and what it belongs to.
struct ident {
  std::int32_t reserved;
  std::int32_t flags;
};
enum ident_flag : std::int32_t {
  for_explicit_barrier = 0x20,
  for_barrier_of_share = 0x40,
  for_loop = 0x200,
  for_sections = 0x400,
  for_distribute = 0x800,
};

/// What a barrier that is called from there is to a tool.
[[nodiscard]] inline tool::sync barrier_of(const ident* at) noexcept {
  const std::int32_t flags = at != nullptr ? at->flags : 0;
  if ((flags & for_explicit_barrier) != 0)
    return tool::sync::explicit_barrier;
  return (flags & for_barrier_of_share) != 0 ? tool::sync::end_of_share : tool::sync::implementation_barrier;
}

/// The calling thread, in a function of the ABI's: a tool hears from where it was called.
[[gnu::always_inline]] inline thread& called_by(const ident* at) {
  thread& t = caller();
  if (tool::is_on) [[unlikely]]
    tool::note_call(t.told, barrier_of(at));
  return t;
}

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

/// The end of a work share that a function of the ABI's names, to a tool.
[[gnu::always_inline]] inline void tell_end_of_work(const ident* at) {
  if (tool::is_on) [[unlikely]]
    tool::work_ends(called_by(at));
}

/// Says a program's own message; severity 2: and ends the process.
void say_error(int severity, const char* text);

} // namespace weft::openmp::kmp
