// SPDX-License-Identifier: MIT
#include "weft/carrier/kick.hpp"

#include <algorithm>

#include "weft/base/fence.hpp"
#include "weft/carrier/user_mode.hpp"

namespace weft::sched {

constinit std::atomic<void (*)(worker&) noexcept> kick_worker{nullptr};

bool is_served_by(const pool& p, const worker& w) noexcept {
  const pool::server_list* workers = p.servers();
  return workers != nullptr && std::ranges::find(*workers, &w) != workers->end();
}

namespace {

// The running thread of a pushing worker that serves the pool leaves when it goes back to user mode. True: it
// will do so for this push.
bool pusher_leaves(const pool& p) noexcept {
  worker& w = here();
  if (!on_worker() || w.current->own_pool == nullptr || user_mode::of(*w.current) == nullptr)
    return false;
  return w.current->own_pool->priority_class() > p.priority_class() && is_served_by(p, w) &&
         w.preemption.kicked.exchange_acq_rel(1) == 0;
}

} // namespace

void kick_a_server(const pool& p) noexcept {
  const unsigned pushed = p.priority_class();
  const auto kick_now = kick_worker.load(std::memory_order_acquire);
  if (pushed == low_class || kick_now == nullptr)
    return;           // nobody is preemptible, if so
  base::full_fence(); // (K1) the push, then who runs what; pairs with (K2)
  const pool::server_list* workers = p.servers();
  if (workers == nullptr || p.empty())
    return;
  // Whoever is idle is woken by the push, or looks again before it sleeps. (K3) has the rest.
  if (std::any_of(workers->begin(), workers->end(),
                  [](const worker* w) { return w->parking.spot.load() != park::idle_state::active; }))
    return;
  if (p.empty())
    return; // one that was idle has it by now
  if (pusher_leaves(p))
    return;
  for (worker* w : *workers) {
    if (w->preemption.user_mode_serial.load_relaxed() == 0)
      continue; // in the runtime, where it will look; or cooperative
    // For its next tick, should the kick be lost, or be for one of its own class.
    if (!w->preemption.others_wait.equals_relaxed(waiting::somebody))
      w->preemption.others_wait.store_relaxed(waiting::somebody);
    // One that was kicked and has not come back is on its way already.
    if (w->preemption.user_mode_class.load_relaxed() > pushed &&
        w->preemption.kicked.exchange_acq_rel(1) == 0)
      return kick_now(*w);
  }
}

void kick_owner(worker& w) noexcept {
  const auto kick_now = kick_worker.load(std::memory_order_acquire);
  if (kick_now == nullptr)
    return;
  base::full_fence(); // (K1)
  if (w.preemption.user_mode_serial.load_relaxed() == 0 ||
      w.preemption.user_mode_class.load_relaxed() == high_class)
    return;
  w.preemption.others_wait.store_relaxed(waiting::somebody);
  if (w.preemption.kicked.exchange_acq_rel(1) == 0)
    kick_now(w);
}

namespace {

// RACY: but after (K2).
bool waits_below(worker& w, unsigned end) noexcept {
  const auto& pools = w.main_scheduler->pools();
  return std::any_of(pools.begin(), pools.end(),
                     [end](const auto& p) { return p->priority_class() < end && !p->empty(); }) ||
         !w.local.empty() || w.attention.any_relaxed(inbox_waiting);
}

unsigned class_of(const descriptor& u) noexcept {
  return u.own_pool != nullptr ? u.own_pool->priority_class() : high_class;
}

} // namespace

bool enters_user_mode(worker& w, const descriptor& u) noexcept {
  const unsigned c = class_of(u);
  w.preemption.kicked.store_relaxed(0);
  w.preemption.user_mode_class.store_relaxed(c);
  if (c == high_class)
    return false;
  base::full_fence(); // (K2) what runs, then who waits; pairs with (K1)
  return waits_below(w, c);
}

// Those of the low class have no turns: the thread would be the next again.
bool others_wait_in_classes(worker& w) noexcept {
  const unsigned c = class_of(*w.current);
  return !w.timing.queue.looks_empty() || waits_below(w, c == high_class ? high_class + 1 : c);
}

// (K3) Whoever pushed while this worker searched has kicked nobody. It takes one unit; for each of the rest
// one more worker must come. Each of those that is kicked takes what it finds, and one that finds more of its
// own accord goes on with it.
void kick_for_the_rest(worker& w) noexcept {
  base::full_fence(); // (K3) the worker is idle no longer, then its pools; pairs with (K1)
  for (const auto& p : w.main_scheduler->pools()) {
    for (std::size_t waiting = p->priority_class() == high_class ? p->size() : 0; waiting > 0; --waiting)
      p->kick();
  }
}

} // namespace weft::sched
