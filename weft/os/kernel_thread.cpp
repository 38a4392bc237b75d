// SPDX-License-Identifier: MIT
#include "weft/os/kernel_thread.hpp"

#include "weft/os/signal.hpp"

#include "weft/os/fault.hpp"
#include "weft/os/mapping.hpp"

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weft::os {

int kernel_thread::start(function entry, void* argument, std::size_t stack_bytes) noexcept {
  if (const int injected = fault(fault_site::thread_create)) {
    return injected;
  }
  pthread_attr_t attributes;
  int error = ::pthread_attr_init(&attributes);
  if (error != 0) {
    return error;
  }
  if (stack_bytes != 0) {
    const std::size_t least = static_cast<std::size_t>(::sysconf(_SC_THREAD_STACK_MIN));
    error =
        ::pthread_attr_setstacksize(&attributes, round_up_to_page(stack_bytes < least ? least : stack_bytes));
  }
  if (error == 0) {
    error = ::pthread_create(&handle_, &attributes, entry, argument);
  }
  ::pthread_attr_destroy(&attributes);
  return error;
}

int start_with_signals_blocked(kernel_thread& thread, kernel_thread::function entry, void* argument,
                               std::size_t stack_bytes) noexcept {
  sigset_t before;
  block_all_signals(&before);
  const int error = thread.start(entry, argument, stack_bytes);
  restore_signal_mask(before);
  return error;
}

int name_this_kernel_thread(const char* name) noexcept {
  char cut[16] = {};
  std::strncpy(cut, name, sizeof cut - 1);
  return ::pthread_setname_np(::pthread_self(), cut);
}

int ask_for_short_slices(unsigned long slice_ns) noexcept {
  struct { // sched_attr, for C libraries that do not have it: its first version
    std::uint32_t size;
    std::uint32_t policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime;
    std::uint64_t deadline;
    std::uint64_t period;
  } attributes{};
  static_assert(sizeof attributes == 48);
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0)
    return errno;
  if (attributes.policy != SCHED_OTHER)
    return 0; // somebody has chosen
  attributes.runtime = slice_ns;
  return ::syscall(SYS_sched_setattr, 0, &attributes, 0) == 0 ? 0 : errno;
}

pid_t this_kernel_thread_id() noexcept {
  return static_cast<pid_t>(::syscall(SYS_gettid));
}

int this_kernel_thread_stack(void** low, std::size_t* bytes) noexcept {
  pthread_attr_t attributes;
  int error = ::pthread_getattr_np(::pthread_self(), &attributes);
  if (error != 0) {
    return error;
  }
  error = ::pthread_attr_getstack(&attributes, low, bytes);
  ::pthread_attr_destroy(&attributes);
  return error;
}

} // namespace weft::os
