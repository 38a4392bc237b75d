// SPDX-License-Identifier: MIT
#include "weft/os/kernel_thread.hpp"

#include "weft/os/signal.hpp"

#include "weft/os/fault.hpp"
#include "weft/os/mapping.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weft::os {

namespace {

// Destroyed at the end.
class creation_attributes {
 public:
  creation_attributes() noexcept : error_(::pthread_attr_init(&attributes_)), made_(error_ == 0) {}
  ~creation_attributes() {
    if (made_)
      ::pthread_attr_destroy(&attributes_);
  }
  creation_attributes(const creation_attributes&) = delete;
  creation_attributes& operator=(const creation_attributes&) = delete;
  // set(attributes, arguments...), unless something has failed.
  template <class F, class... Arguments>
  void with(F set, Arguments... arguments) noexcept {
    if (error_ == 0)
      error_ = set(&attributes_, arguments...);
  }
  [[nodiscard]] int error() const noexcept { return error_; }
  [[nodiscard]] const pthread_attr_t& get() const noexcept { return attributes_; }

 private:
  pthread_attr_t attributes_;
  int error_;
  bool made_;
};

template <class Stack>
int start_blocked(kernel_thread& thread, kernel_thread::function entry, void* argument,
                  const Stack& stack) noexcept {
  sigset_t before;
  block_all_signals(&before);
  const int error = thread.start(entry, argument, stack);
  restore_signal_mask(before);
  return error;
}

} // namespace

int kernel_thread::start(function entry, void* argument, const pthread_attr_t& attributes) noexcept {
  const int injected = fault(fault_site::thread_create);
  return injected != 0 ? injected : ::pthread_create(&handle_, &attributes, entry, argument);
}

int kernel_thread::start(function entry, void* argument, std::size_t stack_bytes) noexcept {
  creation_attributes a;
  if (stack_bytes != 0)
    a.with(::pthread_attr_setstacksize, round_up_to_page(std::max(stack_bytes, least_stack_bytes())));
  return a.error() != 0 ? a.error() : start(entry, argument, a.get());
}

int kernel_thread::start(function entry, void* argument, const guarded_stack& stack) noexcept {
  creation_attributes a;
  a.with(::pthread_attr_setstack, stack.low(), stack.size());
  return a.error() != 0 ? a.error() : start(entry, argument, a.get());
}

std::size_t kernel_thread::default_stack_bytes() noexcept {
  std::size_t bytes = 0;
  creation_attributes a;
  a.with(::pthread_attr_getstacksize, &bytes);
  return std::max(bytes, least_stack_bytes());
}

std::size_t kernel_thread::least_stack_bytes() noexcept {
  return static_cast<std::size_t>(::sysconf(_SC_THREAD_STACK_MIN));
}

int start_with_signals_blocked(kernel_thread& thread, kernel_thread::function entry, void* argument,
                               std::size_t stack_bytes) noexcept {
  return start_blocked(thread, entry, argument, stack_bytes);
}

int start_with_signals_blocked(kernel_thread& thread, kernel_thread::function entry, void* argument,
                               const guarded_stack& stack) noexcept {
  return start_blocked(thread, entry, argument, stack);
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
