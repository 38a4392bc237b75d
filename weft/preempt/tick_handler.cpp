// SPDX-License-Identifier: MIT
// The handler of ticks: what it has interrupted, and what leaves for it.
#include "weft/preempt/tick_handler.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "weft/arch/signal_return.hpp"
#include "weft/arch/user_mode.hpp"
#include "weft/base/assert.hpp"
#include "weft/carrier/leaving.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/preempt/cut_calls.hpp"
#include "weft/preempt/stuck.hpp"
#include "weft/preempt/tick_sources.hpp"
#include "weft/preempt/user_code.hpp"
#include "weft/preempt/watchdog.hpp"

extern "C" {
// By the linker, of the section that the handler stands in.
extern const char __start_weft_on_tick __attribute__((visibility("hidden")));
extern const char __stop_weft_on_tick __attribute__((visibility("hidden")));
}

namespace weft::preempt {

constinit tick_outcomes handled;
struct sigaction handler_before_ours;

namespace {

using sched::user_mode;
using sched::worker;

void chain(int number, siginfo_t* info, void* context) {
  if ((handler_before_ours.sa_flags & SA_SIGINFO) != 0) {
    handler_before_ours.sa_sigaction(number, info, context);
  } else if (handler_before_ours.sa_handler != SIG_DFL && handler_before_ours.sa_handler != SIG_IGN) {
    handler_before_ours.sa_handler(number);
  }
}

// The address of errno is that of the kernel thread, and compilers keep it across calls.
[[gnu::noinline]] int read_errno() noexcept {
  asm volatile("" ::: "memory");
  return errno;
}
[[gnu::noinline]] void write_errno(int value) noexcept {
  asm volatile("" ::: "memory");
  errno = value;
}

// The way back to what a tick has interrupted, on whichever kernel thread the thread is by then. Not the
// preemption of this tick alone takes it to another one: later ticks come before the first instruction of the
// handler, and after its last.
class way_back {
 public:
  way_back(ucontext_t& interrupted, int number, std::uint32_t calls_ended) noexcept
      : interrupted(interrupted), calls_ended(calls_ended), number_(number),
        frame_has_mask_(arch::call_interrupted(interrupted) == arch::interrupted_call::failed) {}

  ucontext_t& interrupted;
  const std::uint32_t calls_ended; // the thread's count, when the handler began

  // Whether the mask in the frame counts, and not the handler's: a call like ppoll(2) has one of its own,
  // until the handler returns.
  [[nodiscard]] bool frame_has_mask() const noexcept { return frame_has_mask_; }
  // Somebody else's handler may have changed it.
  void let_frame_have_mask() noexcept { frame_has_mask_ = true; }

  // No tick comes from here on until the handler has returned, and then at the instruction that it returns
  // to: the kernel's way back ends the blocking of the signal.
  void hold_ticks() noexcept { adapt(); }
  // Somebody came while the thread went back to user mode: as soon as the handler has returned, and not
  // before, or handlers would pile up on the thread's stack.
  void tick_when_returned() noexcept {
    hold_ticks();
    send_tick(os::this_kernel_thread_id(), number_);
  }
  // Last of all. Returns where the kernel must do it, when the handler returns.
  void take(int kept_errno) noexcept {
    const bool by_kernel = is_adapted_ || frame_has_mask_;
    const std::uint64_t features = by_kernel ? 0 : arch::features_of_frame(interrupted);
    if (features == 0)
      adapt();
    write_errno(kept_errno);
    if (features != 0)
      arch::return_from_signal(interrupted, features);
  }

 private:
  // The kernel gives this kernel thread the signal mask and the alternate stack that stand in the frame: they
  // shall be those that it has. No tick moves the thread between here and there.
  void adapt() noexcept {
    if (std::exchange(is_adapted_, true)) // twice would keep the signal blocked for good
      return;
    sigset_t only_this;
    sigemptyset(&only_this);
    sigaddset(&only_this, number_);
    ::pthread_sigmask(SIG_BLOCK, &only_this, frame_has_mask_ ? nullptr : &interrupted.uc_sigmask);
    ::sigaltstack(nullptr, &interrupted.uc_stack);
  }
  int number_;
  bool frame_has_mask_;
  bool is_adapted_ = false;
};

// What was interrupted may have other signals blocked than the kernel thread had, in a handler of the
// program's own, for one. The mask goes with the thread then, and the kernel thread gets its own back first,
// or a thread that leaves it there would leave the signals blocked.
class mask_of_thread {
 public:
  // Contexts: in user mode.
  explicit mask_of_thread(const way_back& back) noexcept : mask_(back.interrupted.uc_sigmask) {
    const sigset_t& usual = worker_of_this_kernel_thread()->carried.on->mask();
    is_own_ = std::memcmp(&mask_, &usual, bytes_in_frame) != 0;
    if (is_own_ || back.frame_has_mask()) [[unlikely]]
      ::pthread_sigmask(SIG_SETMASK, &usual, nullptr);
  }
  // To the kernel thread that the thread is on now, as is `here`.
  void set(way_back& back, const worker& here) const noexcept {
    if (is_own_) [[unlikely]]
      ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
    if (back.frame_has_mask() && !is_own_)
      std::memcpy(&back.interrupted.uc_sigmask, &here.carried.on->mask(), bytes_in_frame);
  }

 private:
  static constexpr std::size_t bytes_in_frame = 8; // the kernel's frame has something else behind them
  sigset_t mask_;
  bool is_own_;
};

void go_on_with(const std::optional<cut_call>& cut, ucontext_t& interrupted) noexcept {
  if (!cut)
    return;
  handled.calls_gone_on_with.fetch_add_relaxed(1);
  go_on(*cut, interrupted);
}
// Unless the thread has been interrupted on top of this handler, and its calls end for it.
void go_on_with(const std::optional<cut_call>& cut, const user_mode& thread, way_back& back) noexcept {
  if (thread.calls_ended() == back.calls_ended)
    go_on_with(cut, back.interrupted);
}
// Else the next tick finds the call as it is.
void go_on_unless_interrupted(const std::optional<cut_call>& cut, const user_mode& thread,
                              way_back& back) noexcept {
  if (!thread.is_interrupted() || thread.is_held_for_good())
    go_on_with(cut, thread, back);
}

void preempt(user_mode& thread, way_back& back, const std::optional<cut_call>& cut) noexcept {
  const mask_of_thread mask(back);
  const worker* const now = thread.preempt();
  mask.set(back, now != nullptr ? *now : *worker_of_this_kernel_thread());
  if (now == nullptr) {
    handled.nowhere_to_go.fetch_add_relaxed(1);
  } else {
    handled.preemptions_done.fetch_add_relaxed(1);
    thread.return_to_user_mode();
  }
  go_on_unless_interrupted(cut, thread, back);
  if (now != nullptr && thread.has_remembered())
    back.tick_when_returned();
}

// What the thread calls may take it to another kernel thread.
void interrupt(user_mode& thread, way_back& back, const std::optional<cut_call>& cut) noexcept {
  const mask_of_thread mask(back);
  thread.heed();
  go_on_with(cut, thread, back);
  mask.set(back, *worker_of_this_kernel_thread());
}

// A call that is to be restarted, and in which the thread may wait.
bool restarts_a_wait(const ucontext_t& interrupted) noexcept {
  return arch::call_interrupted(interrupted) == arch::interrupted_call::restarts && is_at_a_wait(interrupted);
}

bool can_heed(const user_mode& thread, const ucontext_t& interrupted) noexcept {
  return !thread.is_held_for_good() && !thread.stays_on_signal_stack(interrupted);
}

// Last of all but the way back: a call ends for an interruption, and it does so whichever handler on top of
// this one has heeded that. What comes from then on finds the call as this handler has found it.
[[gnu::noinline]] void settle_and_return(const user_mode& thread, way_back& back, int kept_errno) noexcept {
  const bool restarts = restarts_a_wait(back.interrupted) && ends_for_signals(back.interrupted);
  if (restarts)
    back.hold_ticks();
  if (restarts && thread.calls_ended() != back.calls_ended)
    arch::end_call(back.interrupted, -EINTR);
  if (thread.is_interrupted() && can_heed(thread, back.interrupted))
    back.tick_when_returned();
  back.take(kept_errno);
}

// A thread that is in the kernel keeps the kernel thread and lets the worker go; one that computes leaves.
[[gnu::noinline]] void on_tick_in_user_mode(user_mode& thread, way_back& back) noexcept {
  const ucontext_t& interrupted = back.interrupted;
  worker* const w = thread.is_away() ? nullptr : worker_of_this_kernel_thread();
  const told_call seen = w != nullptr ? told_of_user_mode(*w) : nothing_told;
  // One that holds on to its kernel thread is told (EINTR) where it must leave that in a call all the same.
  const told_call told = thread.is_held() ? told_call{} : seen;
  if (thread.is_entering())
    return thread.remember_tick();
  WEFT_ASSERT(thread.is_in_place(), "a thread in user mode has another one's variables");
  const arch::interrupted_call call = arch::call_interrupted(interrupted);
  const auto cut = cut_short(back.interrupted, told);
  if (thread.stays_on_signal_stack(interrupted)) {
    thread.remember_tick(); // heeded when it is back
    return go_on_with(cut, thread, back);
  }
  if (thread.is_interrupted() && !thread.is_held_for_good())
    return interrupt(thread, back, cut);
  if (call == arch::interrupted_call::failed && !cut)
    handled.calls_failed.fetch_add_relaxed(1);
  // At a call that does not wait it goes on at once, and on this kernel thread.
  const bool waits = cut || call == arch::interrupted_call::failed || restarts_a_wait(interrupted);
  const bool is_in_call = cut || call != arch::interrupted_call::none;
  if (thread.is_held() && (!waits || thread.keeps_worker())) {
    thread.remember_tick();
  } else if (thread.is_away()) {
    if (!is_in_call && thread.wait_for_worker() != nullptr)
      thread.return_to_user_mode();
  } else if (is_in_call && thread.let_worker_go()) {
    handled.workers_let_go.fetch_add_relaxed(1);
  } else {
    return preempt(thread, back, cut);
  }
  go_on_unless_interrupted(cut, thread, back);
}

// While one is in scope the monitor lets the worker alone: the handler waits there.
class let_alone {
 public:
  explicit let_alone(worker& w) noexcept
      : worker_(w), before_(w.preemption.goes_on_with_call.load_relaxed()) {
    w.preemption.goes_on_with_call.store_relaxed(w.current);
  }
  ~let_alone() { worker_.preemption.goes_on_with_call.store_relaxed(before_); }
  let_alone(const let_alone&) = delete;
  let_alone& operator=(const let_alone&) = delete;

 private:
  worker& worker_;
  const sched::descriptor* before_; // of a handler that this one has interrupted
};

// It stands in user code; if no kernel thread is to be had, one is made as soon as may be.
bool leave_soon(worker& w) noexcept {
  constexpr int most = 100;
  constexpr std::int64_t pause = 100'000;
  for (int tries = 0; tries < most; ++tries) {
    if (sched::leave_worker(w)) // GONE: w
      return true;
    const let_alone here(w);
    os::sleep_ns(pause);
  }
  return false;
}

// Where a call was cut short the handler goes on with it: it does not return before that is done.
void leave_or_keep(worker& w, const std::optional<cut_call>& cut, ucontext_t& interrupted) noexcept {
  w.preemption.kept_by.store_relaxed(nullptr);
  if (can_leave(w, interrupted, cut.has_value()) && (cut ? leave_soon(w) : sched::leave_worker(w))) {
    handled.threads_left.fetch_add_relaxed(1); // GONE: w
    return go_on_with(cut, interrupted);
  }
  w.preemption.kept_by.store_relaxed(w.current);
  if (cut) {
    const let_alone here(w);
    go_on_with(cut, interrupted);
  } else if (waits_in_futex(w, interrupted) && user_mode::let_one_go_alone(w)) {
    handled.let_go_alone.fetch_add_relaxed(1);
  }
}

// The runtime, or a cooperative thread that has called it or not.
[[gnu::noinline]] void on_tick_at_worker(worker& w, ucontext_t& interrupted) noexcept {
  WEFT_ASSERT(w.is_here(), "a tick has found a worker on another kernel thread");
  static_cast<void>(told_of_user_mode(w)); // it has left user mode, and may come back to make another call
  const bool is_told = w.preemption.is_stuck.exchange_relaxed(0) != 0;
  const auto cut = cut_short(interrupted, is_told ? what_was_told(w) : nothing_told);
  if (is_told)
    return leave_or_keep(w, cut, interrupted);
  user_mode::remember_tick_in_runtime(w);
  if (cut && was_in_user_code(interrupted)) // a tick for who ran there before
    go_on_with(cut, interrupted);
}

// Counts it, and answers who ticks: until it has begun the next one waits longer.
[[gnu::noinline]] void begin_tick() noexcept {
  note_tick();
  if (worker* const w = worker_of_this_kernel_thread())
    w->preemption.tick_on_its_way.store_relaxed(0);
}

} // namespace

[[gnu::noinline]] worker* worker_of_this_kernel_thread() noexcept {
  asm volatile("" ::: "memory"); // compilers keep its address across calls
  return sched::weft_worker_here;
}

namespace {

// A handler that has not read its thread's count yet is below: two signals at once, for one. It is to see to
// what has come, at the call that it has interrupted. Contexts: as on_tick().
[[gnu::always_inline]] inline bool is_above_beginning(const ucontext_t& interrupted) noexcept {
  const std::uintptr_t pc = arch::program_counter(interrupted);
  return pc >= reinterpret_cast<std::uintptr_t>(&__start_weft_on_tick) &&
         pc < reinterpret_cast<std::uintptr_t>(&__stop_weft_on_tick);
}

[[gnu::always_inline]] inline void set_open(bool open, int number) noexcept {
  constexpr long bytes_of_the_kernel = 8;
  const std::uint64_t only_this = std::uint64_t{1} << (number - 1);
  static_cast<void>(arch::system_call<SYS_rt_sigprocmask>(
      {open ? SIG_UNBLOCK : SIG_BLOCK, reinterpret_cast<long>(&only_this), 0, bytes_of_the_kernel, 0, 0}));
}

// What else a tick is for. False: it is somebody else's signal. Who ticks is answered by the handler below:
// until that has begun the next one waits longer, or handlers would pile up on it under a slow tracer.
[[gnu::noinline]] bool answer_or_pass_on(const siginfo_t& info, const ucontext_t& interrupted) noexcept {
  const int kept = read_errno();
  const bool asks = asks_for_calls(info), ticks = !asks && is_tick(info);
  if (asks) {
    answer_watchdog(reinterpret_cast<const void*>(arch::program_counter(interrupted)));
  } else if (ticks) {
    note_tick();
    static_cast<void>(pass_on(info));
  }
  write_errno(kept);
  return asks || ticks;
}

// The thread stays where it is: no tick comes before the kernel's way back to the first instruction of the
// handler below, where the next one finds that it is above it.
[[gnu::always_inline]] inline bool leave_to_beginning(const siginfo_t& info,
                                                      const ucontext_t& interrupted) noexcept {
  set_open(false, info.si_signo);
  if (answer_or_pass_on(info, interrupted))
    return true;
  set_open(true, info.si_signo);
  return false;
}

} // namespace

// In a section of its own, by which is_above_beginning() knows it: so what it calls is not inlined, but for
// what is to be done before others may be called.
[[gnu::section("weft_on_tick")]] void on_tick(int number, siginfo_t* info, void* context) {
  sched::worker_face& face = sched::here();
  const std::uint32_t attention = face.attention.load_relaxed();
  const bool is_away = (attention & sched::without_worker) != 0; // and no thread of ticks
  const bool in_user_mode = !is_away && (attention & sched::user_code) != 0;
  auto& interrupted = *static_cast<ucontext_t*>(context);
  std::uint32_t calls_ended = 0;
  if (in_user_mode) {
    if (is_above_beginning(interrupted) && leave_to_beginning(*info, interrupted))
      return;
    calls_ended = user_mode::behind(face).calls_ended();
  }
  const int kept = read_errno();
  way_back back(interrupted, number, calls_ended);
  if (asks_for_calls(*info)) {
    answer_watchdog(reinterpret_cast<const void*>(arch::program_counter(back.interrupted)));
  } else if (!is_tick(*info)) {
    chain(number, info, context);
    if (in_user_mode)
      back.let_frame_have_mask();
  } else if (begin_tick(); !pass_on(*info)) {
    // for another kernel thread
  } else if (is_away) {
    go_on_with(cut_short(back.interrupted, nothing_told), back.interrupted); // for who ran there before
  } else if (in_user_mode) {
    on_tick_in_user_mode(user_mode::behind(face), back);
  } else if ((attention & sched::not_a_worker) == 0) {
    on_tick_at_worker(static_cast<worker&>(face), back.interrupted);
  }
  // No tick moves a thread that enters the runtime: it is on the kernel thread to which the signal came.
  if (in_user_mode && !user_mode::behind(face).is_entering())
    return settle_and_return(user_mode::behind(face), back, kept);
  write_errno(kept); // perhaps another kernel thread's: its worker may have gone on elsewhere
}

} // namespace weft::preempt
