// SPDX-License-Identifier: MIT
// The threads that a master has for the members of its teams, and the teams themselves: both are kept from
// region to region, since what a thread has in its thread-local variables must be there again.
#pragma once

#include "front/openmp/team.hpp"
#include "weft/door/own_thread.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace weft::openmp {

/// What runs one member: three types, chosen when it is made (crew.cpp).
///   pinned       a cooperative thread of Weft, alone on a worker: that kernel thread's variables are its own
///   preemptible  a thread of Weft with a block of variables of its own, which goes along from worker to
///   worker kernel       a kernel thread, where the machine cannot preempt
/// *Ownership*: the master writes `job` and `number` while the runner waits, and publishes them by `ticket`.
class runner {
 public:
  virtual ~runner() = default;
  /// Has it run a member of a team; it is waiting. *Contexts*: as caller(). *Switches*: never.
  void start(team& job, unsigned number) noexcept;
  /// The caller runs that member, on its variables and with the caller's stack, if the runner sleeps. False:
  /// it does not. *Contexts*: a thread that runs_on_own_variables, a kernel thread that is no worker.
  /// *Switches*: may.
  bool run_elsewhere(team& job, unsigned number) noexcept;
  /// Ends it, and waits for that. *Switches*: may.
  void retire() noexcept;

  thread who;

 protected:
  runner();
  static void live(void* self_as_runner) noexcept;
  virtual void join() noexcept = 0;
  // Its thread, if others may run on its variables. Set before its first member is started.
  door::descriptor* lends_ = nullptr;

 private:
  void run_member(team& in, unsigned number) noexcept;
  [[nodiscard]] bool is_called() const noexcept {
    return ticket_.load_acquire() != seen_;
  } // pairs with start()
  void await_ticket(team* before, std::uint32_t region) noexcept;

  team* job_ = nullptr;
  unsigned number_ = 0;
  bool retiring_ = false;
  door::atomic<std::uint32_t> ticket_{0};
  std::uint32_t seen_ = 0; // the ticket before the one that is waited for
};

/// Starts the runner of the next member that nobody runs: one is always started that nobody has resumed yet,
/// so that there is somebody for the others when those that run wait or compute.
void start_next(team& in, std::uint32_t region) noexcept;
/// Runs members that nobody runs, on the caller's stack, until there are none. *Contexts*: as
/// run_elsewhere(); the caller's own member of this region is done. *Switches*: may.
void run_free_members(team& in, std::uint32_t region) noexcept;

/// *Ownership*: its master.
class crew {
 public:
  ~crew();
  /// A team of that size, and the runners for it; fewer if they cannot be had. `may_pin`: the region is the
  /// outermost one, and the master may have the workers of pinned threads.
  team& team_for(unsigned size, bool may_pin, contention_group* group);
  runner& runner_of(unsigned number) noexcept { return *(*in_use_)[number - 1]; }
  [[nodiscard]] bool uses_pinned() const noexcept { return in_use_ == &pinned_; }
  void forget() noexcept;

 private:
  std::vector<std::unique_ptr<runner>> pinned_, others_;
  std::vector<std::unique_ptr<runner>>* in_use_ = &others_;
  std::vector<std::unique_ptr<team>> teams_;
};

/// The crew for the next region that `t` opens.
crew& crew_of(thread& t);
/// Ends all runners that the thread has, and frees its teams: it is in no region.
void dismiss_crews(thread& t) noexcept;

/// How many CPUs the process may use, which is also how many workers there are.
unsigned processors() noexcept;
/// Threads of OpenMP that are in regions now.
door::atomic<unsigned>& threads_running() noexcept;
/// The first thread that asks has the pinned workers, until it ends.
bool claim_pinned(thread& t) noexcept;
void release_pinned(thread& t) noexcept;

} // namespace weft::openmp
