// SPDX-License-Identifier: MIT
// Parallel regions, sections, single, scope, barriers and what cancels them.
#include "front/openmp/gomp/abi.hpp"

using namespace weft::openmp;
using namespace weft::openmp::gomp;

// --- regions ---

OMP_EXPORT void GOMP_parallel(function f, void* data, unsigned threads, unsigned flags) {
  parallel(caller(), {.function = f, .data = data, .threads = threads, .bind = bind_of(flags)});
}
// Of compilers before 4.9: the caller runs its part itself, between the two.
OMP_EXPORT void GOMP_parallel_start(function f, void* data, unsigned threads) {
  open_region(caller(), {.function = f, .data = data, .threads = threads});
}
OMP_EXPORT void GOMP_parallel_end() {
  close_region(caller());
}

// The first words of `data` point to the description of the reductions; tasks of all members are in one
// group.
OMP_EXPORT unsigned GOMP_parallel_reductions(function f, void* data, unsigned threads, unsigned flags) {
  thread& t = caller();
  const unsigned n = threads_for(t, threads, 0);
  auto* const reductions = *static_cast<std::uintptr_t**>(data);
  allocate_reductions(reductions, n);
  task_group group;
  group.outer = t.current->group;
  group.reductions = reductions;
  parallel(t, {.function = f, .data = data, .threads = n, .bind = bind_of(flags), .group = &group});
  return n;
}

// --- sections: a loop over their numbers from 1; 0 says that there is none left ---

namespace {

unsigned next_section(thread& t) noexcept {
  long first = 0;
  long end = 0;
  return next_chunk(t, &first, &end) ? static_cast<unsigned>(first) : 0;
}

constexpr loop_form one_by_one{schedule::dynamic, 1};

iteration_space sections(unsigned count) noexcept {
  return iteration_space::of(1, static_cast<long>(count) + 1, 1);
}

} // namespace

OMP_EXPORT unsigned GOMP_sections_start(unsigned count) {
  thread& t = caller();
  begin_loop(t, sections(count), one_by_one);
  return next_section(t);
}
OMP_EXPORT unsigned GOMP_sections2_start(unsigned count, std::uintptr_t* reductions, void** memory) {
  thread& t = caller();
  enter_share_with(t, reductions, memory, [&](work_share& s) { set_up(s, sections(count), one_by_one); });
  return next_section(t);
}
OMP_EXPORT unsigned GOMP_sections_next() {
  return next_section(caller());
}
OMP_EXPORT void GOMP_sections_end() {
  static_cast<void>(barrier(caller(), false));
}
OMP_EXPORT bool GOMP_sections_end_cancel() {
  return barrier(caller(), true);
}
OMP_EXPORT void GOMP_sections_end_nowait() {}

OMP_EXPORT void GOMP_parallel_sections(function f, void* data, unsigned threads, unsigned count,
                                       unsigned flags) {
  thread& t = caller();
  work_share& s = take_share(t);
  set_up(s, sections(count), one_by_one);
  parallel(
      t,
      {.function = f, .data = data, .threads = threads, .most = count, .bind = bind_of(flags), .share = &s});
}
OMP_EXPORT void GOMP_parallel_sections_start(function f, void* data, unsigned threads, unsigned count) {
  thread& t = caller();
  work_share& s = take_share(t);
  set_up(s, sections(count), one_by_one);
  open_region(t, {.function = f, .data = data, .threads = threads, .most = count, .share = &s});
}

// --- single, scope ---

OMP_EXPORT bool GOMP_single_start() {
  return enter_share(caller(), [](work_share&) {});
}
// copyprivate: null for the one that runs it; the others wait, and get what it gives out.
OMP_EXPORT void* GOMP_single_copy_start() {
  thread& t = caller();
  if (enter_share(t, [](work_share&) {}))
    return nullptr;
  static_cast<void>(barrier(t, false));
  return t.at.share->copied;
}
OMP_EXPORT void GOMP_single_copy_end(void* data) {
  thread& t = caller();
  t.at.share->copied = data;
  static_cast<void>(barrier(t, false));
}
OMP_EXPORT void GOMP_scope_start(std::uintptr_t* reductions) {
  enter_share_with(caller(), reductions, nullptr, [](work_share&) {});
}

// --- barriers and cancellation ---

OMP_EXPORT void GOMP_barrier() {
  static_cast<void>(barrier(caller(), false));
}
OMP_EXPORT bool GOMP_barrier_cancel() {
  return barrier(caller(), true);
}

namespace {

cancellation which(int bits) noexcept {
  if ((bits & 2) != 0)
    return cancellation::loop;
  if ((bits & 4) != 0)
    return cancellation::sections;
  return (bits & 8) != 0 ? cancellation::group : cancellation::parallel;
}

} // namespace

OMP_EXPORT bool GOMP_cancellation_point(int bits) {
  return is_cancelled(caller(), which(bits));
}
OMP_EXPORT bool GOMP_cancel(int bits, bool wanted) {
  return wanted ? cancel(caller(), which(bits)) : is_cancelled(caller(), which(bits));
}
