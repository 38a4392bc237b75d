// SPDX-License-Identifier: MIT
#include "weft/preempt/stuck.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <optional>

#include "weft/arch/user_mode.hpp"
#include "weft/carrier/leaving.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/signal.hpp"
#include "weft/os/task_file.hpp"
#include "weft/preempt/cut_transfers.hpp"
#include "weft/preempt/tick_sources.hpp"
#include "weft/preempt/user_code.hpp"
#include "weft/workers/group.hpp"

namespace weft::preempt {
namespace {

// Without a time limit: other waits, and other calls, a signal would end with EINTR.
bool is_wait_for_good(const kernel_call& made) noexcept {
  const long what = made[2] & FUTEX_CMD_MASK;
  return made[0] == SYS_futex && made[4] == 0 &&
         (what == FUTEX_WAIT || what == FUTEX_WAIT_BITSET || what == FUTEX_LOCK_PI);
}

// A call on such a socket ends with EINTR, although it would restart on others. RACY: the program may close
// it.
bool has_time_limit(const kernel_call& made) noexcept {
  const long as = made[0] == SYS_connect ? SYS_sendto : made[0]; // the limit is that of sends
  return limit_of_socket(as, made[1]).has_value();
}

// Whether the kernel goes on with the call when the handler returns (signal(7), SA_RESTART).
bool restarts(const kernel_call& made) noexcept {
  constexpr long others[] = {SYS_wait4, SYS_waitid, SYS_flock};
  if (is_wait_for_good(made) || std::ranges::find(others, made[0]) != std::end(others))
    return true;
  return (heeds_limit_of_socket(made[0]) || made[0] == SYS_connect) &&
         !is_of_parts(made[0], made[3], made[4]) && !peeks_at_all(made[0], made[3], made[4]) &&
         !has_time_limit(made);
}

// Whether a tick does not show to who made the call: the kernel goes on with it, or our handler does, which
// knows of the call and when it began.
bool hides_a_tick(const kernel_call& made) noexcept {
  if (heeds_limit_of_socket(made[0]))
    return !peeks_at_all(made[0], made[3], made[4]);
  return restarts(made) || can_go_on(made);
}

// Also none where the kernel does not tell: the worker is left alone then.
std::optional<kernel_call> call_of(int kernel_id) noexcept {
  std::array<char, 256> text;
  if (os::read_task_file(kernel_id, "syscall", text) == 0)
    return {};
  std::array<unsigned long, 5> read{};
  if (std::sscanf(text.data(), "%lu %lx %lx %lx %lx", &read[0], &read[1], &read[2], &read[3], &read[4]) != 5)
    return {}; // it runs
  kernel_call made{};
  std::ranges::copy(read, made.begin());
  return made;
}

// The call in which the worker's kernel thread is, if it has neither computed for an interval nor slept for
// want of work, and if the call is of that kind: then it is time to tick it.
std::optional<kernel_call> silent_in(sched::worker& w, std::int64_t now, std::int64_t interval,
                                     bool (*kind)(const kernel_call&) noexcept) noexcept {
  constexpr std::int64_t longest = 64; // intervals between two looks at one that waits for something else
  const sched::descriptor* const goes_on = w.preemption.goes_on_with_call.load_relaxed();
  if (now < w.ticking.silent.look_at || (goes_on != nullptr && goes_on == w.current))
    return {};
  const int kernel_id = w.carried.kernel_thread_id.load_relaxed();
  const bool works = kernel_id != 0 && !w.parking.stillness.holds();
  const std::int64_t computed = works ? os::cpu_time_ns(kernel_id) : 0;
  if (computed == 0 || computed != w.ticking.silent.cpu_ns) {
    // Who computed for at least half an interval less than the time, or does not compute now, may wait in the
    // kernel since then: after another half it has waited for about a whole one. The time alone says nothing
    // of a worker that has come to another kernel thread.
    w.ticking.silent.has_waited =
        computed != 0 && (computed - w.ticking.silent.cpu_ns < now - w.ticking.silent.seen - interval / 2 ||
                          os::cpu_time_ns(kernel_id) == computed);
    const bool keeps_on = computed != 0 &&
                          computed - w.ticking.silent.cpu_ns < sched::silence::cost_of_tick &&
                          w.preemption.kept_by.load_relaxed() == w.current;
    if (!keeps_on)
      w.ticking.silent.kept_since = now;
    w.ticking.silent.since = os::now_ns(); // not before a call that it has made since this look began
    w.ticking.silent.seen = now;
    w.ticking.silent.look_at = now + (w.ticking.silent.has_waited ? interval / 2 : interval);
    w.ticking.silent.cpu_ns = computed;
    return {};
  }
  w.ticking.silent.has_waited = false;
  w.ticking.silent.seen = now;
  std::optional<kernel_call> made = call_of(kernel_id);
  if (made && !kind(*made))
    made = {};
  w.ticking.silent.look_at =
      now + (made ? interval : std::clamp(now - w.ticking.silent.since, interval, longest * interval));
  return made;
}

// For the handler, which the kernel's signal orders after this.
void tell(sched::worker& w, const std::optional<kernel_call>& made, std::int64_t since,
          std::uint32_t serial) noexcept {
  sched::silence& s = w.ticking.silent;
  s.told_number.store_relaxed(made ? (*made)[0] : 0);
  s.told_first.store_relaxed(made ? (*made)[1] : 0);
  s.told_since.store_relaxed(since);
  s.told_cpu_ns.store_relaxed(s.cpu_ns);
  s.told_serial.store_relaxed(serial);
}

// It may have ended meanwhile, or gone to another kernel thread.
void tick(const sched::worker& w, int number) noexcept {
  if (const int kernel_id = w.carried.kernel_thread_id.load_relaxed(); kernel_id != 0)
    send_tick(kernel_id, number);
}

} // namespace

std::int64_t look_at_silent(sched::worker& w, std::int64_t now, std::int64_t interval, int number) noexcept {
  const bool leaves = sched::may_leave(w);
  const auto kind = leaves ? &hides_a_tick : &is_wait_for_good;
  const std::optional<kernel_call> made = silent_in(w, now, interval, kind);
  if (!made)
    return leaves && w.ticking.silent.has_waited ? w.ticking.silent.look_at : sched::no_deadline;
  // Who was ticked, kept the worker and is there still does not wait for another tick; but of those who may
  // have a lock that it waits for, one goes alone a tick.
  constexpr unsigned most = 6;
  const bool in_vain = w.preemption.kept_by.load_relaxed() == w.current && !is_wait_for_good(*made);
  w.ticking.silent.ticks_in_vain = in_vain ? std::min(w.ticking.silent.ticks_in_vain + 1, most) : 0;
  w.ticking.silent.look_at = now + (interval << w.ticking.silent.ticks_in_vain);
  tell(w, made, w.ticking.silent.since, 0);
  w.preemption.is_stuck.store_relaxed(1);
  tick(w, number);
  return now;
}

void tell_of_call(sched::worker& w, std::int64_t now) noexcept {
  sched::silence& s = w.ticking.silent;
  const std::uint32_t serial = w.preemption.user_mode_serial.load_relaxed();
  const int kernel_id = w.carried.kernel_thread_id.load_relaxed();
  if (serial == 0 || kernel_id == 0)
    return;
  const std::int64_t computed = os::cpu_time_ns(kernel_id);
  if (computed != s.cpu_ns) {
    s.since = os::now_ns(); // not before the call that it may have made meanwhile
    s.seen = now;
    s.cpu_ns = computed;
  }
  const bool runs = os::cpu_time_ns(kernel_id) != computed; // much cheaper than to ask for its call
  w.preemption.is_stuck.store_relaxed(0);                   // of a cooperative thread that has gone on
  tell(w, runs ? std::nullopt : call_of(kernel_id), s.since, serial);
}

bool waits_in_call(int kernel_id) noexcept {
  return call_of(kernel_id).has_value();
}

told_call what_was_told(const sched::worker& w) noexcept {
  const auto& s = w.ticking.silent;
  return {.given = true,
          .number = s.told_number.load_relaxed(),
          .first = s.told_first.load_relaxed(),
          .since = s.told_since.load_relaxed(),
          .cpu_ns = s.told_cpu_ns.load_relaxed()};
}

told_call told_of_user_mode(sched::worker& w) noexcept {
  const std::uint32_t serial = w.ticking.silent.told_serial.exchange_relaxed(0);
  return serial != 0 && serial == w.preemption.user_mode_serial.load_relaxed() ? what_was_told(w)
                                                                               : nothing_told;
}

bool is_at_a_wait(const ucontext_t& interrupted) noexcept {
  switch (arch::call_with_arguments(interrupted)[0]) {
  case SYS_futex:
  case SYS_read:
  case SYS_readv:
  case SYS_write:
  case SYS_writev:
  case SYS_recvfrom:
  case SYS_recvmsg:
  case SYS_sendto:
  case SYS_sendmsg:
  case SYS_accept4:
  case SYS_connect:
  case SYS_wait4:
  case SYS_waitid:
  case SYS_flock:
  case SYS_fcntl:
  case SYS_ioctl:
  case SYS_openat:
  case SYS_ppoll:
  case SYS_pselect6:
  case SYS_epoll_pwait:
  case SYS_nanosleep:
  case SYS_clock_nanosleep:
  case SYS_rt_sigtimedwait:
  case SYS_rt_sigsuspend:
  case SYS_semtimedop:
#if defined(SYS_poll) // of older ports only
  case SYS_accept:
  case SYS_poll:
  case SYS_select:
  case SYS_epoll_wait:
  case SYS_open:
  case SYS_pause:
#endif
    return true;
  default:
    return false;
  }
}

bool ends_for_signals(const ucontext_t& interrupted) noexcept {
  const kernel_call made = arch::call_with_arguments(interrupted);
  const long what = made[2] & FUTEX_CMD_MASK;
  return arch::has_been_in_kernel(interrupted) &&
         (made[0] != SYS_futex || what == FUTEX_WAIT || what == FUTEX_WAIT_BITSET);
}

// What fork() has locked, the thread that is in it knows of. One that visits an event loop of the program's
// (runtime::guest) counts as a worker that sleeps.
bool may_leave_now(const sched::worker& w) noexcept {
  return !w.parking.stillness.holds() && w.current->kind() == unit::kind_thread &&
         w.current != sched::forking_unit.load_relaxed() && sched::may_leave(w);
}

bool can_leave(const sched::worker& w, const ucontext_t& interrupted, bool is_cut_short) noexcept {
  const bool is_in_call =
      is_cut_short || (arch::call_interrupted(interrupted) == arch::interrupted_call::restarts &&
                       hides_a_tick(arch::call_with_arguments(interrupted)));
  return is_in_call && may_leave_now(w) && was_in_user_code(interrupted) &&
         !os::is_on_signal_stack(interrupted);
}

void look_at_blocked(sched::worker& w, std::int64_t now, std::int64_t interval, int number) noexcept {
  if (!w.owner_group.has_thieves() || !silent_in(w, now, interval, &hides_a_tick))
    return;
  tell_of_call(w, now);
  tick(w, number);
}

bool waits_in_futex(const sched::worker& w, const ucontext_t& interrupted) noexcept {
  return !w.parking.stillness.holds() &&
         arch::call_interrupted(interrupted) == arch::interrupted_call::restarts &&
         is_wait_for_good(arch::call_with_arguments(interrupted));
}

} // namespace weft::preempt
