// SPDX-License-Identifier: MIT
// Classes in strict order, and the kick. The race between a push and a worker that goes to user mode is
// argued in docs/design/priorities.md; the labels (K1) to (K3) are its steps.
#include "weft/sched/priority.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "weft/sched/stealing.hpp"
#include "weft/sched/user_mode.hpp"

namespace weft::sched {

constinit std::atomic<void (*)(worker&) noexcept> kick_worker{nullptr};

// --- pools ---

class_pool::class_pool(unit::technique_id of_low)
    : shared_pool(order::fifo, access::mpmc), high_(this), low_(new class_pool(*this)) {
  has_others_ = true;
  low_->set_default_technique(of_low);
}

class_pool::class_pool(class_pool& high) : shared_pool(order::lifo, access::mpmc), high_(&high) {
  put_in_class(low_class);
  has_others_ = true;
}

pool* class_pool::of_class(unsigned c) noexcept {
  return c == high_class ? high_ : high_->low_.get();
}

bool class_pool::is_served_by(const worker& w) const noexcept {
  const server_list* workers = servers();
  return workers != nullptr && std::ranges::find(*workers, &w) != workers->end();
}

// A worker of another group leaves here who migrates, and does not look.
bool class_pool::pusher_looks_itself() const noexcept {
  const worker& w = here();
  return on_worker() && w.current == &w.loop_unit && size() <= 1 && is_served_by(w);
}

void class_pool::do_push(descriptor& u) {
  shared_pool::do_push(u); // GONE: u may run already
  if (!pusher_looks_itself())
    kick();
}

void class_pool::do_forget() {
  shared_pool::do_forget();
  if (low_ != nullptr)
    low_->forget_after_fork();
}

bool class_pool::pusher_leaves() noexcept {
  worker& w = here();
  if (!on_worker() || w.current->own_pool == nullptr || user_mode::of(*w.current) == nullptr)
    return false;
  return w.current->own_pool->priority_class() > priority_class() && is_served_by(w) &&
         w.preemption.kicked.exchange_acq_rel(1) == 0;
}

void class_pool::kick() noexcept {
  const unsigned pushed = priority_class();
  const auto kick_now = kick_worker.load(std::memory_order_acquire);
  if (pushed == low_class || kick_now == nullptr)
    return;           // nobody is preemptible, if so
  base::full_fence(); // (K1) the push, then who runs what; pairs with (K2)
  const server_list* workers = servers();
  if (workers == nullptr || empty())
    return;
  // Whoever is idle is woken by the push, or looks again before it sleeps. (K3) has the rest.
  if (std::any_of(workers->begin(), workers->end(),
                  [](const worker* w) { return w->parking.spot.load() != park::idle_state::active; }))
    return;
  if (empty())
    return; // one that was idle has it by now
  if (pusher_leaves())
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

pool& pool_of_priority(pool& own_pool, priority p) {
  if (p == priority::of_creator)
    return own_pool;
  pool* found = own_pool.of_class(p == priority::low ? low_class : high_class);
  if (found == nullptr) {
    throw std::system_error(std::make_error_code(std::errc::not_supported),
                            "weft: a low priority needs arrangement::priorities (WEFT_POOLS=priorities)");
  }
  return *found;
}

// --- the scheduler ---

namespace {

std::vector<std::shared_ptr<pool>> all_of(std::vector<std::vector<std::shared_ptr<pool>>>& classes) {
  std::vector<std::shared_ptr<pool>> all;
  for (auto& pools : classes) {
    if (pools.empty()) {
      throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                              "weft: a class of priority without a pool");
    }
    all.insert(all.end(), pools.begin(), pools.end());
  }
  if (all.empty())
    return all; // refused by the scheduler
  all.push_back(make_pool(order::lifo, access::priv));
  all.back()->put_in_class(low_class);
  return all;
}

} // namespace

class_scheduler::class_scheduler(std::vector<std::vector<std::shared_ptr<pool>>> classes)
    : scheduler(all_of(classes)) {
  std::size_t first = 0;
  for (const auto& pools : classes) {
    classes_.push_back({first, first + pools.size()});
    first += pools.size();
  }
}

pool* class_scheduler::pool_of_pinned(const descriptor& u) const noexcept {
  return u.own_pool->priority_class() != high_class ? pools().back().get() : nullptr;
}

descriptor* class_scheduler::next_oldest(worker& here) {
  const bool by_tick = std::exchange(here.preemption.left_by_tick, false);
  return pick(here, by_tick ? turn::of_high : turn::of_all);
}

descriptor* class_scheduler::pick(worker& here, turn t) {
  for (const range& c : classes_) {
    pool& own = *pools()[c.first];
    if (&c == &classes_.back()) {
      if (descriptor* pinned = pools().back()->pop(here))
        return pinned;
    }
    const bool oldest = t == turn::of_all || (t == turn::of_high && own.priority_class() == high_class);
    if (descriptor* u = oldest ? own.pop_oldest(here) : own.pop(here))
      return u;
    if (descriptor* u = steal_among(here, pools(), c.first + 1, c.last, seed_)) {
      if (own.goes_with_thief() && u->own_pool->goes_with_thief())
        u->own_pool = &own;
      return u;
    }
  }
  return nullptr;
}

std::shared_ptr<scheduler> scheduler_of_classes(std::size_t index,
                                                const std::vector<std::shared_ptr<pool>>& mains) {
  std::vector<std::vector<std::shared_ptr<pool>>> classes(2);
  const auto list = [&classes](const std::shared_ptr<pool>& main) {
    classes[high_class].push_back(main);
    classes[low_class].push_back(static_cast<class_pool&>(*main).low());
  };
  list(mains[index]);
  for (std::size_t i = 0; i < mains.size(); ++i) {
    if (i != index)
      list(mains[i]);
  }
  return std::make_shared<class_scheduler>(std::move(classes));
}

// --- who runs what ---

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
  return w.timing.queue.size() != 0 || waits_below(w, c == high_class ? high_class + 1 : c);
}

// (K3) Whoever pushed while this worker searched has kicked nobody. It takes one unit; for each of the rest
// one more worker must come. Each of those that is kicked takes what it finds, and one that finds more of its
// own accord goes on with it.
void kick_for_the_rest(worker& w) noexcept {
  for (const auto& p : w.main_scheduler->pools()) {
    for (std::size_t waiting = p->priority_class() == high_class ? p->size() : 0; waiting > 0; --waiting)
      p->kick();
  }
}

} // namespace weft::sched
