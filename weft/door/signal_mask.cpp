// SPDX-License-Identifier: MIT
#include "weft/door/signal_mask.hpp"

#include "weft/preempt/signal_use.hpp"

#include <pthread.h>

namespace weft::door {

int signal_of_ticks() {
  const int number = preempt::use_signal();
  preempt::unuse_signal();
  return number;
}

ticks_open::ticks_open() {
  const int number = preempt::use_signal();
  sigset_t ours;
  ::sigemptyset(&ours);
  ::sigaddset(&ours, number);
  ::pthread_sigmask(SIG_UNBLOCK, &ours, &before_);
}

ticks_open::~ticks_open() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  preempt::unuse_signal();
}

} // namespace weft::door
