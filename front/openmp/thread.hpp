// SPDX-License-Identifier: MIT
// A thread of OpenMP: a kernel thread of the program's that has met the runtime, or one that runs a member of
// teams. Each has thread-local variables of its own, so that the word `self` finds it in one load; whoever
// changes its kernel thread takes these along (docs/design/openmp.md).
#pragma once

#include "front/openmp/bed.hpp"
#include "front/openmp/icv.hpp"
#include "front/openmp/tool/tool.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace weft::openmp {

struct team;
struct task;
struct work_share;
class crew;

/// Where a thread stands: which member of which team it is, and how far it has come in that. What a thread
/// that opens a region had before is kept in the team, from which the levels above are found.
struct position {
  openmp::team* team = nullptr; // outside of regions that of the thread alone
  unsigned number = 0;
  unsigned level = 0;
  unsigned active_level = 0;
  work_share* share = nullptr; // the last that it has entered
  std::uint64_t trip = 0;      // chunks taken of a static one
  std::uint64_t low = 0;       // of an ordered one: the chunk that it has, as numbers of iterations
  std::uint64_t high = 0;
  bool has_chunk = false;
  unsigned place = 0;       // index of its place + 1; 0: not bound
  unsigned first_place = 0; // the partition of places that it may use
  unsigned place_count = 0;
};

/// Of the league that is run on the host, for omp_get_team_num() and the like.
struct league_position {
  unsigned number = 0;
  unsigned size = 1;
};

/// Threads that belong together: those under one initial thread. They are counted for the limit.
struct contention_group {
  door::atomic<unsigned> threads{1};
};

/// What a thread keeps of a loop that it is in, for an ABI that gives it once only (kmp/doacross.cpp).
struct loop_with_bounds {
  virtual ~loop_with_bounds() = default;
};

/// A thread's copies of variables, for an ABI in which it asks for them (kmp/threadprivate.cpp).
struct copies_of_variables {
  virtual ~copies_of_variables() = default;
};

/// num_threads(strict: n): what is done where there are fewer. Null: it is not asked for.
struct strictness {
  void (*say)(const strictness&, unsigned wanted, unsigned got) = nullptr;
  int severity = 0;
  const char* message = nullptr;
};

/// When a thread may take tasks from others again. A theft costs the thief and the maker of the tasks some
/// hundred nanoseconds each, in cache lines that they wait for: one that brought less than that in work is
/// followed by a pause, in which the maker goes on alone and tasks gather, and the next one brings more of
/// them.
class theft_pause {
 public:
  /// True: it is not over; a moment of it has passed.
  [[nodiscard]] bool goes_on() noexcept { return until_ != 0 && !is_over(); }
  /// When a theft began, for end(); 0: there is no pause after it.
  static std::int64_t begin() noexcept;
  /// So many tasks have run, without those that they have made.
  void end(std::int64_t began, unsigned tasks) noexcept;

 private:
  static std::int64_t now() noexcept; // ns
  bool is_over() noexcept;
  std::int64_t until_ = 0; // 0: there is none
  std::int32_t last_ = 0;  // ns: it is doubled
};

/// How memory for tasks is aligned: to cache lines, two of which others touch (task.hpp).
inline constexpr std::align_val_t task_memory{64};
struct free_task_memory {
  void operator()(std::byte* memory) const noexcept { ::operator delete(memory, task_memory); }
};
/// Memory that a task had, on its way back to the thread that took it.
struct task_cell {
  task_cell* next;
};

/// *Ownership*: the thread itself, but for `bed` and `returned`; whoever opens a region sets the position of
/// its members before they start.
struct thread {
  thread();
  ~thread();
  thread(const thread&) = delete;
  thread& operator=(const thread&) = delete;

  position at;
  task* current;        // what it executes
  openmp::bed bed;      // where it waits in regions
  openmp::bed idle_bed; // where what runs it waits between them
  contention_group* group = nullptr;
  std::unique_ptr<loop_with_bounds> across;
  std::unique_ptr<copies_of_variables> copies;
  league_position league;
  unsigned mastering = 0;      // regions that it has opened and not closed
  const int id;                // differs from all other threads'
  unsigned threads_pushed = 0; // this and the next three: what LLVM's compiler says before a region, for that
  const unsigned* threads_below_pushed = nullptr;
  strictness strict_pushed;
  binding bind_pushed = binding::off;
  std::pair<unsigned, unsigned> league_pushed; // teams, and threads of each
  bool is_initial = true;
  bool runs_on_own_variables = false;       // what runs it is a bound_tls thread, and may take another one's
  bool has_pinned = false;                  // the workers with one thread each are its crew's
  std::vector<std::unique_ptr<crew>> crews; // one for each region that is open at a time
  std::vector<work_share*> spare_shares;
  std::vector<void*> spare_tasks; // cells for tasks, which are parts of these:
  std::vector<std::unique_ptr<std::byte, free_task_memory>> cells;
  door::atomic<task_cell*> returned{nullptr}; // the same, that other threads have given back
  theft_pause thefts;
  std::uint64_t shown = 0;     // by OMP_DISPLAY_AFFINITY: what its team was like
  unsigned bound_to = 0;       // the place that its kernel thread was last put on, + 1
  std::unique_ptr<team> alone; // of which it is the only member outside of regions
  std::unique_ptr<contention_group> own_group;
  tool::of_thread told;
};

/// Null: a kernel thread that the runtime has not met.
extern __thread thread* self __attribute__((tls_model("initial-exec")));

thread& meet_caller();

/// The calling thread. *Contexts*: in user mode: outside of runtime_section (weft/door/section.hpp). The
/// same for all of these below. *Switches*: never. *Errors*: std::bad_alloc ends the process.
[[gnu::always_inline]] inline thread& caller() {
  thread* const t = self;
  return t != nullptr ? *t : meet_caller();
}

/// In the child of fork(): whatever the thread had of others is gone.
void forget_others(thread& t) noexcept;

} // namespace weft::openmp
