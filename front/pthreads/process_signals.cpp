// SPDX-License-Identifier: MIT
#include "front/pthreads/process_signals.hpp"

#include "front/pthreads/libc.hpp"
#include "front/pthreads/requests.hpp"
#include "front/pthreads/signal_queue.hpp"
#include "weft/door/section.hpp"
#include "weft/door/signal_mask.hpp"
#include "weft/preemption.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weft::pthreads {
namespace {

constexpr long bytes_of_the_kernel = 8; // of a set of signals
constinit std::uint64_t handed = 0;     // before there are workers
constinit std::uint64_t ticks = 0;

// *Ownership*: `lock`, whose holder is in the runtime or has all signals blocked.
struct alignas(64) shelf {
  door::spin_lock lock;
  thread* first = nullptr;
};
constinit std::array<shelf, 16> all_threads{};

shelf& shelf_of(const thread& t) noexcept {
  return all_threads[reinterpret_cast<std::uintptr_t>(&t) / 64 % all_threads.size()];
}

// What waits for the process is told by a descriptor, which tells it again and again; so what no thread has
// open is left out, until one has. (P2) the receiver: left out, full fence, a look at all threads' masks; a
// thread: its mask, full fence (a new one: the list's lock), a look at what is left out.
constinit door::atomic<std::uint64_t> left_out{0};
constinit door::atomic<int> told_by{-1}; // the descriptor

// (P3) The receiver is between its look at what waits and the last thread's queue: it sets this, full fence,
// takes from the kernel, queues, and clears it (release). Who has sent a signal and finds that it does not
// wait any more (full fence) reads this (acquire): the receiver has not taken it, or is awaited.
constinit door::atomic<bool> receiver_hands_over{false};

// Who waits for the descriptor looks again, too.
int tell_of(int descriptor, std::uint64_t signals) noexcept {
  return static_cast<int>(libc.syscall(SYS_signalfd4, descriptor, reinterpret_cast<long>(&signals),
                                       bytes_of_the_kernel, O_CLOEXEC | O_NONBLOCK, 0, 0));
}

std::uint64_t waiting_for_process() noexcept {
  std::uint64_t bits = 0;
  libc.syscall(SYS_rt_sigpending, reinterpret_cast<long>(&bits), bytes_of_the_kernel, 0, 0, 0, 0);
  return bits & handed_signals();
}

// Of those, at once. 0: there is none.
int take_now(std::uint64_t wanted, siginfo_t& info) noexcept {
  const timespec at_once{};
  long number = 0;
  do
    number = libc.syscall(SYS_rt_sigtimedwait, reinterpret_cast<long>(&wanted), reinterpret_cast<long>(&info),
                          reinterpret_cast<long>(&at_once), bytes_of_the_kernel, 0, 0);
  while (number > 0 && calls_waiting(info)); // for who waited on this kernel thread once
  return number > 0 ? static_cast<int>(number) : 0;
}

// One that has it open, pinned; null: there is none. Not `but`. The caller itself first.
thread* pin_one_with(int number, const thread* but) noexcept {
  if (self != nullptr && self != but && (self->blocked_signals.load_relaxed() & bit_of(number)) == 0) {
    self->pins.fetch_add_relaxed(1); // relaxed: it looks itself
    return self;
  }
  for (shelf& s : all_threads) {
    const std::scoped_lock held(s.lock);
    for (thread* t = s.first; t != nullptr; t = t->next_of_all) {
      if (t == but || (t->blocked_signals.load_relaxed() & bit_of(number)) != 0 ||
          t->done.load_relaxed() != 0) // relaxed: (P2), and a hint
        continue;
      t->pins.fetch_add_relaxed(1); // relaxed: under the lock that unlist() takes before the look at pins
      return t;
    }
  }
  return nullptr;
}
bool has_handler(int number) noexcept {
  struct sigaction now{};
  return ::sigaction(number, nullptr, &now) == 0 && is_function(now);
}

// What happens to the process by default, or nothing: the kernel sees to it.
void let_happen(int number) noexcept {
  const sigset_t it = set_of(bit_of(number));
  libc.pthread_sigmask(SIG_UNBLOCK, &it, nullptr);
  libc.pthread_sigmask(SIG_BLOCK, &it, nullptr);
}

// Who ends meanwhile takes none; the next one is asked. Nobody: back to the process, where it waits.
void hand_to(thread* t, const siginfo_t& info) noexcept {
  while (t != nullptr) {
    const bool took = queue_signal(*t, info, true) != ESRCH;
    if (took)
      rouse_for_requests(*t);
    thread* const next = took ? nullptr : pin_one_with(info.si_signo, t);
    unpin(*t); // GONE: *t
    if (took)
      return;
    t = next;
  }
  send_to_process(info);
}

// False: no thread of ours has it open.
bool hand_over(int number) noexcept {
  thread* const t = pin_one_with(number, nullptr);
  if (t == nullptr)
    return false;
  siginfo_t info{};
  if (!has_handler(number)) {
    unpin(*t);
    let_happen(number);
  } else if (take_now(bit_of(number), info) != 0) {
    hand_to(t, info);
  } else {
    unpin(*t); // somebody was faster
  }
  return true;
}

// The mask of main's kernel thread, wherever it is. All, if there is none.
std::uint64_t blocked_in_main() noexcept {
  char path[48], text[2048];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/status", static_cast<int>(::getpid()));
  const long descriptor =
      libc.syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC, 0, 0, 0);
  if (descriptor < 0)
    return ~std::uint64_t{0};
  const long bytes =
      libc.syscall(SYS_read, descriptor, reinterpret_cast<long>(text), sizeof text - 1, 0, 0, 0);
  libc.syscall(SYS_close, descriptor, 0, 0, 0, 0, 0);
  text[bytes > 0 ? bytes : 0] = 0;
  const char* const line = std::strstr(text, "\nSigBlk:");
  return line != nullptr ? std::strtoull(line + std::strlen("\nSigBlk:"), nullptr, 16) : ~std::uint64_t{0};
}

// Those that wait because nobody has them open, and whether main has some, which has been woken for them: who
// took one away would leave main in a pause() without it.
struct left {
  std::uint64_t nobodys = 0;
  bool has_mains = false;
};
left hand_over_all() noexcept {
  left l;
  std::uint64_t waiting = waiting_for_process();
  if (waiting == 0)
    return l;
  const std::uint64_t blocked = blocked_in_main();
  l.has_mains = (waiting & ~blocked) != 0;
  for (waiting &= blocked; waiting != 0; waiting &= waiting - 1) {
    const int number = __builtin_ctzll(waiting) + 1;
    if (!hand_over(number))
      l.nobodys |= bit_of(number);
  }
  return l;
}

bool has_any_open(std::uint64_t signals) noexcept {
  for (; signals != 0; signals &= signals - 1) {
    if (thread* const t = pin_one_with(__builtin_ctzll(signals) + 1, nullptr)) {
      unpin(*t);
      return true;
    }
  }
  return false;
}

// Leaves out what nobody has open. False: look again.
bool leave_out(int descriptor, std::uint64_t nobodys) noexcept {
  left_out.store_relaxed(nobodys);
  door::full_fence(); // (P2)
  if (has_any_open(nobodys)) {
    left_out.store_relaxed(0);
    return false;
  }
  tell_of(descriptor, handed_signals() & ~nobodys);
  return left_out.load_acquire() == nobodys; // else somebody has asked for all again, before or after that
}

// Above those that programs count on to be the next.
int high_descriptor() noexcept {
  constexpr int high = 512;
  const int first = tell_of(-1, handed_signals());
  const int moved = first >= 0 ? ::fcntl(first, F_DUPFD_CLOEXEC, high) : -1;
  if (moved < 0)
    return first;
  libc.close(first);
  return moved;
}

// Until something waits for the process, perhaps. False: it is no descriptor of this library's. Where none
// can be had (a filter of system calls, or the program has as many as it may) it looks after a while.
bool wait_for_any(int descriptor) noexcept {
  constexpr timespec a_while{0, 2'000'000};
  if (descriptor < 0) {
    libc.syscall(SYS_nanosleep, reinterpret_cast<long>(&a_while), 0, 0, 0, 0, 0);
    return true;
  }
  pollfd p{descriptor, POLLIN, 0};
  return ::syscall(SYS_poll, &p, 1, -1) > 0 && (p.revents & POLLNVAL) == 0;
}

// A program may close all descriptors, or put another one in its place: then there is a new one.
[[noreturn]] void* receive(void*) noexcept {
  libc.pthread_setname_np(libc.pthread_self(), "weft-signals");
  for (;;) {
    const int descriptor = told_by.load_acquire(); // pairs with the release of who made it
    const bool is_told = wait_for_any(descriptor);
    receiver_hands_over.store_relaxed(true);
    door::full_fence(); // (P3)
    const auto [nobodys, has_mains] = hand_over_all();
    receiver_hands_over.store_release(false); // (P3)
    if (!is_told || descriptor < 0 || tell_of(descriptor, handed_signals() & ~left_out.load_relaxed()) < 0) {
      left_out.store_relaxed(0);
      told_by.store_release(high_descriptor());
      continue;
    }
    if (nobodys != 0 && !leave_out(descriptor, nobodys)) {
      left_out.store_relaxed(0);
      tell_of(descriptor, handed_signals());
    }
    constexpr timespec until_main_has_run{0, 200'000};
    if (has_mains)
      libc.syscall(SYS_nanosleep, reinterpret_cast<long>(&until_main_has_run), 0, 0, 0, 0, 0);
  }
}

} // namespace

std::uint64_t handed_signals() noexcept {
  return handed;
}

std::uint64_t signal_of_ticks_bit() noexcept {
  return ticks;
}

void settle_handed_signals() {
  ticks = bit_of(door::signal_of_ticks());
  constexpr std::uint64_t faults = bit_of(SIGSEGV) | bit_of(SIGBUS) | bit_of(SIGILL) | bit_of(SIGFPE) |
                                   bit_of(SIGTRAP) | bit_of(SIGSYS) | bit_of(SIGABRT);
  constexpr std::uint64_t profilers = bit_of(SIGPROF) | bit_of(SIGVTALRM);
  constexpr std::uint64_t nobodys = bit_of(SIGKILL) | bit_of(SIGSTOP);
  constexpr std::uint64_t libcs = bit_of(32) | bit_of(33);
  handed = ~(faults | profilers | nobodys | libcs | ticks);
}

handed_signals_blocked::handed_signals_blocked() noexcept {
  const sigset_t these = set_of(handed_signals());
  libc.pthread_sigmask(SIG_BLOCK, &these, &before_);
}

handed_signals_blocked::~handed_signals_blocked() {
  libc.pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void hand_signals_over() noexcept {
  told_by.store_release(high_descriptor());
  sigset_t all, before;
  ::sigfillset(&all);
  libc.pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t a;
  pthread_t made{};
  constexpr std::size_t stack_bytes = 128 << 10;
  if (libc.pthread_attr_init(&a) == 0) {
    libc.pthread_attr_setstacksize(&a, stack_bytes);
    libc.pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
    const bool is_made = libc.pthread_create(&made, &a, &receive, nullptr) == 0;
    if (const int unused = is_made ? -1 : told_by.exchange_acq_rel(-1); unused >= 0)
      libc.close(unused);
    libc.pthread_attr_destroy(&a);
  }
  libc.pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void forget_handing_over() noexcept {
  if (const int descriptor = told_by.exchange_acq_rel(-1); descriptor >= 0)
    libc.close(descriptor);
  left_out.store_relaxed(0);
  receiver_hands_over.store_relaxed(false); // it is not there to say so
  for (shelf& s : all_threads) {
    ::new (static_cast<void*>(&s.lock)) door::spin_lock; // its holder may not be there any more
    s.first = nullptr;
  }
  if (self == nullptr)
    return;
  self->pins.store_relaxed(0);
  ::new (static_cast<void*>(&self->lock)) door::spin_lock; // as above
  list(*self);
  // It is all that the process has.
  self->owns_kernel_thread = true;
  const sigset_t own = set_of(self->blocked_signals.load_relaxed() & handed_signals());
  const sigset_t these = set_of(handed_signals());
  sigset_t now;
  libc.pthread_sigmask(SIG_UNBLOCK, &these, &now);
  libc.pthread_sigmask(SIG_BLOCK, &own, nullptr);
}

void list(thread& t) noexcept {
  shelf& s = shelf_of(t);
  {
    const door::runtime_section in;
    const std::scoped_lock held(s.lock);
    t.before_of_all = nullptr;
    t.next_of_all = s.first;
    if (s.first != nullptr)
      s.first->before_of_all = &t;
    s.first = &t;
  }
  note_mask(~std::uint64_t{0}, t.blocked_signals.load_relaxed()); // relaxed: its creator's
}

void unlist(thread& t) noexcept {
  shelf& s = shelf_of(t);
  const door::runtime_section in;
  const std::scoped_lock held(s.lock);
  (t.before_of_all != nullptr ? t.before_of_all->next_of_all : s.first) = t.next_of_all;
  if (t.next_of_all != nullptr)
    t.next_of_all->before_of_all = t.before_of_all;
}

void note_mask(std::uint64_t before, std::uint64_t now) noexcept {
  const std::uint64_t opened = before & ~now & left_out.load_relaxed(); // (P2): who calls has fenced
  if (opened == 0)
    return;
  left_out.fetch_and_acq_rel(~opened); // pairs with the acquire in leave_out()
  if (const int descriptor = told_by.load_acquire(); descriptor >= 0)
    tell_of(descriptor, handed_signals());
}

void hand_over_here() noexcept {
  const weft::no_preemption here;
  const errno_kept as_it_was;
  static_cast<void>(hand_over_all());
  if (!door::is_in_program())
    return; // what a handler has interrupted may hold a lock that the receiver needs
  door::full_fence();
  for (unsigned looks = 0; receiver_hands_over.load_acquire();) // (P3)
    door::pause_for_another(looks);
}

bool take_from_process(std::uint64_t wanted) noexcept {
  const no_preemption here;
  const errno_kept as_it_was;
  siginfo_t info{};
  std::uint64_t handled = 0;
  for (std::uint64_t left = wanted & handed_signals() & waiting_for_process(); left != 0; left &= left - 1) {
    if (has_handler(__builtin_ctzll(left) + 1))
      handled |= left & -left;
  }
  if (handled == 0 || take_now(handled, info) == 0)
    return false;
  if (queue_signal(*self, info, true) != 0)
    send_to_process(info);
  return true;
}

} // namespace weft::pthreads
