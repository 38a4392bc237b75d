// SPDX-License-Identifier: MIT
// How many workers of a group are active: the others sleep until they are wanted again. README.md, "Workers
// that sleep", has the protocol; docs/design/packing.md what was rejected.
#include <algorithm>
#include <cerrno>
#include <exception>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include "weft/base/assert.hpp"
#include "weft/carrier/runtime_section.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/futex.hpp"
#include "weft/workers/group.hpp"
#include "weft/workers/ticker.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched {
namespace {

constexpr deadline out_of_memory_pause = 100'000;

// The scheduler of a worker whose own one is with another worker: it has nothing to pick, and new units go
// where they always went.
class stand_in_scheduler final : public scheduler {
 public:
  stand_in_scheduler() : scheduler({std::make_shared<owned_fifo>()}) {}
  descriptor* next(worker&) override { return nullptr; }
  [[nodiscard]] pool& pool_of_new_units() const noexcept override {
    return home_ != nullptr ? *home_ : main_pool();
  }
  void stand_in_for(const scheduler& other) noexcept { home_ = &other.pool_of_new_units(); }

 private:
  pool* home_ = nullptr;
};

} // namespace

// --- the group ---

unsigned group::active_workers() const noexcept {
  return std::max(1U,
                  std::min(active_.load(std::memory_order_acquire), size())); // 0: the first one is starting
}

void group::set_active_workers(unsigned n) {
  const runtime_section in;
  const std::lock_guard held(lock_);
  if (n == 0 || n > members_.size()) {
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "weft: at least one worker is active, and at most those that the group has");
  }
  if (options_.front != nullptr) {
    throw std::system_error(std::make_error_code(std::errc::operation_not_permitted),
                            "weft: the workers of this group are execution streams of abt.h");
  }
  for (std::size_t i = n; lends_schedulers() && i < members_.size(); ++i) {
    worker& w = *members_[i];
    if (w.activity.stand_in == nullptr)
      w.activity.stand_in = std::make_shared<stand_in_scheduler>();
  }
  announce_active_locked(n);
}

// release: the stand-ins; pairs with the acquire in keeper_of().
void group::announce_active_locked(unsigned n) noexcept {
  if (active_.exchange(n, std::memory_order_acq_rel) == n)
    return;
  ticker* const ticks = ticker_of_process.load(std::memory_order_acquire);
  for (const auto& w : members_) {
    w->call(activity_changed);
    if (ticks != nullptr)
      ticks->tick(*w); // a keeper too: the worker whose scheduler it has may be waiting for it
  }
}

worker& group::keeper_of(const worker& w) const noexcept {
  const view& workers = *view_.load(std::memory_order_acquire);
  const std::size_t active = std::min<std::size_t>(active_.load(std::memory_order_acquire), workers.size());
  return w.activity.rank < active ? const_cast<worker&>(w) : *workers[w.activity.rank % active];
}

// What stands in the deque of a worker that is about to sleep goes to the others. Its deque has no owner any
// more, so that what is pushed there goes to them as well.
void group::share_out(worker& w) noexcept {
  auto& deque = static_cast<deque_pool&>(w.main_scheduler->main_pool());
  base::heavy_fence(); // after the pool lost its owner; pairs with the light fence in deque_pool::do_push()
  while (!deque.empty()) { // a steal may also fail because another one was faster
    if (descriptor* u = deque.steal(w))
      adopt(*u);
  }
}

// --- the worker ---

// Schedulers that are with another worker.

void worker::send(lodger& l) noexcept {
  worker& to = owner_group.keeper_of(*l.whose);
  lodger* first = to.activity.arriving.load_relaxed();
  do {
    l.next = first;
  } while (!to.activity.arriving.cas_weak_acq_rel(
      first, &l)); // publishes the scheduler; pairs with settle_lodgers()
  to.call(activity_changed);
}

bool worker::receive(lodger& l) noexcept {
  try {
    l.lent->start(*this);
  } catch (const std::exception&) { // no memory: it stays with the mail, and is tried again
    lodger* first = activity.arriving.load_relaxed();
    do {
      l.next = first;
    } while (!activity.arriving.cas_weak_acq_rel(first, &l));
    ask(activity_changed);
    os::sleep_ns(out_of_memory_pause);
    return false;
  }
  if (l.whose == this) {
    main_scheduler = std::move(l.lent);
    return true;
  }
  l.next = std::exchange(activity.lodgers, &l);
  return true;
}

// Takes what has come, and passes on what another worker has to serve now.
void worker::settle_lodgers() noexcept {
  if (activity.lodgers == nullptr && activity.arriving.load_relaxed() == nullptr)
    return;
  for (lodger** at = &activity.lodgers; *at != nullptr;) {
    lodger& l = **at;
    if (&owner_group.keeper_of(*l.whose) == this) {
      at = &l.next;
      continue;
    }
    *at = l.next;
    l.lent->stop(*this);
    send(l);
  }
  for (lodger* l = activity.arriving.exchange_acq_rel(nullptr); l != nullptr;) {
    lodger* const next = l->next;
    if (&owner_group.keeper_of(*l->whose) != this) {
      send(*l);
    } else {
      receive(*l);
    }
    l = next;
  }
  activity.lodger_turn = nullptr;
  refresh_hot();
}

void worker::dismiss_lodgers() noexcept {
  while (activity.lodgers != nullptr) {
    activity.lodgers->lent->stop(*this);
    activity.lodgers = activity.lodgers->next;
  }
  activity.lodger_turn = nullptr;
  if (activity.withdrawn)
    count_as_awake();
}

// One unit of its own scheduler's, one of each that lodges here.
descriptor* worker::pick_with_lodgers() noexcept {
  lodger* const first = activity.lodger_turn;
  do {
    scheduler& s = activity.lodger_turn != nullptr ? *activity.lodger_turn->lent : *main_scheduler;
    activity.lodger_turn = activity.lodger_turn != nullptr ? activity.lodger_turn->next : activity.lodgers;
    if (descriptor* u = s.next(*this))
      return u;
  } while (activity.lodger_turn != first);
  return nullptr;
}

// Going to sleep and coming back.

bool worker::lacks_scheduler() const noexcept {
  return activity.withdrawn || (activity.stand_in != nullptr && main_scheduler == activity.stand_in);
}

void worker::follow_activity() noexcept {
  settle_lodgers();
  if (&owner_group.keeper_of(*this) == this) {
    come_back();
  } else {
    withdraw();
  }
  if (!lacks_scheduler() && incoming.load(std::memory_order_relaxed) != nullptr)
    ask(scheduler_waiting); // it was not looked at meanwhile
}

void worker::withdraw() noexcept {
  const bool was_asleep = std::exchange(activity.withdrawn, true);
  // Its scheduler may have come back just now, too late.
  if (was_asleep && (!owner_group.lends_schedulers() || main_scheduler == activity.stand_in))
    return;
  put_handed_back();
  while (!stacked.schedulers.empty())
    leave_stacked_scheduler(false); // another worker goes on with it
  end_lending();
  main_scheduler->stop(*this);
  if (!owner_group.lends_schedulers()) {
    refresh_hot();
    if (owner_group.steals())
      owner_group.share_out(*this);
  } else if (main_scheduler != activity.stand_in) { // else it has not come back since the last time
    static_cast<stand_in_scheduler&>(*activity.stand_in).stand_in_for(*main_scheduler);
    activity.lodging.whose = this;
    activity.lodging.lent = std::exchange(main_scheduler, activity.stand_in);
    refresh_hot();
    send(activity.lodging);
  }
  if (was_asleep)
    return;
  workers_running.fetch_sub(1, std::memory_order_relaxed);
  owner_group.asleep_.fetch_add(1, std::memory_order_release);
}

void worker::count_as_awake() noexcept {
  activity.withdrawn = false;
  workers_running.fetch_add(1, std::memory_order_relaxed);
  owner_group.asleep_.fetch_sub(1, std::memory_order_release);
}

void worker::come_back() noexcept {
  if (!activity.withdrawn)
    return;
  try {
    if (!owner_group.lends_schedulers())
      main_scheduler->start(*this);
  } catch (const std::bad_alloc&) {
    ask(activity_changed);
    os::sleep_ns(out_of_memory_pause);
    return;
  }
  count_as_awake();
  refresh_hot();
}

void worker::put_handed_back() noexcept {
  if (descriptor* u = std::exchange(handed, nullptr))
    u->own_pool->push(*u);
}

// Until something is asked. Nobody else can run what stands in `local`.
void worker::sleep_withdrawn() noexcept {
  for (;;) {
    const std::uint32_t asked = attention.load_acquire() & ~standing_attention;
    if ((asked & ~std::uint32_t{inbox_waiting}) != 0)
      return;
    if (asked != 0) {
      attention.fetch_and_acq_rel(~std::uint32_t{inbox_waiting});
      local.drain(*this);
    }
    if (descriptor* u = local.pop(*this)) {
      run(*u);
      put_handed_back();
      look_around();
    } else {
      park_withdrawn();
    }
  }
}

// park(), for one that serves `local` alone. A push that read who serves its pool before this worker withdrew
// may rely on it all the same, so the search that follows is left as any other.
void worker::park_withdrawn() noexcept {
  const auto mine = [this](auto action) { action(static_cast<pool&>(local)); };
  worker& heir = owner_group.first_member();
  if (timing.queue.size() != 0) {
    timing.queue.move_to(heir.timing.queue);
    owner_group.wake_before(heir.timing.queue.earliest());
  }
  park::enter_park(parking.spot, mine); // (P1), (P2)
  if (local.empty() && (attention.load_relaxed() & ~standing_attention) == 0) {
    ++recording.counters.parks;
    note(trace::event::park, nullptr);
    constexpr auto parked = static_cast<std::uint32_t>(park::idle_state::parked);
    parking.stillness.begin();
    if (caches.trimmed) {
      os::futex_wait(&parking.spot.word(), parked);
    } else {
      const deadline until = os::now_ns() + trim_after;
      // A signal is no reason to give the memory back.
      while (parking.spot.load() == park::idle_state::parked &&
             os::futex_wait_until(&parking.spot.word(), parked, until) == EINTR) {
      }
      stand_still_no_more(); // what follows may wait for locks
      if (!parking.spot.is_notified() && os::now_ns() >= until)
        give_memory_back();
    }
    note(trace::event::unpark, nullptr);
  }
  stand_still_no_more();
  park::leave_park(parking.spot, mine); // (P7)
  const scheduler& served = activity.lodging.lent != nullptr ? *activity.lodging.lent : *main_scheduler;
  park::leave_search(parking.spot, [&](auto action) { // (P5)
    action(static_cast<pool&>(local));
    for (const auto& p : served.pools())
      action(*p);
  });
}

} // namespace weft::sched
