// SPDX-License-Identifier: MIT
// sigwait() and its like. What is for the process is the kernel's to give; what another thread sends to this
// one (pthread_kill()) goes to the kernel thread on which this one waits, as long as it waits.
#include "front/pthreads/exported.hpp"
#include "front/pthreads/libc.hpp"
#include "front/pthreads/process_signals.hpp"
#include "front/pthreads/requests.hpp"
#include "front/pthreads/signal_queue.hpp"
#include "weft/door/deadline.hpp"
#include "weft/door/preemptible.hpp"
#include "weft/preemption.hpp"

#include <algorithm>
#include <cstdint>

#include <sys/syscall.h>
#include <unistd.h>

namespace weft::pthreads {
namespace {

constexpr long bytes_of_the_kernel = 8;

// `limit`: null: it has none; one that is no length of time is the kernel's to refuse. `until`: 0 then.
struct signal_wait {
  sigset_t set;
  const timespec* limit;
  door::deadline until;
};

// For one of `set`. libc's function hides who sent it. The number, or a negative errno.
int wait_in_kernel(const signal_wait& wait, const sigset_t& set, siginfo_t& info) noexcept {
  timespec left{};
  const timespec* limit = wait.limit;
  if (wait.until != 0) {
    left = door::timespec_of(std::max<std::int64_t>(wait.until - door::now(), 0));
    limit = &left;
  }
  const long result =
      libc.syscall(SYS_rt_sigtimedwait, reinterpret_cast<long>(&set), reinterpret_cast<long>(&info),
                   reinterpret_cast<long>(limit), bytes_of_the_kernel, 0, 0);
  return static_cast<int>(result < 0 ? -errno : result);
}

// In scope: ticks wait at this kernel thread.
class ticks_held {
 public:
  explicit ticks_held(const sigset_t& ticks) noexcept : ticks_(ticks) { change(SIG_BLOCK); }
  ~ticks_held() { change(SIG_UNBLOCK); }
  ticks_held(const ticks_held&) = delete;
  ticks_held& operator=(const ticks_held&) = delete;

 private:
  void change(long how) const noexcept {
    libc.syscall(SYS_rt_sigprocmask, how, reinterpret_cast<long>(&ticks_), 0, bytes_of_the_kernel, 0, 0);
  }
  const sigset_t& ticks_;
};

// relaxed: who sets them sends a tick after it, or the signal that is waited for
bool is_called(const thread& t, int id) noexcept {
  return t.waits_on.load_relaxed() != id || t.call_off.load_relaxed() != 0 || t.cancel_asked.load_relaxed();
}

// A tick has taken the worker to others. Who took one again, to wait again, would keep it from a thread that
// computes until the next tick. What comes now is for the thread, and as it waits for the tick too, none
// comes between the look and the wait unseen.
int wait_without_worker(const thread& t, int id, const signal_wait& wait, siginfo_t& info) noexcept {
  const sigset_t ticks = set_of(signal_of_ticks_bit());
  const ticks_held here(ticks);
  sigset_t both = wait.set;
  both.__val[0] |= ticks.__val[0];
  while (!is_called(t, id)) {
    const int result = wait_in_kernel(wait, both, info);
    if (result != -EINTR && (result < 0 || bit_of(result) != ticks.__val[0]))
      return result;
  }
  return -EINTR;
}

int own_kernel_thread() noexcept {
  return static_cast<int>(libc.syscall(SYS_gettid, 0, 0, 0, 0, 0, 0));
}

// The number, or a negative errno. (S1) the wait is published, full fence, a look at what was sent; pairs
// with the sender's: sent, full fence, a look for the wait.
int wait_once(thread& t, const signal_wait& wait, siginfo_t& info) noexcept {
  const no_preemption here; // the kernel thread stays the same; its worker goes on elsewhere
  const int id = own_kernel_thread();
  t.signals_waited = wait.set.__val[0];
  t.waits_on.store_release(id); // (S2) publishes the set; pairs with the sender's claim
  door::full_fence();           // (S1)
  int result = take_queued(t, wait.set.__val[0], info);
  if (result == 0) {
    result = wait_in_kernel(wait, wait.set, info);
    if (result == -EINTR && door::is_without_worker())
      result = wait_without_worker(t, id, wait, info);
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
  signal_wait what{.set = set, .limit = limit, .until = 0};
  what.set.__val[0] &= ~signal_of_ticks_bit(); // ticks are not for the program
  if (is_length)
    what.until = door::now() + std::min(door::ns_of(*limit), INT64_MAX - door::now());
  for (;;) {
    act_on_requests();
    const int result = wait_once(*self, what, got);
    if (result > 0 && got.si_code == SI_TKILL)
      got.si_code = SI_USER; // as libc has it
    if (result != -EINTR)    // else it may have been a tick
      return result;
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
