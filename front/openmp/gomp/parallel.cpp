// SPDX-License-Identifier: MIT
// Parallel regions, sections, single, scope, barriers and what cancels them.
#include "front/openmp/gomp/abi.hpp"

using namespace weft::openmp;
using namespace weft::openmp::gomp;

// --- regions ---

OMP_EXPORT void GOMP_parallel(function f, void* data, unsigned threads, unsigned flags) {
  parallel(called(), {.function = f, .data = data, .threads = threads, .bind = bind_of(flags)});
}
// Of compilers before 4.9: the caller runs its part itself, between the two.
OMP_EXPORT void GOMP_parallel_start(function f, void* data, unsigned threads) {
  open_region(called(), {.function = f, .data = data, .threads = threads});
}
OMP_EXPORT void GOMP_parallel_end() {
  close_region(called());
}

// The first words of `data` point to the description of the reductions; tasks of all members are in one
// group.
OMP_EXPORT unsigned GOMP_parallel_reductions(function f, void* data, unsigned threads, unsigned flags) {
  thread& t = called();
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
  chunk c;
  if (!take(t, c))
    return 0;
  if (tool::is_on) [[unlikely]]
    tool::section_begins(t);
  return static_cast<unsigned>(t.at.share->space.value(c.low));
}

void tell_sections(thread& t, unsigned count) {
  if (tool::is_on) [[unlikely]]
    tool::work_begins(t, tool::work::sections, count);
}

constexpr loop_form one_by_one{schedule::dynamic, 1};

iteration_space sections(unsigned count) noexcept {
  return iteration_space::of(1, static_cast<long>(count) + 1, 1);
}

} // namespace

OMP_EXPORT unsigned GOMP_sections_start(unsigned count) {
  thread& t = called();
  enter_share(t, [&](work_share& s) { set_up(s, sections(count), one_by_one); });
  tell_sections(t, count);
  return next_section(t);
}
OMP_EXPORT unsigned GOMP_sections2_start(unsigned count, std::uintptr_t* reductions, void** memory) {
  thread& t = called();
  enter_share_with(t, reductions, memory, [&](work_share& s) { set_up(s, sections(count), one_by_one); });
  tell_sections(t, count);
  return next_section(t);
}
OMP_EXPORT unsigned GOMP_sections_next() {
  return next_section(called());
}
OMP_EXPORT void GOMP_sections_end() {
  static_cast<void>(end_of_share(called(), false)); // SWITCH: may resume on another worker
}
OMP_EXPORT bool GOMP_sections_end_cancel() {
  return end_of_share(called(), true); // SWITCH: may resume on another worker
}
OMP_EXPORT void GOMP_sections_end_nowait() {
  tell_end_of_work();
}

OMP_EXPORT void GOMP_parallel_sections(function f, void* data, unsigned threads, unsigned count,
                                       unsigned flags) {
  thread& t = called();
  work_share& s = take_share(t);
  set_up(s, sections(count), one_by_one);
  parallel(
      t,
      {.function = f, .data = data, .threads = threads, .most = count, .bind = bind_of(flags), .share = &s});
}
OMP_EXPORT void GOMP_parallel_sections_start(function f, void* data, unsigned threads, unsigned count) {
  thread& t = called();
  work_share& s = take_share(t);
  set_up(s, sections(count), one_by_one);
  open_region(t, {.function = f, .data = data, .threads = threads, .most = count, .share = &s});
}

// --- single, scope ---

OMP_EXPORT bool GOMP_single_start() {
  thread& t = called();
  const bool mine = enter_share(t, [](work_share&) {});
  if (tool::is_on) [[unlikely]] {
    tool::single(t, mine);
    tool::work_ends(t); // the ABI does not say when it is over
  }
  return mine;
}
// copyprivate: null for the one that runs it; the others wait, and get what it gives out.
OMP_EXPORT void* GOMP_single_copy_start() {
  thread& t = called();
  const bool mine = enter_share(t, [](work_share&) {});
  if (tool::is_on) [[unlikely]]
    tool::single(t, mine);
  if (mine)
    return nullptr;
  static_cast<void>(barrier(t, false));
  return t.at.share->copied;
}
OMP_EXPORT void GOMP_single_copy_end(void* data) {
  thread& t = called();
  if (tool::is_on) [[unlikely]]
    tool::work_ends(t);
  t.at.share->copied = data;
  static_cast<void>(barrier(t, false));
}
OMP_EXPORT void GOMP_scope_start(std::uintptr_t* reductions) {
  enter_share_with(called(), reductions, nullptr, [](work_share&) {});
}

// --- barriers and cancellation ---

OMP_EXPORT void GOMP_barrier() {
  static_cast<void>(barrier(called(tool::sync::explicit_barrier), false));
}
OMP_EXPORT bool GOMP_barrier_cancel() {
  return barrier(called(tool::sync::explicit_barrier), true);
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
  return is_cancelled(called(), which(bits));
}
OMP_EXPORT bool GOMP_cancel(int bits, bool wanted) {
  thread& t = called();
  return wanted ? cancel(t, which(bits)) : is_cancelled(t, which(bits));
}
