// SPDX-License-Identifier: MIT
// sigwait() and its like. What is for the process is the kernel's to give; what another thread sends to this
// one (pthread_kill()) goes to the kernel thread on which this one waits, as long as it waits.
#include "front/pthreads/exported.hpp"
#include "front/pthreads/libc.hpp"
#include "front/pthreads/process_signals.hpp"
#include "front/pthreads/requests.hpp"
#include "front/pthreads/signal_queue.hpp"
#include "weft/door/deadline.hpp"
#include "weft/preemption.hpp"

#include <algorithm>
#include <cstdint>

#include <sys/syscall.h>
#include <unistd.h>

namespace weft::pthreads {
namespace {

// libc's function hides who sent it. The number, or -1 and errno. Ticks are not for the program.
int wait_in_kernel(sigset_t set, siginfo_t& info, const timespec* limit) noexcept {
  constexpr long bytes_of_the_kernel = 8;
  set.__val[0] &= ~signal_of_ticks_bit();
  return static_cast<int>(libc.syscall(SYS_rt_sigtimedwait, reinterpret_cast<long>(&set),
                                       reinterpret_cast<long>(&info), reinterpret_cast<long>(limit),
                                       bytes_of_the_kernel, 0, 0));
}

int own_kernel_thread() noexcept {
  return static_cast<int>(libc.syscall(SYS_gettid, 0, 0, 0, 0, 0, 0));
}

// The number, or a negative errno. (S1) the wait is published, full fence, a look at what was sent; pairs
// with the sender's: sent, full fence, a look for the wait.
int wait_once(thread& t, const sigset_t& set, siginfo_t& info, const timespec* limit) noexcept {
  const no_preemption here; // the kernel thread stays the same; its worker goes on elsewhere
  const int id = own_kernel_thread();
  t.signals_waited = set.__val[0];
  t.waits_on.store_release(id); // (S2) publishes the set; pairs with the sender's claim
  door::full_fence();           // (S1)
  int result = take_queued(t, set.__val[0], info);
  if (result == 0) {
    result = wait_in_kernel(set, info, limit);
    if (result < 0)
      result = -errno;
  }
  const bool is_call = result > 0 && calls_waiting(info);
  int seen = id;
  if (!t.waits_on.cas_strong_acq_rel(seen, 0)) // (S2) claimed
    return end_claim(t, result < 0 || is_call, info, result);
  return is_call ? -EINTR : result; // called for an earlier wait, by one that came too late
}

int wait(const sigset_t& set, siginfo_t* info, const timespec* limit) {
  siginfo_t own{};
  siginfo_t& got = info != nullptr ? *info : own;
  const bool is_length = limit != nullptr && door::is_valid(*limit);
  const door::deadline until =
      is_length ? door::now() + std::min(door::ns_of(*limit), INT64_MAX - door::now()) : 0;
  timespec left = limit != nullptr ? *limit : timespec{};
  for (;;) {
    act_on_requests();
    const int result = wait_once(*self, set, got, limit != nullptr ? &left : nullptr);
    if (result > 0 && got.si_code == SI_TKILL)
      got.si_code = SI_USER; // as libc has it
    if (result != -EINTR)    // else it may have been a tick
      return result;
    if (is_length)
      left = door::timespec_of(std::max<std::int64_t>(until - door::now(), 0));
  }
}

int told(int result) noexcept {
  if (result >= 0)
    return result;
  errno = -result;
  return -1;
}

} // namespace

namespace {

// Until a handler has run: EINTR.
int wait_for_handler() {
  static constinit const futex_word never{0};
  while (!act_on_requests())
    static_cast<void>(wait_unless_asked(never, 0, {.kind = door::wait_kind::sleep}));
  errno = EINTR;
  return -1;
}

int suspend_with(const sigset_t& set) {
  sigset_t before;
  exported::change_mask(SIG_SETMASK, &set, &before);
  const int result = wait_for_handler();
  const errno_kept as_it_was;
  static_cast<void>(exported::mask_signals(SIG_SETMASK, &before, nullptr));
  return result;
}

} // namespace

void wake_waiting(thread& t, int number) noexcept {
  if (const int id = claim_wait_for(t, number); id != 0)
    call_waiting(id, number);
}

} // namespace weft::pthreads

using namespace weft::pthreads;

extern "C" {

WEFT_API int pause() {
  return self == nullptr ? libc.pause() : wait_for_handler();
}

WEFT_API int sigsuspend(const sigset_t* set) {
  return self == nullptr ? libc.sigsuspend(set) : suspend_with(*set);
}

// X/Open's: that signal is open meanwhile; BSD's: the mask of the first 32. By the names that headers have
// given them.
WEFT_API int __sigpause(int given, int is_number) {
  if (self == nullptr)
    return libc.__sigpause(given, is_number);
  sigset_t set = set_of(is_number == 0 ? static_cast<unsigned>(given) : 0);
  if (is_number != 0)
    exported::change_mask(SIG_BLOCK, nullptr, &set);
  return is_number != 0 && ::sigdelset(&set, given) != 0 ? -1 : suspend_with(set);
}
WEFT_API int weft_pthread_xpg_sigpause(int number) asm("__xpg_sigpause");
int weft_pthread_xpg_sigpause(int number) {
  return __sigpause(number, 1);
}
WEFT_API int weft_pthread_sigpause(int mask) asm("sigpause");
int weft_pthread_sigpause(int mask) {
  return __sigpause(mask, 0);
}

WEFT_API int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  return self == nullptr ? libc.sigwaitinfo(set, info) : told(wait(*set, info, nullptr));
}

WEFT_API int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* limit) {
  return self == nullptr ? libc.sigtimedwait(set, info, limit) : told(wait(*set, info, limit));
}

WEFT_API int sigwait(const sigset_t* set, int* number) {
  if (self == nullptr)
    return libc.sigwait(set, number);
  const errno_kept as_it_was;
  const int result = wait(*set, nullptr, nullptr);
  if (result < 0)
    return -result;
  *number = result;
  return 0;
}

} // extern "C"
