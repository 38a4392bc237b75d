// SPDX-License-Identifier: MIT
// Suspending into a place and coming back from it.
#include "weft/sync/suspended_thread.hpp"
#include "weft/carrier/runtime_section.hpp"

#include <cerrno>

#include "weft/os/futex.hpp"
#include "weft/sched/switch.hpp"
#include "weft/simulator/simulation.hpp"
#include "weft/workers/group.hpp"

namespace weft::sync {
namespace {

std::uintptr_t word_of(const unit::descriptor& u) noexcept {
  return reinterpret_cast<std::uintptr_t>(&u);
}

// What the frame of a thread's wait says of it. Its link names it (announced_wait) while it is in a place.
struct stay {
  unit::wait_record why; // first: it is what the link names
  // The worker that it left, on which `f` is called.
  base::plain<const sched::worker*> left;
};

const stay& stay_of(const unit::descriptor& u) noexcept {
  queue::link* const named = u.link.next;
  return *reinterpret_cast<const stay*>(named);
}

// Where a kernel thread that is no worker blocks.
struct alignas(8) parked_kernel_thread {
  base::atomic<std::uint32_t> resumed{0};
};

} // namespace

// Gives up a wait when its time has passed or a stop is requested. Of a wait without end only the word is
// set.
struct suspended_thread::timed_wait final : sched::timer {
  timed_wait(suspended_thread& p, std::uintptr_t w) noexcept : place(p), word(w) {}
  timed_wait(const timed_wait&) = delete;

  // From now on the word of a thread names this, so that who takes it out knows that it may give up.
  void name_itself() noexcept {
    if ((word & timed_mark) != 0)
      return;
    self = reinterpret_cast<unit::descriptor*>(word);
    word = reinterpret_cast<std::uintptr_t>(this) | timed_mark;
  }

  // A timer or a stop request waits for nobody to publish the place, and what f has is the frame's. So of the
  // two, the end of f and whoever resumes the thread, the second makes it ready: true. GONE otherwise: *this.
  // (S5) acq_rel: orders all that the first has done before what the thread does next.
  bool both_are_done() noexcept { return steps.fetch_add_acq_rel(1) == 1; }
  [[nodiscard]] bool has_called_f() const noexcept { return steps.load_acquire() == 1; } // acquire: (S5)

  void on_expiry() noexcept override { give_up(wait_result::timed_out); }

  // (S3) `early` is set before the word is looked at, and every way out but that of another's word writes the
  // word (release), if only what it was: who reads that or what comes after it (acquire) finds `early` set.
  // Pairs with settle() and put_back().
  void give_up(wait_result why) noexcept {
    early.store_relaxed(why); // relaxed: ordered by the swaps below; two who give up early are both right
    for (;;) {
      std::uintptr_t expected = word;
      if (place.word_.cas_strong_acq_rel(expected, empty)) {
        how = why; // the thread cannot run before resume()
        return resume(word);
      }
      // Another's word: we were notified, and somebody else waits there already. `empty`: notified; or a
      // notification that came too early, for nobody, has taken `coming` out, and settle() goes on from
      // there. What we leave may also meet the wait of whoever is there next: that one looks at its own
      // `early`.
      if (expected > late)
        return;
      if (place.word_.cas_strong_acq_rel(expected, expected >= held ? late : given_up)) // (S3)
        return;
    }
  }

  suspended_thread& place;
  std::uintptr_t word;
  unit::descriptor* self;               // if the word names this
  base::atomic<std::uint32_t> steps{0}; // the same
  wait_result how = wait_result::notified;
  base::atomic<wait_result> early{wait_result::notified};
};

struct suspended_thread::stopper {
  timed_wait* wait;
  void operator()() const noexcept { wait->give_up(wait_result::stopped); }
};

suspended_thread::timed_wait& suspended_thread::timed_of(std::uintptr_t word) noexcept {
  return *reinterpret_cast<timed_wait*>(word - timed_mark);
}

// Of a word that is no kernel thread's, by whoever has taken it out.
unit::descriptor& suspended_thread::unit_of(std::uintptr_t word) noexcept {
  return (word & timed_mark) != 0 ? *timed_of(word).self : *reinterpret_cast<unit::descriptor*>(word);
}

struct suspended_thread::arrival {
  timed_wait timed;
  condition f;
  void* argument;

  // Runs once the thread has left its stack. GONE: *this, as soon as the word is set, if somebody may notify
  // by then and the wait has no end; so everything is read before.
  static void run(void* p) {
    auto& a = *static_cast<arrival*>(p);
    suspended_thread& place = a.timed.place;
    const std::uintptr_t word = a.timed.word;
    const condition f = a.f;
    void* argument = a.argument;
    std::uintptr_t expected = coming;
    // (S1) acq_rel: publishes the left context; pairs with (S2)
    if (!place.word_.cas_strong_acq_rel(expected, word) && !place.settle(a.timed)) [[unlikely]]
      return sched::make_ready(unit_of(word));
    if (!f(argument) && place.take_back(word))
      return sched::make_ready(unit_of(word));
    if ((word & timed_mark) != 0)
      resume(word); // if somebody has
  }
};

// The thread's word stands in the place again, or for the first time where its `coming` was taken out: true.
// Or its time has passed, or a stop was requested, before that: false, and it is the caller's to resume.
//
// No end of the wait is missed. Who gives up writes the word once, at some moment. If that is before our
// exchange, this reads his mark, or what a notification, which is acq_rel, has put there instead, and so
// `early` is seen (S3). If after, `coming` is gone, nobody but us puts it back, and our second swap fails.
bool suspended_thread::settle(timed_wait& t) noexcept {
  for (;;) {
    word_.exchange_acq_rel(coming);                        // (S3)
    if (t.early.load_relaxed() != wait_result::notified) { // relaxed: ordered by the exchange
      t.how = t.early.load_relaxed();
      return false; // with `coming` in the word, which is as good as `empty`
    }
    std::uintptr_t expected = coming;
    if (word_.cas_strong_acq_rel(expected, t.word)) // (S1)
      return true;
  }
}

// Of who has called an f that said no, for the thread that stood there by `word` when f was called. True: the
// wait is taken back, and the thread is the caller's to resume. False: somebody has resumed it.
//
// That the word is there says only that the thread is, since f may have published it, and whoever resumed it
// then may have let it wait here again. So it is taken out first, after which it stands still, and what it
// says of its stay can be read. (S4) Ours is the stay that began on this worker: f is called where the thread
// has left, and does not switch, so until it has returned nothing else has left this worker. Any other stay
// was not ours to end, and the thread goes back. Who comes meanwhile finds `held` and leaves a mark
// (put_back()), so that it is as if the thread had been there all the time.
bool suspended_thread::take_back(std::uintptr_t word) noexcept {
  std::uintptr_t expected = word;
  while (!word_.cas_strong_acq_rel(expected, held)) { // (S2)
    if (expected != held && expected != late)
      return false;
    base::backend::yield_kernel_thread(); // another f said no, of a wait before ours: he lets go at once
    expected = word;
  }
  if (stay_of(unit_of(word)).left != &sched::here()) { // (S4)
    put_back(word);
    return false;
  }
  // Whoever left a mark has ended the same wait. acq_rel: its thread sees what a notifier wrote.
  word_.exchange_acq_rel(empty);
  return true;
}

// Puts a thread back where `held` stands for it. A notification that came meanwhile has taken `held` or
// `late` out, and said that it resumed the thread: which is done here. `late`: somebody's time has passed,
// maybe of one who was in the place before; ours if (S3) says so, as in settle().
void suspended_thread::put_back(std::uintptr_t word) noexcept {
  bool over = false;
  for (;;) {
    std::uintptr_t expected = held;
    if (word_.cas_strong_acq_rel(expected, over ? empty : word)) // (S1)
      break;
    if (expected != late)
      return resume(word);
    if (!word_.cas_strong_acq_rel(expected, held)) // (S3)
      return resume(word);
    over = (word & timed_mark) != 0 && timed_of(word).early.load_relaxed() != wait_result::notified;
  }
  if (over) {
    timed_of(word).how = timed_of(word).early.load_relaxed();
    resume(word);
  }
}

wait_result suspended_thread::wait(condition f, void* argument, sched::deadline until,
                                   const std::stop_token& stop) {
  return wait_for(f, argument, until, stop, {unit::wait_kind::place, 0, this});
}

wait_result suspended_thread::wait_for(condition f, void* argument, sched::deadline until,
                                       const std::stop_token& stop, const unit::wait_record& why) {
  const sched::runtime_section in;
  if (!sched::on_worker())
    return wait_on_kernel_thread(f, argument, until, stop);
  sched::require_thread("wait_with");
  sched::worker& w = sched::here();
  arrival a{{*this, word_of(*w.current)}, f, argument};
  timed_wait& timed = a.timed;
  const stay here{why, &w};
  const unit::announced_wait announced(*w.current, here.why);
  word_.store_relaxed(coming); // relaxed: who notifies an empty place changes nothing
  if (until != sched::no_deadline) {
    timed.name_itself();
    try {
      w.timing.queue.arm(timed, until);
    } catch (...) {
      word_.store_relaxed(empty);
      throw;
    }
    w.owner_group.wake_before(until);
  }
  if (stop.stop_possible()) {
    timed.name_itself();
    const std::stop_callback<stopper> on_stop(stop, stopper{&timed});
    sched::leave(&arrival::run, &a); // SWITCH: may resume on another worker
  } else {
    sched::leave(&arrival::run, &a); // SWITCH: may resume on another worker
  }
  if (until != sched::no_deadline)
    sched::timer_queue::disarm(timed);
  return timed.how; // a mark that was left too late stays in the place, where it stands for nobody
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
  return timed.how;
}

void suspended_thread::resume(std::uintptr_t word) noexcept {
  if ((word & (kernel_thread_mark | timed_mark)) == 0)
    return sched::make_ready(*reinterpret_cast<unit::descriptor*>(word));
  if ((word & timed_mark) != 0) {
    unit::descriptor& u = unit_of(word);
    if (timed_of(word).both_are_done())
      sched::make_ready(u);
    return;
  }
  auto* parked = reinterpret_cast<parked_kernel_thread*>(word - kernel_thread_mark);
  parked->resumed.store_release(1);
  os::futex_wake(&parked->resumed, 1); // by address only: the frame may be gone
}

bool suspended_thread::notify() noexcept {
  const std::uintptr_t word = word_.exchange_acq_rel(empty); // (S2) acquire: pairs with (S1)
  if (word <= late)
    return word >= held; // who holds the thread finds that, and resumes it in our place
  resume(word);
  return true;
}

void suspended_thread::enter() {
  const sched::runtime_section in;
  const std::uintptr_t word = word_.exchange_acq_rel(empty); // (S2)
  if (word <= late)
    return;
  if ((word & (kernel_thread_mark | timed_mark)) != 0 || !sched::can_leave_to(unit_of(word)))
    return resume(word);
  sched::leave_to(
      unit_of(word), [](void* u) { sched::make_ready(*static_cast<unit::descriptor*>(u)); },
      sched::here().current);
}

// Takes out a thread that may give up meanwhile, if it can be switched to, its f having returned; else null.
// It leaves `coming` behind, as when it came: if it is to go back, settle() sees whether it has given up.
unit::descriptor* suspended_thread::take_timed(std::uintptr_t word) noexcept {
  std::uintptr_t expected = word;
  if (!word_.cas_strong_acq_rel(expected, coming)) // (S2)
    return nullptr;
  unit::descriptor& u = unit_of(word);
  if (timed_of(word).has_called_f() && sched::can_leave_to(u))
    return &u;
  return_timed(word);
  return nullptr;
}

void suspended_thread::return_timed(std::uintptr_t word) noexcept {
  if (!settle(timed_of(word)))
    resume(word);
}

void suspended_thread::do_swap(suspended_thread& next, condition f, void* argument) {
  const sched::runtime_section in;
  struct swapping {
    suspended_thread* from;
    unit::descriptor* self;
    condition f;
    void* argument;
  };
  const std::uintptr_t word = next.word_.load_acquire(); // (S2)
  unit::descriptor* target = nullptr;
  if (word > late && (word & (kernel_thread_mark | timed_mark)) == 0) [[likely]] {
    // It stands there as long as the caller says so, and can be looked at before it is taken out. The swap of
    // the word fails only if take_back() holds it.
    auto* const u = reinterpret_cast<unit::descriptor*>(word);
    std::uintptr_t expected = word;
    if (sched::can_leave_to(*u) && next.word_.cas_strong_acq_rel(expected, empty)) [[likely]] // (S2)
      target = u;
  } else if (word > late && (word & timed_mark) != 0) {
    target = next.take_timed(word);
  }
  if (target == nullptr) [[unlikely]] {
    wait_with([&] {
      suspended_thread& to = next; // read first: once `f` has published the caller, this frame may be gone
      return f(argument) && to.notify();
    });
    return;
  }
  sched::worker& w = sched::here();
  swapping s{this, w.current, f, argument};
  const stay here{{unit::wait_kind::place, 0, this}, &w};
  const unit::announced_wait announced(*s.self, here.why);
  const bool left = sched::leave_to_if(
      *target,
      [](void* p) {
        const swapping s = *static_cast<swapping*>(p); // a copy: the frame may be gone once the word is set
        const std::uintptr_t word = word_of(*s.self);
        s.from->word_.store_release(word); // (S1)
        return s.f(s.argument) || !s.from->take_back(word);
      },
      &s);
  if (left) [[likely]]
    return;
  // Not before: f and what calls it have run on the stack of the thread that goes back.
  if ((word & timed_mark) == 0) {
    next.word_.store_release(word); // (S1)
  } else {
    next.return_timed(word);
  }
}

} // namespace weft::sync
