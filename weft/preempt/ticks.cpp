// SPDX-License-Identifier: MIT
// The monitor, and its signal.
#include "weft/preempt/ticks.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <mutex>
#include <new>
#include <system_error>

#include "weft/arch/signal_return.hpp"
#include "weft/arch/user_mode.hpp"
#include "weft/base/assert.hpp"
#include "weft/base/immortal.hpp"
#include "weft/base/knob.hpp"
#include "weft/base/refuse.hpp"
#include "weft/carrier/kick.hpp"
#include "weft/carrier/leaving.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/futex.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/preempt/creator.hpp"
#include "weft/preempt/donors.hpp"
#include "weft/preempt/made_blocks.hpp"
#include "weft/preempt/preparation.hpp"
#include "weft/preempt/signal_use.hpp"
#include "weft/preempt/spares.hpp"
#include "weft/preempt/stuck.hpp"
#include "weft/preempt/tick_handler.hpp"
#include "weft/preempt/tick_sources.hpp"
#include "weft/preempt/watchdog.hpp"
#include "weft/workers/ticker.hpp"

namespace weft::preempt {
namespace {

using base::refuse;

using sched::user_mode;
using sched::worker;

constexpr std::int64_t least_interval_us = 50;

constinit base::integer_knob interval_knob{
    "WEFT_PREEMPTION_INTERVAL",
    1000,
    {least_interval_us, 1'000'000},
    base::knob_scale::count,
    "microseconds that a preemptible thread may run while others wait"};
// Real-time signals are not for it: they queue, and a kernel thread that had no CPU for long would find all
// its ticks at once, one handler upon the other.
constexpr int last_standard_signal = 31;
// KILL and STOP cannot be handled; to a fault a handler that switches away would return for ever.
bool is_usable_signal(std::int64_t number) noexcept {
  constexpr int not_these[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS};
  return std::find(std::begin(not_these), std::end(not_these), number) == std::end(not_these);
}

constinit base::integer_knob signal_knob{"WEFT_PREEMPTION_SIGNAL",
                                         SIGURG,
                                         {1, last_standard_signal},
                                         "1..31 but for 9, 19 and those of faults",
                                         &is_usable_signal,
                                         "number of the signal that preempts; the default is one that "
                                         "debuggers let pass"};
// In the order of tick_source.
constexpr const char* source_names[] = {"monitor", "creation_time", "aligned", "one_to_all", "chain"};
constinit base::choice_knob source_knob{"WEFT_PREEMPTION_TICKS", 0, source_names,
                                        "where the ticks of preemptible threads come from"};
constinit base::boolean_knob kicks_knob{"WEFT_PREEMPTION_KICKS", true,
                                        "a thread of high priority that becomes ready interrupts one of low "
                                        "priority at once; 0: at its next tick"};
const base::knob_list ticks_knobs{interval_knob, signal_knob, source_knob, kicks_knob};

base::atomic<std::uint64_t> flags_left;
base::atomic<std::uint64_t> kicks_sent;

// --- the monitor ---

struct look {
  std::int64_t now;
  std::int64_t interval;
  int number;
  bool found_silent = false;    // a worker was told to be left,
  bool waited_for = false;      // somebody was found that others wait for,
  std::int64_t due = INT64_MAX; // and this is when the next one must be told

  void look_again_at(std::int64_t when) noexcept { due = std::min(due, when); }
};

// False: it has no kernel thread now.
bool send_tick_to(const worker& w, int number) noexcept {
  const std::int32_t kernel_id = w.carried.kernel_thread_id.load_relaxed();
  if (kernel_id != 0)
    send_tick(kernel_id, number);
  return kernel_id != 0;
}

// A tick that does not wait for the interval: the thread leaves now, or when it next leaves the runtime.
void tick_now(worker& w, int number) noexcept {
  if (w.preemption.user_mode_serial.load_relaxed() == 0) {
    w.preemption.tick_flag.store_relaxed(sched::whichever_thread);
  } else {
    send_tick_to(w, number);
  }
}

// True: the interval does not matter for this worker now.
bool look_at_plan(worker& w, look& l) noexcept {
  std::int64_t planned = w.preemption.planned_tick.load_relaxed();
  if (planned == 0)
    return l.now < w.preemption.unhurried_until.load_relaxed();
  if (l.now < planned) {
    l.look_again_at(planned);
  } else if (w.preemption.planned_tick.cas_strong_relaxed(planned, 0)) {
    tell_of_call(w, l.now);
    tick_now(w, l.number);
  }
  return true;
}

// While nobody is waited for: a new arrival is noticed so much later.
constexpr std::int64_t longest_pause(std::int64_t interval) noexcept {
  return std::max(4 * interval, std::min<std::int64_t>(16 * interval, 5'000'000));
}

sched::waiting who_waits(const worker& w) noexcept {
  const bool told =
      w.attention.any_relaxed(sched::inbox_waiting | sched::activity_changed | sched::time_passed);
  return told ? sched::waiting::somebody : w.preemption.others_wait.load_relaxed();
}

// Where flags were ignored so often in a row the next ticks are signals at once: whose threads only compute
// costs one look an interval.
constexpr std::uint8_t flags_to_ignore = 3, signals_at_once = 16;

// Ticks that were sent and whose handler has not begun.
unsigned ticks_unanswered(const worker& w) noexcept {
  return w.preemption.tick_on_its_way.load_relaxed() != 0 ? w.ticking.ticks_unanswered : 0;
}

// Under a debugger, or strace, a signal may take longer than an interval to reach its handler. Each next one
// would come before the handler's first instruction, one frame on top of the other until the stack is full:
// so it waits twice as long as the one before.
std::int64_t until_next(const worker& w, std::int64_t interval) noexcept {
  constexpr std::int64_t longest = 1'000'000'000;
  return std::min(interval << ticks_unanswered(w), std::max(interval, longest));
}

void send_next(worker& w, int number) noexcept {
  constexpr unsigned most = 20;
  w.ticking.ticks_unanswered = static_cast<std::uint8_t>(std::min(ticks_unanswered(w) + 1, most));
  w.preemption.tick_on_its_way.store_relaxed(1); // RACY: the handler of an older one may take it back at once
  if (!send_tick_to(w, number))
    w.preemption.tick_on_its_way.store_relaxed(0);
}

// Of a worker that is in the runtime, or runs a cooperative thread.
void look_at_runtime(worker& w, look& l) noexcept {
  const std::int64_t again = look_at_silent(w, l.now, l.interval, l.number);
  l.found_silent |= again == l.now;
  if (again > l.now)
    l.look_again_at(again);
}

// One look at a worker: the thread that it found there the last time had better be gone. Who took over after
// a signal counts from the signal, and may be told of the next tick as early as a quarter of an interval
// after it began.
void look_at(worker& w, void* argument) {
  look& l = *static_cast<look*>(argument);
  if (look_at_plan(w, l))
    return;
  const std::uint32_t serial = w.preemption.user_mode_serial.load_relaxed();
  if (serial == 0) // in the runtime, or cooperative
    return look_at_runtime(w, l);
  if (w.ticking.since == 0)
    w.ticking.since = l.now; // the first look at this worker
  if (w.ticking.serial == 0) {
    w.ticking.serial = serial;
  } else if (serial != w.ticking.serial) {
    w.ticking.serial = serial;
    w.ticking.since = l.now;
    w.ticking.flags_ignored = 0; // the one before left of its own accord
  }
  const sched::waiting others = who_waits(w);
  if (others == sched::waiting::nobody)
    return look_at_blocked(w, l.now, l.interval, l.number);
  const bool waited_for = others == sched::waiting::somebody;
  l.waited_for |= waited_for;
  const std::int64_t interval = until_next(w, waited_for ? l.interval : longest_pause(l.interval));
  const std::int64_t flag_at = w.ticking.since + interval, signal_at = flag_at + l.interval / 4;
  const bool at_once = w.ticking.flags_ignored >= flags_to_ignore;
  if (l.now < flag_at)
    return l.look_again_at(flag_at);
  if (l.now < signal_at && !at_once) {
    if (w.preemption.tick_flag.load_relaxed() != serial) {
      w.preemption.tick_flag.store_relaxed(serial);
      flags_left.fetch_add_relaxed(1);
    }
    return l.look_again_at(signal_at);
  }
  w.ticking.flags_ignored =
      static_cast<std::uint8_t>((w.ticking.flags_ignored + 1) % (flags_to_ignore + signals_at_once));
  w.ticking.serial = 0;
  w.ticking.since = l.now;
  l.look_again_at(l.now + interval);
  tell_of_call(w, l.now);
  send_next(w, l.number);
}

// A preemptible thread without a worker, in a system call when it was let alone: once it computes it must
// come back. A cooperative one may compute there, and its next call must not end with EINTR.
void look_at_away(sched::carrier& c, void* argument) {
  // acquire: pairs with the release in user_mode::let_worker_go()
  if (c.away.load_acquire() != sched::away_here::preemptible)
    return;
  look& l = *static_cast<look*>(argument);
  l.waited_for = true;
  l.look_again_at(l.now + l.interval);
  const std::int64_t computed = os::cpu_time_ns(c.kernel_id());
  if (std::exchange(c.computed_ns, computed) + l.interval / 8 < computed && !waits_in_call(c.kernel_id()))
    send_tick(c.kernel_id(), l.number);
}

// --- the signal ---

class our_signal {
 public:
  int use() {
    const std::scoped_lock held(lock_);
    if (users_ == 0)
      take();
    ++users_;
    return number_;
  }
  void unuse() noexcept {
    const std::scoped_lock held(lock_);
    if (--users_ == 0)
      give_back();
  }
  void forget_after_fork() noexcept {
    if (users_ != 0)
      give_back();
    ::new (static_cast<void*>(this)) our_signal;
  }

 private:
  void take() {
    prepare_to_send();
    number_ = static_cast<int>(signal_knob.get());
    struct sigaction ours = {};
    ours.sa_sigaction = &on_tick;
    ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;
    sigemptyset(&ours.sa_mask);
    if (::sigaction(number_, &ours, &handler_before_ours) != 0)
      refuse(std::errc::invalid_argument, "weft: WEFT_PREEMPTION_SIGNAL names no signal that can be handled");
    const struct sigaction& others = handler_before_ours;
    const bool is_ours_alone =
        (others.sa_flags & SA_SIGINFO) == 0 && (others.sa_handler == SIG_DFL || others.sa_handler == SIG_IGN);
    sched::signal_of_ticks.store_relaxed(is_ours_alone ? number_ : 0);
  }
  // Unless somebody has put another handler over ours, which may call it.
  void give_back() noexcept {
    sched::signal_of_ticks.store_relaxed(0);
    struct sigaction now = {};
    if (::sigaction(number_, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
        now.sa_sigaction == &on_tick)
      ::sigaction(number_, &handler_before_ours, nullptr);
  }

  std::mutex lock_;
  unsigned users_ = 0;
  int number_ = 0;
};

our_signal& process_signal() noexcept {
  return base::immortal<our_signal>();
}

class monitor final : public sched::ticker {
 public:
  void tick(worker& w) noexcept override {
    if (w.preemption.user_mode_serial.load_relaxed() != 0)
      tick_now(w, number_);
  }
  void tick_here() noexcept override { send_tick(os::this_kernel_thread_id(), number_); }
  void interrupt(const user_mode& thread) noexcept override {
    struct search {
      const user_mode& wanted;
      int number;
    } s{thread, number_};
    sched::for_each_worker(
        [](worker& w, void* argument) {
          const search& from = *static_cast<search*>(argument);
          if (w.preemption.user_mode_serial.load_relaxed() == from.wanted.serial()) // relaxed: after a fence
            send_tick_to(w, from.number);
        },
        &s);
    for_each_spare(
        [](sched::carrier& c, void* argument) {
          const search& from = *static_cast<search*>(argument);
          // acquire: pairs with the release in user_mode::let_worker_go()
          if (c.away.load_acquire() == sched::away_here::preemptible &&
              c.who_is_away.load_relaxed() == &from.wanted)
            send_tick(c.kernel_id(), from.number);
        },
        &s);
  }
  // The futex's word changes, so that a monitor that is about to sleep does not.
  void look_by(std::int64_t at) noexcept override {
    if (at < sleeps_until_.load_seq_cst())
      look_again();
  }

  void start() {
    const std::scoped_lock held(lock_);
    if (running_)
      return;
    number_ = use_signal();
    ending_.store_relaxed(0);
    const int error = os::start_with_signals_blocked(
        thread_,
        [](void* self) -> void* {
          static_cast<monitor*>(self)->run();
          return nullptr;
        },
        this, 64 << 10);
    if (error != 0) {
      unuse_signal();
      throw std::system_error(error, std::generic_category(), "weft: no kernel thread for the monitor");
    }
    running_ = true;
    kicks_ = kicks_knob.get();
    sched::kick_worker.store(&kick, std::memory_order_release);
    sched::ticker_of_process.store(this, std::memory_order_release);
  }
  void stop() noexcept {
    const std::scoped_lock held(lock_);
    if (!running_)
      return;
    sched::ticker_of_process.store(nullptr, std::memory_order_release);
    sched::kick_worker.store(nullptr, std::memory_order_release);
    ending_.store_release(1);
    look_again();
    sched::rest_of_monitor.rouse();
    thread_.join();
    unuse_signal();
    running_ = false;
  }
  void forget_after_fork() noexcept {
    sched::ticker_of_process.store(nullptr, std::memory_order_relaxed);
    sched::kick_worker.store(nullptr, std::memory_order_release);
    forget_timers_after_fork();
    ::new (static_cast<void*>(this)) monitor;
  }
  base::atomic<std::int64_t> interval_ns{0}; // 0: as the environment says
  [[nodiscard]] std::int64_t interval() noexcept {
    const std::int64_t set = interval_ns.load_relaxed();
    return set != 0 ? set : interval_knob.get() * 1000;
  }
  [[nodiscard]] int number() const noexcept { return number_; }
  // The interval or the source is another one now.
  void look_again() noexcept {
    changes_.fetch_add_seq_cst(1); // seq_cst: with `sleeps_until_`
    os::futex_wake(&changes_, 1);
  }
  [[nodiscard]] bool kicks() const noexcept { return kicks_; }

 private:
  // Looks when somebody is due, or, while nobody is waited for, ever more rarely; or sees to the timers,
  // where ticks come from these, and itself to those alone that have no worker.
  void run() noexcept {
    os::name_this_kernel_thread("weft-monitor");
    ::prctl(PR_SET_TIMERSLACK, 1UL);
    static_cast<void>(
        os::ask_for_short_slices(100'000)); // the least there is; it works for a few microseconds
    std::int64_t pause = 0;
    // Who waits in the kernel does so again: looks follow each other more closely until so many found nobody.
    constexpr unsigned looks_until_calm = 50;
    unsigned calm = looks_until_calm;
    for (;;) {
      // Before `ending_`: who ends it writes that first, then changes the word, so no sleep below misses it.
      const std::uint32_t changes = changes_.load_seq_cst();
      if (ending_.load_acquire() != 0) // pairs with the release in stop()
        break;
      if (user_mode::live().load_relaxed() == 0) {
        end_timers();
        if (may_rest()) {
          sched::rest_of_monitor.rest([this] { return may_rest(); });
          pause = 0;
          continue;
        }
      }
      look l{os::now_ns(), interval(), number_};
      for_each_spare(&look_at_away, &l);
      const bool none_lives = user_mode::live().load_relaxed() == 0;
      const tick_source source = none_lives ? tick_source::monitor : tick_source_in_use();
      if (source != tick_source::monitor) {
        const std::int64_t good_for = tend_timers(source, l.interval, number_);
        os::futex_wait_until(&changes_, changes, std::min(l.now + good_for, l.due));
        continue;
      }
      end_timers();
      sched::for_each_worker(&look_at, &l);
      calm = l.found_silent ? 0 : std::min(calm + 1, looks_until_calm);
      pause = l.waited_for              ? 0
              : calm < looks_until_calm ? l.interval
                                        : std::clamp(2 * pause, l.interval / 4, longest_pause(l.interval));
      const std::int64_t until = l.waited_for ? l.due : std::min(l.due, l.now + pause);
      sleeps_until_.store_seq_cst(until);
      os::futex_wait_until(&changes_, changes, until);
      sleeps_until_.store_seq_cst(sched::no_deadline); // whoever plans something while it looks calls it
    }
    end_timers();
  }
  // No preemptible thread lives, and no worker that a thread could leave is awake.
  [[nodiscard]] bool may_rest() const noexcept {
    if (ending_.load_acquire() != 0 || user_mode::live().load_relaxed() != 0)
      return false;
    bool all_still = true;
    sched::for_each_worker(
        [](worker& w, void* all) {
          const bool is_still = w.parking.stillness.holds() || w.ended.load(std::memory_order_relaxed);
          if (!is_still && sched::may_leave(w))
            *static_cast<bool*>(all) = false;
        },
        &all_still);
    return all_still;
  }
  std::mutex lock_;
  os::kernel_thread thread_;
  base::atomic<std::uint32_t> ending_{0};
  base::atomic<std::uint32_t> changes_{0}; // what the monitor sleeps on
  base::atomic<std::int64_t> sleeps_until_{sched::no_deadline};
  bool running_ = false;
  int number_ = 0;
  bool kicks_ = true;
};

monitor& process_monitor() noexcept {
  return base::immortal<monitor>();
}

} // namespace

int use_signal() {
  return process_signal().use();
}

void unuse_signal() noexcept {
  process_signal().unuse();
}

void start_monitor() {
  process_monitor().start();
}

void stop_monitor() noexcept {
  process_monitor().stop();
}

void forget_after_fork() noexcept {
  forget_preparations_after_fork();
  process_signal().forget_after_fork();
  forget_watchdog_after_fork();
  process_monitor().forget_after_fork();
  forget_creator_after_fork();
  forget_donors_after_fork();
  forget_made_after_fork();
  forget_spares_after_fork();
}

void set_interval(std::chrono::nanoseconds interval) {
  if (interval < std::chrono::microseconds(least_interval_us) || interval > std::chrono::seconds(1))
    refuse(std::errc::invalid_argument, "weft: an interval of preemption is 50 us to 1 s");
  process_monitor().interval_ns.store_relaxed(interval.count());
  process_monitor().look_again();
}

void set_tick_source(tick_source source) {
  if (static_cast<std::size_t>(source) >= std::size(source_names))
    refuse(std::errc::invalid_argument, "weft: no such source of ticks");
  source_knob.set(static_cast<unsigned>(source));
  process_monitor().look_again();
}

tick_source tick_source_in_use() noexcept {
  return static_cast<tick_source>(source_knob.get());
}

std::chrono::nanoseconds interval() noexcept {
  return std::chrono::nanoseconds(process_monitor().interval());
}

tick_counts counts() noexcept {
  return {.flags = flags_left.load_relaxed(),
          .signals = ticks_sent(),
          .preemptions = handled.preemptions_done.load_relaxed(),
          .nowhere_to_go = handled.nowhere_to_go.load_relaxed(),
          .workers_let_go = handled.workers_let_go.load_relaxed(),
          .calls_failed = handled.calls_failed.load_relaxed(),
          .kicks = kicks_sent.load_relaxed(),
          .let_go_alone = handled.let_go_alone.load_relaxed(),
          .threads_left = handled.threads_left.load_relaxed(),
          .calls_gone_on_with = handled.calls_gone_on_with.load_relaxed()};
}

void kick(sched::worker& w) noexcept {
  if (process_monitor().kicks() && send_tick_to(w, process_monitor().number()))
    kicks_sent.fetch_add_relaxed(1);
}

void tick_self() noexcept {
  const worker* const w = worker_of_this_kernel_thread();
  send_tick(w != nullptr ? w->carried.kernel_thread_id.load_relaxed() : os::this_kernel_thread_id(),
            process_monitor().number());
}

} // namespace weft::preempt
