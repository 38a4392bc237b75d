// SPDX-License-Identifier: MIT
// The monitor and the handler of its signal.
#include "weft/preempt/ticks.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <new>
#include <system_error>

#include "weft/arch/user_mode.hpp"
#include "weft/base/assert.hpp"
#include "weft/base/knob.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/futex.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/os/signal.hpp"
#include "weft/preempt/donors.hpp"
#include "weft/sched/ticker.hpp"

namespace weft::preempt {
namespace {

using sched::user_mode;
using sched::worker;

constexpr std::int64_t least_interval_us = 50;

constinit base::integer_knob interval_knob{
    "WEFT_PREEMPTION_INTERVAL",
    1000,
    {least_interval_us, 1'000'000},
    base::knob_scale::count,
    "microseconds that a preemptible thread may run while others wait"};
constinit base::integer_knob signal_knob{"WEFT_PREEMPTION_SIGNAL",
                                         SIGURG,
                                         {1, 64},
                                         base::knob_scale::count,
                                         "number of the signal that preempts; the default is one that "
                                         "debuggers let pass"};
const base::knob_list listed{interval_knob, signal_knob};

base::atomic<std::uint64_t> flags_left;
base::atomic<std::uint64_t> signals_sent;
base::atomic<std::uint64_t> preemptions_done;

// What tells our signals from others of the same number.
const char cookie = 0;

struct sigaction before_us;

[[noreturn]] void refuse(std::errc code, const char* why) {
  throw std::system_error(std::make_error_code(code), why);
}

// --- the handler ---

void chain(int number, siginfo_t* info, void* context) {
  if ((before_us.sa_flags & SA_SIGINFO) != 0) {
    before_us.sa_sigaction(number, info, context);
  } else if (before_us.sa_handler != SIG_DFL && before_us.sa_handler != SIG_IGN) {
    before_us.sa_handler(number);
  }
}

// rt_sigreturn will give this kernel thread the signal mask and the alternate stack that the thread's old one
// had: they must be those that this one has. No tick may move the thread between here and there.
void adapt(ucontext_t& interrupted, int number) noexcept {
  sigset_t only_this;
  sigemptyset(&only_this);
  sigaddset(&only_this, number);
  ::pthread_sigmask(SIG_BLOCK, &only_this, &interrupted.uc_sigmask);
  ::sigaltstack(nullptr, &interrupted.uc_stack);
}

[[gnu::noinline]] worker* worker_here() noexcept {
  asm volatile("" ::: "memory");
  return sched::weft_worker_here;
}

void on_tick(int number, siginfo_t* info, void* context) {
  const int kept = errno;
  auto& interrupted = *static_cast<ucontext_t*>(context);
  sched::worker_front& front = sched::here();
  const std::uint32_t attention = front.attention.load_relaxed();
  if (info->si_value.sival_ptr != &cookie) {
    chain(number, info, context);
  } else if ((attention & sched::user_code) != 0) {
    user_mode& thread = user_mode::behind(front);
    worker* const before = worker_here();
    if (arch::enters_runtime(arch::program_counter(interrupted))) {
      thread.remember_tick();
    } else if (worker* const now = thread.preempt()) {
      preemptions_done.fetch_add_relaxed(1);
      if (now != before)
        adapt(interrupted, number);
      thread.return_to_user_mode();
    }
  } else if ((attention & sched::not_a_worker) == 0) {
    static_cast<worker&>(front).tick_flag.store_relaxed(sched::whichever_thread);
  }
  errno = kept; // the thread's own still: it keeps its TLS block, or its kernel thread
}

void send_tick(std::int32_t kernel_id, int number) noexcept {
  siginfo_t info = {};
  info.si_code = SI_QUEUE;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  info.si_value.sival_ptr = const_cast<char*>(&cookie);
  if (::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), kernel_id, number, &info) == 0)
    signals_sent.fetch_add_relaxed(1);
}

// --- the monitor ---

struct look {
  std::int64_t now;
  std::int64_t interval;
  int number;
  bool waited_for;                           // somebody was found that others wait for
  std::int64_t planned = sched::no_deadline; // the next tick that a scheduler has planned
};

// A tick that does not wait for the interval: the thread leaves now, or when it next leaves the runtime.
void tick_now(worker& w, int number) noexcept {
  if (w.user_mode_serial.load_relaxed() == 0) {
    w.tick_flag.store_relaxed(sched::whichever_thread);
  } else if (const std::int32_t kernel_id = w.kernel_thread_id.load_relaxed(); kernel_id != 0) {
    send_tick(kernel_id, number);
  }
}

// True: the interval does not matter for this worker now.
bool look_at_plan(worker& w, look& l) noexcept {
  std::int64_t planned = w.planned_tick.load_relaxed();
  if (planned == 0)
    return l.now < w.unhurried_until.load_relaxed();
  if (l.now < planned) {
    l.planned = std::min(l.planned, planned);
  } else if (w.planned_tick.cas_strong_relaxed(planned, 0)) {
    tick_now(w, l.number);
  }
  return true;
}

// One look at a worker: the thread that it found there the last time had better be gone.
void look_at(worker& w, void* argument) {
  look& l = *static_cast<look*>(argument);
  if (look_at_plan(w, l))
    return;
  const std::uint32_t serial = w.user_mode_serial.load_relaxed();
  if (serial == 0)
    return; // in the runtime, or cooperative
  const bool waited_for =
      w.others_wait.load_relaxed() ||
      (w.attention.load_relaxed() & (sched::inbox_waiting | sched::activity_changed)) != 0;
  l.waited_for = l.waited_for || waited_for;
  if (serial != w.ticked_serial) {
    w.ticked_serial = serial;
    w.ticked_since = l.now;
    return;
  }
  const std::int64_t ran = l.now - w.ticked_since;
  if (!waited_for || ran < l.interval)
    return;
  if (ran < l.interval + l.interval / 4) {
    w.tick_flag.store_relaxed(serial);
    flags_left.fetch_add_relaxed(1);
    return;
  }
  w.ticked_since = l.now;
  if (const std::int32_t kernel_id = w.kernel_thread_id.load_relaxed(); kernel_id != 0)
    send_tick(kernel_id, l.number);
}

class monitor final : public sched::ticker {
 public:
  void tick(worker& w) noexcept override {
    if (w.user_mode_serial.load_relaxed() != 0)
      tick_now(w, number_);
  }
  // The futex's word changes, so that a monitor that is about to sleep does not.
  void look_by(std::int64_t at) noexcept override {
    if (at >= sleeps_until_.load_seq_cst())
      return;
    calls_.fetch_add_seq_cst(1);
    os::futex_wake(&calls_, 1);
  }

  void start() {
    const std::scoped_lock held(lock_);
    if (running_)
      return;
    take_signal();
    ending_.store_relaxed(0);
    sigset_t before;
    os::block_all_signals(&before);
    const int error = thread_.start(
        [](void* self) -> void* {
          static_cast<monitor*>(self)->watch();
          return nullptr;
        },
        this, 64 << 10);
    os::restore_signal_mask(before);
    if (error != 0) {
      give_signal_back();
      throw std::system_error(error, std::generic_category(), "weft: no kernel thread for the monitor");
    }
    running_ = true;
    sched::ticker_of_process.store(this, std::memory_order_release);
  }
  void stop() noexcept {
    const std::scoped_lock held(lock_);
    if (!running_)
      return;
    sched::ticker_of_process.store(nullptr, std::memory_order_release);
    ending_.store_release(1);
    calls_.fetch_add_seq_cst(1);
    os::futex_wake(&calls_, 1);
    user_mode::live().fetch_add_relaxed(1); // so that the monitor cannot fall asleep on a 0 after the wake
    os::futex_wake(&user_mode::live(), 1);
    thread_.join();
    user_mode::live().fetch_sub_relaxed(1);
    give_signal_back();
    running_ = false;
  }
  void forget_after_fork() noexcept {
    sched::ticker_of_process.store(nullptr, std::memory_order_relaxed);
    if (running_)
      give_signal_back();
    ::new (static_cast<void*>(this)) monitor;
  }
  base::atomic<std::int64_t> interval_ns{0}; // 0: as the environment says
  [[nodiscard]] std::int64_t interval() noexcept {
    const std::int64_t set = interval_ns.load_relaxed();
    return set != 0 ? set : interval_knob.get() * 1000;
  }
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  // Looks four times an interval, and up to sixteen times more rarely while nobody is waited for.
  void watch() noexcept {
    os::name_this_kernel_thread("weft-monitor");
    ::prctl(PR_SET_TIMERSLACK, 1UL);
    static_cast<void>(
        os::ask_for_short_slices(100'000)); // the least there is; it works for a few microseconds
    for (std::int64_t pauses = 1; ending_.load_acquire() == 0;) {
      if (user_mode::live().load_relaxed() == 0) {
        os::futex_wait(&user_mode::live(), 0);
        pauses = 1;
        continue;
      }
      const std::uint32_t calls = calls_.load_seq_cst();
      look l{os::now_ns(), interval(), number_, false};
      sched::for_each_worker(&look_at, &l);
      pauses = l.waited_for ? 1 : std::min<std::int64_t>(pauses * 2, 16);
      const std::int64_t until = std::min(os::now_ns() + pauses * interval() / 4, l.planned);
      sleeps_until_.store_seq_cst(until);
      os::futex_wait_until(&calls_, calls, until);
      sleeps_until_.store_seq_cst(sched::no_deadline); // whoever plans something while it looks calls it
    }
  }
  void take_signal() {
    number_ = static_cast<int>(signal_knob.get());
    struct sigaction ours = {};
    ours.sa_sigaction = &on_tick;
    ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;
    sigemptyset(&ours.sa_mask);
    if (::sigaction(number_, &ours, &before_us) != 0)
      refuse(std::errc::invalid_argument, "weft: WEFT_PREEMPTION_SIGNAL names no signal that can be handled");
  }
  // Unless somebody has put another handler over ours, which may call it.
  void give_signal_back() noexcept {
    struct sigaction now = {};
    if (::sigaction(number_, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
        now.sa_sigaction == &on_tick)
      ::sigaction(number_, &before_us, nullptr);
  }

  std::mutex lock_;
  os::kernel_thread thread_;
  base::atomic<std::uint32_t> ending_{0};
  base::atomic<std::uint32_t> calls_{0}; // what the monitor sleeps on
  base::atomic<std::int64_t> sleeps_until_{sched::no_deadline};
  bool running_ = false;
  int number_ = 0;
};

monitor& process_monitor() noexcept {
  alignas(monitor) static std::byte room[sizeof(monitor)]; // outlives all statics
  static auto* made = ::new (static_cast<void*>(room)) monitor;
  return *made;
}

} // namespace

bool prepare(sched::preemption kind, std::size_t workers) {
  if (arch::sanitizer::watches_frames) {
    static std::atomic<bool> said{false};
    if (!said.exchange(true))
      base::warn("under sanitizers preemptible threads are cooperative");
    return false;
  }
  if (!arch::can_preempt)
    refuse(std::errc::not_supported, "weft: preemption is not ported to this machine");
  if (kind == sched::preemption::own_tls) {
    if (!arch::can_set_thread_pointer())
      refuse(std::errc::not_supported, "weft: this kernel does not let programs set their thread pointer");
    provide_donors(workers + 2);
  }
  process_monitor().start();
  return true;
}

void stop() noexcept {
  if (user_mode::live().load_relaxed() != 0)
    return; // another group has some
  process_monitor().stop();
  end_donors();
}

void forget_after_fork() noexcept {
  process_monitor().forget_after_fork();
  forget_donors_after_fork();
}

void set_interval(std::chrono::nanoseconds interval) {
  if (interval < std::chrono::microseconds(least_interval_us) || interval > std::chrono::seconds(1))
    refuse(std::errc::invalid_argument, "weft: an interval of preemption is 50 us to 1 s");
  process_monitor().interval_ns.store_relaxed(interval.count());
}

std::chrono::nanoseconds interval() noexcept {
  return std::chrono::nanoseconds(process_monitor().interval());
}

tick_counts counts() noexcept {
  return {flags_left.load_relaxed(), signals_sent.load_relaxed(), preemptions_done.load_relaxed()};
}

void tick_self() noexcept {
  send_tick(os::this_kernel_thread_id(), process_monitor().number());
}

} // namespace weft::preempt
