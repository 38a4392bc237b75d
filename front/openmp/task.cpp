// SPDX-License-Identifier: MIT
#include "front/openmp/task.hpp"

#include "front/openmp/dependence.hpp"
#include "front/openmp/task_end.hpp"
#include "front/openmp/team.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace weft::openmp {
namespace {

// As libgomp: a thread that has made so many tasks for each thread runs the next ones itself.
constexpr std::uint32_t tasks_per_thread = 64;

std::size_t round_up(std::size_t n, std::size_t to) noexcept {
  return (n + to - 1) / to * to;
}

bool is_cancelled(const task& k) noexcept {
  if (k.has_copies)
    return false;
  return k.team->cancelled.load_relaxed() || (k.group != nullptr && k.group->is_cancelled()); // a hint
}

// What a tool hears when the function has ended. A hint: an event that comes now is told as one of a task
// that had ended.
tool::status how_it_ends(task& k, bool is_dropped) noexcept {
  if (k.told.parts_to_come.load_relaxed() != 0) { // relaxed, both: a task that goes on later tells it itself
    k.told.parts_to_come.fetch_sub_relaxed(1);
    return tool::status::switched;
  }
  if (k.to_complete.load_relaxed() != 1)
    return tool::status::detach;
  return is_dropped || is_cancelled(k) ? tool::status::cancel : tool::status::complete;
}

} // namespace

bool task_group::is_cancelled() const noexcept {
  const task_group* g = this;
  do {
    if (g->cancelled.load_relaxed()) // a hint
      return true;
    g = g->of_work_share ? g->outer : nullptr;
  } while (g != nullptr);
  return false;
}

task::task(task* made_by) noexcept : parent(made_by) {
  if (made_by == nullptr)
    return;
  group = made_by->group;
  team = made_by->team;
  icv = made_by->icv;
  depth = made_by->depth + 1;
}

task::~task() {
  delete[] links;
}

bool task::descends_from(const task& other) const noexcept {
  const task* k = this;
  while (k != nullptr && k->depth > other.depth)
    k = k->parent;
  return k == &other;
}

// --- the deque ---

void task_deque::push(task& k) noexcept {
  const locked held(lock_);
  k.after = nullptr;
  k.before = newest_;
  (newest_ != nullptr ? newest_->after : oldest_) = &k;
  newest_ = &k;
  has_priorities_ = has_priorities_ || k.priority != 0;
  size_.store_relaxed(size_.load_relaxed() + 1); // relaxed: for looks_empty()
}

task* task_deque::unlink(task* k) noexcept {
  if (k == nullptr)
    return nullptr;
  (k->before != nullptr ? k->before->after : oldest_) = k->after;
  (k->after != nullptr ? k->after->before : newest_) = k->before;
  size_.store_relaxed(size_.load_relaxed() - 1);
  if (oldest_ == nullptr)
    has_priorities_ = false;
  return k;
}

// The first one of the highest priority, from `first` on; of descendants of `ancestor`, if that is one. Under
// the lock.
task* task_deque::choose(task* first, task* task::* next, const task* ancestor) const noexcept {
  task* best = nullptr;
  for (task* k = first; k != nullptr; k = k->*next) {
    if ((best != nullptr && k->priority <= best->priority) ||
        (ancestor != nullptr && !k->descends_from(*ancestor)))
      continue;
    best = k;
    if (!has_priorities_)
      break;
  }
  return best;
}

task* task_deque::take_newest(const task* ancestor) noexcept {
  const locked held(lock_);
  return unlink(choose(newest_, &task::before, ancestor));
}

// Half of them, so that a thief comes seldom where one thread makes all tasks. One at a time where an order
// must be kept.
task* task_deque::steal(const task* ancestor, task_deque& thiefs, unsigned& more) noexcept {
  constexpr std::uint32_t most = 16;
  task* first = nullptr;
  task* others = nullptr; // linked by `after`
  {
    const locked held(lock_);
    if (ancestor != nullptr || has_priorities_)
      return unlink(choose(oldest_, &task::after, ancestor));
    const std::uint32_t half = std::min(size_.load_relaxed() / 2, most);
    first = unlink(oldest_);
    task** end = &others;
    for (more = 0; more + 1 < half; ++more) {
      task* const k = unlink(oldest_);
      k->after = nullptr;
      *end = k;
      end = &k->after;
    }
  }
  while (others != nullptr)
    thiefs.push(*std::exchange(others, others->after));
  return first;
}

// --- making ---

task& new_task(thread& t, const task_request& wanted) {
  const std::size_t at = round_up(sizeof(task), std::max(wanted.alignment, alignof(task)));
  const std::size_t bytes = at + wanted.size;
  // A race detector knows what malloc() gives; a cell has been another task's, which it cannot know.
  const bool is_large = bytes > cell_bytes || wanted.alignment > alignof(task) || tool::is_on;
  void* const memory = is_large ? ::operator new(bytes + wanted.alignment, task_memory) : take_cell(t);
  task& parent = *t.current;
  task& k = *::new (memory) task(&parent);
  if (tool::is_on) [[unlikely]]
    k.told.renew(tool::explicit_task);
  k.owner = is_large ? nullptr : &t;
  k.is_explicit = true;
  k.function = wanted.function;
  const auto first = reinterpret_cast<std::uintptr_t>(memory) + sizeof(task);
  k.data = reinterpret_cast<void*>(round_up(first, std::max<std::size_t>(wanted.alignment, 1)));
  k.is_final = wanted.is_final || parent.is_final;
  k.priority = std::min(wanted.priority, process().max_task_priority);
  parent.hold();
  parent.children.fetch_add_relaxed(1); // relaxed: it is counted before it can end
  if (k.group != nullptr)
    k.group->pending.fetch_add_relaxed(1); // relaxed: the same
  return k;
}

bool runs_at_once(const thread& t) noexcept {
  const team& in = *t.at.team;
  return in.size == 1 || t.current->is_final ||
         (in.unfinished.load_relaxed() > tasks_per_thread * in.size && process().throttles);
}

void make_ready(thread& t, task& k) {
  team& in = *k.team;
  if (!k.is_queued_task) {
    k.is_queued_task = true;
    in.unfinished.fetch_add_relaxed(1); // relaxed: its maker has not come to the barrier
  }
  in.queued.fetch_add_relaxed(1); // relaxed: a hint that comes no later than the task
  // An event may be fulfilled by a thread of another team.
  const unsigned number = t.at.team == &in ? t.at.number : 0;
  in.members[number].tasks.push(k);
  in.pushes.fetch_add_seq_cst(1); // (T1)
  in.wake_one();
}

namespace {

// Who has told that the task's function has ended is the last one that the event may wait for.
[[gnu::noinline, gnu::cold]] void execute_and_tell(thread& t, task& k) {
  task& before = *t.current;
  const bool is_dropped = is_cancelled(k);
  if (is_dropped)
    tool::discards(t, k, k.team->cancelled.load_relaxed());
  const tool::in_call in_runtime(t); // `before` is, if it does not wait already
  tool::task_begins(t, before, k, __builtin_frame_address(0));
  t.current = &k;
  if (!is_dropped)
    k.function(k.data); // SWITCH: may resume on another worker
  t.current = &before;
  tool::task_ends(t, k, before, how_it_ends(k, is_dropped));
  complete_one(k);
}

// True: it has ended; else its event is still to come. GONE: the task, in the second case.
bool call(thread& t, task& k) {
  task* const before = t.current;
  t.current = &k;
  if (!is_cancelled(k))
    k.function(k.data); // SWITCH: may resume on another worker
  t.current = before;
  return k.to_complete.fetch_sub_seq_cst(1) == 1; // (T1); acq_rel is what the task's end needs
}

} // namespace

void execute(thread& t, task& k) {
  if (tool::is_on) [[unlikely]]
    return execute_and_tell(t, k); // SWITCH: may resume on another worker
  if (call(t, k))                  // SWITCH: the same
    end(k);
}

void forget_task(task& k) noexcept {
  static_cast<void>(leave_parent_and_group(k));
  release(k);
}

namespace {

void add_and_start(thread& t, task& k, void** depend) {
  k.is_queued_task = true;
  k.team->unfinished.fetch_add_relaxed(1); // relaxed: as in make_ready()
  k.blockers.store_relaxed(1);             // relaxed: nobody else knows it
  add_dependences(*t.current, k, depend);
  if (k.blockers.fetch_sub_acq_rel(1) == 1) // acq_rel: as in start_successors()
    make_ready(t, k);
}

} // namespace

void submit_with_dependences(thread& t, task& k, void** depend) {
  if (runs_at_once(t)) {
    await_dependences(t, depend); // SWITCH: may resume on another worker
    return execute(t, k);
  }
  add_and_start(t, k, depend);
}

void fulfill(task& k) {
  thread& t = caller();
  if (tool::is_on && !k.told.is_detached.load_acquire()) // pairs with tool::task_ends()
    tool::fulfilled(t, k, false);
  complete_one(k);
}

void end_function(thread& t, task& k) {
  t.current = k.parent;
  if (tool::is_on) [[unlikely]]
    tool::task_ends(t, k, *k.parent, how_it_ends(k, false));
  complete_one(k);
}

namespace {

void copy_data(task& k, const task_request& wanted) {
  if (wanted.copy != nullptr) {
    wanted.copy(k.data, wanted.data);
    k.has_copies = true;
  } else if (wanted.size != 0) {
    std::memcpy(k.data, wanted.data, wanted.size);
  }
}

[[gnu::noinline, gnu::cold]] void tell_made(thread& t, task& k, const task_request& wanted, bool may_wait) {
  k.told.bytes = wanted.size;
  const unsigned flags = (may_wait ? 0U : tool::undeferred_task) |
                         (wanted.is_untied ? tool::untied_task : 0U) |
                         (wanted.is_mergeable ? tool::mergeable_task : 0U);
  tool::task_is_made(t, k, flags, wanted.depend != nullptr);
  if (wanted.depend != nullptr)
    tell_dependences(k, wanted.depend);
}

// The event is named to the program in the variable and in the first word of the data.
void set_event(task& k, const task_request& wanted) {
  k.to_complete.store_relaxed(2); // relaxed: nobody else knows it
  void* const event = &k;
  *wanted.detach = event;
  if (wanted.data != nullptr)
    std::memcpy(wanted.data, &event, sizeof event);
}

void run_undeferred(thread& t, task& k, const task_request& wanted) {
  if (wanted.depend != nullptr)
    await_dependences(t, wanted.depend); // SWITCH: may resume on another worker
  if (wanted.detach == nullptr)
    return execute(t, k);
  k.hold();
  k.is_awaited = true; // nobody else has the event yet
  execute(t, k);
  const door::atomic<std::uint32_t>& left = k.to_complete;
  await(t, helping::descendants, [&left] { return left.load_acquire() == 0; }); // SWITCH: may resume
  release(k);
}

} // namespace

void tell_part(thread& t, task& k, const task_request& wanted) {
  tell_made(t, k, wanted, !wanted.undeferred && !t.current->is_final && t.at.team->size != 1);
}

void make_task(thread& t, const task_request& wanted) {
  // A cancelled region or group makes no new ones.
  if (t.at.team->cancelled.load_relaxed() ||
      (t.current->group != nullptr && t.current->group->is_cancelled()))
    return;
  task& k = new_task(t, wanted);
  if (wanted.detach != nullptr)
    set_event(k, wanted);
  // A task with an event ends by somebody else's doing, so it does not keep the caller.
  const bool may_wait = !wanted.undeferred && !t.current->is_final;
  if (tool::is_on) [[unlikely]]
    tell_made(t, k, wanted, may_wait && t.at.team->size != 1);
  if (!may_wait || (wanted.detach == nullptr && runs_at_once(t))) {
    if (wanted.copy != nullptr) {
      copy_data(k, wanted);
    } else if (wanted.size != 0) {
      k.data = wanted.data; // the caller's frame lasts longer
    }
    return run_undeferred(t, k, wanted);
  }
  copy_data(k, wanted);
  if (wanted.depend == nullptr)
    return make_ready(t, k);
  add_and_start(t, k, wanted.depend);
}

// --- running and waiting ---

namespace {

struct found_task {
  task* what = nullptr;
  bool is_stolen = false;
};

found_task find_task(const thread& t, team& in, const task* ancestor) noexcept {
  const unsigned me = t.at.number;
  task_deque& mine = in.members[me].tasks;
  if (!mine.looks_empty()) {
    if (task* const k = mine.take_newest(ancestor))
      return {.what = k};
  }
  for (unsigned i = 1; i < in.size; ++i) {
    task_deque& other = in.members[(me + i) % in.size].tasks;
    if (other.looks_empty())
      continue;
    unsigned more = 0;
    task* const k = other.steal(ancestor, mine, more);
    if (more != 0) {                  // others may have looked for them while they were nowhere
      in.pushes.fetch_add_seq_cst(1); // (T1)
      in.wake_one();
    }
    if (k != nullptr)
      return {.what = k, .is_stolen = true};
  }
  return {};
}

} // namespace

namespace {

void run_alone(thread& t, team& in, task& k) {
  in.queued.fetch_sub_relaxed(1); // relaxed: a hint
  execute(t, k);                  // SWITCH: may resume on another worker
}

// `first` and, if any may run, some that are in the caller's own deque after it. Until the last of them is
// told of the region stays open (H1).
void run_in_turn(thread& t, team& in, found_task first, const task* ancestor) {
  constexpr unsigned most = 16; // then the caller looks whether what it waits for has come
  task_deque& mine = in.members[t.at.number].tasks;
  common_end ends;
  task* k = first.what;
  const std::int64_t began = first.is_stolen ? t.thefts.begin() : 0;
  for (unsigned ran = 1;; ++ran) {
    if (!ends.is_that_of(*k))
      ends.tell();
    if (call(t, *k)) // SWITCH: may resume on another worker
      ends.add(*k);
    k = ran < most && !mine.looks_empty() ? mine.take_newest(ancestor) : nullptr;
    if (k == nullptr) {
      in.queued.fetch_sub_relaxed(ran); // relaxed: a hint
      ends.tell();
      if (began != 0)
        t.thefts.end(began, ran);
      return;
    }
  }
}

// False: nothing was found. A tool is told of each by itself.
bool run_found(thread& t, team& in, found_task k, const task* ancestor) {
  if (k.what == nullptr)
    return false;
  if (tool::is_on) [[unlikely]]
    run_alone(t, in, *k.what); // SWITCH: may resume on another worker
  else
    run_in_turn(t, in, k, ancestor); // SWITCH: the same
  return true;
}

} // namespace

bool run_one(thread& t, const task* ancestor) {
  team& in = *t.at.team;
  task* const k = find_task(t, in, ancestor).what;
  if (k != nullptr)
    run_alone(t, in, *k); // SWITCH: may resume on another worker
  return k != nullptr;
}

bool run_some(thread& t, const task* ancestor) {
  team& in = *t.at.team;
  return run_found(t, in, find_task(t, in, ancestor), ancestor); // SWITCH: may resume on another worker
}

bool help_after_end(thread& t, team& in, std::uint32_t number) {
  found_task k;
  {
    // (H1) The master closes the region, then waits for helpers that do not know yet: who counts itself and
    // still finds it open has its task before the region can end. seq_cst: pairs with close_region().
    const door::runtime_section not_preempted;
    in.helpers.fetch_add_seq_cst(1);
    if (in.region.load_seq_cst() == number)
      k = find_task(t, in, nullptr);
    in.helpers.fetch_sub_release(1);
  }
  return run_found(t, in, k, nullptr); // SWITCH: may resume on another worker
}

namespace {

void await_children(thread& t) {
  const door::atomic<std::uint32_t>& children = t.current->children;
  if (children.load_acquire() == 0) // acquire, both: sees what they did; pairs with their ends
    return;
  await(t, helping::descendants, [&children] { return children.load_acquire() == 0; }); // SWITCH: may resume
}

[[gnu::noinline, gnu::cold]] void await_children_and_tell(thread& t) {
  const tool::waiting told(t, tool::sync::wait_for_children);
  await_children(t); // SWITCH: may resume on another worker
}

} // namespace

void wait_for_children(thread& t) {
  if (tool::is_on) [[unlikely]]
    return await_children_and_tell(t); // SWITCH: may resume on another worker
  await_children(t);                   // SWITCH: may resume on another worker
}

void wait_for_children(thread& t, void** depend) {
  if (tool::is_on) [[unlikely]]
    return await_dependences_and_tell(t, depend); // SWITCH: may resume on another worker
  await_dependences(t, depend);                   // SWITCH: may resume on another worker
}

void yield_to_tasks(thread& t) {
  if (tool::is_on) [[unlikely]]
    t.told.leaves = tool::status::yield;
  const bool some = t.at.team->queued.load_relaxed() != 0 && run_one(t, t.current); // SWITCH: may resume
  if (tool::is_on) [[unlikely]]
    t.told.leaves = tool::status::switched;
  if (some)
    return;
  let_others_run();
}

void begin_group(thread& t) {
  auto* const g = new task_group;
  g->outer = t.current->group;
  g->reductions = g->outer != nullptr ? g->outer->reductions : nullptr;
  t.current->group = g;
  if (tool::is_on) [[unlikely]]
    tool::group_begins(t);
}

namespace {

void await_group(thread& t, const task_group& g) {
  if (g.pending.load_acquire() != 0) // acquire, both: as in wait_for_children()
    await(t, helping::descendants, [&g] { return g.pending.load_acquire() == 0; }); // SWITCH: may resume
}

[[gnu::noinline, gnu::cold]] void await_group_and_tell(thread& t, const task_group& g) {
  const tool::waiting told(t, tool::sync::group);
  await_group(t, g); // SWITCH: may resume on another worker
}

} // namespace

void end_group(thread& t) {
  task_group& g = *t.current->group;
  if (tool::is_on) [[unlikely]]
    await_group_and_tell(t, g); // SWITCH: may resume on another worker
  else
    await_group(t, g); // SWITCH: may resume on another worker
  t.current->group = g.outer;
  delete &g;
}

} // namespace weft::openmp
