// SPDX-License-Identifier: MIT
#include "front/pthreads/requests.hpp"

#include "front/pthreads/descriptor_wait.hpp"
#include "front/pthreads/engine.hpp"
#include "front/pthreads/exported.hpp"
#include "front/pthreads/leaving_library.hpp"
#include "front/pthreads/libc.hpp"
#include "front/pthreads/libc_cancellation.hpp"
#include "front/pthreads/native_threads.hpp"
#include "front/pthreads/process_signals.hpp"
#include "front/pthreads/promotion.hpp"
#include "front/pthreads/signal_queue.hpp"
#include "weft/door/preemptible.hpp"
#include "weft/door/process.hpp"
#include "weft/preemption.hpp"

#include <ucontext.h>
#include <unistd.h>

namespace weft::pthreads {
namespace {

// (T2) What is asked, then `call_off`, full fence, then where the thread waits; the thread: where it waits,
// the futex' full fence, then `call_off`, under the bucket's lock. So it does not begin to wait, or is woken.
void call_off_wait(thread& t) noexcept {
  t.call_off.store_release(1); // pairs with the acquire in act_on_requests()
  door::full_fence();
  if (const void* const at = t.waits_at.load_relaxed()) // relaxed: the fence orders it; others wake in vain
    door::futex_wake(at, door::all_futex_waiters);
  end_descriptor_wait(t);
}

// By a call and not by the kernel, which would block signals of the kernel thread, that of ticks among them:
// the handler may wait, and other threads go on there. Masks are the thread's.
[[WEFT_PTHREADS_CALLS_OTHERS]] void call_handler(thread& t, siginfo_t& info, const struct sigaction& a) {
  const int number = info.si_signo;
  const std::uint64_t before = t.blocked_signals.load_relaxed(); // relaxed: its own
  set_mask(t, before | a.sa_mask.__val[0] | ((a.sa_flags & SA_NODEFER) != 0 ? 0 : bit_of(number)));
  if ((a.sa_flags & SA_RESETHAND) != 0)
    static_cast<void>(::signal(number, SIG_DFL));
  if ((a.sa_flags & SA_SIGINFO) != 0) {
    ucontext_t here{};
    static_cast<void>(::getcontext(&here));
    a.sa_sigaction(number, &info, &here);
  } else {
    a.sa_handler(number);
  }
  set_mask(t, before); // what it has changed is its own
}

// The caller, a thread of ours, handles it now. True: a call that was interrupted ends for it.
bool handle_now(thread& t, siginfo_t& info) {
  const int number = info.si_signo;
  struct sigaction now{};
  if (::sigaction(number, nullptr, &now) != 0)
    return false;
  if (is_function(now)) {
    call_handler(t, info, now);
    return (now.sa_flags & SA_RESTART) == 0;
  }
  const no_preemption here; // it is for this kernel thread
  const sigset_t it = set_of(bit_of(number));
  sigset_t before;
  libc.pthread_sigmask(SIG_UNBLOCK, &it, &before);
  libc.raise(number);
  libc.pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return false;
}

struct handlers_run {
  bool any = false, ends_calls = false;
};

handlers_run run_handlers(thread& t) {
  go_to_kernel_thread(t);
  const auto open = [&t] {
    return t.signals_sent.load_relaxed() & ~t.blocked_signals.load_relaxed();
  }; // relaxed: after call_off
  handlers_run run;                          // other signals may run more of them meanwhile, which is theirs
  while (const std::uint64_t now = open()) { // one handler may let another signal in
    siginfo_t info{};
    if (take_queued(t, now, info) == 0)
      break;
    run.ends_calls |= handle_now(t, info);
    run.any = true;
  }
  return run;
}

bool is_cancelled(const thread& t) noexcept {
  return t.cancel_enabled && !t.exits && !libc_ends(t) &&
         t.cancel_asked.load_relaxed(); // relaxed: nothing comes with it
}

// From a frame of the program's.
void exit_here() {
  libc.pthread_exit(self->result);
}

// Nothing may unwind what is below `frame`.
[[noreturn]] void end_above(const void* frame, thread& t, void* result) noexcept {
  t.result = result;
  t.exits = true;
  call_from_program(frame, &exit_here);
}

// For those whose frames nothing may unwind: a handler may end the thread.
[[gnu::noinline]] handlers_run run_handlers_within_library(thread& t, const void* frame) noexcept {
  struct {
    thread& of;
    handlers_run handlers;
  } run{t, {}};
  const auto all = [](void* argument) {
    auto& r = *static_cast<decltype(run)*>(argument);
    r.handlers = run_handlers(r.of);
  };
  if (!call_to_its_end(all, &run))
    end_above(frame, t, t.exits ? t.result : PTHREAD_CANCELED);
  return run.handlers;
}

// What a thread does that is interrupted where it computes or waits in the kernel. It may end in a handler,
// or here: the frames between this and the program's are left then.
[[gnu::noinline]] bool heed(door::descriptor&) noexcept {
  if (self == nullptr || self->exits)
    return false;
  thread& t = *self;
  if (t.waits_at.load_relaxed() != nullptr || t.waits_for_descriptor.load_relaxed() >= 0)
    return false; // `call_off` ends that wait: it acts then, and tells its caller
  const errno_kept as_it_was;
  const handlers_run run = run_handlers_within_library(t, __builtin_frame_address(0));
  const bool ends = is_cancelled(t);
  if (ends && (t.cancel_at_once || libc_lets_cancel(t)))
    end_above(__builtin_frame_address(0), t, PTHREAD_CANCELED);
  return run.ends_calls || ends;
}

// For one that does not wait by the front's functions. It may be about to end, and waits for this then.
void interrupt(thread& t) noexcept {
  if (&t == self || !pin(t))
    return;
  door::interrupt(*t.unit);
  unpin(t); // GONE: t
}

} // namespace

void expect_interruptions() noexcept {
  door::set_interruption(&heed);
}

void end_calling_thread(void* result) {
  if (self != nullptr) {
    if (!self->exits)
      run_handlers(*self); // what has come is not lost
    self->result = result;
    self->exits = true;
  } else if (is_main_here() && !all_are_libcs) {
    note_end_of_main(result);
  }
  libc.pthread_exit(result);
  __builtin_unreachable();
}

void ask_to_cancel(thread& t) noexcept {
  t.cancel_asked.store_relaxed(true); // relaxed: before the release in call_off_wait()
  tell_libc_of_cancellation(t);
  call_off_wait(t);
  interrupt(t);
}

int send_signal(thread& t, const siginfo_t& info) noexcept {
  const int number = info.si_signo;
  const std::uint64_t bit = bit_of(number);
  // One of the old signals from pthread_kill() is no more than its bit: that takes no lock.
  if (info.si_code == SI_TKILL && number < SIGRTMIN) {
    t.signals_sent.fetch_or_relaxed(bit); // relaxed: as in ask_to_cancel()
  } else if (const int error = queue_signal(t, info, false)) {
    return error;
  }
  call_off_wait(t); // with its full fence: pairs with (S1)
  if (t.waits_on.load_relaxed() > 0)
    wake_waiting(t, number);
  interrupt(t);
  return 0;
}

void rouse_for_requests(thread& t) noexcept {
  call_off_wait(t);
  interrupt(t);
}

bool act_on_requests() {
  if (self == nullptr) {
    libc.pthread_testcancel();
    return false;
  }
  thread& t = *self;
  // relaxed: a hint; who sets it later ends the next wait. wait_and_handle() leaves a cancellation to us
  if (t.call_off.load_relaxed() == 0 && !t.cancel_asked.load_relaxed())
    return false;
  static_cast<void>(t.call_off.exchange_acq_rel(0)); // pairs with the release in call_off_wait()
  const handlers_run run = run_handlers(t);
  t.handler_ends_calls = run.ends_calls;
  if (is_cancelled(t))
    end_calling_thread(PTHREAD_CANCELED);
  return run.any;
}

bool is_asked_to_end() noexcept {
  return self != nullptr ? is_cancelled(*self) : libc_would_cancel();
}

bool act_on_signals() {
  if (is_asked_to_end())
    return false;
  if (self == nullptr) // the kernel calls its handlers
    return true;
  static_cast<void>(self->call_off.exchange_acq_rel(0)); // as in act_on_requests()
  static_cast<void>(run_handlers(*self));
  return !is_asked_to_end();
}

int wait_unless_asked(const futex_word& word, std::uint32_t expected, door::futex_wait_options how) noexcept {
  const errno_kept as_it_was;
  if (self == nullptr) {
    const native_wait here(word);
    if (libc_would_cancel())
      return ECANCELED;
    const int result = door::futex_wait(word, expected, how);
    return libc_would_cancel() ? ECANCELED : result;
  }
  thread& t = *self;
  how.call_off = &t.call_off;
  t.waits_at.store_relaxed(&word);                          // (T2)
  const int result = door::futex_wait(word, expected, how); // SWITCH: may resume on another worker
  t.waits_at.store_relaxed(nullptr);
  return result;
}

namespace {

// Where frames of this library are on the stack that nothing may unwind.
[[gnu::noinline]] void act_within_library(thread& t) noexcept {
  static_cast<void>(t.call_off.exchange_acq_rel(0)); // as in act_on_requests()
  static_cast<void>(run_handlers_within_library(t, __builtin_frame_address(0)));
  if (t.cancel_at_once && is_cancelled(t))
    end_above(__builtin_frame_address(0), t, PTHREAD_CANCELED);
}

} // namespace

void act_after_wait() noexcept {
  if (self != nullptr && self->call_off.load_relaxed() != 0) // relaxed: set before the interruption
    act_within_library(*self);
}

[[gnu::noinline]] void handle_sent_signals(thread& t) noexcept {
  static_cast<void>(run_handlers_within_library(t, __builtin_frame_address(0)));
}

int wait_and_handle(const futex_word& word, std::uint32_t expected, door::futex_wait_options how) noexcept {
  const int result = wait_unless_asked(word, expected, how);
  if (result != ECANCELED)
    return result;
  act_within_library(*self);
  return 0;
}

} // namespace weft::pthreads

using namespace weft::pthreads;

// What is said here of contexts holds for all: as POSIX has it. Switches: those that may wait.
extern "C" {

WEFT_API int pthread_cancel(pthread_t handle) {
  if (!thread::is_ours(handle)) {
    const int error = libc.pthread_cancel(handle);
    if (error == 0)
      end_native_wait(handle);
    return error;
  }
  thread* const t = thread::of(handle);
  if (t == nullptr)
    return ESRCH;
  ask_to_cancel(*t);
  if (t == self && t->cancel_at_once)
    act_on_requests();
  return 0;
}

WEFT_API void pthread_testcancel() {
  act_on_requests();
}

WEFT_API int pthread_setcancelstate(int state, int* before) {
  if (self == nullptr)
    return libc.pthread_setcancelstate(state, before);
  if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE)
    return EINVAL;
  if (before != nullptr)
    *before = self->cancel_enabled ? PTHREAD_CANCEL_ENABLE : PTHREAD_CANCEL_DISABLE;
  self->cancel_enabled = state == PTHREAD_CANCEL_ENABLE;
  if (!self->cancel_enabled)
    libc.pthread_setcancelstate(state, nullptr);
  if (self->cancel_enabled && self->cancel_asked.load_relaxed()) { // relaxed: nothing comes with it
    self->call_off.store_release(1);                               // the next wait sees to it
    if (self->cancel_at_once)
      act_on_requests();
  }
  if (self->cancel_enabled)
    libc.pthread_setcancelstate(state, nullptr); // after this library's own look
  return 0;
}

WEFT_API int pthread_setcanceltype(int type, int* before) {
  if (self == nullptr)
    return libc.pthread_setcanceltype(type, before);
  if (type != PTHREAD_CANCEL_DEFERRED && type != PTHREAD_CANCEL_ASYNCHRONOUS)
    return EINVAL;
  if (before != nullptr)
    *before = self->cancel_at_once ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED;
  self->cancel_at_once = type == PTHREAD_CANCEL_ASYNCHRONOUS;
  if (self->cancel_at_once)
    act_on_requests();
  libc.pthread_setcanceltype(type, nullptr);
  return 0;
}

} // extern "C"

namespace {

// The caller handles it here and now, another thread wherever it is interrupted.
int send(thread& t, const siginfo_t& info) noexcept {
  if (t.done.load_acquire() != 0) // pairs with (T1)
    return 0;
  if (&t != self)
    return send_signal(t, info);
  const errno_kept as_it_was;
  if (info.si_code == SI_TKILL && info.si_signo < SIGRTMIN) {
    t.signals_sent.fetch_or_relaxed(bit_of(info.si_signo)); // relaxed: its own; it may be blocked for now
  } else if (const int error = queue_signal(t, info, false)) {
    return error;
  }
  static_cast<void>(run_handlers_within_library(t, __builtin_frame_address(0)));
  return 0;
}

// It may have gone to this process, which may have given it to the caller.
void hand_over_and_handle() noexcept {
  hand_over_here();
  const errno_kept as_it_was;
  handle_sent_signals(*self);
}

} // namespace

int exported::kill(pthread_t handle, int number) noexcept {
  if (!thread::is_ours(handle))
    return libc.pthread_kill(handle, number);
  thread* const t = thread::of(handle);
  if (t == nullptr)
    return ESRCH;
  if (number < 0 || number > 64)
    return EINVAL;
  return number == 0 ? 0 : send(*t, info_of_own(number, SI_TKILL));
}

extern "C" {

WEFT_API int pthread_kill(pthread_t handle, int number) noexcept {
  return exported::kill(handle, number);
}

WEFT_API int pthread_sigqueue(pthread_t handle, int number, const sigval value) noexcept {
  if (!thread::is_ours(handle))
    return libc.pthread_sigqueue(handle, number, value);
  thread* const t = thread::of(handle);
  if (t == nullptr)
    return ESRCH;
  if (number < 0 || number > 64)
    return EINVAL;
  siginfo_t info = info_of_own(number, SI_QUEUE);
  info.si_value = value;
  return number == 0 ? 0 : send(*t, info);
}

WEFT_API int kill(pid_t process, int number) noexcept {
  const int result = libc.kill(process, number);
  if (result == 0 && number != 0 && self != nullptr)
    hand_over_and_handle();
  return result;
}

WEFT_API int sigqueue(pid_t process, int number, const sigval value) noexcept {
  const int result = libc.sigqueue(process, number, value);
  if (result == 0 && number != 0 && self != nullptr)
    hand_over_and_handle();
  return result;
}

WEFT_API int raise(int number) noexcept {
  if (self == nullptr)
    return libc.raise(number);
  const int error = exported::kill(self->handle(), number);
  if (error != 0)
    errno = error;
  return error == 0 ? 0 : -1;
}

} // extern "C"
