// SPDX-License-Identifier: MIT
// The functions of omp.h once more under the version that libomp gives all of its names, for programs that
// were linked to it. They are the same but for nested locks, which have 8 bytes in LLVM's omp.h: a lock of
// ours is made for them, as for Fortran's; and for what libomp says in another way: affinities, schedules.
#include "front/openmp/gomp/functions.hpp"
#include "front/openmp/kmp/abi.hpp"
#include "front/openmp/places.hpp"

#include <cstdio>
#include <new>

#define AGAIN(result, name, parameters, arguments)                                                           \
  extern "C" __attribute__((visibility("default"))) result omp_##name##_of_llvm parameters {                 \
    return omp_##name arguments;                                                                             \
  }                                                                                                          \
  __asm__(".symver omp_" #name "_of_llvm, omp_" #name "@VERSION")
#define OTHER(result, name, parameters, body)                                                                \
  extern "C" __attribute__((visibility("default"))) result omp_##name##_of_llvm parameters {                 \
    body;                                                                                                    \
  }                                                                                                          \
  __asm__(".symver omp_" #name "_of_llvm, omp_" #name "@VERSION")
#define GET(name) AGAIN(int, name, (), ())
#define GET_AT(name) AGAIN(int, name, (int n), (n))
#define SET(name) AGAIN(void, name, (int n), (n))
#define ON_LOCK(name) AGAIN(void, name, (void* lock), (lock))

GET(get_thread_num);
GET(in_parallel);
GET(get_level);
GET(get_active_level);
GET(in_final);
GET(get_max_threads);
GET(get_num_procs);
GET(get_dynamic);
GET(get_nested);
GET(get_max_active_levels);
GET(get_supported_active_levels);
GET(get_thread_limit);
GET(get_cancellation);
GET(get_max_task_priority);
GET(get_proc_bind);
GET(get_num_teams);
GET(get_team_num);
GET(get_max_teams);
GET(get_teams_thread_limit);
GET(get_default_device);
GET(get_num_devices);
GET(get_initial_device);
GET(get_device_num);
GET(is_initial_device);
GET(get_num_places);
GET(get_place_num);
GET(get_partition_num_places);
GET_AT(get_ancestor_thread_num);
GET_AT(get_team_size);
GET_AT(get_place_num_procs);
GET_AT(pause_resource_all);
SET(set_num_threads);
SET(set_dynamic);
SET(set_nested);
SET(set_max_active_levels);
SET(set_num_teams);
SET(set_teams_thread_limit);
SET(set_default_device);
SET(display_env);
ON_LOCK(init_lock);
ON_LOCK(destroy_lock);
ON_LOCK(set_lock);
ON_LOCK(unset_lock);
AGAIN(int, test_lock, (void* lock), (lock));
AGAIN(void, init_lock_with_hint, (void* lock, int hint), (lock, hint));
AGAIN(double, get_wtime, (), ());
AGAIN(double, get_wtick, (), ());
AGAIN(void, set_schedule, (unsigned kind, int chunk), (kind, chunk));
AGAIN(int, pause_resource, (int kind, int device), (kind, device));
AGAIN(void, get_place_proc_ids, (int place, int* ids), (place, ids));
AGAIN(void, get_partition_place_nums, (int* places), (places));
AGAIN(void, set_affinity_format, (const char* format), (format));
AGAIN(void, fulfill_event, (std::uintptr_t event), (event));

AGAIN(std::uintptr_t, init_allocator, (std::uintptr_t space, int count, const void* traits),
      (space, count, traits));
AGAIN(void, destroy_allocator, (std::uintptr_t allocator), (allocator));
AGAIN(void, set_default_allocator, (std::uintptr_t allocator), (allocator));
AGAIN(std::uintptr_t, get_default_allocator, (), ());
AGAIN(void*, alloc, (std::size_t bytes, std::uintptr_t allocator), (bytes, allocator));
AGAIN(void*, aligned_alloc, (std::size_t align, std::size_t bytes, std::uintptr_t allocator),
      (align, bytes, allocator));
AGAIN(void*, calloc, (std::size_t count, std::size_t bytes, std::uintptr_t allocator),
      (count, bytes, allocator));
AGAIN(void*, aligned_calloc,
      (std::size_t align, std::size_t count, std::size_t bytes, std::uintptr_t allocator),
      (align, count, bytes, allocator));
AGAIN(void*, realloc, (void* block, std::size_t bytes, std::uintptr_t allocator, std::uintptr_t from),
      (block, bytes, allocator, from));
AGAIN(void, free, (void* block, std::uintptr_t allocator), (block, allocator));

// --- what differs, and what LLVM's omp.h calls in C, where the Fortran functions have these names ---

// Programs for LLVM's runtime begin with this call if a tool is to know them from the start.
OTHER(int, get_num_threads, (), return static_cast<int>(weft::openmp::caller().at.team->size));
// Where nobody has said anything it is static, and only what was asked for is monotonic.
OTHER(void, get_schedule, (unsigned* kind, int* chunk), {
  const weft::openmp::icvs& icv = weft::openmp::caller().current->icv;
  const bool given = icv.schedule_given;
  *kind =
      given ? static_cast<unsigned>(icv.run_schedule) : static_cast<unsigned>(weft::openmp::schedule::fixed);
  if (icv.monotonic_given)
    *kind |= weft::openmp::monotonic_mark;
  *chunk = given ? static_cast<int>(icv.chunk) : 0;
});
OTHER(void, display_affinity, (const char* format), weft::openmp::display_affinity(format, true));
OTHER(std::size_t, get_affinity_format, (char* buffer, std::size_t bytes),
      return weft::openmp::affinity_format(buffer, bytes, true));
OTHER(std::size_t, capture_affinity, (char* buffer, std::size_t bytes, const char* format),
      return weft::openmp::capture_affinity(buffer, bytes, format, true));

KMP_EXPORT void ompc_set_affinity_format(const char* format) {
  omp_set_affinity_format(format);
}
KMP_EXPORT std::size_t ompc_get_affinity_format(char* buffer, std::size_t bytes) {
  return weft::openmp::affinity_format(buffer, bytes, true);
}
KMP_EXPORT void ompc_display_affinity(const char* format) {
  weft::openmp::display_affinity(format, true);
}
KMP_EXPORT std::size_t ompc_capture_affinity(char* buffer, std::size_t bytes, const char* format) {
  return weft::openmp::capture_affinity(buffer, bytes, format, true);
}

// --- nested locks ---

namespace {

constexpr std::size_t nest_lock_bytes = 16;

void* made_for(void* lock) noexcept {
  return *static_cast<void**>(lock);
}
void* make_for(void* lock) {
  return *static_cast<void**>(lock) = ::operator new(nest_lock_bytes);
}

} // namespace

OTHER(void, init_nest_lock, (void* lock), omp_init_nest_lock(make_for(lock)));
OTHER(void, init_nest_lock_with_hint, (void* lock, int hint),
      omp_init_nest_lock_with_hint(make_for(lock), hint));
OTHER(void, destroy_nest_lock, (void* lock), {
  if (weft::openmp::tool::is_on) [[unlikely]]
    weft::openmp::tool::lock_ends(weft::openmp::kmp::called_by(nullptr), weft::openmp::tool::mutex::nest_lock,
                                  made_for(lock));
  ::operator delete(made_for(lock));
});
OTHER(void, set_nest_lock, (void* lock), omp_set_nest_lock(made_for(lock)));
OTHER(void, unset_nest_lock, (void* lock), omp_unset_nest_lock(made_for(lock)));
OTHER(int, test_nest_lock, (void* lock), return omp_test_nest_lock(made_for(lock)));
