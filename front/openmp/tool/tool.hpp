// SPDX-License-Identifier: MIT
// OMPT, OpenMP's interface for tools (5.1, chapter 4): what a tool is told of threads, regions, tasks and
// waits, and what is kept for that. Numbers and layouts are the standard's. Whoever changes the model asks
// `is_on`, which is false without a tool, and only then calls what is declared here.
#pragma once

#include "weft/door/atomic.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::openmp {

struct region;
struct task;
struct team;
struct thread;
enum class cancellation : std::uint8_t;

namespace tool {

/// There is a tool. *Ownership*: the first thread that the runtime meets; it never changes after that.
[[gnu::visibility("hidden")]] extern constinit bool is_on;

/// A word of the tool's own: ompt_data_t.
union word {
  std::uint64_t value;
  void* pointer;
};

enum frame_mark : int { is_of_runtime = 0x00, is_of_program = 0x01, is_cfa = 0x10, is_frame_pointer = 0x20 };

/// ompt_frame_t: where a task's own frames begin, and where it has called the runtime.
struct frame {
  word exit;
  word enter;
  int exit_flags;
  int enter_flags;
};

enum class sync : int {
  explicit_barrier = 3,
  implementation_barrier = 4,
  wait_for_children = 5,
  group = 6,
  reduction = 7,
  end_of_share = 8,
  end_of_region = 9,
};

enum class work : int {
  none = 0,
  loop = 1,
  sections = 2,
  single_executor = 3,
  single_other = 4,
  distribute = 6,
  taskloop = 7,
  scope = 8,
  static_loop = 10,
  dynamic_loop = 11,
  guided_loop = 12,
  other_loop = 13,
};

enum class mutex : int {
  lock = 1,
  test_lock = 2,
  nest_lock = 3,
  test_nest_lock = 4,
  critical = 5,
  atomic = 6,
  ordered = 7,
};

enum class status : int {
  complete = 1,
  yield = 2,
  cancel = 3,
  detach = 4,
  early_fulfill = 5,
  late_fulfill = 6,
  switched = 7,
  taskwait_complete = 8,
};

enum class chunk_of : int { section = 2, loop = 3, taskloop = 4, distribute = 5 };

enum class cancelled : int { activated = 0x10, detected = 0x20, discarded_task = 0x40 };

enum task_flag : unsigned {
  initial_task = 1,
  implicit_task = 2,
  explicit_task = 4,
  taskwait_task = 0x10,
  undeferred_task = 0x08000000,
  untied_task = 0x10000000,
  final_task = 0x20000000,
  mergeable_task = 0x40000000,
};

enum region_flag : unsigned {
  called_by_program = 1, // the master's part
  called_by_runtime = 2,
  is_league = 0x40000000,
  is_team = 0x80000000,
};

enum class state : int {
  serial = 0x000,
  parallel = 0x001,
  reduction = 0x002,
  end_of_region = 0x011,
  end_of_share = 0x012,
  explicit_barrier = 0x014,
  implementation_barrier = 0x015,
  taskwait = 0x020,
  taskgroup = 0x021,
  lock = 0x041,
  critical = 0x042,
  atomic = 0x043,
  ordered = 0x044,
  idle = 0x100,
  overhead = 0x101,
  undefined = 0x102,
};

/// ompt_dependence_t.
struct dependence {
  word variable;
  int type;
};
enum dependence_type : int {
  reads = 1,
  writes = 2,
  reads_and_writes = 3,
  excludes = 4,
  source = 5,
  sink = 6,
  reads_and_writes_together = 7,
  all_memory_out = 34,
  all_memory_inout = 35,
};

/// The call of the program's that the runtime is in.
struct call {
  const void* from = nullptr;
  void* stack = nullptr;
  sync barrier = sync::implementation_barrier; // what a barrier of this call is for
};

/// *Ownership*: the thread; a task's and a team's, whoever runs or opens it. All are used only if `is_on`.
struct of_thread {
  word data{0};
  openmp::tool::state state = state::undefined;
  std::uint64_t waits_for = 0;
  status leaves = status::switched; // why it goes on with another task next
  call called;
};
struct of_task {
  of_task() noexcept {} // nothing is paid without a tool: renew() begins it
  void renew(unsigned of_flags) noexcept;

  word data;
  openmp::tool::frame frame;
  unsigned flags;
  task* preempted;               // what its thread executed before it
  std::size_t bytes;             // of the data of an explicit one
  std::uint64_t first_iteration; // of a part of a taskloop
  std::uint64_t iterations;      // 0: it is none
  work share;                    // of an implicit task: the work share that it is in
  std::uint64_t share_count;
  door::atomic<bool> is_detached;
  door::atomic<unsigned> parts_to_come; // of an untied one that goes on later
};
struct of_team {
  word data{0};
  const void* from = nullptr;
  unsigned flags = 0;
  work share = work::none; // that all members begin with
  std::uint64_t share_count = 0;
  door::atomic<std::uint32_t> left{0}; // members that have told their end
};

/// From a call of the program's to its return its task stands in the runtime.
class in_call {
 public:
  explicit in_call(thread& t) noexcept;
  ~in_call();
  in_call(const in_call&) = delete;
  in_call& operator=(const in_call&) = delete;

 private:
  task& of_;
  const word before_;
};

/// For each function that programs call, before anything that is told: notes where it was called.
/// `barrier`: what its barrier is, if it has one. *Contexts*: all. *Switches*: never. *Errors*: none.
[[gnu::always_inline]] inline void note_call(of_thread& t,
                                             sync barrier = sync::implementation_barrier) noexcept {
  if (is_on) [[unlikely]]
    t.called = {__builtin_return_address(0), __builtin_dwarf_cfa(), barrier};
}

// All of these, which the compiler keeps apart (cold): *Contexts*: as caller(), and only if `is_on`.
// *Switches*: as the tool's functions do, which block the kernel thread at most. *Errors*: none.

// --- threads ---
/// Looks for a tool, once in the process, then tells it of the caller, which the runtime has just met.
[[gnu::cold]] void meet(thread& t);
[[gnu::cold]] void thread_begins(thread& t);
[[gnu::cold]] void thread_ends(thread& t);

// --- regions ---
/// Before its members start. The caller is in the task that opens it.
[[gnu::cold]] void region_begins(thread& t, team& in, const region& r, unsigned wanted);
[[gnu::cold]] void region_ends(thread& t, team& in);
/// The caller's implicit task. `frame`: of the function that calls the program's.
[[gnu::cold]] void implicit_begins(thread& t, void* frame);
[[gnu::cold]] void implicit_ends(thread& t);
/// The frame of who calls the program's code of the caller's task, if another one than was said.
[[gnu::cold]] void exits_from(thread& t, void* frame) noexcept;

/// A barrier, a taskwait, the end of a group: from the one to the other end of its life.
class waiting {
 public:
  [[gnu::cold]] waiting(thread& t, sync kind);
  [[gnu::cold]] ~waiting();
  waiting(const waiting&) = delete;
  waiting& operator=(const waiting&) = delete;

 private:
  thread& t_;
  task& waits_;
  const sync kind_;
  const void* const from_;
  const openmp::tool::state before_;
};

[[gnu::cold]] void group_begins(thread& t);
[[gnu::cold]] void group_ends(thread& t, const void* from);
[[gnu::cold]] void reduction_begins(thread& t);
[[gnu::cold]] void reduction_ends(thread& t);

// --- work shares ---
[[gnu::cold]] void work_begins(thread& t, work kind, std::uint64_t count);
/// The one that was begun last.
[[gnu::cold]] void work_ends(thread& t);
[[gnu::cold]] void single(thread& t, bool executes);
[[gnu::cold]] void chunk_begins(thread& t, chunk_of kind, std::uint64_t first, std::uint64_t count);
[[gnu::cold]] void section_begins(thread& t);
[[gnu::cold]] void masked(thread& t, bool begins);

// --- tasks ---
/// `flags`: of task_flag, beside the task's own.
[[gnu::cold]] void task_is_made(thread& t, task& k, unsigned flags, bool has_dependences);
[[gnu::cold]] void has_dependences(task& k, const dependence* list, int count);
/// An iteration of a doacross loop, by its numbers: posted, or waited for.
[[gnu::cold]] void iteration(thread& t, const std::uint64_t* values, std::size_t count, dependence_type type);
[[gnu::cold]] void depends(task& first, task& second);
/// The caller goes on with `k`, in whose place `before` was. It is not t.current yet; `frame`: as above.
[[gnu::cold]] void task_begins(thread& t, task& before, task& k, void* frame);
/// And back. Before it can be freed.
[[gnu::cold]] void task_ends(thread& t, task& k, task& before, status why);
/// Its event has come: `is_late`: when its function had ended, so that it ends now.
[[gnu::cold]] void fulfilled(thread& t, task& k, bool is_late);
/// A task that only waits for others, from its making to its end. `wait()` is in between.
class taskwait_with_dependences {
 public:
  taskwait_with_dependences(thread& t, const dependence* list, int count);
  ~taskwait_with_dependences();
  taskwait_with_dependences(const taskwait_with_dependences&) = delete;
  taskwait_with_dependences& operator=(const taskwait_with_dependences&) = delete;

 private:
  thread& t_;
  word data_{0};
};

// --- mutual exclusion. `what`: tells one lock from another ---
[[gnu::cold]] void acquires(thread& t, mutex kind, const void* what, unsigned hint = 0);
[[gnu::cold]] void acquired(thread& t, mutex kind, const void* what);
/// The caller waits no longer, and has not got it.
[[gnu::cold]] void stays_free(thread& t) noexcept;
[[gnu::cold]] void released(thread& t, mutex kind, const void* what);
[[gnu::cold]] void nests(thread& t, const void* what, bool deeper);
[[gnu::cold]] void lock_begins(thread& t, mutex kind, const void* what, unsigned hint);
[[gnu::cold]] void lock_ends(thread& t, mutex kind, const void* what);

// --- the rest ---
[[gnu::cold]] void flushes(thread& t);
[[gnu::cold]] void cancels(thread& t, cancellation kind, cancelled how);
[[gnu::cold]] void discards(thread& t, task& k, bool with_region);
[[gnu::cold]] void error(thread& t, int severity, const char* message);
/// omp_control_tool(): what the tool answers; -2: there is none, -1: it does not listen.
[[gnu::cold]] int control(thread& t, int command, int modifier, void* argument);

} // namespace tool
} // namespace weft::openmp
