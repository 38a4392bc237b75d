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

// rt_sigreturn will give this kernel thread the signal mask and the alternate stack that the thread's old one
// had: they must be those that this one has. No tick may move the thread between here and there.
void adapt(ucontext_t& interrupted, int number) noexcept {
  sigset_t only_this;
  sigemptyset(&only_this);
  sigaddset(&only_this, number);
  ::pthread_sigmask(SIG_BLOCK, &only_this, &interrupted.uc_sigmask);
  ::sigaltstack(nullptr, &interrupted.uc_stack);
}

// Whether what was interrupted has other signals blocked than the kernel thread had: in a handler of the
// program's own, for one. The mask goes with the thread then, and the kernel thread gets its own back, or a
// thread that is preempted there would leave the signal blocked.
bool has_own_mask(const ucontext_t& interrupted, const sched::carrier& on) noexcept {
  constexpr std::size_t bytes_of_the_kernel = 8;
  return std::memcmp(&interrupted.uc_sigmask, &on.mask(), bytes_of_the_kernel) != 0;
}

// Somebody came while the thread went back to user mode: as soon as the handler has returned, and not before,
// or handlers would pile up on the thread's stack. `adapted`: adapt() has been called.
void tick_when_returned(ucontext_t& interrupted, int number, bool adapted) noexcept {
  if (!adapted)                 // twice would keep the signal blocked for good
    adapt(interrupted, number); // the kernel's way back ends the blocking of the signal
  sigset_t only_this;
  sigemptyset(&only_this);
  sigaddset(&only_this, number);
  ::pthread_sigmask(SIG_BLOCK, &only_this, nullptr);
  send_tick(os::this_kernel_thread_id(), number);
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

void go_on_with(const std::optional<cut_call>& cut, ucontext_t& interrupted) noexcept {
  if (!cut)
    return;
  handled.calls_gone_on_with.fetch_add_relaxed(1);
  go_on(*cut, interrupted);
}

// Returns from the handler by itself where it can.
void preempt(user_mode& thread, ucontext_t& interrupted, const std::optional<cut_call>& cut, int number,
             int kept_errno) noexcept {
  const sched::carrier* const before = worker_of_this_kernel_thread()->carried.on;
  const sigset_t kept_mask = interrupted.uc_sigmask;
  const bool own_mask = has_own_mask(interrupted, *before);
  if (own_mask) [[unlikely]]
    ::pthread_sigmask(SIG_SETMASK, &before->mask(), nullptr);
  worker* const now = thread.preempt();
  if (now == nullptr) {
    handled.nowhere_to_go.fetch_add_relaxed(1); // the kernel gives it its mask back
    return;
  }
  handled.preemptions_done.fetch_add_relaxed(1);
  const std::uint64_t features = own_mask ? 0 : arch::features_of_frame(interrupted);
  const bool adapted = features == 0 && (own_mask || now->carried.on != before);
  if (adapted)
    adapt(interrupted, number);
  if (own_mask) [[unlikely]]
    interrupted.uc_sigmask = kept_mask;
  thread.return_to_user_mode();
  if (!thread.is_interrupted()) // else the next tick finds the call as it is
    go_on_with(cut, interrupted);
  write_errno(kept_errno);
  if (thread.has_remembered() || thread.is_interrupted()) {
    tick_when_returned(interrupted, number, adapted);
  } else if (features != 0)
    arch::return_from_signal(interrupted, features);
}

// What the thread calls may take it to another kernel thread.
void interrupt(user_mode& thread, ucontext_t& interrupted, const std::optional<cut_call>& cut, int number,
               int kept_errno) noexcept {
  const arch::interrupted_call call = arch::call_interrupted(interrupted);
  const sigset_t kept_mask = interrupted.uc_sigmask;
  const worker* const w = thread.is_away() ? nullptr : worker_of_this_kernel_thread();
  const bool own_mask = w != nullptr && has_own_mask(interrupted, *w->carried.on);
  if (!thread.heed()) {
    go_on_with(cut, interrupted);
  } else if (cut || call == arch::interrupted_call::failed) {
    take_tick_back(); // it has returned EINTR
  } else if (call == arch::interrupted_call::restarts && is_at_a_wait(interrupted)) {
    take_tick_back();
    arch::end_call(interrupted, -EINTR);
  }
  const std::uint64_t features = own_mask ? 0 : arch::features_of_frame(interrupted);
  if (features == 0)
    adapt(interrupted, number);
  if (own_mask)
    interrupted.uc_sigmask = kept_mask;
  write_errno(kept_errno);
  if (features != 0)
    arch::return_from_signal(interrupted, features);
}

// A thread that is in the kernel keeps the kernel thread and lets the worker go; one that computes leaves.
void on_tick_in_user_mode(user_mode& thread, ucontext_t& interrupted, int number, int kept_errno) noexcept {
  worker* const w = thread.is_away() ? nullptr : worker_of_this_kernel_thread();
  const told_call seen = w != nullptr ? told_of_user_mode(*w) : nothing_told;
  // One that holds on to its kernel thread is told (EINTR) where it must leave that in a call all the same.
  const told_call told = thread.is_held() ? told_call{} : seen;
  if (thread.is_entering())
    return thread.remember_tick();
  WEFT_ASSERT(thread.is_in_place(), "a thread in user mode has another one's variables");
  const arch::interrupted_call call = arch::call_interrupted(interrupted);
  const auto cut = cut_short(interrupted, told);
  if (thread.is_interrupted() && !thread.is_held_for_good())
    return interrupt(thread, interrupted, cut, number, kept_errno);
  if (call == arch::interrupted_call::failed && !cut)
    handled.calls_failed.fetch_add_relaxed(1);
  // At a call that does not wait it goes on at once, and on this kernel thread.
  const bool waits = cut || call == arch::interrupted_call::failed ||
                     (call == arch::interrupted_call::restarts && is_at_a_wait(interrupted));
  const bool is_in_call = cut || call != arch::interrupted_call::none;
  if (thread.is_held() && (!waits || thread.is_held_for_good())) {
    thread.remember_tick();
  } else if (thread.is_away()) {
    if (!is_in_call && thread.wait_for_worker() != nullptr)
      thread.return_to_user_mode();
  } else if (is_in_call && thread.let_worker_go()) {
    handled.workers_let_go.fetch_add_relaxed(1);
  } else {
    return preempt(thread, interrupted, cut, number, kept_errno);
  }
  if (thread.is_interrupted()) // since the look above: the next tick finds the call as it is
    return tick_when_returned(interrupted, number, false);
  go_on_with(cut, interrupted);
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
void on_tick_at_worker(worker& w, ucontext_t& interrupted) noexcept {
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

} // namespace

[[gnu::noinline]] worker* worker_of_this_kernel_thread() noexcept {
  asm volatile("" ::: "memory"); // compilers keep its address across calls
  return sched::weft_worker_here;
}

void on_tick(int number, siginfo_t* info, void* context) {
  const int kept = read_errno();
  auto& interrupted = *static_cast<ucontext_t*>(context);
  sched::worker_face& face = sched::here();
  const std::uint32_t attention = face.attention.load_relaxed();
  if (asks_for_calls(*info)) {
    answer_watchdog(reinterpret_cast<const void*>(arch::program_counter(interrupted)));
  } else if (!is_tick(*info)) {
    chain(number, info, context);
  } else if (note_tick(); !pass_on(*info)) {
    // for another kernel thread
  } else if ((attention & sched::without_worker) != 0) {
    go_on_with(cut_short(interrupted, nothing_told), interrupted); // a tick for who ran there before
  } else if ((attention & sched::user_code) != 0) {
    on_tick_in_user_mode(user_mode::behind(face), interrupted, number, kept);
  } else if ((attention & sched::not_a_worker) == 0) {
    on_tick_at_worker(static_cast<worker&>(face), interrupted);
  }
  write_errno(kept); // perhaps another kernel thread's: its worker may have gone on elsewhere
}

} // namespace weft::preempt
