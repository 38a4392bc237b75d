// SPDX-License-Identifier: MIT
// What Fortran programs call: names with an underscore, arguments by address; `_8_` where integers have eight
// bytes. omp_lib's types are those of omp.h.
#include "front/openmp/gomp/abi.hpp"
#include "front/openmp/gomp/functions.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <string>

namespace {

using eight = std::int64_t;

int clipped(eight n) noexcept {
  return static_cast<int>(std::clamp<eight>(n, INT_MIN, INT_MAX));
}

// A Fortran string has a length and no end; spaces at its end are none of it.
std::string from_fortran(const char* text, std::size_t bytes) {
  while (bytes != 0 && text[bytes - 1] == ' ')
    --bytes;
  return std::string(text, bytes);
}

void pad(char* buffer, std::size_t bytes, std::size_t used) {
  if (used < bytes)
    std::memset(buffer + used, ' ', bytes - used);
}

} // namespace

#define GET(name)                                                                                            \
  OMP_EXPORT int omp_##name##_() {                                                                           \
    return omp_##name();                                                                                     \
  }
#define GET_AT(name)                                                                                         \
  OMP_EXPORT int omp_##name##_(const std::int32_t* n) {                                                      \
    return omp_##name(*n);                                                                                   \
  }                                                                                                          \
  OMP_EXPORT int omp_##name##_8_(const eight* n) {                                                           \
    return omp_##name(clipped(*n));                                                                          \
  }
#define SET(name)                                                                                            \
  OMP_EXPORT void omp_##name##_(const std::int32_t* n) {                                                     \
    omp_##name(*n);                                                                                          \
  }                                                                                                          \
  OMP_EXPORT void omp_##name##_8_(const eight* n) {                                                          \
    omp_##name(clipped(*n));                                                                                 \
  }
#define SET_LOGICAL(name)                                                                                    \
  OMP_EXPORT void omp_##name##_(const std::int32_t* n) {                                                     \
    omp_##name(*n);                                                                                          \
  }                                                                                                          \
  OMP_EXPORT void omp_##name##_8_(const eight* n) {                                                          \
    omp_##name(*n != 0 ? 1 : 0);                                                                             \
  }

GET(get_thread_num)
GET(get_num_threads)
GET(in_parallel)
GET(get_level)
GET(get_active_level)
GET(in_final)
GET(get_max_threads)
GET(get_num_procs)
GET(get_dynamic)
GET(get_nested)
GET(get_max_active_levels)
GET(get_supported_active_levels)
GET(get_thread_limit)
GET(get_cancellation)
GET(get_max_task_priority)
GET(get_proc_bind)
GET(get_num_teams)
GET(get_team_num)
GET(get_max_teams)
GET(get_teams_thread_limit)
GET(get_default_device)
GET(get_num_devices)
GET(get_initial_device)
GET(get_device_num)
GET(is_initial_device)
GET(get_num_places)
GET(get_place_num)
GET(get_partition_num_places)
GET_AT(get_ancestor_thread_num)
GET_AT(get_team_size)
GET_AT(get_place_num_procs)
SET(set_num_threads)
SET(set_max_active_levels)
SET(set_num_teams)
SET(set_teams_thread_limit)
SET(set_default_device)
SET_LOGICAL(set_dynamic)
SET_LOGICAL(set_nested)
SET_LOGICAL(display_env)

OMP_EXPORT double omp_get_wtime_() {
  return omp_get_wtime();
}
OMP_EXPORT double omp_get_wtick_() {
  return omp_get_wtick();
}

OMP_EXPORT void omp_set_schedule_(const std::int32_t* kind, const std::int32_t* chunk) {
  omp_set_schedule(static_cast<unsigned>(*kind), *chunk);
}
OMP_EXPORT void omp_set_schedule_8_(const std::int32_t* kind, const eight* chunk) {
  omp_set_schedule(static_cast<unsigned>(*kind), clipped(*chunk));
}
OMP_EXPORT void omp_get_schedule_(std::int32_t* kind, std::int32_t* chunk) {
  unsigned k = 0;
  omp_get_schedule(&k, chunk);
  // What is monotonic anyway is not marked: programs compare with the plain numbers.
  *kind = static_cast<std::int32_t>(k);
}
OMP_EXPORT void omp_get_schedule_8_(std::int32_t* kind, eight* chunk) {
  std::int32_t narrow = 0;
  omp_get_schedule_(kind, &narrow);
  *chunk = narrow;
}

OMP_EXPORT int omp_pause_resource_(const std::int32_t* kind, const std::int32_t* device) {
  return omp_pause_resource(*kind, *device);
}
OMP_EXPORT int omp_pause_resource_all_(const std::int32_t* kind) {
  return omp_pause_resource_all(*kind);
}

// --- locks: omp_lock_kind has 4 bytes; omp_nest_lock_kind has 8, the address of a lock that is made for it
// ---

#define ON_LOCK(name)                                                                                        \
  OMP_EXPORT void omp_##name##_lock_(void* lock) {                                                           \
    omp_##name##_lock(lock);                                                                                 \
  }
ON_LOCK(init)
ON_LOCK(destroy)
ON_LOCK(set)
ON_LOCK(unset)
OMP_EXPORT int omp_test_lock_(void* lock) {
  return omp_test_lock(lock);
}
OMP_EXPORT void omp_init_lock_with_hint_(void* lock, const int* /*hint*/) {
  omp_init_lock(lock);
}

namespace {

constexpr std::size_t nest_lock_bytes = 16;

void* made_for(void* kind) noexcept {
  return *static_cast<void**>(kind);
}

} // namespace

OMP_EXPORT void omp_init_nest_lock_(void* kind) {
  void* const lock = ::operator new(nest_lock_bytes);
  omp_init_nest_lock(lock);
  *static_cast<void**>(kind) = lock;
}
OMP_EXPORT void omp_init_nest_lock_with_hint_(void* kind, const int* /*hint*/) {
  omp_init_nest_lock_(kind);
}
OMP_EXPORT void omp_destroy_nest_lock_(void* kind) {
  omp_destroy_nest_lock(made_for(kind));
  ::operator delete(made_for(kind));
  *static_cast<void**>(kind) = nullptr;
}
OMP_EXPORT void omp_set_nest_lock_(void* kind) {
  omp_set_nest_lock(made_for(kind));
}
OMP_EXPORT void omp_unset_nest_lock_(void* kind) {
  omp_unset_nest_lock(made_for(kind));
}
OMP_EXPORT int omp_test_nest_lock_(void* kind) {
  return omp_test_nest_lock(made_for(kind));
}

// --- places and formats ---

OMP_EXPORT void omp_get_place_proc_ids_(const std::int32_t* place, std::int32_t* ids) {
  omp_get_place_proc_ids(*place, ids);
}
OMP_EXPORT void omp_get_place_proc_ids_8_(const eight* place, eight* ids) {
  const int number = clipped(*place);
  const int n = omp_get_place_num_procs(number);
  std::string narrow(static_cast<std::size_t>(n) * sizeof(std::int32_t), '\0');
  auto* const list = reinterpret_cast<std::int32_t*>(narrow.data());
  omp_get_place_proc_ids(number, list);
  std::copy(list, list + n, ids);
}
OMP_EXPORT void omp_get_partition_place_nums_(std::int32_t* numbers) {
  omp_get_partition_place_nums(numbers);
}
OMP_EXPORT void omp_get_partition_place_nums_8_(eight* numbers) {
  const int n = omp_get_partition_num_places();
  std::string narrow(static_cast<std::size_t>(n) * sizeof(std::int32_t), '\0');
  auto* const list = reinterpret_cast<std::int32_t*>(narrow.data());
  omp_get_partition_place_nums(list);
  std::copy(list, list + n, numbers);
}

OMP_EXPORT void omp_set_affinity_format_(const char* format, std::size_t bytes) {
  omp_set_affinity_format(from_fortran(format, bytes).c_str());
}
OMP_EXPORT int omp_get_affinity_format_(char* buffer, std::size_t bytes) {
  const std::size_t n = omp_get_affinity_format(nullptr, 0);
  std::string text(n + 1, '\0');
  omp_get_affinity_format(text.data(), n + 1);
  std::memcpy(buffer, text.data(), std::min(n, bytes));
  pad(buffer, bytes, n);
  return static_cast<int>(n);
}
OMP_EXPORT void omp_display_affinity_(const char* format, std::size_t bytes) {
  omp_display_affinity(from_fortran(format, bytes).c_str());
}
OMP_EXPORT int omp_capture_affinity_(char* buffer, const char* format, std::size_t buffer_bytes,
                                     std::size_t format_bytes) {
  const std::string f = from_fortran(format, format_bytes);
  const std::size_t n = omp_capture_affinity(nullptr, 0, f.c_str());
  std::string text(n + 1, '\0');
  omp_capture_affinity(text.data(), n + 1, f.c_str());
  std::memcpy(buffer, text.data(), std::min(n, buffer_bytes));
  pad(buffer, buffer_bytes, n);
  return static_cast<int>(n);
}

// By value, as omp_lib declares it.
OMP_EXPORT void omp_fulfill_event_(std::uintptr_t event) {
  omp_fulfill_event(event);
}

// --- allocators ---

OMP_EXPORT std::uintptr_t omp_init_allocator_(const std::uintptr_t* space, const std::int32_t* count,
                                              const void* traits) {
  return omp_init_allocator(*space, *count, traits);
}
OMP_EXPORT std::uintptr_t omp_init_allocator_8_(const std::uintptr_t* space, const eight* count,
                                                const void* traits) {
  return omp_init_allocator(*space, clipped(*count), traits);
}
OMP_EXPORT void omp_destroy_allocator_(const std::uintptr_t* allocator) {
  omp_destroy_allocator(*allocator);
}
OMP_EXPORT void omp_set_default_allocator_(const std::uintptr_t* allocator) {
  omp_set_default_allocator(*allocator);
}
OMP_EXPORT std::uintptr_t omp_get_default_allocator_() {
  return omp_get_default_allocator();
}
