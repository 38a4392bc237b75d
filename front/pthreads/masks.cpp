// SPDX-License-Identifier: MIT
// Signal masks. They are the thread's: the kernel thread's own is every thread's that comes along.
#include "front/pthreads/exported.hpp"
#include "front/pthreads/libc.hpp"
#include "front/pthreads/process_signals.hpp"
#include "front/pthreads/requests.hpp"
#include "weft/preemption.hpp"

namespace weft::pthreads {

// A kernel thread that is its own has the mask too.
void set_mask(thread& t, std::uint64_t bits) noexcept {
  const std::uint64_t before = t.blocked_signals.load_relaxed(); // relaxed: its own
  if (bits == before)
    return;
  t.blocked_signals.store_relaxed(bits);
  if (t.owns_kernel_thread) {
    const std::uint64_t changed = (before ^ bits) & handed_signals();
    const sigset_t closed = set_of(changed & bits), opened = set_of(changed & ~bits);
    libc.pthread_sigmask(SIG_BLOCK, &closed, nullptr);
    libc.pthread_sigmask(SIG_UNBLOCK, &opened, nullptr);
  }
  if ((before & ~bits) != 0) {
    door::full_fence(); // (P2)
    note_mask(before, bits);
  }
}

namespace {

sigset_t only(int number) noexcept {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, number);
  return set;
}

// For functions that return -1 and errno.
int change(int how, const sigset_t& set) noexcept {
  const int error = exported::mask_signals(how, &set, nullptr);
  if (error != 0)
    errno = error;
  return error == 0 ? 0 : -1;
}

// Of an int, as BSD had it: the first 32 signals.
int change_old(int how, int mask) noexcept {
  const sigset_t set = set_of(static_cast<unsigned>(mask));
  sigset_t before = set_of(0);
  static_cast<void>(exported::mask_signals(how, &set, &before));
  return static_cast<int>(before.__val[0]);
}

} // namespace

int exported::change_mask(int how, const sigset_t* set, sigset_t* before) noexcept {
  thread& t = *self;
  const std::uint64_t was = t.blocked_signals.load_relaxed(); // relaxed: its own
  if (set != nullptr) {
    constexpr std::uint64_t never = bit_of(SIGKILL) | bit_of(SIGSTOP);
    const std::uint64_t bits = set->__val[0] & ~never;
    if (how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK)
      return EINVAL;
    const std::uint64_t now = how == SIG_BLOCK ? was | bits : how == SIG_UNBLOCK ? was & ~bits : bits;
    set_mask(t, now);
    if ((t.signals_sent.load_relaxed() & ~now) != 0) // relaxed: they are for the next wait
      t.call_off.store_release(1);
  }
  if (before != nullptr) {
    *before = set_of(was);
  }
  return 0;
}

// One that was blocked and has come is handled before the call returns.
int exported::mask_signals(int how, const sigset_t* set, sigset_t* before) noexcept {
  if (self == nullptr)
    return libc.pthread_sigmask(how, set, before);
  thread& t = *self;
  const std::uint64_t was = t.blocked_signals.load_relaxed(); // relaxed: its own
  const int error = change_mask(how, set, before);
  const std::uint64_t opened = was & ~t.blocked_signals.load_relaxed();
  if (error != 0 || opened == 0)
    return error;
  const errno_kept as_it_was;
  while (take_from_process(opened)) {
  }
  if ((t.signals_sent.load_relaxed() & opened) != 0) // relaxed: a hint
    handle_sent_signals(t);
  return 0;
}

} // namespace weft::pthreads

using namespace weft::pthreads;

// Contexts: as POSIX has it. Switches: what opens a signal, in its handler.
extern "C" {

WEFT_API int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return exported::mask_signals(how, set, before);
}

WEFT_API int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  if (self == nullptr)
    return libc.sigprocmask(how, set, before);
  const int error = exported::mask_signals(how, set, before);
  if (error != 0)
    errno = error;
  return error == 0 ? 0 : -1;
}

WEFT_API int sighold(int number) noexcept {
  return self == nullptr ? libc.sighold(number) : change(SIG_BLOCK, only(number));
}
WEFT_API int sigrelse(int number) noexcept {
  return self == nullptr ? libc.sigrelse(number) : change(SIG_UNBLOCK, only(number));
}
WEFT_API int sigblock(int mask) noexcept {
  return self == nullptr ? libc.sigblock(mask) : change_old(SIG_BLOCK, mask);
}
WEFT_API int sigsetmask(int mask) noexcept {
  return self == nullptr ? libc.sigsetmask(mask) : change_old(SIG_SETMASK, mask);
}

WEFT_API int sigpending(sigset_t* set) noexcept {
  if (self == nullptr)
    return libc.sigpending(set);
  const weft::no_preemption here; // the kernel tells of its own thread too, which has none then
  const int result = libc.sigpending(set);
  set->__val[0] |= self->signals_sent.load_relaxed();    // relaxed: a hint
  set->__val[0] &= self->blocked_signals.load_relaxed(); // relaxed: its own
  return result;
}

} // extern "C"
