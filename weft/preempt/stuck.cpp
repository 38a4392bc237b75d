// SPDX-License-Identifier: MIT
#include "weft/preempt/stuck.hpp"

#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>

#include "weft/arch/user_mode.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/task_file.hpp"
#include "weft/preempt/tick_sources.hpp"
#include "weft/sched/group.hpp"

namespace weft::preempt {
namespace {

using call = std::array<long, 5>; // its number and first arguments

// Without a time limit: other waits, and other calls, a signal would end with EINTR.
bool is_wait_for_good(const call& made) noexcept {
  const long what = made[2] & FUTEX_CMD_MASK;
  return made[0] == SYS_futex && made[4] == 0 &&
         (what == FUTEX_WAIT || what == FUTEX_WAIT_BITSET || what == FUTEX_LOCK_PI);
}

// A call on such a socket ends with EINTR, although it would restart on others. RACY: the program may close
// it.
bool is_socket_with_time_limit(int descriptor) noexcept {
  for (const int which : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    timeval limit{};
    socklen_t length = sizeof limit;
    if (::getsockopt(descriptor, SOL_SOCKET, which, &limit, &length) == 0 &&
        (limit.tv_sec != 0 || limit.tv_usec != 0))
      return true;
  }
  return false;
}

// Whether a handled signal does not show to who made the call (signal(7), SA_RESTART).
bool restarts(const call& made) noexcept {
  constexpr long on_descriptors[] = {SYS_read,   SYS_readv,   SYS_write,  SYS_writev,  SYS_recvfrom,
                                     SYS_recvmsg, SYS_sendto,  SYS_sendmsg, SYS_accept, SYS_accept4,
                                     SYS_connect};
  constexpr long others[] = {SYS_wait4, SYS_waitid, SYS_flock};
  if (is_wait_for_good(made) || std::ranges::find(others, made[0]) != std::end(others))
    return true;
  return std::ranges::find(on_descriptors, made[0]) != std::end(on_descriptors) &&
         !is_socket_with_time_limit(static_cast<int>(made[1]));
}

// False also where the kernel does not tell: the worker is left alone then.
bool is_in(int kernel_id, bool (*kind)(const call&) noexcept) noexcept {
  std::array<char, 256> text;
  if (os::read_task_file(kernel_id, "syscall", text) == 0)
    return false;
  std::array<unsigned long, 5> read{};
  if (std::sscanf(text.data(), "%lu %lx %lx %lx %lx", &read[0], &read[1], &read[2], &read[3], &read[4]) != 5)
    return false; // it runs
  call made{};
  std::ranges::copy(read, made.begin());
  return kind(made);
}

// Whether the worker's kernel thread has neither computed for an interval nor slept for want of work, and is
// in a call of that kind: then it is time to tick it.
bool is_silent(sched::worker& w, std::int64_t now, std::int64_t interval,
               bool (*kind)(const call&) noexcept) noexcept {
  constexpr std::int64_t longest = 64; // intervals between two looks at one that waits for something else
  if (now < w.silent.look_at)
    return false;
  const int kernel_id = w.kernel_thread_id.load_relaxed();
  const bool works = kernel_id != 0 && !w.stands_still.load_relaxed();
  const std::int64_t computed = works ? os::cpu_time_ns(kernel_id) : 0;
  if (computed == 0 || computed != w.silent.cpu_ns) {
    w.silent = {.since = now, .look_at = now + interval, .cpu_ns = computed};
    return false;
  }
  const std::int64_t silence = now - w.silent.since;
  const bool found = is_in(kernel_id, kind);
  w.silent.look_at = now + (found ? interval : std::clamp(silence, interval, longest * interval));
  return found;
}

// It may have ended meanwhile, or gone to another kernel thread.
void tick(const sched::worker& w, int number) noexcept {
  if (const int kernel_id = w.kernel_thread_id.load_relaxed(); kernel_id != 0)
    send_tick(kernel_id, number);
}

} // namespace

void look_at_silent(sched::worker& w, std::int64_t now, std::int64_t interval, int number) noexcept {
  if (!is_silent(w, now, interval, &is_wait_for_good))
    return;
  w.is_stuck.store_relaxed(1);
  tick(w, number);
}

void look_at_blocked(sched::worker& w, std::int64_t now, std::int64_t interval, int number) noexcept {
  if (w.owner_group.has_thieves() && is_silent(w, now, interval, &restarts))
    tick(w, number);
}

bool waits_in_futex(const sched::worker& w, const ucontext_t& interrupted) noexcept {
  return !w.stands_still.load_relaxed() &&
         arch::call_interrupted(interrupted) == arch::interrupted_call::restarts &&
         is_wait_for_good(arch::call_with_arguments(interrupted));
}

} // namespace weft::preempt
