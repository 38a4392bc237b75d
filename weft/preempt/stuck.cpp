// SPDX-License-Identifier: MIT
#include "weft/preempt/stuck.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "weft/arch/user_mode.hpp"
#include "weft/os/clock.hpp"
#include "weft/preempt/tick_sources.hpp"

namespace weft::preempt {
namespace {

// Without a time limit: other waits, and other calls, a signal would end with EINTR. `call`: its number and
// first arguments.
bool is_wait_for_good(const std::array<long, 5>& call) noexcept {
  const long what = call[2] & FUTEX_CMD_MASK;
  return call[0] == SYS_futex && call[4] == 0 &&
         (what == FUTEX_WAIT || what == FUTEX_WAIT_BITSET || what == FUTEX_LOCK_PI);
}

// False also where the kernel does not tell: the worker is left alone then.
bool waits_for_good(int kernel_id) noexcept {
  std::array<char, 64> path;
  static_cast<void>(std::snprintf(path.data(), path.size(), "/proc/self/task/%d/syscall", kernel_id));
  const int file = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return false;
  std::array<char, 256> text;
  const ssize_t length = ::read(file, text.data(), text.size() - 1);
  ::close(file);
  if (length <= 0)
    return false;
  text[static_cast<std::size_t>(length)] = '\0';
  std::array<unsigned long, 5> call{};
  if (std::sscanf(text.data(), "%lu %lx %lx %lx %lx", &call[0], &call[1], &call[2], &call[3], &call[4]) != 5)
    return false; // it runs
  std::array<long, 5> made{};
  std::ranges::copy(call, made.begin());
  return is_wait_for_good(made);
}

} // namespace

void look_at_silent(sched::worker& w, std::int64_t now, std::int64_t interval, int number) noexcept {
  constexpr std::int64_t longest = 64; // intervals between two looks at one that waits for something else
  if (now < w.silent.look_at)
    return;
  const int kernel_id = w.kernel_thread_id.load_relaxed();
  const std::int64_t computed =
      kernel_id == 0 || w.sleeps_until.load_relaxed() != 0 ? 0 : os::cpu_time_ns(kernel_id);
  if (computed == 0 || computed != w.silent.cpu_ns) {
    w.silent = {.since = now, .look_at = now + interval, .cpu_ns = computed};
    return;
  }
  const std::int64_t silence = now - w.silent.since;
  if (waits_for_good(kernel_id)) {
    w.silent.look_at = now + interval;
    w.is_stuck.store_relaxed(1);
    send_tick(kernel_id, number);
  } else {
    w.silent.look_at = now + std::clamp(silence, interval, longest * interval);
  }
}

bool waits_in_futex(const sched::worker& w, const ucontext_t& interrupted) noexcept {
  return w.current != &w.loop_unit &&
         arch::call_interrupted(interrupted) == arch::interrupted_call::restarts &&
         is_wait_for_good(arch::call_with_arguments(interrupted));
}

} // namespace weft::preempt
