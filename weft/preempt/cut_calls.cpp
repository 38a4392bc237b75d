// SPDX-License-Identifier: MIT
#include "weft/preempt/cut_calls.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "weft/carrier/user_mode.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/timespec.hpp"
#include "weft/preempt/call_number.hpp"
#include "weft/preempt/cut_transfers.hpp"
#include "weft/workers/ticker.hpp"

namespace weft::preempt {
namespace {

using arch::returned_call;
using arguments = std::array<long, 6>;

// How a call says how long it waits.
enum class limit : std::uint8_t {
  none_or_moment, // it has none, or the kernel counts it down in place: the call is made again as it is
  milliseconds,   // an argument; negative: none
  length,         // an argument, a timespec; null: none
};

struct ends_with_eintr {
  long number;
  long (*make)(const arguments&) noexcept;
  limit says;
  unsigned place; // of the limit among the arguments
  unsigned rest;  // of where the kernel says how much is left of it; 0: it does not
};

// A tick that ends this call too leaves it to wait_on(), or handlers would pile up.
template <int Number>
[[gnu::noinline]] long make(const arguments& a) noexcept {
  return arch::system_call<Number, true>(a);
}

template <int Number>
constexpr ends_with_eintr wait_call(limit says = limit::none_or_moment, unsigned place = 0,
                                    unsigned rest = 0) noexcept {
  return {Number, &make<Number>, says, place, rest};
}

constexpr ends_with_eintr waits[] = {
    wait_call<SYS_futex>(), // FUTEX_WAIT_BITSET and its like; others: can_go_on()
    wait_call<SYS_pselect6>(),
    wait_call<SYS_ppoll>(),
    wait_call<SYS_semop>(),
    wait_call<SYS_msgrcv>(),
    wait_call<SYS_msgsnd>(),
    wait_call<SYS_clock_nanosleep>(limit::length, 2, 3), // a moment: with TIMER_ABSTIME
    wait_call<SYS_nanosleep>(limit::length, 0, 1),
    wait_call<SYS_rt_sigtimedwait>(limit::length, 2),
    wait_call<SYS_semtimedop>(limit::length, 3),
    wait_call<SYS_epoll_pwait>(limit::milliseconds, 3),
#if defined(SYS_poll) // of older ports only
    wait_call<SYS_poll>(limit::milliseconds, 2),
    wait_call<SYS_epoll_wait>(limit::milliseconds, 3),
    wait_call<SYS_select>(),
#endif
};

const ends_with_eintr* find_wait(long number) noexcept {
  const auto* const found =
      std::ranges::find_if(waits, [=](const ends_with_eintr& w) { return w.number == number; });
  return found != std::end(waits) ? found : nullptr;
}

// A length of FUTEX_WAIT's would begin anew. Its end is a moment in the others.
bool is_futex_until_a_moment(long operation) noexcept {
  const long what = operation & FUTEX_CMD_MASK;
  return what == FUTEX_WAIT_BITSET || what == FUTEX_LOCK_PI;
}

} // namespace

bool can_go_on(const kernel_call& made) noexcept {
  if (made[0] == SYS_futex)
    return is_futex_until_a_moment(made[2]);
  return find_wait(made[0]) != nullptr;
}

// --- those that end with EINTR ---

namespace {

bool is_until_a_moment(const returned_call& c) noexcept {
  constexpr long is_moment = TIMER_ABSTIME;
  return c.number == SYS_clock_nanosleep && (c.arguments[1] & is_moment) != 0;
}

bool says_rest(const returned_call& c, const ends_with_eintr& w) noexcept {
  return w.rest != 0 && c.arguments[w.rest] != 0;
}

// Whether the call can be made again with nothing known of when it began.
bool needs_no_beginning(const returned_call& c, const ends_with_eintr& w) noexcept {
  switch (w.says) {
  case limit::none_or_moment:
    return true;
  case limit::milliseconds:
    return static_cast<int>(c.arguments[w.place]) < 0;
  case limit::length:
    return c.arguments[w.place] == 0 || is_until_a_moment(c) || says_rest(c, w);
  }
  return false;
}

const timespec& timespec_at(const returned_call& c, unsigned place) noexcept {
  return *reinterpret_cast<const timespec*>(c.arguments[place]);
}

// The kernel counts the rest on, and the program reads it if a signal of its own ends the sleep.
long sleep_on(returned_call c, const ends_with_eintr& w, std::int64_t since) noexcept {
  const timespec left = says_rest(c, w)
                            ? timespec_at(c, w.rest)
                            : os::timespec_of(os::time_left(os::ns_of(timespec_at(c, w.place)), since).ns());
  c.arguments[w.place] = reinterpret_cast<long>(&left);
  return w.make(c.arguments);
}

long wait_once(returned_call c, const ends_with_eintr& w, std::int64_t since) noexcept {
  if (w.says == limit::length && c.arguments[w.place] != 0 && !is_until_a_moment(c))
    return sleep_on(c, w, since);
  if (!needs_no_beginning(c, w)) {
    const std::int64_t length = static_cast<int>(c.arguments[w.place]) * os::ns_a_millisecond;
    c.arguments[w.place] = os::time_left(length, since).milliseconds();
  }
  return w.make(c.arguments);
}

// Compilers keep the address of a thread_local across calls, and the thread may go to other kernel threads in
// one: their handlers count there.
[[gnu::noinline]] unsigned& ticks_here() noexcept {
  static thread_local constinit unsigned count = 0;
  asm volatile("" ::: "memory");
  return count;
}

// Another tick may end the call again; a signal of the program's ends it for good.
long wait_on(const returned_call& c, std::int64_t since) noexcept {
  const ends_with_eintr& w = *find_wait(c.number);
  for (;;) {
    const tick_mark before;
    const long result = wait_once(c, w, since);
    if (result != -EINTR || !before.ticked())
      return result;
  }
}

// On others than sockets with a time limit the kernel makes such a call again.
bool is_ended_transfer(const returned_call& c, bool knows_beginning) noexcept {
  return knows_beginning && c.result == -EINTR && heeds_limit_of_socket(c.number) &&
         limit_of_socket(c.number, c.arguments[0]).has_value();
}

bool is_ended_wait(const returned_call& c, bool knows_beginning) noexcept {
  const ends_with_eintr* const w = c.result == -EINTR ? find_wait(c.number) : nullptr;
  if (w == nullptr || (c.number == SYS_futex && !is_futex_until_a_moment(c.arguments[1])))
    return false;
  return knows_beginning || needs_no_beginning(c, *w);
}

} // namespace

namespace {

// Whether the call is still the one that the monitor saw, and not a later one like it: the thread has
// computed no more than it takes to get here.
bool is_that_call(const returned_call& c, const told_call& told, std::int64_t computed_ns) noexcept {
  return told.number != 0 && told.first == c.arguments[0] && (c.number == -1 || c.number == told.number) &&
         computed_ns < sched::silence::cost_of_tick;
}

} // namespace

std::optional<cut_call> cut_short(const ucontext_t& interrupted, const told_call& told) noexcept {
  std::optional<returned_call> c = arch::call_returned(interrupted);
  if (!c || arch::is_repeated_by_caller(interrupted))
    return std::nullopt;
  // Before the walk for the number, which may take longer than all of the tick.
  constexpr int caller = 0;
  const std::int64_t computed_ns = told.number != 0 ? os::cpu_time_ns(caller) - told.cpu_ns : 0;
  if (c->number == -1 && (c->result == -EINTR || c->result > 0))
    c->number = number_on_stack(interrupted);
  const bool is_the_told = is_that_call(*c, told, computed_ns);
  if (is_the_told)
    c->number = told.number;
  // Another one has begun since the monitor looked.
  const std::int64_t since = !told.given ? 0 : is_the_told ? told.since : os::now_ns();
  if (!is_part(*c) && !is_ended_wait(*c, since != 0) && !is_ended_transfer(*c, since != 0))
    return std::nullopt;
  return cut_call{*c, since};
}

void note_tick() noexcept {
  ++ticks_here();
}

tick_mark::tick_mark() noexcept : at_(&ticks_here()), count_(*at_) {
  sched::worker_face& face = sched::here();
  if (!sched::is_in_user_mode(face))
    return;
  thread_ = &sched::user_mode::behind(face);
  calls_ended_ = thread_->calls_ended();
}

bool tick_mark::ticked() const noexcept {
  if (thread_ != nullptr && thread_->calls_ended() != calls_ended_)
    return false;
  return &ticks_here() != at_ || *at_ != count_;
}

void go_on(const cut_call& cut, ucontext_t& interrupted) noexcept {
  const bool moves = heeds_limit_of_socket(cut.call.number);
  arch::set_result(interrupted, moves ? move_on(cut.call, cut.since) : wait_on(cut.call, cut.since));
}

} // namespace weft::preempt
