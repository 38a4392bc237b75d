// SPDX-License-Identifier: MIT
// Tasks. An explicit task is a descriptor in the deque of the thread that made it; it runs to its end by a
// call, on the stack of whichever thread of the team takes it, and has no stack of its own. A thread that
// waits in a tied task takes only descendants of that one, so all that stand on one stack are each other's
// ancestors, as the standard's scheduling constraint asks.
#pragma once

#include "front/openmp/icv.hpp"
#include "front/openmp/tool/tool.hpp"
#include "weft/door/atomic.hpp"
#include "weft/door/section.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace weft::openmp {

struct thread;
struct team;
struct task;
class dependences;

/// *Ownership*: the task that opened it; `pending` and `cancelled` are anybody's.
struct task_group {
  task_group* outer = nullptr;
  door::atomic<std::uint32_t> pending{0}; // tasks in it that have not ended
  door::atomic<bool> cancelled{false};
  bool of_work_share = false;
  std::uintptr_t* reductions = nullptr; // as the GNU ABI describes them
  void* reduction_set = nullptr;        // LLVM's (kmp/reduction.cpp)
  // The group or one around it, as far as these are of work shares.
  [[nodiscard]] bool is_cancelled() const noexcept;
};

/// Who waits for a task: the link is the successor's, made before anything is locked.
struct successor {
  task* who = nullptr;
  successor* next = nullptr;
};

/// *Ownership*: the task itself while it runs; the atomics are anybody's; `lock` guards `ended`, `is_awaited`
/// and `successors`; `before` and `after` belong to the deque's lock. *Life*: it is freed when it has ended
/// and no child of it, no entry of its parent's dependences and nobody who waits for it holds it. Its data
/// stand behind it, aligned as LLVM's are.
struct alignas(16) task {
  explicit task(task* made_by) noexcept;
  ~task();
  task(const task&) = delete;
  task& operator=(const task&) = delete;

  // What its maker alone uses, and who waits for descendants.
  tool::of_task told;
  icvs icv;
  std::uint32_t depth = 0; // of ancestors
  int priority = 0;
  door::atomic<std::uint32_t> blockers{0}; // tasks that must end before it starts; 1 more while it is made
  char up_to_the_line[28];
  // What a thief touches too, in two cache lines with the first 16 bytes of the data. Each that it takes and
  // gives back is one that the maker of small tasks waits for.
  task* parent;
  task_group* group = nullptr;
  openmp::team* team = nullptr;
  void (*function)(void*) = nullptr;
  void* data = nullptr;
  thread* owner = nullptr; // whose cell its memory is; null: it is none
  door::atomic<std::uint32_t> holders{1};
  door::atomic<std::uint32_t> children{0};    // that have not ended
  door::atomic<std::uint32_t> to_complete{1}; // its function's end, and the event if it has one
  bool is_final = false;
  bool is_explicit = false;
  bool has_copies = false;     // made by the program's code, which it destroys: never dropped
  bool is_queued_task = false; // counted in the team
  task* before = nullptr;
  task* after = nullptr;
  std::unique_ptr<dependences> table; // of its children
  successor* successors = nullptr;
  successor* links = nullptr; // its own, in one block
  door::spin_lock lock;
  door::atomic<bool> ended{false}; // written under `lock`
  bool is_awaited = false;         // somebody waits for this one alone

  [[nodiscard]] bool descends_from(const task& other) const noexcept;
  void hold() noexcept { holders.fetch_add_relaxed(1); } // relaxed: who holds it already gives another a hold
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof" // as in weft/carrier/user_mode.cpp
static_assert(offsetof(task, parent) % 64 == 0 && offsetof(task, before) % 64 == 0);
#pragma GCC diagnostic pop
static_assert(sizeof(task) % 64 <= 48);

/// GONE: the task, if these were the last holds.
void release(task& k, std::uint32_t holds = 1) noexcept;

/// The tasks that a thread has ready; its own end is the bottom. *Ownership*: `lock` guards the list.
class alignas(64) task_deque {
 public:
  void push(task& k) noexcept;
  /// The newest that may run: `ancestor` is null, or one that it descends from.
  task* take_newest(const task* ancestor) noexcept;
  /// The oldest that may run, for another thread, whose deque gets `more` of them.
  task* steal(const task* ancestor, task_deque& thiefs, unsigned& more) noexcept;
  [[nodiscard]] bool looks_empty() const noexcept { return size_.load_relaxed() == 0; } // a hint

 private:
  task* choose(task* first, task* task::* next, const task* ancestor) const noexcept;
  task* unlink(task* k) noexcept;
  door::spin_lock lock_;
  task* newest_ = nullptr;
  task* oldest_ = nullptr;
  bool has_priorities_ = false;
  door::atomic<std::uint32_t> size_{0};
};

/// Guards a section of the tasks' locks: its holder is not preempted.
struct locked {
  explicit locked(door::spin_lock& l) : held(l) {}
  door::runtime_section in;
  door::held_lock held;
};

/// What a construct asks for.
struct task_request {
  void (*function)(void*) = nullptr;
  void* data = nullptr;
  void (*copy)(void*, void*) = nullptr; // copy(to, from); null: bytes
  std::size_t size = 0;
  std::size_t alignment = 1;
  bool undeferred = false; // if(0)
  bool is_final = false;
  bool is_untied = false;
  bool is_mergeable = false;
  int priority = 0;
  void** depend = nullptr;
  void** detach = nullptr;
};

/// *Contexts*: as caller(). *Switches*: may. *Errors*: std::bad_alloc ends the process.
void make_task(thread& t, const task_request& wanted);
/// One that copies its data by itself, without dependences, for taskloop: `fill(data)` is called on the copy.
template <class Fill>
void make_task(thread& t, const task_request& wanted, Fill fill);

void wait_for_children(thread& t);
/// For those of its children that have these dependences only.
void wait_for_children(thread& t, void** depend);
/// Other threads than the caller may run: a preemptible one leaves its worker.
void let_others_run() noexcept;
void yield_to_tasks(thread& t);
/// Runs one that is ready. False: there is none. `ancestor`: as above.
bool run_one(thread& t, const task* ancestor);
/// The same, and some more that the caller finds in its own deque.
bool run_some(thread& t, const task* ancestor);

void begin_group(thread& t);
/// Waits for the tasks of the group, and ends it.
void end_group(thread& t);

/// The event of a task that was made with `detach` has come. *Contexts*: any thread.
void fulfill(task& k);

// --- parts ---

/// Memory for a task and its data; its parent counts it.
task& new_task(thread& t, const task_request& wanted);
/// Runs it now, on the caller's stack.
void execute(thread& t, task& k);
/// The function of a task has ended that the program has called itself, in its parent. GONE: k.
void end_function(thread& t, task& k);
/// Takes one back that nobody has been given. GONE: k.
void forget_task(task& k) noexcept;
/// Starts one when those before it have ended. `depend`: as the GNU ABI has it.
void submit_with_dependences(thread& t, task& k, void** depend);
/// It may start: into the caller's deque.
void make_ready(thread& t, task& k);
/// Whether a new task would only wait in a deque: there are many for each thread, or nobody else to run it.
[[nodiscard]] bool runs_at_once(const thread& t) noexcept;

/// A part of a taskloop, to a tool.
void tell_part(thread& t, task& k, const task_request& wanted);

template <class Fill>
void make_task(thread& t, const task_request& wanted, Fill fill) {
  task& k = new_task(t, wanted);
  fill(k.data);
  if (tool::is_on) [[unlikely]]
    tell_part(t, k, wanted);
  if (wanted.undeferred || runs_at_once(t))
    return execute(t, k);
  make_ready(t, k);
}

} // namespace weft::openmp
