// SPDX-License-Identifier: MIT
// What the exported functions of the GNU ABI share. Their names and types are the compiler's; programs call
// them without a header.
#pragma once

#include "front/openmp/task.hpp"
#include "front/openmp/team.hpp"
#include "front/openmp/thread.hpp"
#include "front/openmp/work_share.hpp"

#include <cstddef>
#include <cstdint>

#define OMP_EXPORT extern "C" __attribute__((visibility("default")))

namespace weft::openmp::gomp {

using function = void (*)(void*);

/// The calling thread, in a function of the ABI's: a tool hears from where it was called. `barrier`: what its
/// barrier is, if it has one.
[[gnu::always_inline]] inline thread& called(tool::sync barrier = tool::sync::end_of_share) {
  thread& t = caller();
  tool::note_call(t.told, barrier);
  return t;
}

/// The last argument of GOMP_parallel and its like.
[[nodiscard]] constexpr binding bind_of(unsigned flags) noexcept {
  return static_cast<binding>(flags & 7);
}

/// How a loop's iterations are given out, and what a thread gets of it.
struct loop_form {
  schedule kind = schedule::fixed;
  std::uint64_t chunk = 0;
};

/// omp_set_schedule()'s and OMP_SCHEDULE's, for schedule(runtime). `auto` is static.
[[nodiscard]] loop_form runtime_form(const thread& t) noexcept;
/// A loop's as the newer entries of the ABI name it: 0 runtime, 1 static, 2 dynamic, 3 guided, 4 auto.
[[nodiscard]] loop_form form_of(const thread& t, long kind, std::uint64_t chunk) noexcept;

inline void set_up(work_share& s, const iteration_space& space, const loop_form& f) noexcept {
  s.space = space;
  s.kind = f.kind;
  s.chunk_size = f.chunk;
}

/// A chunk, or that a thread has begun a loop, to a tool.
[[gnu::cold]] void tell_chunk(thread& t, const work_share& s, const chunk& c);
[[gnu::cold]] void tell_loop(thread& t, const work_share& s);

/// The end of a work share: with a barrier, or without. True: as barrier().
[[nodiscard]] inline bool end_of_share(thread& t, bool may_cancel) {
  if (tool::is_on) [[unlikely]]
    tool::work_ends(t);
  return barrier(t, may_cancel); // SWITCH: may resume on another worker
}
[[gnu::always_inline]] inline void tell_end_of_work() {
  if (tool::is_on) [[unlikely]]
    tool::work_ends(called());
}

template <class Value>
bool give(thread& t, const chunk& c, Value* first, Value* end) {
  const work_share& s = *t.at.share;
  if (tool::is_on) [[unlikely]]
    tell_chunk(t, s, c);
  *first = static_cast<Value>(s.space.value(c.low));
  *end = static_cast<Value>(s.space.value(c.high));
  return true;
}

/// The caller's next chunk of the loop that it is in.
template <class Value>
bool next_chunk(thread& t, Value* first, Value* end) {
  chunk c;
  return take(t, c) && give(t, c, first, end);
}
template <class Value>
bool next_ordered_chunk(thread& t, Value* first, Value* end) {
  chunk c;
  return take_ordered(t, c) && give(t, c, first, end);
}

/// Enters a loop.
inline void begin_loop(thread& t, const iteration_space& space, const loop_form& f) {
  enter_share(t, [&](work_share& s) { set_up(s, space, f); });
  if (tool::is_on) [[unlikely]]
    tell_loop(t, *t.at.share);
}

/// Task reductions of a work share or a region (reduction.cpp). The caller has entered the share, or makes
/// it: `first` says so.
void begin_reductions(thread& t, std::uintptr_t* data, std::uintptr_t* of_first);
std::uintptr_t* allocate_reductions(std::uintptr_t* data, unsigned threads);
void free_reductions(std::uintptr_t* data) noexcept;

/// A share with memory for the program, and with reductions; either may be missing. Returns with both in
/// place for all threads.
template <class Prepare>
void enter_share_with(thread& t, std::uintptr_t* reductions, void** memory, Prepare prepare);

/// Ends the program with a message, as libgomp does.
[[noreturn]] void fatal(const char* format, ...) __attribute__((format(printf, 1, 2)));

// --- what is inlined ---

template <class Prepare>
void enter_share_with(thread& t, std::uintptr_t* reductions, void** memory, Prepare prepare) {
  bool made = false;
  const bool first = enter_share(t, [&](work_share& s) {
    prepare(s);
    if (reductions != nullptr) {
      s.reductions = allocate_reductions(reductions, t.at.team->size);
      made = true;
    }
    if (memory != nullptr)
      s.memory = std::make_unique<std::byte[]>(reinterpret_cast<std::uintptr_t>(*memory));
  });
  if (made && !first)
    free_reductions(reductions);
  if (reductions != nullptr)
    begin_reductions(t, reductions, first ? nullptr : t.at.share->reductions);
  if (memory != nullptr)
    *memory = t.at.share->memory.get();
}

} // namespace weft::openmp::gomp
