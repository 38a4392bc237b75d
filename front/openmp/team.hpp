// SPDX-License-Identifier: MIT
// A team: the threads of one parallel region.
#pragma once

#include "front/openmp/task.hpp"
#include "front/openmp/thread.hpp"
#include "front/openmp/work_share.hpp"
#include "weft/door/atomic.hpp"

#include <cstdint>
#include <memory>

namespace weft::openmp {

class runner;

/// What a member needs of the region: made with the team, and used again with it.
struct member {
  member() : implicit(nullptr) {}
  task implicit;
  task_deque tasks;
  thread* who = nullptr;
  runner* by = nullptr; // the one that is kept for it; null: the master
};

/// *Ownership*: the master between regions; in one, the members by the atomics. Memory of a team is kept
/// until its master's thread ends, since members that are late look at it after the region.
/// *Invariants*: `unfinished` counts explicit tasks that are made and have not ended, `queued` those of them
/// that stand in deques. All members have arrived at a barrier and unfinished == 0: nobody can make a task.
/// *Ordering*: (T1) whoever changes what members wait for does so by an operation with a full fence, or one
/// after it, then looks at `sleepers`; a member counts itself there before it announces its sleep (B1).
struct team {
  explicit team(unsigned room);

  // --- set by the master before the members start ---
  unsigned size = 1;
  void (*function)(void*) = nullptr;
  void* data = nullptr;
  position outer; // where the master was before
  bool is_active = false;
  bool is_open = false;
  bool shows_affinity = false;
  bool of_llvm = false;
  binding bind = binding::off;
  const unsigned room; // members that there is memory for
  std::unique_ptr<member[]> members;
  tool::of_team told;
  work_share first_share;
  work_share* start_share = nullptr; // what members begin with: the first one, or one that is prepared

  // --- in the region ---
  alignas(64) door::atomic<std::uint32_t> arrived{0}; // at the barrier of this round
  alignas(64) door::atomic<std::uint32_t> round{0};
  door::atomic<std::uint32_t> sleepers{0};
  door::atomic<bool> cancelled{false};
  door::atomic<bool> share_cancelled{false};
  alignas(64) door::atomic<std::uint32_t> unfinished{0};
  door::atomic<std::uint32_t> queued{0};
  door::atomic<std::uint32_t> pushes{0};               // changes with each task that becomes ready
  alignas(64) door::atomic<std::uint32_t> finished{0}; // members other than the master
  door::atomic<std::uint32_t> region{0};               // changes when it ends
  door::atomic<std::uint32_t> helpers{0};       // members that have finished and are looking for a task
  door::atomic<std::uint32_t> idle_sleepers{0}; // who sleeps after its end, in an idle bed
  // Members that nobody has begun to run: the region's number, the next of them, and where they end. In
  // regions whose members are run by whoever is free (crew.cpp).
  alignas(64) door::atomic<std::uint64_t> free_seats{0};

  /// What a runner sleeps for after the end of its part: tasks of that region. None else's reason for 512
  /// regions.
  [[nodiscard]] const void* idle_reason(std::uint32_t number) const noexcept {
    return reinterpret_cast<const char*>(this) + 1 + number % 512;
  }
  /// The next member that nobody runs; 0: there is none, or it is another region by now.
  unsigned take_seat(std::uint32_t number) noexcept;
  member& of(const thread& t) noexcept { return members[t.at.number]; }
  /// Wakes who sleeps in this team; or one that may run a task. After (T1).
  void wake_all() noexcept;
  void wake_one() noexcept;
};

/// What a region is opened with.
struct region {
  void (*function)(void*) = nullptr;
  void* data = nullptr;
  unsigned threads = 0;            // num_threads(); 0: none
  unsigned most = 0;               // more would have nothing to do: sections; 0: no limit
  binding bind = binding::off;     // proc_bind(); off: none
  work_share* share = nullptr;     // a loop or sections for all members, prepared
  task_group* group = nullptr;     // all members' implicit tasks are in it
  const unsigned* below = nullptr; // num_threads(threads, ...): icvs::threads_below
  strictness strict = {};
  bool of_llvm = false; // opened by a program of that ABI
};

/// How many threads a region gets that the caller opens now.
unsigned threads_for(thread& t, unsigned wanted, unsigned most) noexcept;
/// Opens a region, in which the caller is thread 0, and starts the others. *Contexts*: as caller().
/// *Switches*: may. *Errors*: none: where threads cannot be had it is a smaller one.
void open_region(thread& t, const region& r);
/// Waits until all is done and closes it.
void close_region(thread& t);
void parallel(thread& t, const region& r);

/// True: the region was cancelled. `may_cancel`: it is a barrier in which that is looked for.
bool barrier(thread& t, bool may_cancel);
/// Runs a league of teams on the host, one after the other. 0: as the environment says.
void run_league(thread& t, unsigned teams, unsigned thread_limit, void (*function)(void*), void* data);

enum class cancellation : std::uint8_t { parallel, loop, sections, group };
/// Whether the construct of that kind around the caller is cancelled; asked for, if not forbidden: true.
bool is_cancelled(thread& t, cancellation kind) noexcept;
bool cancel(thread& t, cancellation kind) noexcept;

/// The end of the region for a member that is not the master.
void finish(thread& t) noexcept;
/// The same where there is a tool: it waits for the region's end. *Switches*: may.
void finish_and_tell(thread& t, std::uint32_t region) noexcept;
/// Its last step: the region may end, and another begin.
void count_finished(team& in) noexcept;
/// For a member that has finished: runs a task of the region `number`, if that is still open. False: no.
bool help_after_end(thread& t, team& in, std::uint32_t number);

/// Runs tasks, then looks a while, then sleeps, until `done()` (bed::sleep()). *Switches*: may.
enum class helping : std::uint8_t { none, descendants, everything };
template <class Done>
void await(thread& t, helping with, Done done);

// --- settings that more than one room knows ---

/// How often a thread that waits looks before it sleeps: as the user says, and not at all where there are
/// more threads than CPUs, which is looked at from time to time.
class patience {
 public:
  /// After a short pause; false: it should sleep.
  bool looks_again() noexcept {
    if (looks_ % looks_between == 0 && looks_ >= limit())
      return false;
    ++looks_;
    door::relax();
    return true;
  }

 private:
  static constexpr std::uint32_t looks_between = 64;
  static std::uint32_t limit() noexcept;
  std::uint32_t looks_ = 0;
};

// --- what is inlined ---

template <class Done>
void await(thread& t, helping with, Done done) {
  team& in = *t.at.team;
  const task* const ancestor = with == helping::descendants ? t.current : nullptr;
  patience more;
  for (;;) {
    if (done())
      return;
    if (with != helping::none && t.thefts.goes_on())
      continue;
    // acquire: what became ready later changes it again; pairs with make_ready()
    const std::uint32_t seen = in.pushes.load_acquire();
    if (with != helping::none && in.queued.load_relaxed() != 0 && run_some(t, ancestor)) {
      more = {};
      continue;
    }
    if (more.looks_again())
      continue;
    in.sleepers.fetch_add_seq_cst(1); // before (B1)
    t.bed.sleep(&in, [&done, &in, seen, with] {
      return done() || (with != helping::none && in.pushes.load_acquire() != seen);
    });                               // SWITCH: may resume on another worker
    in.sleepers.fetch_sub_relaxed(1); // relaxed: others look at one too many, no more
  }
}

} // namespace weft::openmp
