// SPDX-License-Identifier: MIT
// A group of workers: how many there are, which pools they share, who joins and leaves at run time. The
// default runtime is one group; a program may have others beside it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "weft/base/export.hpp"
#include "weft/base/kernel_mutex.hpp"
#include "weft/events/event_source.hpp"
#include "weft/workers/scheduler.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched {

// How the pools of a group stand to its workers.
enum class arrangement : std::uint8_t {
  stealing,        // a deque each; idle workers steal at random
  hierarchical,    // a deque each; idle workers steal from the nearest first
  one_pool,        // one shared FIFO for all
  pool_per_worker, // a private FIFO each, nothing is stolen (Qthreads' shepherds)
  priorities,      // two pools each, of a high and a low class; the high one is stolen from first
  packing,         // a FIFO each, served by whoever is active: weft/packing.hpp
  custom,          // `make_scheduler` decides
};

struct group_options {
  unsigned workers = 0; // 0: what affinity mask and cgroup quota allow
  arrangement pools = arrangement::stealing;
  bool bind = false;          // each worker to a CPU of its own, in topology order
  bool primary_joins = false; // worker 0 is the calling kernel thread, whose code becomes a thread
  unsigned first_number = 0;  // of the workers, in names and traces
  void* front = nullptr;      // worker::front of the workers
  // custom: called for each worker before it starts, with its number. Errors it throws reach whoever adds the
  // worker.
  std::function<std::shared_ptr<scheduler>(unsigned number)> make_scheduler;
  // Of threads that have none of their own: the default of the pools that the group makes, see
  // pool::set_default_technique().
  unit::technique_id technique = unit::technique_id::automatic;
};

class packing_board;

class WEFT_API group {
 public:
  // Starts the workers. Errors: std::system_error if a kernel thread or memory cannot be had; nothing is left
  // behind then.
  explicit group(group_options options);
  // Stops the workers. What is still in the pools is not run; it belongs to whoever holds handles.
  ~group();
  group(const group&) = delete;
  group& operator=(const group&) = delete;

  // One more worker, with the group's arrangement or the given scheduler. Contexts: thread, foreign kernel
  // thread. Switches: never. Errors: std::system_error; the group is unchanged then.
  worker& add_worker(std::shared_ptr<scheduler> with = nullptr);
  // The newest worker leaves; its units go to the others. Switches: never (the caller's kernel thread waits
  // until it has left). Errors: std::system_error(operation_not_permitted) if it is the last one or its pool
  // is its own (pool_per_worker).
  void remove_worker();
  void resize(unsigned workers);

  // `n` workers go on, the oldest; the others sleep from their next decision on, and come back when `n`
  // grows. Nothing is lost: other workers serve their pools, also private ones (the k-th worker's go to the
  // one with the number k modulo n), their timers and event sources. What may run nowhere else goes on there,
  // and the worker sleeps in between: threads of preemption::signal_yield that were preempted. A preemptible
  // thread is made to leave a worker that is to sleep; a cooperative one keeps it until it waits, yields or
  // ends. Adding or removing workers wakes all. Contexts: all but signal handlers. Switches: never. Errors:
  // std::system_error: invalid_argument unless 1 <= n <= size(); operation_not_permitted for streams of
  // abt.h; std::bad_alloc. Nothing has changed then.
  void set_active_workers(unsigned n);
  [[nodiscard]] unsigned active_workers() const noexcept;
  // How many sleep by now. RACY: for display and tests.
  [[nodiscard]] unsigned sleeping_workers() const noexcept { return asleep_.load(std::memory_order_acquire); }
  // Null but for arrangement::packing.
  [[nodiscard]] packing_board* board() const noexcept { return board_.get(); }

  // Replaces the scheduler of a worker at its next decision. Units left in the old pools stay there.
  void set_scheduler(worker& w, std::shared_ptr<scheduler> next);

  [[nodiscard]] unsigned size() const noexcept { return count_.load(std::memory_order_acquire); }
  [[nodiscard]] worker& member(unsigned index) const { return *members_.at(index); }

  // Where units created by foreign kernel threads go: the workers' main pools in turn.
  [[nodiscard]] pool& next_pool() const noexcept;
  // A pool of the group takes a unit whose own worker has left.
  void adopt(descriptor& u) const noexcept;

  void add_event_source(std::shared_ptr<event_source> source);
  void remove_event_source(const event_source& source);
  // The one in which idle workers sleep; null until somebody has needed it.
  [[nodiscard]] sched::waiting_source* waiting_source() const noexcept {
    return waiting_source_.load(std::memory_order_acquire); // acquire: pairs with the release of its making
  }
  // The same; if there is none, `make()` makes it, once. It lives as long as the group. Errors: what `make`
  // throws; there is none then.
  sched::waiting_source& waiting_source(const std::function<std::unique_ptr<sched::waiting_source>()>& make);

  // A kernel thread of Weft's own that is no worker will make a unit of this group ready: the group does not
  // end before. Called by the unit, then by that kernel thread, which touches the group last with it.
  void expect_outsider() noexcept { outsiders_.fetch_add(1, std::memory_order_relaxed); }
  void outsider_is_done() noexcept { outsiders_.fetch_sub(1, std::memory_order_release); }

  // Whether nobody waits for a timer, an event source or an outsider, in this moment and for ever if no
  // thread runs. RACY while one does.
  [[nodiscard]] bool nothing_can_come() noexcept;

  // Wakes one sleeping worker of the group so that it looks at event sources and timers.
  void wake() noexcept;
  // As wake(), if every sleeping worker would sleep beyond `at`. Where none sleeps the timekeeper is told.
  void wake_before(deadline at) noexcept;
  // A timer of the group is due, as it was the last `times_due` times: unless an idle worker is about to
  // look, one that sleeps is called, or else all workers learn of it at their next decision, and one
  // preemptible thread is made to leave. Contexts: the timekeeper, while no worker of the process comes or
  // goes.
  void tell_time_passed(deadline now, unsigned times_due) noexcept;

  // `w` leaves its home: the primary thread stays there, if it is `w`'s.
  static void primary_stays(worker& w) noexcept;
  // The primary thread, which was away, has left its stack: whoever continues it comes to its home, if nobody
  // is there.
  static void primary_has_left() noexcept;
  // The calling thread is the primary one, on a worker that is not its own: a unit that it had called, on its
  // stack, was continued there and has ended. Switches: returns on its own worker.
  static void primary_goes_back() noexcept;

  [[nodiscard]] arrangement pools() const noexcept { return options_.pools; }
  // Whether its workers take what is ready on others.
  [[nodiscard]] bool has_thieves() const noexcept { return steals() && size() > 1; }
  // Whether its workers are a front's.
  [[nodiscard]] bool has_front() const noexcept { return options_.front != nullptr; }

  // What the calling code became where `primary_joins` was asked for; one for the process.
  [[nodiscard]] static descriptor& primary_unit() noexcept;

  // For the runtime: stops the workers at their next decision and waits at most `patience_ms`; true if all
  // stand still. They never go on.
  bool freeze_others(int patience_ms) noexcept;
  // fork()s between the first process of this line and this one.
  static unsigned forks() noexcept;
  // For fork(): in the child, forgets all workers but the caller's.
  void keep_only(worker& w);
  void hold_for_fork() noexcept {
    lock_.lock();
    sources_lock_.lock();
  }
  void release_after_fork() noexcept {
    sources_lock_.unlock();
    lock_.unlock();
  }

 private:
  friend struct worker;

  worker& add_one(std::shared_ptr<scheduler> with = nullptr);
  void watch_leaving() const noexcept;
  void end_watching() noexcept;
  static void* kernel_thread_main(void* w);
  static void live_simulated(worker& w);

  [[nodiscard]] bool steals() const noexcept {
    return options_.pools == arrangement::stealing || options_.pools == arrangement::hierarchical;
  }
  // Whether a worker that sleeps lends its scheduler to another one, for nobody else has its pools.
  [[nodiscard]] bool lends_schedulers() const noexcept {
    return options_.pools == arrangement::pool_per_worker || options_.pools == arrangement::custom;
  }
  // Whether all schedulers list all main pools.
  [[nodiscard]] bool all_know_all() const noexcept {
    return steals() || options_.pools == arrangement::packing || options_.pools == arrangement::priorities;
  }
  void announce_active_locked(unsigned n) noexcept;
  // Who serves the scheduler of `w`: itself, if it is active.
  [[nodiscard]] worker& keeper_of(const worker& w) const noexcept;
  [[nodiscard]] worker& first_member() const noexcept {
    return *view_.load(std::memory_order_acquire)->front();
  }
  void share_out(worker& w) noexcept;
  // What the arrangement says; defined where the arrangements are (arrange/arrangement.cpp).
  static std::shared_ptr<packing_board> board_for(arrangement pools);
  std::shared_ptr<pool> make_main_pool() const;
  std::shared_ptr<scheduler> scheduler_for(std::size_t index,
                                           const std::vector<std::shared_ptr<pool>>& mains) const;
  void adopt_primary(worker& w);
  void release_primary(worker& w) noexcept;
  // True if `u` is the primary thread and `w` not its worker: it has been sent there. It runs on no other
  // kernel thread, whoever took it out of a shared pool; but where a thread schedules (run_child), nobody
  // else may.
  static bool send_primary_home(worker& w, descriptor& u) noexcept;
  // The primary thread goes where its worker's next scheduler looks.
  static void primary_follows(worker& w, scheduler& next) noexcept;
  // In the child of fork(): if the primary thread was in a pool, it is gone with what was in there.
  static void forget_waiting_primary() noexcept;
  // The calling kernel thread is the home of `w` from now on.
  static void settle_here(worker& w) noexcept;
  // In the child of fork(): the primary thread goes on where it stood.
  static void free_primary(worker& w) noexcept;
  void start_kernel_thread(worker& w);
  void stop_and_join(worker& w) noexcept;
  // A change of membership with all the memory that it takes: once that is there, it cannot fail half-way.
  struct change;
  // The first `told` members get schedulers for `mains`, if the group steals.
  change prepare(std::vector<worker*> members, std::size_t told,
                 const std::vector<std::shared_ptr<pool>>& mains);
  void publish(change next) noexcept;
  void publish_view();
  std::vector<worker*> member_list() const;
  // In a child of fork(): the members are leaked, in whatever state they were caught.
  void forget_members() noexcept;
  void forget_waiting_source() noexcept;
  // Starts the workers that fork() took away.
  void refill() noexcept;
  void count_sources_locked() noexcept;
  // At most one worker polls at a time; returns how many events there were.
  int poll_sources() noexcept;
  // Step E4 of the watch (park/README.md). A worker that had or could take it has left its search: if nobody
  // watches or will look soon, one who sleeps is called to do so.
  void hand_watch_on() noexcept;
  // Handles what came during the caller's watch, and gives it up.
  void end_watch() noexcept;
  // When `w` must wake although nobody pushed: the earliest timer of the group, or an event source out of
  // patience.
  deadline sleep_until(worker& w) noexcept;
  [[nodiscard]] deadline patience_of_sources() noexcept;
  [[nodiscard]] bool somebody_looks_by(deadline at, const worker& but) noexcept;
  // Whether a worker looks at timers by itself, at `now` or soon after.
  [[nodiscard]] bool is_anybody_idle(deadline now) const noexcept;
  [[nodiscard]] bool is_about_to_sleep() const noexcept;
  void hurry_owners() noexcept;
  [[nodiscard]] deadline earliest_timer() const noexcept;
  int expire_timers_of_all(deadline now) noexcept;

  group_options options_;
  mutable base::kernel_mutex lock_; // membership
  std::vector<std::unique_ptr<worker>> members_;
  std::vector<std::unique_ptr<worker>> former_; // blocked units may still name their pools
  std::vector<std::shared_ptr<pool>> mains_;    // the members' main pools, same order (but for `custom`)
  unsigned missing_ = 0;                        // workers that fork() took away
  unsigned forks_seen_;  // how many fork()s this process descends from, when the workers were started
  unsigned numbers_ = 0; // given to workers so far
  // Replaced as a whole, read without a lock; old ones live as long as the group.
  using view = std::vector<worker*>;
  std::atomic<const view*> view_{nullptr};
  std::vector<std::unique_ptr<const view>> views_;
  std::atomic<unsigned> count_{0};
  static constexpr unsigned all = ~0U;
  std::atomic<unsigned> active_{all};
  std::atomic<unsigned> asleep_{0};
  std::shared_ptr<packing_board> board_;
  std::atomic<unsigned> outsiders_{0};
  mutable std::atomic<unsigned> turn_{0};
  base::kernel_mutex sources_lock_; // held while polling: one worker at a time
  std::vector<std::shared_ptr<event_source>> sources_;
  std::atomic<unsigned> source_count_{0};
  std::atomic<sched::waiting_source*> waiting_source_{nullptr}; // owned
  park::watch watch_;
};

// The options' default number of workers: the affinity mask and the cgroup quota, whichever allows less.
WEFT_API unsigned default_worker_count();

// What a group asks before it starts its first worker: in a process with shadow stacks the first `ret` after
// a switch would fault. Contexts: all but signal handlers. Switches: never. Errors: std::system_error
// (not_supported) if the calling kernel thread has one. Fault site: shadow_stack.
WEFT_API void refuse_shadow_stack();

} // namespace weft::sched
