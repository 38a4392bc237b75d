// SPDX-License-Identifier: MIT
#include "front/pthreads/signal_queue.hpp"

#include "front/pthreads/libc.hpp"
#include "front/pthreads/requests.hpp"
#include "weft/door/section.hpp"

#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

namespace weft::pthreads {
namespace {

// Those that nobody handles must end somewhere: the kernel's own limit is of this size.
constexpr std::uint32_t most_queued = 32'768;
constinit door::atomic<std::uint32_t> queued{0};

// In the runtime, where ticks take nobody away; a handler of a kernel thread's must not come either, since it
// might want the same lock.
class undisturbed {
 public:
  undisturbed() noexcept {
    if (!is_kernel_thread_)
      return;
    sigset_t all;
    ::sigfillset(&all);
    libc.pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~undisturbed() {
    if (is_kernel_thread_)
      libc.pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  undisturbed(const undisturbed&) = delete;
  undisturbed& operator=(const undisturbed&) = delete;

 private:
  const bool is_kernel_thread_ = self == nullptr; // in the runtime `self` is the kernel thread's
  const door::runtime_section in_;
  sigset_t before_{};
};

queued_signal* make_queued(const siginfo_t& info) noexcept {
  if (queued.fetch_add_relaxed(1) < most_queued) { // relaxed: a count
    try {
      return door::make<queued_signal>(info);
    } catch (const std::bad_alloc&) {
    }
  }
  queued.fetch_sub_relaxed(1);
  return nullptr;
}

void free_queued(queued_signal* s) noexcept {
  door::destroy(s);
  queued.fetch_sub_relaxed(1);
}

void append(thread& t, queued_signal* s) noexcept {
  (t.last_queued != nullptr ? t.last_queued->next : t.first_queued) = s;
  t.last_queued = s;
  t.signals_sent.fetch_or_release(bit_of(s->info.si_signo)); // pairs with who clears it
}

void prepend(thread& t, queued_signal* s) noexcept {
  s->next = t.first_queued;
  t.first_queued = s;
  if (t.last_queued == nullptr)
    t.last_queued = s;
  t.signals_sent.fetch_or_release(bit_of(s->info.si_signo)); // as above
}

// The kernel queues one of each of the old signals, and any number of those of real time.
bool is_there_already(const thread& t, int number) noexcept {
  if (number >= SIGRTMIN)
    return false;
  for (const queued_signal* s = t.first_queued; s != nullptr; s = s->next) {
    if (s->info.si_signo == number)
      return true;
  }
  return false;
}

// Unlinks the first that is wanted.
template <class Wanted>
queued_signal* unlink(thread& t, Wanted wanted) noexcept {
  queued_signal* before = nullptr;
  for (queued_signal* s = t.first_queued; s != nullptr; before = std::exchange(s, s->next)) {
    if (!wanted(*s))
      continue;
    (before != nullptr ? before->next : t.first_queued) = s->next;
    if (t.last_queued == s)
      t.last_queued = before;
    return s;
  }
  return nullptr;
}

} // namespace

// The kernel lets only main's kernel thread say of a signal that it comes from where this one came from.
void send_to_process(const siginfo_t& info) noexcept {
  const int number = info.si_signo;
  if (info.si_code >= 0 ||
      libc.syscall(SYS_rt_sigqueueinfo, ::getpid(), number, reinterpret_cast<long>(&info), 0, 0, 0) != 0)
    libc.syscall(SYS_kill, ::getpid(), number, 0, 0, 0, 0);
}

siginfo_t info_of_own(int number, int code) noexcept {
  siginfo_t info{};
  info.si_signo = number;
  info.si_code = code;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  return info;
}

int queue_signal(thread& t, const siginfo_t& info, bool for_process) noexcept {
  const undisturbed here;
  queued_signal* const fresh = make_queued(info);
  if (fresh == nullptr)
    return EAGAIN;
  fresh->for_process = for_process;
  bool takes = true, is_there = false;
  {
    const std::scoped_lock held(t.lock);
    takes = t.takes_signals || !for_process;
    is_there = is_there_already(t, info.si_signo);
    if (takes && !is_there)
      append(t, fresh);
  }
  if (!takes || is_there)
    free_queued(fresh);
  return takes ? 0 : ESRCH;
}

void put_back(thread& t, const siginfo_t& info) noexcept {
  if (info.si_code != SI_TKILL) {
    const undisturbed here;
    if (queued_signal* const fresh = make_queued(info)) {
      const std::scoped_lock held(t.lock);
      return prepend(t, fresh);
    }
  }
  t.signals_sent.fetch_or_release(bit_of(info.si_signo)); // without what is told of it
}

namespace {

// Under the lock: unlinks the first of that number; its bit stays set if there are more. Null: nothing is
// told of it.
queued_signal* unlink_first(thread& t, int number) noexcept {
  const auto is_it = [number](const queued_signal& s) { return s.info.si_signo == number; };
  queued_signal* const found = unlink(t, is_it);
  bool has_more = false;
  for (const queued_signal* s = t.first_queued; s != nullptr; s = s->next)
    has_more |= is_it(*s);
  if (has_more)
    t.signals_sent.fetch_or_relaxed(bit_of(number)); // relaxed: under the lock, or its own
  else
    t.signals_sent.fetch_and_relaxed(~bit_of(number));
  return found;
}

siginfo_t info_of(queued_signal* found, int number) noexcept {
  if (found == nullptr)
    return info_of_own(number, SI_TKILL);
  const siginfo_t info = found->info;
  free_queued(found);
  return info;
}

} // namespace

int take_queued(thread& t, std::uint64_t wanted, siginfo_t& info) noexcept {
  const undisturbed here;
  int number = 0;
  queued_signal* found = nullptr;
  {
    const std::scoped_lock held(t.lock);
    const std::uint64_t sent = t.signals_sent.load_acquire() & wanted; // pairs with the release in append()
    if (sent == 0 || t.waits_on.load_relaxed() < 0)                    // relaxed: (S3)
      return 0;
    number = __builtin_ctzll(sent) + 1;
    found = unlink_first(t, number);
  }
  info = info_of(found, number);
  return number;
}

int claim_wait_for(thread& t, int number) noexcept {
  const undisturbed here;
  queued_signal* found = nullptr;
  int id = 0;
  {
    const std::scoped_lock held(t.lock);
    id = t.waits_on.load_acquire(); // pairs with (S2)
    if (id <= 0 || (t.signals_waited & bit_of(number)) == 0 ||
        (t.signals_sent.load_relaxed() & bit_of(number)) == 0 || // relaxed: (S1)
        !t.waits_on.cas_strong_acq_rel(id, -1))
      return 0;
    found = unlink_first(t, number);
    t.claimed = found != nullptr ? found->info : info_of_own(number, SI_TKILL);
  }
  if (found != nullptr)
    free_queued(found);
  return id;
}

int end_claim(thread& t, bool takes_it, siginfo_t& info, int result) noexcept {
  siginfo_t claimed{};
  {
    const undisturbed here;
    const std::scoped_lock held(t.lock);
    claimed = t.claimed;
    t.waits_on.store_release(0);
  }
  if (!takes_it) {
    put_back(t, claimed);
    return result;
  }
  info = claimed;
  return claimed.si_signo;
}

// A mark of ours: sigqueue() says no less of where one comes from.
constexpr int mark_of_calls = 0x70746873;

void call_waiting(int kernel_thread, int number) noexcept {
  siginfo_t call = info_of_own(number, SI_QUEUE);
  call.si_errno = mark_of_calls;
  libc.syscall(SYS_rt_tgsigqueueinfo, ::getpid(), kernel_thread, number, reinterpret_cast<long>(&call), 0, 0);
}

bool calls_waiting(const siginfo_t& info) noexcept {
  return info.si_code == SI_QUEUE && info.si_errno == mark_of_calls && info.si_pid == ::getpid();
}

bool stop_taking_signals(thread& t) noexcept {
  bool has_none = false;
  {
    const std::scoped_lock held(t.lock);
    t.takes_signals = false;
    has_none = t.first_queued == nullptr;
  }
  for (unsigned looks = 0; t.pins.load_acquire() != 0;) // pairs with the release in unpin()
    door::pause_for_another(looks);
  return has_none;
}

bool pin(thread& t) noexcept {
  const undisturbed here;
  const std::scoped_lock held(t.lock);
  if (t.takes_signals)
    t.pins.fetch_add_relaxed(1); // relaxed: under the lock that stop_taking_signals() takes first
  return t.takes_signals;
}

void unpin(thread& t) noexcept {
  t.pins.fetch_sub_release(1); // GONE: t. Pairs with the acquire in stop_taking_signals()
}

void give_signals_back(thread& t) noexcept {
  for (;;) {
    std::optional<siginfo_t> info;
    {
      const undisturbed here;
      queued_signal* found = nullptr;
      {
        const std::scoped_lock held(t.lock);
        found = unlink(t, [](const queued_signal& s) { return s.for_process; });
      }
      if (found != nullptr) {
        info = found->info;
        free_queued(found);
      }
    }
    if (!info)
      return;
    send_to_process(*info);
  }
}

void drop_queue(thread& t) noexcept {
  while (queued_signal* const s = unlink(t, [](const queued_signal&) { return true; }))
    free_queued(s);
}

} // namespace weft::pthreads
