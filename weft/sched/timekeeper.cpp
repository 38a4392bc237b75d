// SPDX-License-Identifier: MIT
#include "weft/sched/timekeeper.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>

#include "weft/base/assert.hpp"
#include "weft/base/fence.hpp"
#include "weft/base/immortal.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/futex.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/simulator/simulation.hpp"
#include "weft/workers/group.hpp"

namespace weft::sched::timekeeper {
namespace {

// A timer that is due still: whoever was told may compute without a decision, or the word was lost. It is
// told again so much later, twice as much each time.
constexpr deadline first_pause = 100'000, longest_pause = 16'000'000;

// One look at the timers of the process.
struct look {
  deadline now;
  unsigned times_due;          // looks in a row that have found a timer due
  deadline next = no_deadline; // when one is due that is not yet
  bool any_due = false;
};

void look_at(worker& w, void* argument) {
  look& l = *static_cast<look*>(argument);
  const deadline at = w.timing.queue.earliest();
  if (at > l.now) {
    l.next = std::min(l.next, at);
    return;
  }
  l.any_due = true;
  w.owner_group.tell_time_passed(l.now, l.times_due);
}

// Ordering. A worker arms a timer, (T1) full fence, and reads until when the timekeeper sleeps. The
// timekeeper writes that it may sleep for ever, (T2) full fence, looks at the timers, writes until when it
// sleeps, and sleeps unless `changes_` has changed since before the look. One of the two sees what the other
// wrote: the look finds the timer, or the worker finds a sleep that is too long, changes the word and wakes
// it.
class keeper {
 public:
  void look_by(deadline at) noexcept {
    base::full_fence(); // (T1) pairs with (T2)
    if (at >= sleeps_until_.load_relaxed())
      return;
    if (!running_.load_acquire() && !start_where_allowed())
      return;
    wake();
  }

  void start() noexcept {
    const std::scoped_lock held(lock_);
    if (running_.load_relaxed())
      return;
    ending_.store_relaxed(0);
    const int error = os::start_with_signals_blocked(
        thread_,
        [](void* self) -> void* {
          static_cast<keeper*>(self)->run();
          return nullptr;
        },
        this, 64 << 10);
    if (error == 0)
      running_.store_release(true);
    else if (!std::exchange(told_, true))
      base::warn("no kernel thread for timers (%s); they are late while all workers are busy",
                 std::strerror(error));
  }

  [[nodiscard]] std::uint32_t times_woken() const noexcept { return changes_.load_relaxed(); }

  void enter_group() noexcept {
    const std::scoped_lock held(lock_);
    ++groups_;
  }
  void leave_group() noexcept {
    const std::scoped_lock held(lock_);
    if (--groups_ != 0 || !running_.load_relaxed())
      return;
    ending_.store_release(1);
    wake();
    thread_.join();
    running_.store_release(false);
  }
  void forget_after_fork(bool keeps_group) noexcept {
    ::new (static_cast<void*>(this)) keeper;
    groups_ = keeps_group ? 1 : 0;
  }

 private:
  // Where threads may be preempted it was started before them.
  bool start_where_allowed() noexcept {
    if (user_mode::live().load_relaxed() == 0)
      start();
    return running_.load_acquire();
  }

  void wake() noexcept {
    changes_.fetch_add_seq_cst(1);
    os::futex_wake(&changes_, 1);
  }

  void run() noexcept {
    os::name_this_kernel_thread("weft-time");
    ::prctl(PR_SET_TIMERSLACK, 1UL);
    static_cast<void>(os::ask_for_short_slices(100'000)); // the least there is; it works for microseconds
    unsigned times_due = 0;
    for (;;) {
      // Before `ending_`: who ends it writes that first, then changes the word: no sleep misses it.
      const std::uint32_t changes = changes_.load_seq_cst();
      if (ending_.load_acquire() != 0) // pairs with the release in leave_group()
        break;
      sleeps_until_.store_relaxed(no_deadline);
      base::full_fence(); // (T2) pairs with (T1)
      look l{os::now_ns(), times_due};
      for_each_worker(&look_at, &l);
      times_due = l.any_due ? times_due + 1 : 0;
      const deadline again = l.any_due ? l.now + pause_after(times_due) : no_deadline;
      sleeps_until_.store_relaxed(std::min(l.next, again));
      os::futex_wait_until(&changes_, changes, std::min(l.next, again));
    }
    sleeps_until_.store_relaxed(no_deadline);
  }
  static deadline pause_after(unsigned times_due) noexcept {
    return std::min(first_pause << std::min(times_due - 1, 10U), longest_pause);
  }

  std::mutex lock_; // of what follows
  os::kernel_thread thread_;
  unsigned groups_ = 0;
  bool told_ = false;
  base::atomic<bool> running_{false};
  base::atomic<std::uint32_t> ending_{0};
  base::atomic<std::uint32_t> changes_{0}; // what it sleeps on
  base::atomic<deadline> sleeps_until_{no_deadline};
};

keeper& of_process() noexcept {
  return base::immortal<keeper>();
}

} // namespace

void look_by(deadline at) noexcept {
  if (!simulation::is_active())
    of_process().look_by(at);
}

void start() noexcept {
  of_process().start();
}

std::uint32_t times_woken() noexcept {
  return of_process().times_woken();
}

void enter_group() noexcept {
  of_process().enter_group();
}

void leave_group() noexcept {
  of_process().leave_group();
}

void forget_after_fork(bool keeps_group) noexcept {
  of_process().forget_after_fork(keeps_group);
}

} // namespace weft::sched::timekeeper
