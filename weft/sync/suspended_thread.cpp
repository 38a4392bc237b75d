// SPDX-License-Identifier: MIT
// Suspending into a place and coming back from it.
#include "weft/sync/suspended_thread.hpp"

#include <cerrno>

#include "weft/os/futex.hpp"
#include "weft/sched/group.hpp"
#include "weft/sched/simulation.hpp"
#include "weft/sched/switch.hpp"
#include "weft/sched/user_mode.hpp"

namespace weft::sync {
namespace {

std::uintptr_t word_of(const unit::descriptor& u) noexcept {
  return reinterpret_cast<std::uintptr_t>(&u);
}

// Where a kernel thread that is no worker blocks.
struct alignas(8) parked_kernel_thread {
  base::atomic<std::uint32_t> resumed{0};
};

} // namespace

// Gives up a wait when its time has passed or a stop is requested.
struct suspended_thread::timed_wait final : sched::timer {
  timed_wait(suspended_thread& p, std::uintptr_t w) noexcept : place(p), word(w) {}
  timed_wait(const timed_wait&) = delete;

  void on_expiry() noexcept override { give_up(wait_result::timed_out); }

  void give_up(wait_result why) noexcept {
    early.store_relaxed(why); // relaxed: ordered by the swaps below; two who give up early are both right
    for (;;) {
      std::uintptr_t expected = word;
      if (place.word_.cas_strong_acq_rel(expected, empty)) {
        how = why; // the thread cannot run before resume()
        return resume(word);
      }
      // `empty`: notified; or a notification that came too early, for nobody, has taken `coming` out, and
      // arrival::run() looks at what we leave.
      // Another's word: we were notified, and somebody else waits there already.
      if (expected >= given_up || place.word_.cas_strong_acq_rel(expected, given_up))
        return;
    }
  }

  suspended_thread& place;
  const std::uintptr_t word;
  wait_result how = wait_result::notified;
  base::atomic<wait_result> early{wait_result::notified};
};

struct suspended_thread::stopper {
  timed_wait* wait;
  void operator()() const noexcept { wait->give_up(wait_result::stopped); }
};

struct suspended_thread::arrival {
  arrival(suspended_thread& place, unit::descriptor& u, condition call, void* with, bool is_timed) noexcept
      : timed(place, is_timed ? reinterpret_cast<std::uintptr_t>(this) | timed_mark : word_of(u)), self(&u),
        f(call), argument(with) {}
  arrival(const arrival&) = delete;

  timed_wait timed;
  unit::descriptor* const self;
  const condition f;
  void* const argument;
  bool given_up_early = false;
  base::atomic<std::uint32_t> steps{0}; // of a wait that is timed: f has returned; somebody has resumed it

  static arrival& behind(std::uintptr_t word) noexcept {
    return *reinterpret_cast<arrival*>(word - timed_mark);
  }
  // Whether both are done; GONE otherwise: *this. (S3) acq_rel: orders f before what the thread does next.
  bool both_are_done() noexcept { return steps.fetch_add_acq_rel(1) == 1; }

  // Runs once the thread has left its stack. GONE: *this, as soon as the word is set, if somebody may notify
  // by then and the wait is not timed; so everything is read before.
  static void run(void* p) {
    auto& a = *static_cast<arrival*>(p);
    suspended_thread& place = a.timed.place;
    const std::uintptr_t word = a.timed.word;
    unit::descriptor& self = *a.self;
    const condition f = a.f;
    void* argument = a.argument;
    std::uintptr_t expected = coming;
    // (S1) acq_rel: publishes the left context; pairs with (S2)
    while (!place.word_.cas_strong_acq_rel(expected, word)) [[unlikely]] {
      // `empty`: a notification for nobody took out `coming`, or `given_up`, and `early` was set before that
      if (expected == empty && a.timed.early.load_relaxed() == wait_result::notified)
        continue;
      a.given_up_early = true;
      return sched::make_ready(self);
    }
    if (!f(argument)) {
      expected = word;
      if (place.word_.cas_strong_acq_rel(expected, empty))
        return sched::make_ready(self);
    }
    if ((word & timed_mark) != 0 && a.both_are_done())
      sched::make_ready(self);
  }
};

// Of who gave up, early or too late, and does so no more.
void suspended_thread::forget_mark() noexcept {
  if (word_.load_relaxed() == given_up) // relaxed, both: who notifies an empty place changes nothing
    word_.store_relaxed(empty);
}

wait_result suspended_thread::wait(condition f, void* argument, sched::deadline until,
                                   const std::stop_token& stop) {
  const sched::runtime_section in;
  if (!sched::on_worker())
    return wait_on_kernel_thread(f, argument, until, stop);
  sched::require_thread("wait_with");
  sched::worker& w = sched::here();
  arrival a(*this, *w.current, f, argument, until != sched::no_deadline || stop.stop_possible());
  timed_wait& timed = a.timed;
  const unit::wait_record why{unit::wait_kind::place, 0, this};
  const unit::announced_wait announced(*w.current, why);
  word_.store_relaxed(coming); // relaxed: who notifies an empty place changes nothing
  if (until != sched::no_deadline) {
    try {
      w.timers.arm(timed, until);
    } catch (...) {
      word_.store_relaxed(empty);
      throw;
    }
    w.owner_group.wake_before(until);
  }
  if (stop.stop_possible()) {
    {
      const std::stop_callback<stopper> on_stop(stop, stopper{&timed});
      sched::leave(&arrival::run, &a); // SWITCH: may resume on another worker
    }
    forget_mark();
  } else {
    sched::leave(&arrival::run, &a); // SWITCH: may resume on another worker
  }
  if (until != sched::no_deadline) {
    sched::timer_queue::disarm(timed);
    forget_mark();
  }
  return a.given_up_early ? timed.early.load_relaxed() : timed.how;
}

wait_result suspended_thread::wait_on_kernel_thread(condition f, void* argument, sched::deadline until,
                                                    const std::stop_token& stop) {
  sched::simulation::refuse_others("wait");
  parked_kernel_thread parked;
  const std::uintptr_t word = reinterpret_cast<std::uintptr_t>(&parked) | kernel_thread_mark;
  timed_wait timed(*this, word);
  word_.store_release(word); // (S1)
  if (!f(argument)) {
    std::uintptr_t expected = word;
    if (word_.cas_strong_acq_rel(expected, empty))
      return wait_result::notified;
  }
  auto block = [&, left = until]() mutable {
    while (parked.resumed.load_acquire() == 0) {
      if (left == sched::no_deadline) {
        os::futex_wait(&parked.resumed, 0);
      } else if (os::futex_wait_until(&parked.resumed, 0, left) == ETIMEDOUT) {
        timed.give_up(wait_result::timed_out);
        left = sched::no_deadline; // whoever was before us is about to resume us
      }
    }
  };
  if (stop.stop_possible()) {
    const std::stop_callback<stopper> on_stop(stop, stopper{&timed});
    block();
  } else {
    block();
  }
  if (until != sched::no_deadline || stop.stop_possible())
    forget_mark();
  return timed.how;
}

void suspended_thread::resume(std::uintptr_t word) noexcept {
  if ((word & timed_mark) != 0) {
    arrival& a = arrival::behind(word);
    unit::descriptor& u = *a.self;
    if (a.both_are_done())
      sched::make_ready(u);
    return;
  }
  if ((word & kernel_thread_mark) == 0)
    return sched::make_ready(*reinterpret_cast<unit::descriptor*>(word));
  auto* parked = reinterpret_cast<parked_kernel_thread*>(word - kernel_thread_mark);
  parked->resumed.store_release(1);
  os::futex_wake(&parked->resumed, 1); // by address only: the frame may be gone
}

bool suspended_thread::notify() noexcept {
  const std::uintptr_t word = word_.exchange_acq_rel(empty); // (S2) acquire: pairs with (S1)
  if (word <= given_up)
    return false;
  resume(word);
  return true;
}

void suspended_thread::enter() {
  const sched::runtime_section in;
  const std::uintptr_t word = word_.exchange_acq_rel(empty); // (S2)
  if (word <= given_up)
    return;
  if ((word & (kernel_thread_mark | timed_mark)) != 0 ||
      !sched::can_leave_to(*reinterpret_cast<unit::descriptor*>(word)))
    return resume(word);
  auto& next = *reinterpret_cast<unit::descriptor*>(word);
  sched::leave_to(
      next, [](void* u) { sched::make_ready(*static_cast<unit::descriptor*>(u)); }, sched::here().current);
}

void suspended_thread::do_swap(suspended_thread& next, condition f, void* argument) {
  const sched::runtime_section in;
  struct swapping {
    suspended_thread* from;
    suspended_thread* to;
    unit::descriptor* self;
    condition f;
    void* argument;
  };
  const std::uintptr_t word = next.word_.load_acquire(); // (S2)
  if (word <= given_up || (word & (kernel_thread_mark | timed_mark)) != 0 ||
      !sched::can_leave_to(*reinterpret_cast<unit::descriptor*>(word))) {
    wait_with([&] {
      suspended_thread& to = next; // read first: once `f` has published the caller, this frame may be gone
      return f(argument) && to.notify();
    });
    return;
  }
  swapping s{this, &next, sched::here().current, f, argument};
  const unit::wait_record why{unit::wait_kind::place, 0, this};
  const unit::announced_wait announced(*s.self, why);
  sched::leave_to_if(
      *reinterpret_cast<unit::descriptor*>(word),
      [](void* p) {
        const swapping s = *static_cast<swapping*>(p); // a copy: the frame may be gone once the word is set
        const std::uintptr_t target = s.to->word_.exchange_acq_rel(empty);
        s.from->word_.store_release(word_of(*s.self)); // (S1)
        if (s.f(s.argument))
          return true;
        std::uintptr_t expected = word_of(*s.self);
        if (!s.from->word_.cas_strong_acq_rel(expected, empty))
          return true; // somebody resumed it all the same
        s.to->word_.store_release(target);
        return false;
      },
      &s);
}

} // namespace weft::sync
