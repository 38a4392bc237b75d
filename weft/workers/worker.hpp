// SPDX-License-Identifier: MIT
// A worker: what runs units. It is not a kernel thread, it runs on one at a time. Its face holds what every
// switch touches; the rest stands behind.
//
// Ownership: the worker itself (the code that runs on it) owns every field but `attention`, what its parts
// say, and the inbox of its local pool.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "weft/arch/arch.hpp"
#include "weft/arch/exception_state.hpp"
#include "weft/base/export.hpp"
#include "weft/events/timer_queue.hpp"
#include "weft/memory/caches.hpp"
#include "weft/os/guarded_stack.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/park/sleeping.hpp"
#include "weft/trace/worker_trace.hpp"
#include "weft/unit/descriptor.hpp"
#include "weft/workers/activity.hpp"
#include "weft/workers/blocks_in_hand.hpp"
#include "weft/workers/carried.hpp"
#include "weft/workers/decision_count.hpp"
#include "weft/workers/pool.hpp"
#include "weft/workers/preemption_state.hpp"
#include "weft/workers/scheduler.hpp"
#include "weft/workers/simulated_worker.hpp"
#include "weft/workers/stacked.hpp"
#include "weft/workers/ticker.hpp"

namespace weft::sched {

struct worker;

// Bits of worker_face::attention: why the next scheduling decision must go through the loop. Set by anyone,
// cleared by the worker.
enum attention : std::uint32_t {
  inbox_waiting = 1,         // somebody pushed to a pool that this worker owns
  stop_requested = 2,        // leave the loop
  scheduler_waiting = 4,     // a new main scheduler stands in `incoming`
  always_ask = 8,            // the scheduler has no hot pool, or a stacked one is active
  tracing = 16,              // events are recorded
  not_a_worker = 32,         // the face of kernel threads that Weft did not start
  refresh_waiting = 256,     // tracing was switched: hot paths on or off
  workers_missing = 128,     // in the child of fork()
  freeze_requested = 64,     // stand still at the next decision (exit)
  observed = 512,            // a front is told of events
  user_code = 1024,          // the face of a preemptible thread in user mode (user_mode.hpp)
  worker_has_classes = 2048, // the scheduler's pools are of several classes of priority (priority.hpp)
  activity_changed = 4096,   // of the group: who sleeps, and who serves whose pools (activity.cpp)
  simulated = 8192,          // one of several workers in turn on one kernel thread (simulation.hpp)
  time_passed = 16384,       // a timer of the group is due, and all workers are busy (timekeeper.hpp)
  without_worker = 32768,    // with user_code: the face of a cooperative thread that is away (leaving.hpp)
};
// What must not keep a worker from sleeping.
inline constexpr std::uint32_t standing_attention =
    always_ask | tracing | observed | worker_has_classes | simulated;

// How long a worker sleeps before it gives memory back: longer than the pauses of a program that is merely
// uneven.
inline constexpr deadline trim_after = 50'000'000;

// Told of every event of every worker that is observed, on that worker. One for the process, set while no
// worker is.
using observer = void (*)(worker& w, trace::event what, const void* unit, std::uint32_t argument) noexcept;
WEFT_API extern std::atomic<observer> observe;
// Of which: 1 << event.
WEFT_API extern base::atomic<std::uint32_t> observed_events;
// Told of each thread that waited and becomes ready, by whoever makes it so, if a tool listens.
WEFT_API extern std::atomic<void (*)(descriptor&) noexcept> observe_ready;

// Who is told of units that are made or become ready: bits of `listeners_to_units`, which is what the paths
// ask.
enum listener : std::uint32_t { tool_listens = 1, trace_listens = 2 };
WEFT_API extern base::atomic<std::uint32_t> listeners_to_units;
// Contexts: all but signal handlers.
WEFT_API void set_listening(listener who, bool on) noexcept;
// make_ready() where somebody listens. Contexts: all but signal handlers.
WEFT_API void tell_ready(descriptor& u) noexcept;

// Kernel threads of the process that are workers.
extern std::atomic<unsigned> workers_running;

struct worker_face {
  descriptor* current = nullptr;           // what runs; a unit of kind_loop on the loop's own stack
  queue::intrusive_fifo* fifo = nullptr;   // the hot pool's list, if it is an owned fifo
  queue::intrusive_fifo* births = nullptr; // `fifo`, unless that pool has a default technique
  queue::chase_lev_deque<descriptor>* deque = nullptr; // the hot pool's deque, if it is one
  pool* listed = nullptr;                              // `hot`, if it is an owned fifo
  pool* hot = nullptr;                                 // where the next unit comes from and new ones go
  base::atomic<std::uint32_t> attention{not_a_worker};
  decision_count budget = decision_budget;       // decisions left before the loop must look around
  arch::exception_globals* exceptions = nullptr; // of the kernel thread it runs on
};

class group;

// A thread that waits until its worker has nothing else to do.
class idle_observer {
 public:
  // Called by the worker that looks for work in vain, which then looks again. May make units ready.
  virtual void on_idle() noexcept = 0;

 protected:
  ~idle_observer() = default;
};

struct alignas(64) worker : worker_face {
  worker(group& g, unsigned number);
  ~worker();
  // Its memory is only ever a worker's again: handlers of signals may look at one that has just gone.
  WEFT_API static void* operator new(std::size_t bytes);
  WEFT_API static void operator delete(void* room) noexcept;

  // --- used at starts and ends ---
  memory::caches<descriptor> caches;
  arch::context base;                 // the loop, while a unit runs
  arch::context* loop = &base;        // where units that leave go: the loop, or a thread in run_child()
  unsigned expiries = 0;              // of the budget, at joins
  std::uint8_t standstill_looks = 0;  // that found kernel threads which may end, since it last had work
  bool pick_oldest = false;           // the next decision goes to whoever waits longest
  bool local_had_turn = false;        // the last decision was for `local`: the others come first now
  const descriptor* called = nullptr; // what the loop has called, until somebody continues the loop
  descriptor* handed = nullptr;       // what the loop shall run next, chosen by a unit that left
  descriptor* left = nullptr;         // what run_child() shall put back into its pool: it has just left
  // Of the hot pool, for threads that have none of their own.
  unit::technique_id default_technique = unit::technique_id::automatic;
  pool* shared = nullptr; // the hot pool, if others use it too and it may be popped without the loop
  arch::arrival_function arrival = nullptr; // to be run by a thread that starts, for the one that left
  void* arrival_argument = nullptr;

  // --- what it serves ---
  group& owner_group;
  const unsigned number;
  owned_fifo local; // units that may run nowhere else; served in turn with the scheduler
  std::shared_ptr<scheduler> main_scheduler;
  base::atomic<pool*> main_pool{nullptr}; // its first pool, for those who may not touch the scheduler
  std::atomic<std::shared_ptr<scheduler>*> incoming{nullptr};
  stacked_schedulers stacked;
  descriptor loop_unit{};

  // --- parts; each is a type of the file that sees to it ---
  worker_timing timing;
  park::sleeping parking;
  trace::worker_trace recording;
  sched::carried carried;
  blocks_in_hand blocks;
  preemption_state preemption;
  seen_by_ticker ticking;
  worker_activity activity;
  simulated_worker simulation;

  // --- its life ---
  os::kernel_thread kernel_thread; // the one it began on
  os::guarded_stack own_stack;     // that one's, and the loop's; worker 0 has loop_stack
  bool on_primary_thread = false;
  memory::stack_record* loop_stack =
      nullptr;          // worker 0: its loop cannot use the kernel thread's stack, main() does
  int cpu = -1;         // bound to, or -1
  unsigned nesting = 0; // calls of run_child() that are under way
  std::atomic<bool> threads_schedule{
      false};                       // a thread stands for the loop (run_child): `local` may wait for ever
  idle_observer* on_idle = nullptr; // its own
  std::atomic<bool> ended{false};
  std::atomic<std::uint32_t> frozen{0};
  worker* next_of_process = nullptr; // under the lock of view/inspection.cpp
  void* front = nullptr; // what a front (abt) calls this worker; its own, set before the worker starts

  // Whether the caller's kernel thread, with its own variables, is the worker's: for assertions. SIGNAL-SAFE.
  [[nodiscard]] bool is_here() const noexcept;
  void ask(std::uint32_t bits) noexcept { attention.fetch_or_acq_rel(bits); }
  // As ask(), and wakes the worker if it sleeps.
  WEFT_API void call(std::uint32_t bits) noexcept;

  // Somebody has waited for a timer that is due: the next decision is the loop's. Contexts: any kernel
  // thread.
  void tell_time_passed() noexcept;

  // Timers and event sources, if the budget of decisions is used up.
  WEFT_API void look_around() noexcept;
  // The same at forks and joins on a deque, which know what is next: the oldest unit has its turn at few of
  // them. False: it has; go through the loop.
  bool look_around_in_place() noexcept;
  // What this worker may run at once, without a look at timers, other pools or requests. Null: go through the
  // loop.
  descriptor* pick_quickly() noexcept;
  // Under a scheduler of the user's that runs above the loop: pick_quickly() has nobody.
  [[nodiscard]] bool has_no_quick_pick() const noexcept {
    return shared == nullptr && attention.any_relaxed(always_ask);
  }
  // The running thread is about to go into an event loop of somebody else's on this kernel thread: until
  // end_visit() the worker counts as parked and is called by the bell. Returns when it must be back whatever
  // happens; 0: there is something to do, and no visit. `watches`: it has the watch meanwhile.
  WEFT_API deadline begin_visit(os::doorbell& bell, bool& watches) noexcept;
  WEFT_API void end_visit(bool watched) noexcept;
  // The loop; runs on the worker's own stack until it is told to stop.
  void run_loop() noexcept;
  void use_scheduler(std::shared_ptr<scheduler> s) {
    main_scheduler = std::move(s);
    main_pool.store_release(&main_scheduler->main_pool());
  }
  // Sets fifo, deque, hot and always_ask from the innermost scheduler.
  void refresh_hot() noexcept;
  // Sets births and default_technique from these.
  void refresh_births() noexcept;
  // Sets worker_has_classes.
  void refresh_classes() noexcept;
  // Before the pools of the scheduler go.
  void end_lending() noexcept;
  void forget_after_fork();
  scheduler& active_scheduler() noexcept {
    return stacked.schedulers.empty() ? *main_scheduler : *stacked.schedulers.back();
  }

  void note(trace::event what, const void* unit, std::uint32_t argument = 0) noexcept {
    if ((attention.load_relaxed() & (tracing | observed)) != 0) [[unlikely]]
      note_slowly(what, unit, argument);
  }
  // Runs `u`, which is in no pool, on behalf of the loop: until it ends or leaves.
  void run(descriptor& u) noexcept;
  // Which pools a worker looks at, and is called for.
  enum class served : std::uint8_t { all, own };
  // Whether a unit stands in a pool that it serves. RACY: a hint.
  [[nodiscard]] bool has_visible_work(served whose = served::all) noexcept;
  // Others' schedulers go where they belong; the worker ends.
  void dismiss_lodgers() noexcept;
  // Tells `observe` of what units do on this worker, or no more. Contexts: all but signal handlers.
  WEFT_API void set_observed(bool on) noexcept;

 private:
  WEFT_API void note_slowly(trace::event what, const void* unit, std::uint32_t argument) noexcept;
  descriptor* pick() noexcept;
  descriptor* pick_scheduled() noexcept;
  void drain_inboxes() noexcept;
  void drain_pools(scheduler& s) noexcept;
  void run_called(descriptor& u) noexcept;
  descriptor* next_to_call() noexcept;
  descriptor* idle() noexcept;
  void pause_search(unsigned length) const noexcept;
  // Sleeps until called, a timer, or a source out of patience, and until `longest`; who serves all, and has
  // kept its memory, gives that back then. True: the time is over, and nobody has called; the caller rouses
  // the monitor then, unless it parks again.
  bool park(served whose, deadline longest) noexcept;
  // The same, at most so long, and is not called for what stands in others' pools.
  bool rest(deadline length) noexcept;
  // Sleeps until called or `until`; true if that was in the group's event source, which then has the watch.
  bool sleep_parked(deadline until) noexcept;
  void found_work() noexcept;
  template <class Action>
  void for_each_pool(served whose, Action action) noexcept;
  template <class Action>
  void for_each_served_pool(Action action) noexcept;
  void put_off(descriptor& u) noexcept;
  void attach_recorder() noexcept;
  void give_memory_back() noexcept;
  void drop(descriptor& u) noexcept;
  void leave_stacked_scheduler(bool finished) noexcept;
  bool serve_attention() noexcept;
  bool take_turn() noexcept;
  bool serve_requests() noexcept;
  void see_to_time(bool arrived) noexcept;
  void expire_own_timers() noexcept;
  // Sleeps, comes back, takes schedulers over and passes them on, as the group's number of active workers
  // says.
  void follow_activity() noexcept;
  void withdraw() noexcept;
  void come_back() noexcept;
  void count_as_awake() noexcept;
  void put_handed_back() noexcept;
  void sleep_withdrawn() noexcept;
  void park_withdrawn() noexcept;
  [[nodiscard]] bool lacks_scheduler() const noexcept;
  void send(lodger& l) noexcept;
  bool receive(lodger& l) noexcept;
  void settle_lodgers() noexcept;
  descriptor* pick_with_lodgers() noexcept;
  bool start_or_keep(std::shared_ptr<scheduler>* next) noexcept;
  void run_unusual(descriptor& u) noexcept;
  void run_thread(descriptor& u) noexcept;
  void enter_stacked_scheduler(descriptor& u) noexcept;
  void freeze() noexcept;
  void stand_still_no_more() noexcept;
};

// The worker of the calling code, or the face of all kernel threads that are none (attention ==
// not_a_worker). Opaque to the compiler: it may change at every switch.
extern "C" WEFT_API __thread worker_face* weft_current_worker __attribute__((tls_model("initial-exec")));

// The worker of this kernel thread, in user mode too.
extern "C" WEFT_API __thread worker* weft_worker_here __attribute__((tls_model("initial-exec")));

[[gnu::always_inline]] inline worker& here() noexcept {
  worker_face* w;
  WEFT_READ_TLS(w, weft_current_worker);
  return *static_cast<worker*>(w);
}

// Records what the caller does, wherever it runs; in its name (mark_of()), where that is not said.
// Contexts: all but signal handlers.
[[gnu::always_inline]] inline void note_here(trace::event what, const void* unit) noexcept {
  worker& w = here();
  w.note(what, unit, trace::mark_of(w.current));
}

// The face of kernel threads that are no workers.
[[nodiscard]] worker_face& face_of_others() noexcept;
// Calls action(worker, argument) for every worker of the process; none comes or goes meanwhile.
WEFT_API void for_each_worker(void (*action)(worker& w, void* argument), void* argument);

// Whether the calling kernel thread is a worker now.
[[gnu::always_inline]] inline bool on_worker() noexcept {
  return !here().attention.any_relaxed(not_a_worker);
}

// Whether the calling code is that of a thread.
[[nodiscard]] inline bool on_thread() noexcept {
  return on_worker() && here().current->kind() == unit::kind_thread;
}

// Installs the worker of the calling kernel thread.
WEFT_API void set_here(worker* w) noexcept;

// Whether there are more workers in the process than CPUs it may use: one that searches then takes the CPU
// from one that has work. Contexts: all but signal handlers.
[[nodiscard]] bool crowded() noexcept;

// Learns how many CPUs these are, once, from files and with malloc's memory: before the first worker starts,
// since a worker must not wait for a lock of malloc's that a preempted thread may hold. Throws
// std::bad_alloc. Contexts: a kernel thread, or a thread.
void learn_cpus_allowed();

} // namespace weft::sched
