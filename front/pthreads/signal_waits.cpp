// SPDX-License-Identifier: MIT
// sigwait() and its like. What is for the process is the kernel's to give; what another thread sends to this
// one (pthread_kill()) goes to the kernel thread on which this one waits, as long as it waits.
#include "front/pthreads/exported.hpp"
#include "front/pthreads/libc.hpp"
#include "front/pthreads/requests.hpp"
#include "weft/door/deadline.hpp"
#include "weft/preemption.hpp"

#include <algorithm>
#include <cstdint>

#include <sys/syscall.h>
#include <unistd.h>

namespace weft::pthreads {
namespace {

// libc's function hides who sent it. The number, or -1 and errno.
int wait_in_kernel(const sigset_t& set, siginfo_t& info, const timespec* limit) noexcept {
  constexpr long bytes_of_the_kernel = 8;
  return static_cast<int>(libc.syscall(SYS_rt_sigtimedwait, reinterpret_cast<long>(&set),
                                       reinterpret_cast<long>(&info), reinterpret_cast<long>(limit),
                                       bytes_of_the_kernel, 0, 0));
}

bool is_of_a_thread(const siginfo_t& info) noexcept {
  return info.si_code == SI_TKILL && info.si_pid == ::getpid();
}

// One that a thread has sent, and that nobody has handled yet; 0: there is none.
int take_sent(thread& t, std::uint64_t set) noexcept {
  for (std::uint64_t sent = t.signals_sent.load_relaxed() & set; sent != 0;) { // relaxed: (S1) orders it
    const int number = __builtin_ctzll(sent) + 1;
    if ((t.signals_sent.fetch_and_acq_rel(~bit_of(number)) & bit_of(number)) != 0)
      return number;
    sent = t.signals_sent.load_relaxed() & set;
  }
  return 0;
}

int own_kernel_thread() noexcept {
  return static_cast<int>(libc.syscall(SYS_gettid, 0, 0, 0, 0, 0, 0));
}

// Somebody has claimed the wait on the kernel thread `id`, and sends: that signal must not stay behind there.
void keep_what_was_sent(thread& t, const sigset_t& set, const siginfo_t& last, int id) noexcept {
  if (is_of_a_thread(last))
    return;
  if (own_kernel_thread() != id) { // a tick has taken the caller from a worker's home: nobody gets it there
    int number = 0;
    for (unsigned looks = 0; (number = t.claimed_for.load_acquire()) == 0;) // pairs with send_to_waiting()
      door::pause_for_another(looks);
    t.signals_sent.fetch_or_release(bit_of(number));
    return;
  }
  siginfo_t info{};
  while (wait_in_kernel(set, info, nullptr) < 0) {
  }
  t.signals_sent.fetch_or_release(bit_of(info.si_signo)); // for the next wait
}

// The number, or a negative errno. (S1) the wait is published, full fence, a look at what was sent; pairs
// with the sender's: sent, full fence, a look for the wait.
int wait_once(thread& t, const sigset_t& set, siginfo_t& info, const timespec* limit) noexcept {
  const no_preemption here; // the kernel thread stays the same; its worker goes on elsewhere
  const int id = own_kernel_thread();
  t.signals_waited = set.__val[0];
  t.claimed_for.store_relaxed(0); // relaxed: published with the wait
  t.waits_on.store_release(id);   // (S2) publishes the set; pairs with the sender's claim
  door::full_fence();             // (S1)
  int result = take_sent(t, set.__val[0]);
  if (result == 0) {
    result = wait_in_kernel(set, info, limit);
    if (result < 0)
      result = -errno;
  } else {
    info.si_signo = result;
    info.si_code = SI_USER;
  }
  int seen = id;
  if (!t.waits_on.cas_strong_acq_rel(seen, 0)) { // claimed
    keep_what_was_sent(t, set, info, id);
    t.waits_on.store_release(0);
  }
  if (result > 0 && info.si_code == SI_TKILL)
    info.si_code = SI_USER; // as libc has it
  return result;
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
    if (result != -EINTR) // else it may have been a tick
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

} // namespace

bool send_to_waiting(thread& t, int number) noexcept {
  int id = t.waits_on.load_acquire(); // pairs with (S2)
  if (id <= 0 || (t.signals_waited & bit_of(number)) == 0 || !t.waits_on.cas_strong_acq_rel(id, -1))
    return false;
  t.claimed_for.store_release(number);
  libc.syscall(SYS_tgkill, ::getpid(), id, number, 0, 0, 0);
  return true;
}

} // namespace weft::pthreads

using namespace weft::pthreads;

extern "C" {

WEFT_API int pause() {
  return self == nullptr ? libc.pause() : wait_for_handler();
}

WEFT_API int sigsuspend(const sigset_t* set) {
  if (self == nullptr)
    return libc.sigsuspend(set);
  sigset_t before;
  exported::change_mask(SIG_SETMASK, set, &before);
  const int result = wait_for_handler();
  exported::change_mask(SIG_SETMASK, &before, nullptr);
  return result;
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
