// SPDX-License-Identifier: MIT
// The functions of omp.h that others of this folder call: the Fortran spellings, above all. omp.h itself is
// the compiler's; its types are ints and structs of these sizes.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
int omp_get_thread_num();
int omp_get_num_threads();
int omp_in_parallel();
int omp_get_level();
int omp_get_active_level();
int omp_get_ancestor_thread_num(int level);
int omp_get_team_size(int level);
int omp_in_final();
void omp_set_num_threads(int n);
int omp_get_max_threads();
int omp_get_num_procs();
void omp_set_dynamic(int on);
int omp_get_dynamic();
void omp_set_nested(int on);
int omp_get_nested();
void omp_set_max_active_levels(int n);
int omp_get_max_active_levels();
int omp_get_supported_active_levels();
int omp_get_thread_limit();
void omp_set_schedule(unsigned kind, int chunk);
void omp_get_schedule(unsigned* kind, int* chunk);
int omp_get_cancellation();
int omp_get_max_task_priority();
int omp_get_proc_bind();
int omp_get_num_teams();
int omp_get_team_num();
void omp_set_num_teams(int n);
int omp_get_max_teams();
void omp_set_teams_thread_limit(int n);
int omp_get_teams_thread_limit();
void omp_set_default_device(int n);
int omp_get_default_device();
int omp_get_num_devices();
int omp_get_initial_device();
int omp_get_device_num();
int omp_is_initial_device();
double omp_get_wtime();
double omp_get_wtick();
int omp_pause_resource(int kind, int device);
int omp_pause_resource_all(int kind);

void omp_init_lock(void* lock);
void omp_init_lock_with_hint(void* lock, int hint);
void omp_destroy_lock(void* lock);
void omp_set_lock(void* lock);
void omp_unset_lock(void* lock);
int omp_test_lock(void* lock);
void omp_init_nest_lock(void* lock);
void omp_init_nest_lock_with_hint(void* lock, int hint);
void omp_destroy_nest_lock(void* lock);
void omp_set_nest_lock(void* lock);
void omp_unset_nest_lock(void* lock);
int omp_test_nest_lock(void* lock);

int omp_get_num_places();
int omp_get_place_num();
int omp_get_place_num_procs(int place);
void omp_get_place_proc_ids(int place, int* ids);
int omp_get_partition_num_places();
void omp_get_partition_place_nums(int* places);
void omp_set_affinity_format(const char* format);
std::size_t omp_get_affinity_format(char* buffer, std::size_t bytes);
void omp_display_affinity(const char* format);
std::size_t omp_capture_affinity(char* buffer, std::size_t bytes, const char* format);
void omp_display_env(int verbose);

void omp_fulfill_event(std::uintptr_t event);
std::uintptr_t omp_init_allocator(std::uintptr_t space, int count, const void* traits);
void omp_destroy_allocator(std::uintptr_t allocator);
void omp_set_default_allocator(std::uintptr_t allocator);
std::uintptr_t omp_get_default_allocator();
void* omp_alloc(std::size_t bytes, std::uintptr_t allocator);
void* omp_aligned_alloc(std::size_t align, std::size_t bytes, std::uintptr_t allocator);
void* omp_calloc(std::size_t count, std::size_t bytes, std::uintptr_t allocator);
void* omp_aligned_calloc(std::size_t align, std::size_t count, std::size_t bytes, std::uintptr_t allocator);
void* omp_realloc(void* block, std::size_t bytes, std::uintptr_t allocator, std::uintptr_t from);
void omp_free(void* block, std::uintptr_t allocator);
}
