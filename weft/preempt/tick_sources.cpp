// SPDX-License-Identifier: MIT
// The timers of tick_sources.hpp, and what their signals carry.
#include "weft/preempt/tick_sources.hpp"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>

#include "weft/base/assert.hpp"
#include "weft/base/atomic.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/fault.hpp"
#include "weft/os/timespec.hpp"
#include "weft/workers/worker.hpp"

namespace weft::preempt {
namespace {

using sched::worker;

// Workers that can have a timer; those beyond get no ticks from timers.
constexpr std::size_t most_workers = 1024;

// A worker as timers and handlers know it. Ownership: the monitor's kernel thread; handlers read `who`. A
// worker that has gone is harmless: its memory is only ever a worker's again (worker::operator new).
struct place {
  base::atomic<worker*> who{nullptr};
  timer_t timer{};
  std::int32_t target = 0; // the kernel thread that the timer signals; 0: there is no timer
  bool seen = false;
  bool is_at_rest = false;       // the timer is there and stopped, until then:
  std::int64_t judged_again = 0; // when it is looked whether a handler has begun since the last look
  std::int64_t rest = 0;
};
constinit std::array<place, most_workers> places;
constinit base::atomic<std::uint32_t> places_used{0}; // never falls
constinit base::atomic<std::uint64_t> sent{0};
constinit base::atomic<std::int32_t> process_id{0}; // getpid() is a system call

// --- what a signal says: the address of a mark ---

constexpr std::size_t plain = 0;                                // for whatever runs there
constexpr std::size_t for_all = 1;                              // send it on to all others
constexpr std::size_t for_calls = 2;                            // the watchdog's question, no tick
constexpr std::size_t for_worker = 3;                           // + place: of that worker's timer
constexpr std::size_t for_next = for_worker + most_workers;     // + place: send it on to the next from there
constexpr std::size_t mark_count = for_next + most_workers + 1; // the last place's next is none
const std::array<char, mark_count> marks{};

void* address_of_mark(std::size_t mark) noexcept {
  return const_cast<char*>(&marks[mark]);
}
// mark_count: the signal is not ours.
std::size_t mark_of(const siginfo_t& info) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(info.si_value.sival_ptr);
  const auto begin = reinterpret_cast<std::uintptr_t>(marks.data());
  return at >= begin && at < begin + mark_count ? at - begin : mark_count;
}

void send(std::int32_t kernel_id, int number, std::size_t mark) noexcept {
  siginfo_t info = {};
  info.si_code = SI_QUEUE;
  info.si_pid = process_id.load_relaxed();
  info.si_value.sival_ptr = address_of_mark(mark);
  if (::syscall(SYS_rt_tgsigqueueinfo, info.si_pid, kernel_id, number, &info) == 0 && mark != for_calls)
    sent.fetch_add_relaxed(1);
}

// The kernel thread to signal if the worker there runs a preemptible thread in user mode; else 0. RACY: it
// may have stopped doing so; then the signal does nothing.
std::int32_t to_be_told(std::size_t at) noexcept {
  const worker* const w = places[at].who.load_acquire();
  if (w == nullptr || w == sched::weft_worker_here || w->preemption.user_mode_serial.load_relaxed() == 0)
    return 0;
  return w->carried.kernel_thread_id.load_relaxed();
}

// --- the sources ---

class timer_source {
 public:
  // Whether the `index`-th of the workers has a timer, what its signals say, and how far from the first
  // worker's its ticks are, of `count` workers.
  [[nodiscard]] virtual bool has_timer(std::size_t index) const noexcept = 0;
  [[nodiscard]] virtual std::size_t mark(std::size_t at) const noexcept = 0;
  [[nodiscard]] virtual std::int64_t phase(std::size_t index, std::size_t count,
                                           std::int64_t interval) const noexcept = 0;

 protected:
  ~timer_source() = default;
};

class creation_time final : public timer_source {
  [[nodiscard]] bool has_timer(std::size_t) const noexcept override { return true; }
  [[nodiscard]] std::size_t mark(std::size_t at) const noexcept override { return for_worker + at; }
  [[nodiscard]] std::int64_t phase(std::size_t, std::size_t, std::int64_t) const noexcept override {
    return 0;
  }
};

class aligned final : public timer_source {
  [[nodiscard]] bool has_timer(std::size_t) const noexcept override { return true; }
  [[nodiscard]] std::size_t mark(std::size_t at) const noexcept override { return for_worker + at; }
  [[nodiscard]] std::int64_t phase(std::size_t index, std::size_t count,
                                   std::int64_t interval) const noexcept override {
    return interval * static_cast<std::int64_t>(index) / static_cast<std::int64_t>(count);
  }
};

class per_process final : public timer_source {
 public:
  constexpr explicit per_process(std::size_t says) noexcept : says_(says) {}

 private:
  [[nodiscard]] bool has_timer(std::size_t index) const noexcept override { return index == 0; }
  [[nodiscard]] std::size_t mark(std::size_t) const noexcept override { return says_; }
  [[nodiscard]] std::int64_t phase(std::size_t, std::size_t, std::int64_t) const noexcept override {
    return 0;
  }
  std::size_t says_;
};

const timer_source& of(tick_source source) noexcept {
  static const creation_time by_creation{};
  static const aligned spread{};
  static const per_process to_all(for_all), along(for_next);
  switch (source) {
  case tick_source::creation_time:
    return by_creation;
  case tick_source::aligned:
    return spread;
  case tick_source::one_to_all:
    return to_all;
  default:
    return along;
  }
}

// --- their upkeep ---

// Of all timers that there are.
struct setting {
  tick_source source = tick_source::monitor;
  std::int64_t interval = 0;
  int number = 0;
  std::size_t workers = 0;
  bool operator==(const setting&) const = default;
};
setting in_force;

void end_timer(place& p) noexcept {
  if (p.target != 0)
    ::timer_delete(p.timer);
  p.target = 0;
}

// 0 or an errno value.
int make_timer(place& p, std::int32_t target, std::size_t mark, int number) noexcept {
  if (const int error = os::fault(os::fault_site::timer_create))
    return error;
  sigevent to = {};
  to.sigev_notify = SIGEV_THREAD_ID;
  to.sigev_signo = number;
  to.sigev_value.sival_ptr = address_of_mark(mark);
  to._sigev_un._tid = target;
  if (::timer_create(CLOCK_MONOTONIC, &to, &p.timer) != 0)
    return errno;
  p.target = target;
  p.is_at_rest = false;
  p.judged_again = p.rest = 0;
  return 0;
}

// From `begin`; 0: never.
void set_timer(const place& p, std::int64_t begin, std::int64_t interval) noexcept {
  const itimerspec when = {os::timespec_of(begin != 0 ? interval : 0), os::timespec_of(begin)};
  ::timer_settime(p.timer, TIMER_ABSTIME, &when, nullptr);
}

// Under a slow debugger, or strace, a timer may fire again before the handler's first instruction, each time:
// one frame on top of the other until the stack is full (the monitor's ticks.cpp, until_next()). A timer to
// which no handler has answered for eight intervals rests as long, or twice as long as before if none has
// answered in that rest either. True: it begins anew.
bool has_rested(place& p, worker& w, std::int64_t now, std::int64_t interval) noexcept {
  constexpr std::int64_t longest = 1'000'000'000;
  if (now < p.judged_again)
    return false;
  const bool answered = w.preemption.tick_on_its_way.exchange_relaxed(1) == 0;
  const bool ends_rest = p.is_at_rest;
  const bool begins_rest = !ends_rest && !answered && p.judged_again != 0;
  p.is_at_rest = begins_rest;
  p.judged_again = now + 8 * interval;
  if (answered)
    p.rest = 0;
  if (begins_rest) {
    p.rest = std::clamp(2 * p.rest, 8 * interval, std::max(8 * interval, longest));
    p.judged_again = now + p.rest;
    set_timer(p, 0, interval);
  }
  return ends_rest;
}

void note_worker(worker& w, void* /*argument*/) {
  place* unused = nullptr;
  const std::uint32_t used = places_used.load_relaxed();
  for (std::uint32_t at = 0; at < used; ++at) {
    place& p = places[at];
    worker* const who = p.who.load_relaxed();
    if (who == &w) {
      p.seen = true;
      return;
    }
    if (who == nullptr && unused == nullptr)
      unused = &p;
  }
  if (unused == nullptr && used < most_workers) {
    unused = &places[used];
    places_used.store_release(used + 1);
  }
  if (unused == nullptr)
    return;
  unused->seen = true;
  unused->who.store_release(&w);
}

// Brings `places` up to date; how many workers there are that a timer can signal.
std::size_t find_workers() noexcept {
  for (place& p : places)
    p.seen = false;
  sched::for_each_worker(&note_worker, nullptr);
  std::size_t count = 0;
  for (std::uint32_t at = 0; at < places_used.load_relaxed(); ++at) {
    place& p = places[at];
    if (!p.seen) {
      end_timer(p);
      p.who.store_release(nullptr);
    } else if (p.who.load_relaxed()->carried.kernel_thread_id.load_relaxed() != 0) {
      ++count;
    }
  }
  return count;
}

void refuse_once(int error) noexcept {
  static std::atomic<bool> said{false};
  if (!said.exchange(true))
    base::warn("no timer for preemption (error %d); trying again", error);
}

} // namespace

// The signal 0 is none: the system says whether it would send one. It is asked once; no static variable with
// a guard, in which the runtime might wait.
bool may_send_ticks() noexcept {
  enum : std::uint32_t { unknown, may, may_not };
  static constinit base::atomic<std::uint32_t> known{unknown};
  std::uint32_t now = known.load_relaxed(); // relaxed: nothing comes with it, and all who ask get one answer
  if (now == unknown) {
    siginfo_t info = {};
    info.si_code = SI_QUEUE;
    const bool sends =
        ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), os::this_kernel_thread_id(), 0, &info) == 0;
    now = sends ? may : may_not;
    known.store_relaxed(now);
  }
  return now == may;
}

void prepare_to_send() noexcept {
  process_id.store_relaxed(::getpid());
}

std::int64_t tend_timers(tick_source source, std::int64_t interval_ns, int number) noexcept {
  const setting wanted{source, interval_ns, number, find_workers()};
  if (wanted != in_force)
    end_timers();
  in_force = wanted;
  const timer_source& how = of(source);
  // All phases count from one moment, a multiple of the interval, whenever a timer is made.
  const std::int64_t now = os::now_ns();
  const std::int64_t begin = (now / interval_ns + 1) * interval_ns;
  std::size_t index = 0;
  for (std::uint32_t at = 0; at < places_used.load_relaxed(); ++at) {
    place& p = places[at];
    worker* const w = p.who.load_relaxed();
    const std::int32_t target = w != nullptr ? w->carried.kernel_thread_id.load_relaxed() : 0;
    if (target == 0)
      continue; // it has not begun, or goes
    const std::size_t turn = index++;
    const bool is_there = p.target == target;
    if (!how.has_timer(turn) || (is_there && !has_rested(p, *w, now, interval_ns)))
      continue;
    if (!is_there)
      end_timer(p);
    if (const int error = is_there ? 0 : make_timer(p, target, how.mark(at), number))
      refuse_once(error);
    else
      set_timer(p, begin + how.phase(turn, wanted.workers, interval_ns), interval_ns);
  }
  return std::clamp<std::int64_t>(8 * interval_ns, 2'000'000, 20'000'000);
}

void end_timers() noexcept {
  if (in_force.source == tick_source::monitor)
    return;
  for (std::uint32_t at = 0; at < places_used.load_relaxed(); ++at)
    end_timer(places[at]);
  in_force = {};
}

void forget_timers_after_fork() noexcept {
  for (place& p : places) {
    p.target = 0;
    p.who.store_relaxed(nullptr);
  }
  in_force = {};
}

void send_tick(std::int32_t kernel_id, int number) noexcept {
  send(kernel_id, number, plain);
}

void ask_for_calls(std::int32_t kernel_id, int number) noexcept {
  send(kernel_id, number, for_calls);
}

bool asks_for_calls(const siginfo_t& info) noexcept {
  return mark_of(info) == for_calls;
}

bool is_tick(const siginfo_t& info) noexcept {
  return mark_of(info) != mark_count;
}

bool pass_on(const siginfo_t& info) noexcept {
  const std::size_t mark = mark_of(info);
  if (mark == plain) [[likely]]
    return true;
  if (info.si_code == SI_TIMER)
    sent.fetch_add_relaxed(1);
  const std::size_t used = places_used.load_acquire();
  if (mark == for_all) {
    for (std::size_t at = 0; at < used; ++at) {
      if (const std::int32_t other = to_be_told(at); other != 0)
        send(other, info.si_signo, plain);
    }
    return true;
  }
  if (mark >= for_next) {
    for (std::size_t at = mark - for_next; at < used; ++at) {
      if (const std::int32_t other = to_be_told(at); other != 0) {
        send(other, info.si_signo, for_next + at + 1);
        break;
      }
    }
    return true;
  }
  const worker* const meant = places[mark - for_worker].who.load_acquire();
  if (meant == sched::weft_worker_here || meant == nullptr)
    return meant != nullptr;
  if (const std::int32_t other = meant->carried.kernel_thread_id.load_relaxed(); other != 0)
    send(other, info.si_signo, plain);
  return false;
}

std::size_t ticks_sent() noexcept {
  return sent.load_relaxed();
}

} // namespace weft::preempt
