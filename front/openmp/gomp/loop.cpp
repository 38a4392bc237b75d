// SPDX-License-Identifier: MIT
// Loops over `long` and over `unsigned long long`: GOMP_loop_... and GOMP_loop_ull_...
//
// The names say how iterations are given out; nonmonotonic ones may be given in any order, which ours use as
// the others. A macro makes the start and the next of each kind, since the ABI repeats them.
#include "front/openmp/gomp/abi.hpp"

namespace weft::openmp::gomp {

loop_form runtime_form(const thread& t) noexcept {
  const icvs& icv = t.current->icv;
  if (icv.run_schedule == schedule::automatic)
    return {schedule::fixed, 0};
  return {icv.run_schedule, icv.chunk};
}

loop_form form_of(const thread& t, long kind, std::uint64_t chunk) noexcept {
  switch (kind) {
  case 0:
    return runtime_form(t);
  case 2:
    return {schedule::dynamic, chunk};
  case 3:
    return {schedule::guided, chunk};
  case 4:
    return {schedule::fixed, 0};
  default:
    return {schedule::fixed, chunk};
  }
}

void tell_loop(thread& t, const work_share& s) {
  const tool::work kind = s.kind == schedule::dynamic  ? tool::work::dynamic_loop
                          : s.kind == schedule::guided ? tool::work::guided_loop
                                                       : tool::work::static_loop;
  tool::work_begins(t, kind, s.space.count);
}

void tell_chunk(thread& t, const work_share& s, const chunk& c) {
  tool::chunk_begins(t, tool::chunk_of::loop, s.space.first + c.low * s.space.step, c.high - c.low);
}

} // namespace weft::openmp::gomp

using namespace weft::openmp;
using namespace weft::openmp::gomp;
using ull = unsigned long long;

// GOMP_loop_<kind>_start/next over long, GOMP_loop_ull_<kind>_start/next.
#define LOOP_OF_KIND(name, kind, next)                                                                       \
  OMP_EXPORT bool GOMP_loop_##name##_start(long start, long end, long step, long chunk, long* first,         \
                                           long* last) {                                                     \
    thread& t = called();                                                                                    \
    begin_loop(t, iteration_space::of(start, end, step), {kind, static_cast<std::uint64_t>(chunk)});         \
    return next(t, first, last);                                                                             \
  }                                                                                                          \
  OMP_EXPORT bool GOMP_loop_##name##_next(long* first, long* last) {                                         \
    return next(called(), first, last);                                                                      \
  }                                                                                                          \
  OMP_EXPORT bool GOMP_loop_ull_##name##_start(bool up, ull start, ull end, ull step, ull chunk, ull* first, \
                                               ull* last) {                                                  \
    thread& t = called();                                                                                    \
    begin_loop(t, iteration_space::of(up, start, end, step), {kind, chunk});                                 \
    return next(t, first, last);                                                                             \
  }                                                                                                          \
  OMP_EXPORT bool GOMP_loop_ull_##name##_next(ull* first, ull* last) {                                       \
    return next(called(), first, last);                                                                      \
  }

LOOP_OF_KIND(static, schedule::fixed, next_chunk)
LOOP_OF_KIND(dynamic, schedule::dynamic, next_chunk)
LOOP_OF_KIND(guided, schedule::guided, next_chunk)
LOOP_OF_KIND(nonmonotonic_dynamic, schedule::dynamic, next_chunk)
LOOP_OF_KIND(nonmonotonic_guided, schedule::guided, next_chunk)
LOOP_OF_KIND(ordered_static, schedule::fixed, next_ordered_chunk)
LOOP_OF_KIND(ordered_dynamic, schedule::dynamic, next_ordered_chunk)
LOOP_OF_KIND(ordered_guided, schedule::guided, next_ordered_chunk)

#define RUNTIME_LOOP(name, next)                                                                             \
  OMP_EXPORT bool GOMP_loop_##name##_start(long start, long end, long step, long* first, long* last) {       \
    thread& t = called();                                                                                    \
    begin_loop(t, iteration_space::of(start, end, step), runtime_form(t));                                   \
    return next(t, first, last);                                                                             \
  }                                                                                                          \
  OMP_EXPORT bool GOMP_loop_##name##_next(long* first, long* last) {                                         \
    return next(called(), first, last);                                                                      \
  }                                                                                                          \
  OMP_EXPORT bool GOMP_loop_ull_##name##_start(bool up, ull start, ull end, ull step, ull* first,            \
                                               ull* last) {                                                  \
    thread& t = called();                                                                                    \
    begin_loop(t, iteration_space::of(up, start, end, step), runtime_form(t));                               \
    return next(t, first, last);                                                                             \
  }                                                                                                          \
  OMP_EXPORT bool GOMP_loop_ull_##name##_next(ull* first, ull* last) {                                       \
    return next(called(), first, last);                                                                      \
  }

RUNTIME_LOOP(runtime, next_chunk)
RUNTIME_LOOP(nonmonotonic_runtime, next_chunk)
RUNTIME_LOOP(maybe_nonmonotonic_runtime, next_chunk)
RUNTIME_LOOP(ordered_runtime, next_ordered_chunk)

// --- with reductions by tasks, or memory for a scan. `first` null: the bounds are the compiler's affair ---

namespace {

constexpr long kind_mask = 0x7fffffff; // without the mark of monotonic

template <class Value>
bool begin_with(thread& t, const iteration_space& space, long kind, std::uint64_t chunk, Value* first,
                Value* last, std::uintptr_t* reductions, void** memory, bool ordered) {
  const loop_form f = form_of(t, kind & kind_mask, chunk);
  enter_share_with(t, reductions, memory, [&](work_share& s) { set_up(s, space, f); });
  if (tool::is_on) [[unlikely]]
    tell_loop(t, *t.at.share);
  if (first == nullptr)
    return true;
  return ordered ? next_ordered_chunk(t, first, last) : next_chunk(t, first, last);
}

} // namespace

OMP_EXPORT bool GOMP_loop_start(long start, long end, long step, long kind, long chunk, long* first,
                                long* last, std::uintptr_t* reductions, void** memory) {
  return begin_with(called(), iteration_space::of(start, end, step), kind, static_cast<std::uint64_t>(chunk),
                    first, last, reductions, memory, false);
}
OMP_EXPORT bool GOMP_loop_ordered_start(long start, long end, long step, long kind, long chunk, long* first,
                                        long* last, std::uintptr_t* reductions, void** memory) {
  return begin_with(called(), iteration_space::of(start, end, step), kind, static_cast<std::uint64_t>(chunk),
                    first, last, reductions, memory, true);
}
OMP_EXPORT bool GOMP_loop_ull_start(bool up, ull start, ull end, ull step, long kind, ull chunk, ull* first,
                                    ull* last, std::uintptr_t* reductions, void** memory) {
  return begin_with(called(), iteration_space::of(up, start, end, step), kind, chunk, first, last, reductions,
                    memory, false);
}
OMP_EXPORT bool GOMP_loop_ull_ordered_start(bool up, ull start, ull end, ull step, long kind, ull chunk,
                                            ull* first, ull* last, std::uintptr_t* reductions,
                                            void** memory) {
  return begin_with(called(), iteration_space::of(up, start, end, step), kind, chunk, first, last, reductions,
                    memory, true);
}

// --- ends ---

OMP_EXPORT void GOMP_loop_end() {
  static_cast<void>(end_of_share(called(), false)); // SWITCH: may resume on another worker
}
OMP_EXPORT bool GOMP_loop_end_cancel() {
  return end_of_share(called(), true); // SWITCH: may resume on another worker
}
OMP_EXPORT void GOMP_loop_end_nowait() {
  tell_end_of_work();
}

OMP_EXPORT void GOMP_ordered_start() {
  begin_ordered(called()); // SWITCH: may resume on another worker
}
// The turn ends with the chunk.
OMP_EXPORT void GOMP_ordered_end() {
  if (tool::is_on) [[unlikely]]
    end_ordered(called());
}

// --- a loop that is all of a parallel region ---

namespace {

void parallel_loop(function f, void* data, unsigned threads, const iteration_space& space,
                   const loop_form& form, unsigned flags) {
  thread& t = called();
  work_share& s = take_share(t);
  set_up(s, space, form);
  parallel(t, {.function = f, .data = data, .threads = threads, .bind = bind_of(flags), .share = &s});
}

void start_parallel_loop(function f, void* data, unsigned threads, const iteration_space& space,
                         const loop_form& form) {
  thread& t = called();
  work_share& s = take_share(t);
  set_up(s, space, form);
  open_region(t, {.function = f, .data = data, .threads = threads, .share = &s});
}

} // namespace

#define PARALLEL_LOOP(name, kind)                                                                            \
  OMP_EXPORT void GOMP_parallel_loop_##name(function f, void* data, unsigned threads, long start, long end,  \
                                            long step, long chunk, unsigned flags) {                         \
    parallel_loop(f, data, threads, iteration_space::of(start, end, step),                                   \
                  {kind, static_cast<std::uint64_t>(chunk)}, flags);                                         \
  }

PARALLEL_LOOP(static, schedule::fixed)
PARALLEL_LOOP(dynamic, schedule::dynamic)
PARALLEL_LOOP(guided, schedule::guided)
PARALLEL_LOOP(nonmonotonic_dynamic, schedule::dynamic)
PARALLEL_LOOP(nonmonotonic_guided, schedule::guided)

#define PARALLEL_RUNTIME_LOOP(name)                                                                          \
  OMP_EXPORT void GOMP_parallel_loop_##name(function f, void* data, unsigned threads, long start, long end,  \
                                            long step, unsigned flags) {                                     \
    parallel_loop(f, data, threads, iteration_space::of(start, end, step), runtime_form(called()), flags);   \
  }

PARALLEL_RUNTIME_LOOP(runtime)
PARALLEL_RUNTIME_LOOP(nonmonotonic_runtime)
PARALLEL_RUNTIME_LOOP(maybe_nonmonotonic_runtime)

#define PARALLEL_LOOP_START(name, kind)                                                                      \
  OMP_EXPORT void GOMP_parallel_loop_##name##_start(function f, void* data, unsigned threads, long start,    \
                                                    long end, long step, long chunk) {                       \
    start_parallel_loop(f, data, threads, iteration_space::of(start, end, step),                             \
                        {kind, static_cast<std::uint64_t>(chunk)});                                          \
  }

PARALLEL_LOOP_START(static, schedule::fixed)
PARALLEL_LOOP_START(dynamic, schedule::dynamic)
PARALLEL_LOOP_START(guided, schedule::guided)

OMP_EXPORT void GOMP_parallel_loop_runtime_start(function f, void* data, unsigned threads, long start,
                                                 long end, long step) {
  start_parallel_loop(f, data, threads, iteration_space::of(start, end, step), runtime_form(called()));
}
