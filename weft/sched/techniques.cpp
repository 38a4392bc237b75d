// SPDX-License-Identifier: MIT
// What the techniques of weft/technique ask of the scheduler beyond starts and ends by a jump: stacks that
// are taken early or kept, calls from the loop of a worker, and child-first starts.
#include <utility>

#include "weft/carrier/runtime_section.hpp"
#include "weft/sched/calls_units.hpp"
#include "weft/sched/default_group.hpp"
#include "weft/sched/join.hpp"
#include "weft/sched/switch.hpp"
#include "weft/technique/called.hpp"
#include "weft/technique/child_first.hpp"
#include "weft/workers/group.hpp"
#include "weft/workers/stacked.hpp"

namespace weft::sched {
namespace {

using thread_technique = technique::full_lazy;
using W = worker_for_techniques;

// The creator, once it has left its stack: where this worker looks first.
void offer_parent(void* left) {
  auto& parent = *static_cast<descriptor*>(left);
  worker& w = here();
  if (w.fifo == nullptr || !parent.own_pool.is(w.listed))
    return republish(left);
  parent.state.make_ready();
  w.fifo->push_front(&parent.link);
}

bool may_start_child(worker& w, const descriptor& u) {
  return on_worker() && w.current->kind() == unit::kind_thread && !w.current->has(unit::slow_mask) &&
         !arch::any(*w.exceptions) && !u.has(unit::slow_mask) && serves(w, u);
}

} // namespace

void reserve_stack(descriptor& u) noexcept {
  const runtime_section in;
  void*& reserved = arch::idle_word(u.context);
  reserved = nullptr;
  if (on_worker() && !u.has(unit::supplied_stack))
    reserved =
        u.stack_size() == 0 ? here().caches.stacks.allocate() : here().caches.stacks.allocate(u.stack_size());
}

void release_kept_stack(descriptor& u) noexcept {
  const runtime_section in;
  if (!unit::keeps_stack(u.technique()) || u.stack == nullptr)
    return;
  memory::stack_record* stack = std::exchange(u.stack, nullptr);
  if (on_worker()) {
    here().caches.stacks.free(stack);
  } else {
    memory::give_to_depot(*stack);
  }
}

void submit_as(descriptor& u, unit::technique_id t) {
  const runtime_section in;
  if (unit::has_stack_at_creation(t))
    reserve_stack(u);
  if (unit::is_child_first(t))
    return start_child(u);
  u.own_pool->push_inside(u);
}

WEFT_CALLS_UNITS void start_child(descriptor& u) {
  const runtime_section in;
  worker& w = here();
  if (!may_start_child(w, u) || !thread_technique::take_stack(w, u)) {
    u.own_pool->push(u);
    return;
  }
  if (w.budget.count_down()) [[unlikely]]
    w.deque != nullptr ? static_cast<void>(w.look_around_in_place()) : w.look_around();
  descriptor& self = *w.current;
  const bool frees_itself = u.join.is_detached(); // GONE when the creator goes on; it takes no account of him
  self.state.block();
  u.state.start_running();
  w.note(trace::event::stop_yield, &self);
  w.note(trace::event::run, &u);
  w.current = &u;
  w.arrival = &offer_parent;
  w.arrival_argument = &self;
  descriptor* child = &u;
  const unit::technique_id t = u.technique();
  if (!technique::child_first::returns(t)) {
    arch::save(self.context, u.context, u.stack->initial_stack_pointer(), u.stack->usable(),
               &technique::child_first::entry<W>, &u); // SWITCH: may resume on another worker
  } else if (technique::called::call_marked(self.context, child, &technique::child_first::entry_of_call<W>)) {
    worker& now = here(); // SWITCH: the child may have moved, and taken its creator with it
    if (!unit::keeps_stack(t))
      thread_technique::give_stack_back(now, *child);
    now.current = &self;
    self.state.start_running();
    return;
  }
  if (!frees_itself && !child->join.has_ended())
    child->traits.fetch_or_relaxed(unit::parent_left);
}

bool worker_for_techniques::end_before_parent(descriptor& u, descriptor& parent) noexcept {
  worker& w = sched::here();
  if (w.deque != nullptr && !w.look_around_in_place())
    return false;
  if (!u.is_plain() || u.join.is_detached() || w.attention.load_relaxed() != 0 || w.budget.count_down())
    return false;
  if (w.fifo != nullptr) {
    if (w.fifo->first() != &parent.link)
      return false;
    w.fifo->pop_first(&parent.link);
  } else if (w.deque == nullptr || !w.deque->pop_bottom_if(&parent)) {
    return false;
  }
  // From here on the creator is held, and what it did before is seen.
  if (u.has(unit::parent_left) || parent.has(unit::slow_mask)) [[unlikely]] {
    w.handed = &parent;
    return false;
  }
  u.state.finish();
  u.join.finish_for_committed();
  return true;
}

void worker_for_techniques::end_child(descriptor& u, descriptor& parent) noexcept {
  if (!end_before_parent(u, parent))
    end_thread();
  worker& w = sched::here();
  if (!unit::keeps_stack(u.technique()))
    thread_technique::give_stack_back(w, u);
  parent.state.start_running();
  w.current = &parent;
  arch::restore(parent.context); // GONE: u
}

// Another thread to call once one has returned, with its stack; others are handed to the loop.
descriptor* worker::next_to_call() noexcept {
  descriptor* next = handed == nullptr ? pick_quickly() : nullptr;
  if (next == nullptr)
    return nullptr;
  if (next->has_started() || !next->is_plain() || !technique::called::includes(next->technique()) ||
      !thread_technique::take_stack(*this, *next)) {
    handed = next;
    return nullptr;
  }
  ++recording.counters.started;
  next->state.start_running();
  current = next;
  return next;
}

// The loop is saved by a mark: units that leave continue it there.
WEFT_CALLS_UNITS void worker::run_called(descriptor& first) noexcept {
  for (descriptor* u = &first; u != nullptr; u = next_to_call()) {
    called = u;
    const bool ended = technique::called::call_marked(*loop, u, &technique::called::entry<W>);
    called = nullptr;
    if (!ended)
      return;
    note(trace::event::stop_end, u);
    thread_technique::give_stack_back(*this, *u);
    descriptor* waiter = u->join.committed_waiter();
    if (waiter != nullptr && serves(*this, *waiter)) {
      u->state.finish();
      u->join.finish_for_committed(); // GONE: u
      waiter->state.start_running();
      current = waiter;
      note(trace::event::run, waiter);
      arch::swap(*loop, waiter->context);
      return;
    }
    current = &loop_unit;
    end_without_stack(*this, *u);
  }
}

} // namespace weft::sched
