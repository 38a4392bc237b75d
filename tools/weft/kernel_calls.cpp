// SPDX-License-Identifier: MIT
#include "tools/weft/kernel_calls.hpp"

#include <sys/syscall.h>

#include <algorithm>
#include <iterator>

namespace weft::tool {
namespace {

struct known_call {
  long number;
  const char* name;
  bool has_descriptor; // as its first argument
};

// What a thread may wait in; others are told by their number.
constexpr known_call known_calls[] = {
    {SYS_futex, "futex", false},
    {SYS_read, "read", true},
    {SYS_readv, "readv", true},
    {SYS_pread64, "pread64", true},
    {SYS_write, "write", true},
    {SYS_writev, "writev", true},
    {SYS_pwrite64, "pwrite64", true},
    {SYS_recvfrom, "recvfrom", true},
    {SYS_recvmsg, "recvmsg", true},
    {SYS_recvmmsg, "recvmmsg", true},
    {SYS_sendto, "sendto", true},
    {SYS_sendmsg, "sendmsg", true},
    {SYS_accept, "accept", true},
    {SYS_accept4, "accept4", true},
    {SYS_connect, "connect", true},
    {SYS_fsync, "fsync", true},
    {SYS_fdatasync, "fdatasync", true},
    {SYS_flock, "flock", true},
    {SYS_fcntl, "fcntl", true},
    {SYS_ioctl, "ioctl", true},
    {SYS_openat, "openat", false},
    {SYS_wait4, "wait4", false},
    {SYS_waitid, "waitid", false},
    {SYS_ppoll, "ppoll", false},
    {SYS_pselect6, "pselect6", false},
    {SYS_epoll_pwait, "epoll_pwait", true},
    {SYS_io_uring_enter, "io_uring_enter", true},
    {SYS_nanosleep, "nanosleep", false},
    {SYS_clock_nanosleep, "clock_nanosleep", false},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait", false},
    {SYS_rt_sigsuspend, "rt_sigsuspend", false},
    {SYS_semtimedop, "semtimedop", false},
    {SYS_msgrcv, "msgrcv", false},
    {SYS_restart_syscall, "a wait that was interrupted", false}, // the kernel does not tell of which call
#if defined(SYS_poll)                                            // of older ports only
    {SYS_poll, "poll", false},
    {SYS_select, "select", false},
    {SYS_epoll_wait, "epoll_wait", true},
    {SYS_open, "open", false},
    {SYS_pause, "pause", false},
#endif
};

} // namespace

std::string describe_kernel_call(const std::optional<kernel_call>& call, descriptors& of) {
  if (!call)
    return {};
  const auto* const known =
      std::ranges::find_if(known_calls, [&](const known_call& k) { return k.number == call->number; });
  if (known == std::end(known_calls))
    return "system call " + std::to_string(call->number);
  if (!known->has_descriptor)
    return known->name;
  const int descriptor = static_cast<int>(call->first);
  const std::string what = of.describe(descriptor);
  return std::string(known->name) + " of " + std::to_string(descriptor) +
         (what.empty() ? "" : " (" + what + ")");
}

} // namespace weft::tool
