// SPDX-License-Identifier: MIT
// How units come, go, wait and are made ready: the slow twins of switch.hpp, but for joins (join.cpp).
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>

#include <system_error>

#include "weft/base/assert.hpp"
#include "weft/base/fence.hpp"
#include "weft/carrier/leaving.hpp"
#include "weft/carrier/runtime_section.hpp"
#include "weft/memory/guard.hpp"
#include "weft/memory/overflow.hpp"
#include "weft/memory/watermark.hpp"
#include "weft/memory/wipe.hpp"
#include "weft/sched/calls_units.hpp"
#include "weft/sched/direct.hpp"
#include "weft/sched/join.hpp"
#include "weft/sched/replace.hpp"
#include "weft/sched/requests.hpp"
#include "weft/sched/switch.hpp"
#include "weft/unit/extension.hpp"
#include "weft/workers/exceptions_kept.hpp"
#include "weft/workers/group.hpp"

namespace weft::sched {
namespace {

using thread_technique = technique::full_lazy;
using W = worker_for_techniques;

// The end of `u` as somebody waits for it, or nobody will. A function of its own: what it calls may be the
// user's, and a frame of ours that keeps the worker must stand before it.
[[gnu::noinline]] void tell_of_end(worker& w, descriptor& u, std::uintptr_t before) noexcept {
  if (before == unit::join_word::detached) {
    if (u.operations->discard != nullptr)
      u.operations->discard(u);
    if (u.stack != nullptr) [[unlikely]]
      release_kept_stack(u);
    free_unit(w, u);
  } else if ((before & 1) != 0) {
    reinterpret_cast<unit::joiner*>(before - unit::join_word::object_tag)->on_end();
  } else {
    make_ready(*reinterpret_cast<descriptor*>(before));
  }
}

} // namespace

void complete(worker& w, descriptor& u) noexcept {
  u.state.finish();
  if (u.join.is_detached()) { // nobody else looks at the word
    base::acquire_fence();    // what who detached it did before; pairs with the release in detach()
    return tell_of_end(w, u, unit::join_word::detached);
  }
  const std::uintptr_t before = u.join.finish();
  if (before != unit::join_word::none)
    tell_of_end(w, u, before);
}

namespace {

// Continues with `next`, or with whatever there is; the running thread has ended and its stack is the newest
// in the cache.
[[noreturn]] void continue_with(worker& w, descriptor* next) noexcept {
  const bool fresh = next != nullptr && !next->has_started();
  if (next == nullptr || !can_run_here(w, *next)) {
    if (next != nullptr)
      w.handed = next;
    w.current = &w.loop_unit;
    arch::restore(*w.loop);
  }
  next->state.start_running();
  w.current = next;
  if (!fresh)
    arch::restore(next->context);
  arch::begin(next->context, next->stack->initial_stack_pointer(), next->stack->usable(),
              &thread_technique::entry<W>, next);
}

[[noreturn]] void continue_elsewhere(worker& w) noexcept {
  continue_with(w, w.handed == nullptr ? w.pick_quickly() : nullptr);
}

// Where the end runs code of the user's, or lets him have the stack back, it is published off that stack; in
// a simulation always, for others go on while it is.
[[noreturn]] void end_on_loop(worker& w, descriptor& u) noexcept {
  w.current = &w.loop_unit;
  arch::restore_with(
      *w.loop,
      [](void* ended) {
        worker& here_now = here();
        auto& gone = *static_cast<descriptor*>(ended);
        if (!unit::keeps_stack(gone.technique()))
          thread_technique::give_stack_back(here_now, gone);
        complete(here_now, gone);
      },
      &u);
}

// `next`: what runs then; null: the worker chooses.
[[noreturn, gnu::noinline]] void end_thread_slowly(descriptor* next = nullptr) noexcept {
  come_back_if_away(); // SWITCH
  descriptor& u = *here().current;
  if (u.has(unit::extended))
    memory::verify_canary(*u.stack); // while the name is still there; giving the stack back looks again
  // A child hands its creator on where that has left or is asked to do something (end_before_parent).
  // Destructors may wait for it, and may hand on others themselves.
  if (descriptor* const creator = std::exchange(here().handed, nullptr))
    put_back(*creator);
  end_hosted(u); // SWITCH: destructors are the user's code
  worker& w = here();
  w.note(trace::event::stop_end, &u);
  w.handed = next;
  if (u.has(unit::supplied_stack) || unit::keeps_stack(u.technique()) || w.attention.any_relaxed(simulated) ||
      (u.operations->discard != nullptr && u.join.is_detached()))
    end_on_loop(w, u);
  w.caches.stacks.free(std::exchange(u.stack, nullptr));
  complete(w, u);
  if (w.attention.any_relaxed(observed))
    continue_with(w, nullptr); // who is told of what runs next must not be called on this stack
  continue_elsewhere(w);
}

// Nobody waits yet for it, and nobody will see more of it than that it has ended. What a front discards of a
// plain one is its own: no code of the user's runs for that.
[[gnu::always_inline]] inline bool ends_unnoticed(const worker& w, const descriptor& u) noexcept {
  return u.is_plain() && !unit::keeps_stack(u.technique()) &&
         (w.attention.load_relaxed() & (tracing | observed | simulated)) == 0;
}

// Whether `next`, which has not started, may have the stack that another thread has just been done with.
[[gnu::always_inline]] inline bool takes_any_stack(const descriptor& next) noexcept {
  return next.is_plain() && !unit::has_stack_at_creation(next.technique());
}

[[noreturn, gnu::noinline]] void end_before_join(worker& w, descriptor& u) noexcept {
  if (!ends_unnoticed(w, u)) [[unlikely]]
    end_thread_slowly();
  w.caches.stacks.free_default(std::exchange(u.stack, nullptr));
  complete(w, u);
  continue_elsewhere(w);
}

void forget_exceptions() noexcept {
  worker& w = here();
  if (arch::any(*w.exceptions))
    static_cast<void>(arch::save_and_clear(*w.exceptions));
}

} // namespace

namespace {

// `waiter` waits for it, and goes on. `w` stays right: nothing switches before the last line.
[[noreturn, gnu::always_inline]] inline void end_for(worker& w, descriptor& u, descriptor& waiter) noexcept {
  // What a front keeps of it is for who frees it.
  constexpr std::uint64_t ordinary = unit::technique_mask | unit::fronted;
  if (u.has(~ordinary) || !serves(w, waiter)) [[unlikely]]
    end_thread_slowly();
  w.caches.stacks.free_default(std::exchange(u.stack, nullptr));
  u.state.finish();
  u.join.finish_for_committed(); // GONE: u
  waiter.state.start_running();
  w.current = &waiter;
  arch::restore(waiter.context);
}

} // namespace

void worker_for_techniques::end_thread() noexcept {
  worker& w = sched::here();
  descriptor& u = *w.current;
  if (descriptor* waiter = u.join.committed_waiter())
    end_for(w, u, *waiter);
  end_before_join(w, u);
}

namespace {

[[gnu::always_inline]] inline void start_on(worker& w, memory::stack_record& stack,
                                            descriptor& next) noexcept {
  ++w.recording.counters.handed_on;
  stack.owner = &next;
  next.stack = &stack;
  next.state.start_running();
  w.current = &next;
}

// Whether the stack of `u` may go to the next thread once it was looked at: for canaries, not for marks and
// not to wipe it.
bool may_hand_on_watched(const worker& w, const descriptor& u) noexcept {
  return ends_unnoticed(w, u) && u.stack->size_class == 0 && !memory::watermark_enabled() &&
         !memory::wipe_enabled();
}

// Gives back a stack that several threads may have used since it was last looked through.
void give_watched_stack_back(worker& w, memory::stack_record& stack) noexcept {
  stack.owner = nullptr; // the message names nobody: it may have been any of them
  stack.function = nullptr;
  w.caches.stacks.free_default(&stack);
}

descriptor& hand_watched_stack_on(worker& w, descriptor& u) noexcept {
  memory::stack_record& stack = *u.stack;
  memory::glance_at_canary(stack); // before others see the end: the message has the name
  u.stack = nullptr;
  complete(w, u); // GONE: u
  descriptor* const next = w.handed == nullptr ? w.pick_quickly() : nullptr;
  if (next == nullptr || next->has_started() || !takes_any_stack(*next)) {
    give_watched_stack_back(w, stack);
    continue_with(w, next);
  }
  start_on(w, stack, *next);
  return *next;
}

// The end of `u`, and the next thread on its stack up to its own end, if that is one that may have it. A
// function of its own, so that the usual way keeps its registers.
[[gnu::noinline]] WEFT_CALLS_UNITS void end_and_run_next_watched(worker& w, descriptor& u) {
  if (!may_hand_on_watched(w, u))
    end_before_join(w, u);
  thread_technique::run(hand_watched_stack_on(w, u)); // SWITCH: may move
}

bool may_hand_on(const worker& w, const descriptor& u) noexcept {
  return ends_unnoticed(w, u) && w.caches.stacks.may_hand_on(*u.stack);
}

// Publishes the end of `u`, whose stack goes to the next thread if that is one that may have it. Does not
// come back otherwise.
descriptor& hand_stack_on(worker& w, descriptor& u) noexcept {
  memory::stack_record* const mine = std::exchange(u.stack, nullptr);
  w.caches.stacks.free_default(mine); // first: who sees the end may count stacks
  complete(w, u);                     // GONE: u
  descriptor* const next = w.handed == nullptr ? w.pick_quickly() : nullptr;
  if (next == nullptr || next->has_started() || !takes_any_stack(*next))
    continue_with(w, next);
  memory::stack_record* const stack = w.caches.stacks.allocate();
  WEFT_ASSERT(stack == mine, "the stack that was freed last is the first to be taken");
  start_on(w, *stack, *next);
  return *next;
}

} // namespace

WEFT_CALLS_UNITS void worker_for_techniques::end_returned() {
  for (;;) {
    worker& w = sched::here();
    descriptor& u = *w.current;
    if (descriptor* waiter = u.join.committed_waiter()) [[likely]]
      end_for(w, u, *waiter);
    if constexpr (!arch::has_marks)
      end_before_join(w, u);
    if (!may_hand_on(w, u)) [[unlikely]] {
      end_and_run_next_watched(w, u); // SWITCH: may move
      continue;
    }
    descriptor& next = hand_stack_on(w, u);
    thread_technique::run(next); // SWITCH: may move
  }
}

const descriptor* host_of(const descriptor& u) noexcept {
  return u.stack->owner != &u ? u.join.committed_waiter() : nullptr;
}

namespace {

// The running thread's.
descriptor* host() noexcept {
  descriptor& u = *here().current;
  memory::verify_canary(*u.stack);
  return const_cast<descriptor*>(host_of(u));
}

} // namespace

void tell_end_of_hosted(descriptor& u, descriptor& joiner) noexcept {
  const runtime_section in;
  worker& w = here();
  w.note(trace::event::stop_end, &u);
  if (listeners_to_units.load_relaxed() != 0) // relaxed: only tells whom to ask
    tell_ready(joiner);
  w.current = &joiner;
  w.note(trace::event::run, &joiner, trace::thread_kind);
  w.current = &u;
}

void end_now() noexcept {
  come_back_if_away(); // SWITCH
  forget_exceptions();
  if (descriptor* joiner = host()) {
    tell_end_of_hosted(*here().current, *joiner);
    arch::restore(joiner->context);
  }
  W::end_thread();
}

void end_to_taken(descriptor& next) noexcept {
  come_back_if_away(); // SWITCH
  forget_exceptions();
  worker& w = here();
  if (descriptor* joiner = host()) {
    w.note(trace::event::stop_end, w.current);
    w.handed = &next;
    w.current = &w.loop_unit;
    arch::restore_with(*w.loop, [](void* u) { make_ready(*static_cast<descriptor*>(u)); }, joiner);
  }
  end_thread_slowly(&next);
}

[[gnu::noinline]] void end_hosted(descriptor& u) noexcept {
  come_back_if_away(); // SWITCH
  if (u.has(unit::extended))
    unit::drop_extension(u);
  if (u.has(unit::ends_process))
    std::exit(0);
}

void end_without_stack(worker& w, descriptor& u) noexcept {
  end_hosted(u);
  complete(w, u);
}

void leave_without_state(arch::arrival_function then) {
  const runtime_section in;
  worker& w = here();
  descriptor& self = *w.current;
  w.note(trace::event::stop_wait, &self);
  const exceptions_kept kept(w);
  leave_now(w, self, then, &self);
}

void leave_from_handler(worker& w, descriptor& self, arch::arrival_function then, void* argument) {
  const exceptions_kept kept(w);
  leave_now(w, self, then, argument);
}

void leave(arch::arrival_function then, void* argument) {
  const runtime_section in;
  leave_inside(here(), then, argument);
}

void refuse_fork() {
  if (on_worker())
    require_thread("fork");
}

void start_now(descriptor& u) {
  const runtime_section in;
  worker& w = here();
  if (!on_worker() || w.current->kind() != unit::kind_thread || w.current->has(unit::slow_mask) ||
      u.has(unit::slow_mask) || !serves(w, u) || !thread_technique::take_stack(w, u)) {
    u.own_pool->push(u);
    return;
  }
  if (w.budget.count_down()) [[unlikely]]
    w.look_around();
  descriptor& self = *w.current;
  const exceptions_kept kept(w);
  self.state.block();
  u.state.start_running();
  w.note(trace::event::stop_yield, &self);
  w.note(trace::event::run, &u);
  w.current = &u;
  w.arrival = [](void* left) { put_back(*static_cast<descriptor*>(left)); };
  w.arrival_argument = &self;
  arch::save(self.context, u.context, u.stack->initial_stack_pointer(), u.stack->usable(),
             &thread_technique::entry_with_arrival<W>, &u); // SWITCH: may resume on another worker
}

void look_around() {
  const runtime_section in;
  worker& w = here();
  if (w.attention.load_relaxed() != 0)
    return yield_slowly();
  w.budget = -1;
  w.look_around();
}

void make_ready(descriptor& u) {
  if (listeners_to_units.load_relaxed() != 0) [[unlikely]] // relaxed: only tells whom to ask
    tell_ready(u);
  put_back(u);
}

void put_back(descriptor& u) {
  const runtime_section in;
  put_back_now(here(), u);
}

void put_back_inside(descriptor& u) {
  put_back_now(here(), u);
}

void require_thread(const char* what) {
  worker& w = here();
  if (on_worker() && w.current->kind() == unit::kind_thread)
    return;
  const char* why = (w.attention.load_relaxed() & not_a_worker) != 0
                        ? ": the caller is not a Weft thread"
                        : ": a tasklet or a scheduler may not wait";
  throw std::system_error(std::make_error_code(std::errc::operation_not_permitted),
                          std::string("weft: ") + what + why);
}

} // namespace weft::sched
