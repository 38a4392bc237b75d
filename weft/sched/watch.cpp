// SPDX-License-Identifier: MIT
// Where a parked worker sleeps: on its word, or in its group's event source; a group's event sources and
// timers. The protocol is argued in README.md, "The watch".
#include <algorithm>
#include <ranges>
#include <system_error>

#include "weft/os/clock.hpp"
#include "weft/os/futex.hpp"
#include "weft/sched/timekeeper.hpp"
#include "weft/simulator/simulation.hpp"
#include "weft/workers/group.hpp"
#include "weft/workers/ticker.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched {
namespace {

// How long the deputy of the watch sleeps: an event that comes just after the one who watched has found work
// waits at most so long while others sleep. At a thousandth of a second the naps take half a percent of a
// CPU, and only while there are events.
constexpr deadline deputy_nap = 1'000'000;

struct parked_sleep {
  park::parking_spot& spot;
  waiting_source* source;
  deadline until;

  [[nodiscard]] bool may_go_on() const noexcept {
    return spot.load() == park::idle_state::parked && os::now_ns() < until;
  }
  void on_word(bool nap) noexcept {
    const deadline at = nap ? std::min(until, os::now_ns() + deputy_nap) : until;
    constexpr auto parked = static_cast<std::uint32_t>(park::idle_state::parked);
    if (at == no_deadline) {
      os::futex_wait(&spot.word(), parked);
    } else {
      os::futex_wait_until(&spot.word(), parked, at);
    }
  }
  void in_source() noexcept {
    if (spot.start_watching(source->bell()))
      source->wait(until);
  }
};

} // namespace

bool worker::sleep_parked(deadline until) noexcept {
  parked_sleep sleep{parking.spot, owner_group.waiting_source(), until};
  if (sleep.source != nullptr)
    return park::sleep_with_watch(owner_group.watch_, sleep);
  sleep.on_word(false);
  return false;
}

// --- the group ---

void group::add_event_source(std::shared_ptr<event_source> source) {
  if (source == nullptr)
    throw std::system_error(std::make_error_code(std::errc::invalid_argument), "weft: a null event source");
  {
    std::lock_guard held(sources_lock_);
    sources_.push_back(std::move(source));
    count_sources_locked();
  }
  wake(); // a sleeper may have to sleep shorter now
}

void group::remove_event_source(const event_source& source) {
  std::lock_guard held(sources_lock_);
  std::erase_if(sources_, [&source](const auto& s) { return s.get() == &source; });
  count_sources_locked();
}

void group::count_sources_locked() noexcept {
  const bool waits = waiting_source() != nullptr;
  source_count_.store(static_cast<unsigned>(sources_.size()) + (waits ? 1 : 0), std::memory_order_relaxed);
}

waiting_source& group::waiting_source(const std::function<std::unique_ptr<sched::waiting_source>()>& make) {
  if (simulation::is_active()) {
    throw std::system_error(std::make_error_code(std::errc::not_supported),
                            "weft: a simulation has no I/O to wait for");
  }
  {
    std::lock_guard held(sources_lock_);
    if (sched::waiting_source* known = waiting_source())
      return *known;
    waiting_source_.store(make().release(),
                          std::memory_order_release); // release: pairs with waiting_source()
    count_sources_locked();
  }
  wake(); // who sleeps on its word shall sleep in there
  return *waiting_source();
}

int group::poll_sources() noexcept {
  int events = 0;
  // Who has the watch is called by the event.
  if (sched::waiting_source* source = waiting_source(); source != nullptr && !watch_.is_taken())
    events = source->poll();
  std::unique_lock held(sources_lock_, std::try_to_lock);
  if (!held.owns_lock())
    return events;
  for (const auto& source : sources_)
    events += source->poll();
  return events;
}

bool group::nothing_can_come() noexcept {
  if (outsiders_.load(std::memory_order_acquire) != 0 || earliest_timer() != no_deadline)
    return false;
  const sched::waiting_source* const source = waiting_source();
  if (source != nullptr && source->has_waiters())
    return false;
  const std::unique_lock held(sources_lock_, std::try_to_lock);
  return held.owns_lock() && sources_.empty();
}

void group::end_watch() noexcept {
  waiting_source()->deliver();
  watch_.give_up();
}

void group::hand_watch_on() noexcept {
  if (watch_.is_kept())
    return;
  const auto spots = *view_.load(std::memory_order_acquire) | std::views::take(active_workers()) |
                     std::views::transform([](worker* w) { return &w->parking.spot; });
  park::choose_sleeper(spots).finish();
}

// --- timers ---

deadline group::earliest_timer() const noexcept {
  deadline at = timers_left_behind().earliest();
  for (const worker* w : *view_.load(std::memory_order_acquire))
    at = std::min(at, w->timing.queue.earliest());
  return at;
}

deadline group::patience_of_sources() noexcept {
  deadline least = no_deadline;
  std::unique_lock held(sources_lock_, std::try_to_lock);
  // Whoever holds it polls at this moment; it will see to the next poll.
  for (std::size_t i = 0; held.owns_lock() && i < sources_.size(); ++i)
    least = std::min(least, deadline{sources_[i]->patience().count()});
  return least;
}

// One sleeper looks at the sources; the others would wake for nothing. Not never: that one may find work, and
// then looks between its units only. Two that go to sleep at once do not both count on the other: each has
// said, before (P2), that it sleeps for ever, and reads the other's word after it.
bool group::somebody_looks_by(deadline at, const worker& but) noexcept {
  const auto& workers = *view_.load(std::memory_order_acquire);
  return std::any_of(workers.begin(), workers.end(), [at, &but](const worker* w) {
    const deadline until = w->timing.sleeps_until.load_relaxed();
    return w != &but && until != 0 && until <= at;
  });
}

deadline group::sleep_until(worker& w) noexcept {
  constexpr deadline looks_left_out = 4;
  deadline until = earliest_timer();
  if (source_count_.load(std::memory_order_relaxed) != 0) {
    if (const deadline patience = patience_of_sources(); patience != no_deadline) {
      const deadline now = os::now_ns();
      const deadline factor = somebody_looks_by(now + patience, w) ? looks_left_out : 1;
      until = std::min(until, now + factor * patience);
    }
  }
  w.timing.sleeps_until.store_relaxed(until);
  return until;
}

int group::expire_timers_of_all(deadline now) noexcept {
  int fired = timers_left_behind().expire(now);
  for (worker* w : *view_.load(std::memory_order_acquire)) {
    if (w->timing.queue.earliest() <= now)
      fired += w->timing.queue.expire(now);
  }
  if (fired != 0)
    hurry_owners();
  return fired;
}

// What has become ready may stand in the inbox of a worker that computes: it looks at its next decision, not
// at its next visit.
void group::hurry_owners() noexcept {
  for (worker* w : *view_.load(std::memory_order_acquire)) {
    if (w->attention.any_relaxed(inbox_waiting))
      w->tell_time_passed();
  }
}

void worker::tell_time_passed() noexcept {
  ask(time_passed);
  budget.end();
}

bool group::is_anybody_idle(deadline now) const noexcept {
  const auto& workers = *view_.load(std::memory_order_acquire);
  return std::any_of(workers.begin(), workers.end(), [now](const worker* w) {
    const deadline until = w->timing.sleeps_until.load_relaxed();
    return w->parking.spot.load() == park::idle_state::searching || w->parking.spot.is_notified() ||
           (until != 0 && until <= now);
  });
}

void group::tell_time_passed(deadline now, unsigned times_due) noexcept {
  if (times_due == 0 && is_anybody_idle(now))
    return;
  const auto& workers = *view_.load(std::memory_order_acquire);
  const auto sleeper = std::find_if(workers.begin(), workers.end(), [](const worker* w) {
    return w->timing.sleeps_until.load_relaxed() != 0;
  });
  if (sleeper != workers.end())
    (*sleeper)->parking.spot.try_notify().finish();
  for (worker* w : workers)
    w->tell_time_passed();
  ticker* const source = ticker_of_process.load(std::memory_order_acquire);
  const auto preemptible = std::find_if(workers.begin(), workers.end(), [](const worker* w) {
    return w->preemption.user_mode_serial.load_relaxed() != 0;
  });
  if (source != nullptr && preemptible != workers.end())
    source->tick(**preemptible);
}

// Where none sleeps there is nobody to wake: the timekeeper knows of timers only, and would look in vain.
void group::wake() noexcept {
  wake_before(0);
}

void group::wake_before(deadline at) noexcept {
  worker* sleeper = nullptr;
  base::light_fence(); // what was armed, then who sleeps; pairs with (P2)
  for (worker* w : *view_.load(std::memory_order_acquire)) {
    const deadline until = w->timing.sleeps_until.load_relaxed();
    if (until == 0)
      continue;
    if (until <= at)
      return; // somebody wakes early enough
    sleeper = w;
  }
  if (sleeper != nullptr) {
    sleeper->parking.spot.try_notify().finish();
  } else if (at != 0 && at != no_deadline && !is_about_to_sleep()) {
    timekeeper::look_by(at);
  }
}

// The only worker of the group, which has nothing else to do: it will sleep until the timer.
bool group::is_about_to_sleep() const noexcept {
  return size() == 1 && on_worker() && &here().owner_group == this && !here().has_visible_work();
}

} // namespace weft::sched
