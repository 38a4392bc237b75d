// SPDX-License-Identifier: MIT
// The internal control variables: those that each task has of its own, and those that the process has once,
// from the environment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::openmp {

enum class binding : std::uint8_t { off, on, primary, close, spread };

/// The numbers are those of omp_sched_t. The mark stands beside them in what programs pass and read.
enum class schedule : std::uint8_t { fixed = 1, dynamic = 2, guided = 3, automatic = 4 };
inline constexpr unsigned monotonic_mark = 0x80000000U;

/// What a task has of its own: copied from its parent, changed by omp_set_...().
struct icvs {
  unsigned threads = 1;
  const unsigned* threads_below =
      nullptr; // of the teams inside, level after level, up to a 0; the last stays
  unsigned thread_limit = ~0U;
  unsigned max_active_levels = 1;
  schedule run_schedule = schedule::dynamic;
  bool monotonic = false;
  bool schedule_given = false; // or this is libgomp's own; LLVM's is static
  bool monotonic_given = false;
  bool dynamic = false;
  binding bind = binding::off;
  int default_device = 0;
  std::uint64_t chunk = 1; // of run_schedule; 0: none was given
  std::uintptr_t allocator = 1;
};

/// OMP_TARGET_OFFLOAD. The host is the only device, so that is where target constructs run.
enum class offloading : std::uint8_t { disabled, by_default, mandatory };

enum class wait_policy : std::uint8_t { unset, active, passive };

/// One for the process: read once, before anything else. Ownership: nobody changes it later, but for what
/// says so.
struct settings {
  icvs first;                    // of initial threads
  std::vector<unsigned> threads; // OMP_NUM_THREADS, a number for each level
  std::vector<binding> bindings; // OMP_PROC_BIND, the same
  bool cancellation = false;
  int max_task_priority = 0;
  bool throttles = true;      // a thread with many tasks runs the next ones itself
  std::size_t stack_size = 0; // of threads; 0: as RLIMIT_STACK says
  wait_policy policy = wait_policy::unset;
  std::int64_t spins = -1;         // GOMP_SPINCOUNT; -1: none was given
  std::int64_t block_time_us = -1; // KMP_BLOCKTIME; -1: none was given
  std::uint32_t looks = 0;         // of a thread that waits, before it sleeps, as long as each has a CPU
  std::string affinity_format = "level %L thread %i affinity %A";
  bool affinity_format_given = false;
  bool display_affinity = false;
  unsigned teams = 0;              // OMP_NUM_TEAMS; changed by omp_set_num_teams()
  unsigned teams_thread_limit = 0; // the same
  bool places_given = false;
  std::vector<std::vector<int>> kmp_places; // of KMP_AFFINITY, if that is where places come from
  offloading offload = offloading::by_default;
};

/// Reads the environment at the first call. *Contexts*: all but signal handlers. *Switches*: never.
/// *Errors*: none: what is wrong in the environment is named on the error output, and ignored.
settings& process() noexcept;

/// The highest number of nested active levels that omp_set_max_active_levels() takes.
inline constexpr unsigned supported_active_levels = 255;

/// For OMP_DISPLAY_ENV and omp_display_env().
void display_environment(bool verbose);

} // namespace weft::openmp
