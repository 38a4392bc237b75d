// SPDX-License-Identifier: MIT
#include "weft/os/signal.hpp"

#include "weft/os/mapping.hpp"

#include <cerrno>
#include <cstdint>
#include <pthread.h>
#include <sys/auxv.h>
#include <unistd.h>

namespace weft::os {

int set_signal_handler(int number, signal_handler handler, int flags, const sigset_t* block,
                       struct sigaction* old) noexcept {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | flags;
  if (block != nullptr) {
    action.sa_mask = *block;
  } else {
    ::sigemptyset(&action.sa_mask);
  }
  return ::sigaction(number, &action, old) == 0 ? 0 : errno;
}

int restore_signal_action(int number, const struct sigaction& old) noexcept {
  return ::sigaction(number, &old, nullptr) == 0 ? 0 : errno;
}

void chain_signal(int number, siginfo_t* information, void* context, const struct sigaction& old) noexcept {
  if ((old.sa_flags & SA_SIGINFO) != 0) {
    old.sa_sigaction(number, information, context);
  } else if (old.sa_handler == SIG_DFL) {
    ::signal(number, SIG_DFL);
  } else if (old.sa_handler != SIG_IGN) {
    old.sa_handler(number);
  }
}

std::size_t signal_stack_bytes(std::size_t extra) noexcept {
  constexpr std::size_t classic = 2048;            // what the ABI promised before frames grew
  std::size_t least = ::getauxval(AT_MINSIGSTKSZ); // 0 before Linux 5.14
  if (least < classic) {
    least = classic;
  }
  return round_up_to_page(least + extra);
}

int set_signal_stack(void* low, std::size_t bytes) noexcept {
  stack_t present = {};
  if (::sigaltstack(nullptr, &present) != 0) {
    return errno;
  }
  if ((present.ss_flags & SS_DISABLE) == 0) {
    return EEXIST;
  }
  stack_t wanted = {};
  wanted.ss_sp = low;
  wanted.ss_size = bytes;
  return ::sigaltstack(&wanted, nullptr) == 0 ? 0 : errno;
}

int clear_signal_stack() noexcept {
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  return ::sigaltstack(&none, nullptr) == 0 ? 0 : errno;
}

bool is_on_signal_stack() noexcept {
  stack_t present = {};
  return ::sigaltstack(nullptr, &present) == 0 && (present.ss_flags & SS_ONSTACK) != 0;
}

// Its own frame is on the stack that it has interrupted. The kernel does not say more than where the other
// is.
bool is_on_signal_stack(const ucontext_t& interrupted) noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto low = reinterpret_cast<std::uintptr_t>(interrupted.uc_stack.ss_sp);
  return here - low < interrupted.uc_stack.ss_size;
}

int block_all_signals(sigset_t* old) noexcept {
  sigset_t all;
  ::sigfillset(&all);
  return ::pthread_sigmask(SIG_SETMASK, &all, old);
}

int restore_signal_mask(const sigset_t& old) noexcept {
  return ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

} // namespace weft::os
