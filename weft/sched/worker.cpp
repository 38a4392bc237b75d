// SPDX-License-Identifier: MIT
// The loop of a worker: look around, pick, run; worker_idle.cpp has what it does where there is nothing.
#include "weft/workers/worker.hpp"

#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <utility>

#include "weft/arch/user_mode.hpp"
#include "weft/base/assert.hpp"
#include "weft/base/knob.hpp"
#include "weft/carrier/carrier.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/futex.hpp"
#include "weft/sched/replace.hpp"
#include "weft/sched/requests.hpp"
#include "weft/sched/switch.hpp"
#include "weft/simulator/simulation.hpp"
#include "weft/technique/called.hpp"
#include "weft/unit/extension.hpp"
#include "weft/view/inspection.hpp"
#include "weft/workers/group.hpp"
#include "weft/workers/stacked.hpp"

namespace weft::sched {
namespace {

using thread_technique = technique::full_lazy;

} // namespace

worker::worker(group& g, unsigned n) : owner_group(g), number(n) {
  carried.home = std::make_unique<carrier>();
  carried.home->prepare_home();
  static constexpr unit::operations none{nullptr, nullptr, nullptr};
  attention.store_relaxed(0);
  unit::initialise(loop_unit, none, nullptr, unit::kind_loop | unit::not_cancellable);
  current = &loop_unit;
  attach_recorder();
  inspection::enter(*this);
}

worker::~worker() {
  inspection::leave(*this);
  give_back_blocks(*this);
  if (carried.spares != nullptr)
    lender_of_carriers.load(std::memory_order_acquire)->take_back(carried.spares);
  delete incoming.load(std::memory_order_acquire); // a scheduler that came too late
  recording.recorder.detach();
}

void worker::refresh_births() noexcept {
  default_technique = hot != nullptr ? hot->default_technique() : unit::technique_id::automatic;
  births = default_technique == unit::technique_id::automatic ? fifo : nullptr;
}

void worker::end_lending() noexcept {
  fifo = nullptr;
  births = nullptr;
  deque = nullptr;
  shared = nullptr;
  if (pool* before = std::exchange(listed, nullptr))
    before->end_lending(*this);
}

void worker::refresh_hot() noexcept {
  pool* before = listed;
  fifo = nullptr;
  listed = nullptr;
  deque = nullptr;
  scheduler& s = active_scheduler();
  hot = &s.pool_of_new_units();
  pool* asked = s.hot_pool();
  if ((attention.load_relaxed() & (tracing | simulated)) != 0)
    asked = nullptr; // the slow paths record, and are where others go on
  if (activity.withdrawn || activity.lodgers != nullptr)
    asked = nullptr; // nothing is taken without the loop
  // Where a front is told of events nothing is lent: the inlined paths would tell of none.
  if (asked != nullptr && asked->owner() == this && !attention.any_relaxed(observed)) {
    hot = asked;
    fifo = asked->lend_list(*this);
    listed = fifo != nullptr ? asked : nullptr;
    if (asked->fast() == fast_path::deque)
      deque = &static_cast<deque_pool*>(asked)->deque();
  }
  const bool by_call = asked != nullptr && fifo == nullptr && deque == nullptr && asked->pops_quickly();
  shared = by_call ? asked : nullptr;
  refresh_births();
  refresh_classes();
  if (before != nullptr && before != listed)
    before->end_lending(*this);
  if (fifo == nullptr && deque == nullptr) {
    attention.fetch_or_relaxed(always_ask);
  } else {
    attention.fetch_and_relaxed(~std::uint32_t{always_ask});
  }
}

void worker::refresh_classes() noexcept {
  preemption.user_mode_class.store_relaxed(high_class);
  if (stacked.schedulers.empty() && hot->has_classes()) {
    attention.fetch_or_relaxed(worker_has_classes);
  } else {
    attention.fetch_and_relaxed(~std::uint32_t{worker_has_classes});
  }
}

void worker::run_loop() noexcept {
  for (;;) {
    if ((attention.load_acquire() & ~standing_attention) != 0 && !serve_attention())
      return;
    if (budget < 0 || (attention.load_relaxed() & standing_attention) != 0)
      look_around();
    descriptor* u = std::exchange(handed, nullptr);
    if (u == nullptr)
      u = pick();
    if (u == nullptr)
      u = idle();
    if (u != nullptr)
      run(*u);
  }
}

// False: leave the loop.
bool worker::serve_attention() noexcept {
  if (!serve_requests())
    return false;
  while (activity.withdrawn) {
    sleep_withdrawn();
    if (!serve_requests())
      return false;
  }
  return true;
}

bool worker::serve_requests() noexcept {
  const std::uint32_t asked = attention.fetch_and_acq_rel(standing_attention) & ~standing_attention;
  if ((asked & freeze_requested) != 0)
    freeze();
  if ((asked & workers_missing) != 0)
    owner_group.refill();
  if ((asked & time_passed) != 0) {
    see_to_time((asked & inbox_waiting) != 0);
  } else if ((asked & inbox_waiting) != 0) {
    drain_inboxes();
  }
  if ((asked & scheduler_waiting) != 0 && !lacks_scheduler()) {
    auto* next = incoming.exchange(nullptr, std::memory_order_acquire);
    // The new one first: pools that both list are never without their owner.
    if (next != nullptr && start_or_keep(next)) {
      group::primary_follows(*this, **next);
      end_lending();
      main_scheduler->stop(*this);
      use_scheduler(std::move(*next));
      delete next;
      refresh_hot();
    }
  }
  if ((asked & refresh_waiting) != 0)
    refresh_hot();
  if ((asked & stop_requested) == 0) {
    if ((asked & activity_changed) != 0)
      follow_activity();
    return true;
  }
  put_handed_back();
  while (!stacked.schedulers.empty())
    leave_stacked_scheduler(false); // another worker goes on with it
  dismiss_lodgers();
  return false;
}

// set_scheduler() has checked that it can start, but for memory: without that, the old one goes on and the
// next decision tries again.
bool worker::start_or_keep(std::shared_ptr<scheduler>* next) noexcept {
  try {
    (*next)->start(*this);
    return true;
  } catch (const std::bad_alloc&) {
    std::shared_ptr<scheduler>* none = nullptr;
    // release: as in set_scheduler(). One that came meanwhile is newer.
    if (!incoming.compare_exchange_strong(none, next, std::memory_order_release, std::memory_order_relaxed))
      delete next;
    ask(scheduler_waiting);
    os::sleep_ns(100'000);
    return false;
  }
}

void worker::drain_inboxes() noexcept {
  local.drain(*this);
  drain_pools(*main_scheduler);
  for (const auto& s : stacked.schedulers)
    drain_pools(*s);
  for (const lodger* l = activity.lodgers; l != nullptr; l = l->next)
    drain_pools(*l->lent);
}

void worker::drain_pools(scheduler& s) noexcept {
  for (const auto& p : s.pools()) {
    if (p->owner() == this)
      p->drain(*this);
  }
}

void worker::freeze() noexcept {
  parking.stillness.begin();
  frozen.store(1, std::memory_order_release);
  for (;;)
    os::futex_wait(&frozen, 1);
}

// Every decision of a simulated worker comes here. True: it is time to look around.
bool worker::take_turn() noexcept {
  simulation::turn(simulation::at::decision);
  budget = -1;
  if (--simulation.budget >= 0)
    return false;
  simulation.budget = decision_budget;
  return true;
}

// Neither is inlined: code of the user's that they call runs behind a frame of ours (calls_units.hpp).
[[gnu::noinline]] void worker::look_around() noexcept {
  if (budget >= 0 && !budget.count_down())
    return;
  budget = decision_budget;
  if (attention.any_relaxed(simulated) && !take_turn()) [[unlikely]]
    return;
  pick_oldest = true;
  const bool sources = owner_group.source_count_.load(std::memory_order_relaxed) != 0;
  expire_own_timers();
  if (sources) {
    ++recording.counters.polls;
    owner_group.poll_sources();
  }
}

// Who is woken runs next, before the youngest part of a recursion and before the oldest unit.
void worker::expire_own_timers() noexcept {
  unsigned fired = 0;
  timing.waking = true;
  for (timer_queue* queue : {&timing.queue, &timers_left_behind()}) {
    if (queue->earliest() != no_deadline)
      fired += static_cast<unsigned>(queue->expire(os::now_ns()));
  }
  timing.waking = false;
  if (fired == 0)
    return;
  recording.counters.timers_fired += fired;
  timing.woken += fired;
  tell_time_passed();
}

// A timer of the group is due, or was, and who waited for it has `arrived` in an inbox. Not a visit that
// gives the oldest its turn. Where units stay on their workers, others' timers are the others' business:
// they have been told as well.
void worker::see_to_time(bool arrived) noexcept {
  const bool was_due = pick_oldest, had_local = local.has_listed();
  if (arrived) {
    timing.waking = true;
    drain_inboxes();
    timing.waking = false;
    ++timing.woken;
  }
  budget.end();
  look_around();
  pick_oldest = was_due;
  if (!owner_group.lends_schedulers()) {
    timing.waking = true;
    const auto fired = static_cast<unsigned>(owner_group.expire_timers_of_all(os::now_ns()));
    timing.waking = false;
    recording.counters.timers_fired += fired;
    timing.woken += fired;
  }
  attention.fetch_and_relaxed(~std::uint32_t{time_passed}); // of look_around(): the loop is here
  timing.woken_local = !had_local && local.has_listed();
}

// The oldest unit of a deque is the largest part of a recursion, and what thieves come for: it has its turn
// seldom. See docs/design/yield-on-a-deque.md.
[[gnu::noinline]] bool worker::look_around_in_place() noexcept {
  constexpr unsigned visits_between_oldest = 64;
  if (budget > 0)
    return true;
  if (++expiries % visits_between_oldest == 0) {
    budget = -1;
    return false;
  }
  const bool was_due = pick_oldest;
  look_around();
  pick_oldest = was_due;
  return true;
}

// In turn: a thread of `local` that yields must let the others run, and they it. Under a stacked scheduler
// it would be where it does not live, see serves().
descriptor* worker::pick() noexcept {
  const bool local_first = std::exchange(timing.woken_local, false) || (timing.woken == 0 && !local_had_turn);
  if (stacked.schedulers.empty() && !local.empty() && local_first) {
    local_had_turn = true;
    if (timing.woken != 0 && --timing.woken != 0)
      tell_time_passed();
    if (descriptor* u = local.pop(*this))
      return u;
  }
  local_had_turn = false;
  if (descriptor* u = pick_scheduled())
    return u;
  return local.empty() ? nullptr : local.pop(*this);
}

descriptor* worker::pick_scheduled() noexcept {
  while (!stacked.schedulers.empty()) {
    if (stacked.budget-- > 0) {
      if (descriptor* u = stacked.schedulers.back()->next(*this))
        return u;
    }
    leave_stacked_scheduler(!stacked.schedulers.back()->has_work());
    if (stacked.schedulers.empty() && !local.empty())
      return local.pop(*this);
  }
  if (timing.woken != 0) {
    if (--timing.woken != 0)
      tell_time_passed();
  } else if (std::exchange(pick_oldest, false)) {
    if (descriptor* u = main_scheduler->next_oldest(*this))
      return u;
  }
  descriptor* const u = activity.lodgers == nullptr ? main_scheduler->next(*this) : pick_with_lodgers();
  if (u == nullptr)
    timing.woken = 0; // others took them
  return u;
}

namespace {

// The same where a front is told of events: of a thread that it returns, that it runs, which its caller does
// not tell. So what the caller might not run itself is handed to the loop.
[[gnu::noinline]] descriptor* pick_observed(worker& w) noexcept {
  if (w.current == &w.loop_unit || w.handed != nullptr)
    return nullptr;
  descriptor* const u = w.shared->pop(w);
  if (u == nullptr)
    return nullptr;
  u->last_worker.store_relaxed(w.number + 1);
  const bool fresh = !u->has_started();
  if (!can_run_here(w, *u)) {
    w.handed = u;
    return nullptr;
  }
  if (fresh)
    thread_technique::give_stack_back(w, *u); // the caller will have it: nobody comes between
  w.note(trace::event::run, u, trace::thread_kind);
  return u;
}

} // namespace

// Not inlined: pools of the user's run behind a frame of ours (calls_units.hpp).
[[gnu::noinline]] descriptor* worker::pick_quickly() noexcept {
  const std::uint32_t asked = attention.load_relaxed();
  if (asked != 0) {
    // What stands in `local` has its turn in the loop.
    if ((asked & ~std::uint32_t{observed}) != always_ask || shared == nullptr || local.has_listed() ||
        budget.count_down())
      return nullptr;
    if (asked != always_ask) [[unlikely]]
      return pick_observed(*this);
    descriptor* u = shared->pop(*this);
    if (u != nullptr)
      u->last_worker.store_relaxed(number + 1);
    return u;
  }
  if (budget.count_down())
    return nullptr;
  if (fifo != nullptr) {
    queue::link* l = fifo->pop_front();
    descriptor::prefetch(fifo->first());
    return l != nullptr ? &descriptor::from(*l) : nullptr;
  }
  return deque != nullptr ? deque->pop_bottom() : nullptr;
}

namespace {

// It, and those behind it as long as no decision is due that the loop must make.
[[gnu::noinline]] void run_tasklets(worker& w, descriptor& first) noexcept {
  const arch::fp_control loops;
  for (descriptor* u = &first;;) {
    begin_tasklet(w, *u);
    w.note(trace::event::run, u, trace::tasklet_kind);
    loops.become_that_of(u->context);
    technique::run_to_completion::call(*u);
    loops.restore();
    w.current = &w.loop_unit;
    w.note(trace::event::stop_end, u);
    end_without_stack(w, *u); // GONE: u, perhaps
    u = w.handed == nullptr && !w.has_no_quick_pick() ? w.pick_quickly() : nullptr;
    if (u == nullptr)
      return;
    if (!u->is_fresh_and(unit::kind_tasklet)) {
      w.handed = u;
      return;
    }
  }
}

} // namespace

void worker::run(descriptor& u) noexcept {
  if (!u.has(unit::slow_mask | unit::not_cancellable)) [[likely]] {
    u.last_worker.store_relaxed(number + 1);
    return run_thread(u);
  }
  if (u.traits.equals_relaxed(unit::kind_tasklet)) // nothing is asked of it
    return run_tasklets(*this, u);
  run_unusual(u);
}

[[gnu::noinline]] void worker::run_unusual(descriptor& u) noexcept {
  if (u.has(unit::migration_requested) && !u.has(unit::pinned)) [[unlikely]] {
    pool* before = u.own_pool;
    apply_migration(u);
    if (u.own_pool != before)
      return u.own_pool->push(u);
  }
  if (u.has(unit::not_cancellable) && group::send_primary_home(*this, u)) [[unlikely]]
    return;
  if (u.kind() == unit::kind_scheduler)
    return enter_stacked_scheduler(u);
  if (u.has(unit::cancel_requested) && !u.has_started()) [[unlikely]]
    return drop(u);
  if (u.kind() != unit::kind_thread)
    return run_tasklets(*this, u);
  u.last_worker.store_relaxed(number + 1);
  run_thread(u);
}

void worker::run_thread(descriptor& u) noexcept {
  const bool fresh = !u.has_started();
  if (fresh && !thread_technique::take_stack(*this, u)) [[unlikely]] {
    put_off(u);
    return;
  }
  become(*this, u);
  if (!fresh) {
    arch::swap(*loop, u.context);
    return;
  }
  ++recording.counters.started;
  if (technique::called::possible && technique::called::includes(u.technique()))
    return run_called(u);
  arch::save(*loop, u.context, u.stack->initial_stack_pointer(), u.stack->usable(),
             &thread_technique::entry<worker_for_techniques>, &u);
}

// A unit that was cancelled before it started.
void worker::drop(descriptor& u) noexcept {
  if (memory::stack_record* reserved = thread_technique::take_reserved(u))
    caches.stacks.free(reserved);
  if (u.operations->drop != nullptr)
    u.operations->drop(u);
  u.state.start_running();
  end_without_stack(*this, u);
}

// No stack could be had: the unit waits until others have given theirs back. Where nobody can, that is said
// once and the worker tries again more and more rarely, since memory may come from elsewhere.
void worker::put_off(descriptor& u) noexcept {
  ++recording.counters.stack_failures;
  u.own_pool->push(u);
  static std::atomic<bool> said{false};
  if (!said.exchange(true)) {
    base::warn("no memory for the stack of a thread (%s); it waits until another thread ends",
               std::strerror(caches.stacks.last_error()));
  }
  os::sleep_ns(100'000);
}

// --- stacked schedulers ---

void worker::enter_stacked_scheduler(descriptor& u) noexcept {
  auto child = scheduler_of_unit(u);
  u.state.start_running();
  try {
    stacked.schedulers.reserve(stacked.schedulers.size() + 1);
    stacked.units.reserve(stacked.units.size() + 1);
    child->start(*this);
  } catch (const std::bad_alloc&) { // later, as a thread without a stack
    u.state.make_ready();
    u.own_pool->push(u);
    os::sleep_ns(100'000);
    return;
  } catch (const std::exception& e) {
    base::warn("a scheduler that was pushed into a pool cannot start: %s", e.what());
    return end_scheduler_unit(*this, u);
  }
  stacked.schedulers.push_back(std::move(child));
  stacked.units.push_back(&u);
  stacked.budget = decision_budget;
  refresh_hot();
}

void worker::leave_stacked_scheduler(bool finished) noexcept {
  auto child = std::move(stacked.schedulers.back());
  descriptor* u = stacked.units.back();
  stacked.schedulers.pop_back();
  stacked.units.pop_back();
  child->stop(*this);
  stacked.budget = decision_budget;
  refresh_hot();
  if (finished)
    return end_scheduler_unit(*this, *u);
  u->state.make_ready();
  u->own_pool->push(*u);
}

} // namespace weft::sched
