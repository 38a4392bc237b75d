// SPDX-License-Identifier: MIT
// A worker without work: it searches, then parks. The parking protocol is argued in README.md.
#include <sched.h>

#include <algorithm>
#include <utility>

#include "weft/base/knob.hpp"
#include "weft/carrier/kick.hpp"
#include "weft/carrier/leaving.hpp"
#include "weft/os/clock.hpp"
#include "weft/sched/standstill.hpp"
#include "weft/sched/timekeeper.hpp"
#include "weft/simulator/simulation.hpp"
#include "weft/workers/group.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched {
namespace {

// relaxed: every kernel thread learns the same number, and any is right
constexpr unsigned cpus_unknown = ~0U;
constinit std::atomic<unsigned> cpus_allowed{cpus_unknown};

constinit base::integer_knob idle_spin{"WEFT_IDLE_SPIN",
                                       20,
                                       {0, 1'000'000},
                                       base::knob_scale::count,
                                       "microseconds that an idle worker searches before it sleeps; more "
                                       "while its sleeps are short"};
constinit base::integer_knob idle_rest{"WEFT_IDLE_REST",
                                       200,
                                       {0, 1'000'000'000},
                                       base::knob_scale::count,
                                       "microseconds at most that an idle worker leaves others' threads "
                                       "alone after thefts that brought little; 0: never"};
const base::knob_list worker_idle_knobs{idle_spin, idle_rest};

} // namespace

template <class Action>
void worker::for_each_pool(served whose, Action action) noexcept {
  const auto each_of = [&](const scheduler& s) {
    for (const auto& p : s.pools()) {
      if (whose == served::all || p->owned_by(*this))
        action(*p);
    }
  };
  action(static_cast<pool&>(local));
  each_of(*main_scheduler);
  for (const lodger* l = activity.lodgers; l != nullptr; l = l->next)
    each_of(*l->lent);
}

template <class Action>
void worker::for_each_served_pool(Action action) noexcept {
  for_each_pool(served::all, action);
}

bool worker::has_visible_work(served whose) noexcept {
  bool found = false;
  for_each_pool(whose, [&found](pool& p) { found = found || !p.empty(); });
  return found;
}

// After a while without work: what the caches hold beyond a small stock goes back to the system.
void worker::give_memory_back() noexcept {
  constexpr std::size_t stacks_kept = 16;
  caches.trimmed = true;
  standstill_looks = 0;
  caches.trims.fetch_add_acq_rel(1);
  caches.stacks.trim(stacks_kept);
  caches.descriptors.trim();
  caches.trims.fetch_add_acq_rel(1);
}

// Leaves the search: whoever pushed meanwhile may have counted on it, so another sleeper takes over; and so
// for the timer that this worker would have woken for.
void worker::found_work() noexcept {
  caches.trimmed = false;
  park::leave_search(parking.spot, [this](auto action) { for_each_served_pool(action); });
  if (owner_group.waiting_source() != nullptr)
    owner_group.hand_watch_on();
  if (attention.any_relaxed(worker_has_classes)) [[unlikely]]
    kick_for_the_rest(*this);
  const deadline at = owner_group.earliest_timer();
  if (at == no_deadline)
    return;
  // A group of one would take this worker for one that will sleep: what it has found is in no pool.
  if (owner_group.size() == 1)
    timekeeper::look_by(at);
  else
    owner_group.wake_before(at);
}

void learn_cpus_allowed() {
  if (cpus_allowed.load(std::memory_order_relaxed) == cpus_unknown)
    cpus_allowed.store(default_worker_count(), std::memory_order_relaxed);
}

bool crowded() noexcept {
  return workers_running.load(std::memory_order_relaxed) > cpus_allowed.load(std::memory_order_relaxed);
}

// Waits a little, until somebody asks for something: what is pushed for this worker alone does that.
void worker::pause_search(unsigned length) const noexcept {
  for (unsigned i = 0; i < length && (attention.load_relaxed() & ~standing_attention) == 0; ++i)
    arch::relax();
}

descriptor* worker::idle() noexcept {
  constexpr unsigned longest_pause = 16;
  constexpr deadline soonest_offer = 2'000;
  const deadline least_search = simulation::search(idle_spin.get() * 1000);
  parking.spot.start_searching();
  note(trace::event::search, nullptr);
  const bool is_crowded = crowded();
  const bool has_thieves = owner_group.has_thieves();
  const bool is_simulated = attention.any_relaxed(simulated);
  const bool steals = has_thieves && !is_simulated && on_idle == nullptr;
  const bool offers = !has_thieves && !is_simulated; // thieves rest
  const deadline longest_rest = steals ? idle_rest.get() * 1000 : 0;
  const deadline idle_since = os::now_ns();
  deadline begin = idle_since;
  deadline seen = begin;
  unsigned pause = 1;
  deadline offer = begin + soonest_offer; // of the CPU
  bool dozes = false;
  bool is_called = false;
  bool is_short = false; // one look, and no more
  // Who has slept its time looks once and sleeps again, so that a process whose sources have patience stays
  // idle.
  const auto wakes_up = [&dozes] {
    if (std::exchange(dozes, false))
      rest_of_monitor.rouse();
  };
  const auto sleep = [&](deadline rest_for) {
    dozes = rest_for != 0 ? rest(rest_for)
                          : park(served::all, caches.trimmed ? no_deadline : idle_since + trim_after);
    if (!dozes)
      rest_of_monitor.rouse();
    is_called = !dozes;
    is_short = dozes || parking.thefts.is_due();
    begin = seen = os::now_ns();
    parking.thefts.search_again(begin);
    pause = 1;
    offer = begin + soonest_offer;
  };
  if (const deadline r = parking.thefts.begin_search(begin, recording.counters.steals, longest_rest); r != 0)
    sleep(r);
  for (;;) {
    std::uint32_t asked = attention.load_relaxed();
    if ((asked & simulated) != 0) [[unlikely]] {
      simulation::turn(simulation::at::yield);
      pause = 0;
      asked = attention.load_relaxed();
    }
    asked &= ~standing_attention;
    if ((asked & time_passed) != 0) { // it looks at all timers anyway
      attention.fetch_and_acq_rel(~std::uint32_t{time_passed});
      asked &= ~std::uint32_t{time_passed};
    }
    if (asked == inbox_waiting) {
      // Still searching: to leave with the unit in the pool would wake another worker for it.
      attention.fetch_and_acq_rel(~std::uint32_t{inbox_waiting});
      drain_inboxes();
    } else if (asked != 0) {
      break;
    }
    if (descriptor* u = pick()) {
      wakes_up();
      found_work();
      if (steals)
        parking.thefts.found(seen);
      return u;
    }
    const deadline now = seen = os::now_ns();
    int came = owner_group.expire_timers_of_all(now);
    recording.counters.timers_fired += static_cast<unsigned>(came);
    if (owner_group.source_count_.load(std::memory_order_relaxed) != 0)
      came += owner_group.poll_sources();
    if (came != 0)
      wakes_up();
    if (on_idle != nullptr) {
      on_idle->on_idle();
      continue;
    }
    pause_search(pause);
    pause = std::min(pause * 2, longest_pause);
    if ((!is_short && now < begin + parking.search.length(least_search)) || has_visible_work()) {
      wakes_up();
      // A long search is a guess: whoever else wants this CPU goes first. Who does not steal waits for
      // somebody, so from time to time in a short search too: that one may be in the queue of this CPU.
      if (is_crowded || now > begin + least_search || (offers && now > offer)) {
        ::sched_yield();
        seen = os::now_ns(); // others' time is not that of what it finds next
        offer = seen + (seen - begin);
        is_short = is_short || (offers && !is_crowded && parking.search.is_in_the_way(seen - now));
      }
      continue;
    }
    sleep(is_called ? parking.thefts.called_in_vain(longest_rest) : 0);
  }
  wakes_up();
  found_work();
  return nullptr;
}

void worker::stand_still_no_more() noexcept {
  parking.stillness.end();
  rest_of_monitor.rouse();
}

// A push may have counted on the search that ends here. What comes back soon need not call for the kernel: a
// thread that waits for the one that was stolen, for instance.
bool worker::rest(deadline length) noexcept {
  constexpr deadline soon = 3'000;
  park::leave_search(parking.spot, [this](auto action) { for_each_served_pool(action); });
  ++recording.counters.rests;
  for (const deadline begin = os::now_ns(); os::now_ns() < begin + soon; arch::relax()) {
    if (has_visible_work(served::own) || (attention.load_relaxed() & ~standing_attention) != 0) {
      parking.spot.start_searching();
      return false;
    }
  }
  return park(served::own, os::now_ns() + length);
}

bool worker::park(served whose, deadline longest) noexcept {
  const auto each_pool = [this, whose](auto action) { for_each_pool(whose, action); };
  timing.sleeps_until.store_relaxed(
      no_deadline); // before (P2): whoever arms a timer from now on wakes us, or is seen below
  park::enter_park(parking.spot, each_pool); // (P1), (P2)
  bool watched = false;
  bool is_over = false;
  const bool rests = whose == served::own;
  const bool stay = has_visible_work(whose) || (attention.load_relaxed() & ~standing_attention) != 0;
  if (!stay) {
    ++recording.counters.parks;
    note(trace::event::park, nullptr);
    deadline until = std::min(owner_group.sleep_until(*this), longest);
    const deadline asleep = os::now_ns();
    if (!rests && caches.trimmed && until == no_deadline && standstill_looks < standstill::most_looks_again) {
      if (standstill::look()) // kernel threads without work end by and by
        until = asleep + standstill::pause(standstill_looks++, number, asleep);
    }
    parking.stillness.begin();
    watched = sleep_parked(until);
    parking.stillness.end(); // what follows may wait for locks
    note(trace::event::unpark, nullptr);
    if (!rests)
      parking.search.slept(os::now_ns() - asleep, idle_spin.get() * 1000);
    is_over = !parking.spot.is_notified() && os::now_ns() >= until;
    if (!rests && !caches.trimmed && is_over && os::now_ns() >= longest)
      give_memory_back();
  }
  timing.sleeps_until.store_relaxed(0);
  park::leave_park(parking.spot, each_pool); // (P7)
  if (watched) // only now: what becomes ready would call this worker, while it is parked
    owner_group.end_watch();
  return is_over;
}

// As park(), by a thread that runs.
deadline worker::begin_visit(os::doorbell& bell, bool& watches) noexcept {
  watches = false;
  timing.sleeps_until.store_relaxed(no_deadline);
  park::enter_park(parking.spot, [this](auto action) { for_each_served_pool(action); });
  if (!has_visible_work() && (attention.load_relaxed() & ~standing_attention) == 0) {
    watches = owner_group.watch_.try_take();
    const deadline until = owner_group.sleep_until(*this);
    if (until > os::now_ns() && parking.spot.start_visiting(bell)) {
      parking.stillness.begin();
      return until;
    }
  }
  end_visit(watches);
  return 0;
}

void worker::end_visit(bool watched) noexcept {
  stand_still_no_more();
  timing.sleeps_until.store_relaxed(0);
  park::leave_park(parking.spot, [this](auto action) { for_each_served_pool(action); });
  if (watched)
    owner_group.end_watch();
  found_work();
}

} // namespace weft::sched
