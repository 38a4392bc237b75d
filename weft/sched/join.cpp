// SPDX-License-Identifier: MIT
// Joins: what switch.hpp and call_by_joiner.hpp do not decide at once. A function that starts a unit by a
// jump is re-entered at its own label, so its return still matches its call.
#include <system_error>

#include "weft/carrier/leaving.hpp"
#include "weft/carrier/runtime_section.hpp"
#include "weft/os/futex.hpp"
#include "weft/sched/calls_units.hpp"
#include "weft/sched/direct.hpp"
#include "weft/sched/replace.hpp"
#include "weft/sched/technique_join.hpp"
#include "weft/simulator/simulation.hpp"
#include "weft/unit/join_word.hpp"
#include "weft/workers/group.hpp"

namespace weft::sched {
namespace {

using thread_technique = technique::full_lazy;

// Whether the caller may start `u`, if it can be taken out of its pool.
bool may_start(worker& w, const descriptor& u) {
  return u.state.is(unit::state::fresh) && !w.budget.count_down() && !w.current->has(unit::kind_mask) &&
         !arch::any(*w.exceptions);
}

WEFT_CALLS_UNITS bool start(worker& w, descriptor& u) {
  const unit::technique_id t = u.technique();
  if (technique::called::possible && technique::called::includes(t)) {
    call_from_joiner(w, *w.current, u, t);
  } else {
    leave_from_joiner(w, *w.current, u);
  }
  return true;
}

// Whether it runs on its joiner's stack if it can.
bool prefers_joiners_stack(const descriptor& u) noexcept {
  const unit::technique_id t = u.technique();
  return t == unit::technique_id::sc || t == unit::technique_id::inline_join;
}

// On the joiner's stack, a unit that may end by leaving its frames.
[[maybe_unused, gnu::always_inline]] inline void call_leaving(worker& w, descriptor& u,
                                                              arch::entry_function run) {
  struct run_settles {
    static void plain(worker&, descriptor&) noexcept {}
    static void special(descriptor&) noexcept {}
  };
  descriptor* ended = &u;
  call_by_joiner::run_marked<run_settles>(w, call_by_joiner::host(w), ended, run, ended);
  call_by_joiner::publish_end(*ended);
}
[[maybe_unused, gnu::always_inline]] inline void run_leaving(worker& w, descriptor& u) {
  call_leaving(w, u, [](void* unit) {
    auto& self = *static_cast<descriptor*>(unit);
    self.operations->run(self);
  });
}

// Where a front is told of events: of the unit's, and of those of the joiner, who waits meanwhile.
[[maybe_unused]] void run_observed(worker& w, descriptor& u) {
  w.note(trace::event::stop_wait, w.current);
  call_leaving(w, u, [](void* unit) {
    auto& self = *static_cast<descriptor*>(unit);
    {
      const runtime_section in;
      here().note(trace::event::run, &self, trace::thread_kind);
    }
    self.operations->run(self);
    tell_end_of_hosted(self, *self.join.committed_waiter());
  });
}

// The same for any unit, and counts whether it left the stack on the way: that writes its context.
[[maybe_unused]] void run_sampled(worker& w, descriptor& u) {
  static char untouched;
  arch::idle_word(u.context) = &untouched;
  call_leaving(w, u, [](void* unit) {
    auto& self = *static_cast<descriptor*>(unit);
    technique::inline_join::call(self);
    worker& now = here(); // SWITCH: it may have moved
    ++now.recording.counters.sampled;
    if (arch::idle_word(self.context) != &untouched)
      ++now.recording.counters.deviated;
  });
}

bool may_share_stack(const worker& w, const descriptor& u) noexcept {
  return call_by_joiner::may_host(w) && (arch::has_marks || u.operations->end == nullptr);
}

// Runs `u`, which has been taken, on its joiner's stack. False: it cannot.
[[gnu::always_inline]] inline bool host(worker& w, descriptor& u) {
  if (!may_share_stack(w, u))
    return false;
  if (u.operations->end == nullptr) {
    call_by_joiner::run(w, call_by_joiner::host(w), u);
    return true;
  }
  if constexpr (arch::has_marks)
    run_leaving(w, u);
  return true;
}

// A join whose worker has used up its decisions goes through the loop, so that others get their turn. Every
// other one looks around here instead, and samples what becomes of the thread, at no cost to all the rest.
// False: it is where it was, unless somebody moved it.
bool sample(worker& w, descriptor& u) {
  if constexpr (!arch::has_marks)
    return false;
  if (w.budget >= 0 || (++w.expiries & 1) != 0)
    return false;
  w.look_around(); // code of the user's may have moved `u`
  if (!u.own_pool.is(w.listed) || !u.is_fresh_and(unit::kind_thread) || w.attention.load_relaxed() != 0 ||
      !call_by_joiner::may_host(w))
    return false;
  queue::intrusive_fifo::unlink(&u.link);
  run_sampled(w, u);
  return true;
}

WEFT_CALLS_UNITS bool start_from_list(worker& w, descriptor& u) {
  if (sample(w, u))
    return true;
  if (w.attention.load_relaxed() != 0)
    return false;
  if (!u.own_pool.is(w.listed) || !u.is_plain() || !may_start(w, u))
    return false;
  if (prefers_joiners_stack(u) && may_share_stack(w, u)) {
    queue::intrusive_fifo::unlink(&u.link);
    return host(w, u);
  }
  if (!thread_technique::take_stack(w, u))
    return false;
  queue::intrusive_fifo::unlink(&u.link);
  return start(w, u);
}

// Only from the owner's end. Where the decisions are used up it looks around here, and leaves only if
// the turn of another one has come.
WEFT_CALLS_UNITS bool start_from_deque(worker& w, descriptor& u) {
  if (!w.look_around_in_place() || w.attention.load_relaxed() != 0 || u.has(unit::slow_mask) ||
      !may_start(w, u) || !w.deque->pop_bottom_if(&u))
    return false;
  if (u.is_plain() && prefers_joiners_stack(u) && host(w, u))
    return true;
  if (!thread_technique::take_stack(w, u)) {
    w.deque->push_bottom(&u);
    return false;
  }
  return start(w, u);
}

// `u` has been taken, and has started.
void go_on_for_joiner(worker& w, descriptor& u) {
  descriptor& self = *w.current;
  u.join.wait_before_start(self);
  self.state.block();
  hand_over(w, self, u);
}

// The most frequent case of the next function, where the caller is known to be a thread that handles no
// exception. False: it is another one.
[[gnu::always_inline]] inline bool run_plain_taken(worker& w, descriptor& u) {
  if constexpr (arch::has_marks) {
    if (u.traits.equals_relaxed(unit::kind_thread) && !u.has_started() && u.operations->end != nullptr &&
        technique::inline_join::has_room(*w.current->stack)) {
      run_leaving(w, u);
      return true;
    }
  }
  return false;
}

// Goes on with, or starts, a thread that is the joiner's now.
[[gnu::always_inline]] inline bool run_taken(worker& w, descriptor& u) {
  if (u.has_started()) {
    go_on_for_joiner(w, u);
    return true;
  }
  const bool shares = u.technique() == unit::technique_id::automatic || prefers_joiners_stack(u);
  if (shares && host(w, u))
    return true;
  return thread_technique::take_stack(w, u) && start(w, u);
}

// A thread that stands ready in this worker's own list.
bool go_on_with(worker& w, descriptor& u) {
  if (!u.state.is(unit::state::ready) || !u.is_plain() || w.budget.count_down() ||
      w.attention.load_relaxed() != 0 || w.current->has(unit::slow_mask) || arch::any(*w.exceptions))
    return false;
  descriptor::prefetch(u.link.next); // who joins many joins that one soon
  queue::intrusive_fifo::unlink(&u.link);
  go_on_for_joiner(w, u);
  return true;
}

// Pools of the user's run behind frames of ours that keep the worker.
[[gnu::noinline]] bool gives_to_joiners(const pool& p) {
  return p.gives_to_joiners();
}
[[gnu::noinline]] bool take_out(pool& from, descriptor& u, worker& w) {
  return from.remove(u, &w);
}

// take_from_shared() of what has been taken, where a front is told of events. False: not in this way.
[[gnu::noinline]] bool run_taken_observed(worker& w, descriptor& u) {
  descriptor& self = *w.current;
  if (u.has_started())
    return false;
  if (!u.traits.equals_relaxed(unit::kind_tasklet)) {
    if (!arch::has_marks || !u.is_plain() || u.operations->end == nullptr ||
        !(u.technique() == unit::technique_id::automatic || prefers_joiners_stack(u)) ||
        !may_share_stack(w, u))
      return false;
    if constexpr (arch::has_marks)
      run_observed(w, u);
    return true;
  }
  w.note(trace::event::stop_wait, &self);
  begin_tasklet(w, u);
  w.note(trace::event::run, &u, trace::tasklet_kind);
  const arch::fp_control mine;
  mine.become_that_of(u.context);
  technique::run_to_completion::run(u, w.base);
  mine.restore();
  tell_end_of_hosted(u, self);
  w.current = &self;
  end_without_stack(w, u);
  return true;
}

// What stands in a pool that others take from too. Not past a scheduler of the user's that runs above the
// loop.
[[gnu::always_inline]] inline bool take_from_shared(worker& w, descriptor& u) {
  constexpr std::uint32_t no_obstacle = always_ask | observed; // there is no hot pool
  if (w.attention.any_relaxed(~no_obstacle) || w.nesting != 0 || !w.stacked.schedulers.empty())
    return false;
  pool* own_pool = u.own_pool;
  if (own_pool == nullptr || !(u.is_plain() || u.traits.equals_relaxed(unit::kind_tasklet)) ||
      !gives_to_joiners(*own_pool) || !serves(w, u) || w.budget.count_down() ||
      w.current->has(unit::slow_mask) || arch::any(*w.exceptions) || !take_out(*own_pool, u, w))
    return false;
  // Nobody else knows it from here on.
  if (w.attention.any_relaxed(observed)) [[unlikely]] {
    if (run_taken_observed(w, u))
      return true;
    own_pool->push(u);
    return false;
  }
  if (run_plain_taken(w, u)) [[likely]]
    return true;
  if (!u.has_started() && u.traits.equals_relaxed(unit::kind_tasklet)) {
    run_taken_tasklet(w, u);
    if (u.traits.equals_relaxed(unit::kind_tasklet)) [[likely]] {
      call_by_joiner::publish_end(u); // nobody else waits: the caller joins it
    } else {
      end_without_stack(w, u);
    }
    return true;
  }
  if (u.is_plain() && run_taken(w, u))
    return true;
  own_pool->push(u);
  return false;
}

WEFT_CALLS_UNITS bool run_inlined_from_deque(descriptor& u) {
  worker& w = here();
  if (!call_by_joiner::take_from_deque(w, u))
    return false;
  call_by_joiner::run(w, call_by_joiner::host(w), u);
  return true;
}

// A kernel thread that is no worker waits for a unit's end.
class blocking_joiner final : public unit::joiner {
 public:
  void on_end() noexcept override {
    ended_.store_release(1); // (L1) release: pairs with (L2)
    os::futex_wake(&ended_, 1);
  }
  void wait() noexcept {
    while (ended_.load_acquire() == 0)
      os::futex_wait(&ended_, 0); // (L2) acquire: pairs with (L1)
  }

 private:
  base::atomic<std::uint32_t> ended_{0};
};

// The tasklet at the owner's end of the deque: run by a call on the worker's stack. False: not there, or not
// to be had so.
bool run_on_workers_stack(descriptor& u) {
  worker& w = here();
  descriptor* self = w.current;
  if (w.deque == nullptr || w.attention.load_relaxed() != 0 || w.budget.count_down() ||
      !u.is_fresh_and(unit::kind_tasklet) || self->has(unit::kind_mask) || !w.deque->pop_bottom_if(&u))
    return false;
  w.current = &u;
  technique::run_to_completion::run(u, w.base);
  w.current = self;
  if (!u.traits.equals_relaxed(unit::kind_tasklet)) [[unlikely]]
    end_inlined(u, *self);
  return true;
}

// Whether `u`, which another worker runs or is about to, ends within the microsecond that it would take to
// leave, search and be called back; for joiners whose worker has a list of its own and nothing else to do.
bool ends_soon(const worker& w, const descriptor& u) noexcept {
  constexpr int looks = 32;
  const auto has_work = [&w] { return w.fifo != nullptr ? !w.fifo->empty() : !w.deque->empty(); };
  if (crowded())
    return false;
  for (int i = 0; i < looks && !u.join.has_ended(); ++i) {
    const unit::state s = u.state.load();
    if (s == unit::state::blocked || s == unit::state::suspended || w.attention.load_relaxed() != 0 ||
        has_work())
      return false;
    arch::relax();
  }
  return u.join.has_ended();
}

[[gnu::noinline]] void block_until_end(descriptor& u) {
  simulation::refuse_others("wait");
  blocking_joiner waiter;
  if (u.join.wait_object(waiter))
    waiter.wait();
}

struct joining {
  descriptor* unit;
  descriptor* self;
};
// Of a joiner that has left its stack, on which the argument lies.
void begin_to_wait(void* p) {
  auto& joined = *static_cast<joining*>(p);
  descriptor* joiner = joined.self; // read before it is published
  if (!joined.unit->join.wait(*joiner))
    make_ready(*joiner);
}

// For a joiner that cannot run `u`. `w`: the caller's.
[[gnu::always_inline]] inline void wait_for_end(worker& w, descriptor& u) {
  if (w.attention.any_relaxed(not_a_worker)) [[unlikely]]
    return block_until_end(u);
  descriptor& self = *w.current;
  if (self.has(unit::kind_mask)) [[unlikely]]
    require_thread("join");
  if (&self == &u) [[unlikely]] {
    throw std::system_error(std::make_error_code(std::errc::resource_deadlock_would_occur),
                            "weft: a thread joins itself");
  }
  if ((w.fifo != nullptr || w.deque != nullptr) && ends_soon(w, u))
    return;
  joining j{&u, &self};
  if (w.attention.any_relaxed(tracing | observed)) {
    u.traits.fetch_or_relaxed(unit::traced);
    note_here(trace::event::join, &u);
  }
  leave_inside(w, &begin_to_wait, &j);
}
// What joins and calls units, and so must have nothing inlined that waits (calls_units.hpp).
[[gnu::noinline]] void wait_for_end_called(descriptor& u) {
  wait_for_end(here(), u);
}

} // namespace

void settle_after_inline_call() noexcept {
  come_back_if_away(); // SWITCH
  worker& w = here();
  descriptor& self = *w.current;
  if (&self == &group::primary_unit() && !w.on_primary_thread) [[unlikely]] {
    group::primary_goes_back();
    return;
  }
  if (!serves(w, self) || w.attention.load_relaxed() != 0) {
    leave([](void* u) { make_ready(*static_cast<descriptor*>(u)); }, &self);
    return;
  }
  if (w.budget >= 0)
    return;
  w.look_around();
  if (w.attention.load_relaxed() != 0) // somebody has been woken
    let_due_ones_run();
}

void let_due_ones_run() {
  const runtime_section in;
  descriptor& self = *here().current;
  if (self.kind() == unit::kind_thread)
    leave([](void* u) { make_ready(*static_cast<descriptor*>(u)); }, &self);
}

void let_others_begin() {
  constexpr int most = 16;
  const runtime_section in;
  if (!on_worker() || here().current != &group::primary_unit())
    return;
  const auto somebody_is_ready = [] {
    worker& w = here();
    return w.fifo != nullptr ? !w.fifo->empty() : w.deque != nullptr && !w.deque->empty();
  };
  for (int i = 0; i < most && somebody_is_ready(); ++i)
    yield_slowly();
}

void join_tasklet_slowly(descriptor& u) {
  const runtime_section in;
  if (!u.join.has_ended() && !run_on_workers_stack(u))
    join_slowly(u);
  free_unit(here(), u);
}

WEFT_CALLS_UNITS bool start_by_join(worker& w, descriptor& u) {
  if (u.own_pool.is(w.listed))
    return u.state.is(unit::state::fresh) ? start_from_list(w, u) : go_on_with(w, u);
  if (w.deque != nullptr)
    return start_from_deque(w, u);
  return take_from_shared(w, u);
}

WEFT_CALLS_UNITS void join_slowly(descriptor& u) {
  const runtime_section in;
  if (!u.join.has_ended() && !run_inlined_from_deque(u) && !start_by_join(here(), u))
    wait_for_end_called(u);
  if (unit::keeps_stack(u.technique()))
    release_kept_stack(u);
}

bool wait_under_users_loop(worker& w, descriptor& u) {
  descriptor& self = *w.current;
  if (!may_yield_to_parent(w) || w.shared != nullptr || &self == &u || u.join.is_detached())
    return false;
  require_whole_stack(self);
  self.state.block();
  joining j{&u, &self};
  w.current = &w.loop_unit;
  arch::swap_with(self.context, *w.loop, &begin_to_wait, &j); // SWITCH: may resume on another worker
  return true;
}

void join_elsewhere(descriptor& u) {
  if (u.join.has_ended())
    return;
  worker& w = here();
  const bool under_users_scheduler = // where take_from_shared() takes nothing
      w.listed == nullptr && w.deque == nullptr && !w.attention.any_relaxed(not_a_worker) && w.nesting != 0;
  if (under_users_scheduler)
    return wait_for_end(w, u);
  if (!start_by_join(w, u))
    wait_for_end_called(u);
}

} // namespace weft::sched
