// SPDX-License-Identifier: MIT
#include "front/openmp/team.hpp"

#include "front/openmp/crew.hpp"
#include "front/openmp/dependence.hpp"
#include "front/openmp/places.hpp"
#include "front/openmp/proxy.hpp"
#include "weft/door/workers.hpp"

#include <algorithm>
#include <climits>

namespace weft::openmp {

std::uint32_t patience::limit() noexcept {
  // relaxed: a hint
  return threads_running().load_relaxed() <= processors() ? process().looks : 0;
}

team::team(unsigned room) : room(room), members(std::make_unique<member[]>(room)) {}

void team::wake_all() noexcept {
  door::full_fence(); // (T1), (B2): the change before the look
  if (sleepers.load_relaxed() == 0)
    return;
  for (unsigned i = 0; i < size; ++i) {
    if (members[i].who != nullptr)
      members[i].who->bed.wake(this);
  }
}

void team::wake_one() noexcept {
  door::full_fence(); // (T1), (B2)
  if (sleepers.load_relaxed() != 0) {
    for (unsigned i = 0; i < size; ++i) {
      if (members[i].who != nullptr && members[i].who->bed.wake(this))
        return;
    }
  }
  if (idle_sleepers.load_relaxed() == 0)
    return;
  const void* const idle = idle_reason(region.load_relaxed()); // relaxed: who calls keeps it open
  for (unsigned i = 1; i < size; ++i) {
    if (members[i].who != nullptr && members[i].who->idle_bed.wake(idle))
      return;
  }
}

namespace {

constexpr unsigned most_free_seats = 0xFFFF;

constexpr std::uint64_t seats_of(std::uint32_t region, unsigned next, unsigned end) noexcept {
  return std::uint64_t{region} << 32 | end << 16 | next;
}

} // namespace

unsigned team::take_seat(std::uint32_t number) noexcept {
  std::uint64_t seen = free_seats.load_acquire(); // pairs with the release in open_region()
  for (;;) {
    const auto next = static_cast<unsigned>(seen & most_free_seats);
    if (seen >> 32 != number || next == (seen >> 16 & most_free_seats))
      return 0;
    if (free_seats.cas_weak_acq_rel(seen, seen + 1))
      return next;
  }
}

// --- how many ---

unsigned threads_for(thread& t, unsigned wanted, unsigned most) noexcept {
  const icvs& icv = t.current->icv;
  unsigned n = wanted != 0 ? wanted : icv.threads;
  if (icv.thread_limit == 1 || t.at.active_level >= icv.max_active_levels)
    return 1;
  if (t.at.level != 0 && needs_a_proxy(t))
    return 1; // its place in the regions around is kept where it may not come back to
  if (icv.dynamic) {
    n = std::min(n, processors());
    if (most != 0)
      n = std::min(n, most);
  }
  return std::max(n, 1U);
}

namespace {

// So many as the limit of the contention group leaves, which are counted then.
unsigned take_threads(thread& t, unsigned n) noexcept {
  const unsigned limit = t.current->icv.thread_limit;
  unsigned busy = t.group->threads.load_relaxed(); // relaxed, both: a number
  for (;;) {
    const unsigned left = limit > busy ? limit - busy : 0;
    const unsigned got = std::min(n, left + 1);
    if (t.group->threads.cas_weak_relaxed(busy, busy + got - 1))
      return got;
  }
}

void give_threads_back(thread& t, unsigned n) noexcept {
  t.group->threads.fetch_sub_relaxed(n); // relaxed: as above
}

} // namespace

// --- opening ---

namespace {

void begin_implicit(thread& t, member& m, const region& r, team& in, unsigned level) {
  task& k = m.implicit;
  task& parent = *t.current;
  k.parent = &parent;
  k.group = r.group;
  k.team = &in;
  k.depth = parent.depth + 1;
  k.icv = parent.icv;
  const settings& s = process();
  if (r.below != nullptr)
    k.icv.threads_below = r.below;
  if (const unsigned*& below = k.icv.threads_below; below != nullptr) {
    k.icv.threads = *below;
    if (below[1] != 0)
      ++below;
  } else if (level < s.threads.size()) {
    k.icv.threads = s.threads[level];
  }
  if (level < s.bindings.size())
    k.icv.bind = s.bindings[level];
  k.is_final = false;
}

void count_threads(thread& t, const team& in, bool open) noexcept {
  const unsigned more = in.size - (t.mastering != 0 || !t.is_initial ? 1 : 0);
  if (in.size == 1)
    return;
  // relaxed, both: a number of which hints are made
  if (open) {
    threads_running().fetch_add_relaxed(more);
  } else {
    threads_running().fetch_sub_relaxed(more);
    give_threads_back(t, in.size - 1);
  }
}

void begin_team(thread& t, team& in, const region& r) {
  in.function = r.function;
  in.data = r.data;
  in.outer = t.at;
  in.is_active = in.size > 1;
  in.is_open = true;
  in.of_llvm = r.of_llvm;
  const binding bind = t.current->icv.bind;
  in.bind = bind == binding::off || r.bind == binding::off ? bind : r.bind;
  // relaxed, all: published with the members' start
  in.cancelled.store_relaxed(false);
  in.share_cancelled.store_relaxed(false);
  in.arrived.store_relaxed(0);
  in.finished.store_relaxed(0);
  in.first_share.renew();
  in.start_share = r.share != nullptr ? r.share : &in.first_share;
  for (unsigned i = 0; i < in.size; ++i)
    begin_implicit(t, in.members[i], r, in, t.at.level + 1);
}

} // namespace

position position_in(team& in, unsigned number) noexcept {
  position p;
  p.team = &in;
  p.number = number;
  p.level = in.outer.level + 1;
  p.active_level = in.outer.active_level + (in.is_active ? 1 : 0);
  p.share = in.start_share;
  place_member(in, number, p);
  return p;
}

namespace {

// Pinned ones are where they belong, and so are those that are bound to places: each runs its own member. Of
// the others the first is started; who runs starts the next one, and goes on with those that nobody has
// begun.
void start_members(crew& c, team& in) {
  if (!c.uses_pinned() && in.outer.place == 0 && in.size <= most_free_seats) {
    const std::uint32_t number = in.region.load_relaxed(); // relaxed: the master's to change
    in.free_seats.store_release(seats_of(number, 1, in.size));
    return start_next(in, number);
  }
  for (unsigned i = 1; i < in.size; ++i)
    c.runner_of(i).start(in, i);
}

} // namespace

namespace {

// Whether OMP_DISPLAY_AFFINITY says anything of this team: if one of its threads was last shown in one that
// was different. Before the members start.
bool is_to_be_shown(team& in) noexcept {
  constexpr std::uint64_t prime = 0x100000001B3;
  std::uint64_t like = 0xCBF29CE484222325;
  const auto add = [&like](std::uint64_t more) { like = (like ^ more) * prime; };
  add(in.size);
  add(in.outer.level);
  for (unsigned i = 0; i < in.size; ++i)
    add(position_in(in, i).place);
  bool differs = false;
  for (unsigned i = 0; i < in.size; ++i) {
    differs = differs || in.members[i].who->shown != like;
    in.members[i].who->shown = like;
  }
  return differs;
}

void open_with(thread& t, const region& r, unsigned wanted) {
  if (wanted > 1)
    wanted = take_threads(t, wanted);
  crew& c = crew_of(t);
  const bool may_pin = t.mastering == 0 && t.at.level == 0 && t.is_initial && !t.runs_on_own_variables &&
                       wanted > 1 && claim_pinned(t);
  team& in = c.team_for(wanted, may_pin, t.group);
  if (in.size < wanted)
    give_threads_back(t, wanted - in.size);
  if (r.strict.say != nullptr && in.size < r.threads)
    r.strict.say(r.strict, r.threads, in.size);
  count_threads(t, in, true);
  ++t.mastering;
  begin_team(t, in, r);
  if (tool::is_on) [[unlikely]]
    tool::region_begins(t, in, r, r.threads != 0 ? r.threads : t.current->icv.threads);
  in.members[0].who = &t;
  t.at = position_in(in, 0);
  t.current = &in.members[0].implicit;
  for (unsigned i = 1; i < in.size; ++i) {
    runner& other = c.runner_of(i);
    in.members[i].who = &other.who;
    in.members[i].by = &other;
    other.who.group = t.group;
    other.who.league = t.league;
  }
  in.shows_affinity = process().display_affinity && is_to_be_shown(in);
  start_members(c, in);
  if (t.at.place != 0)
    go_to_place(t);
  if (in.shows_affinity) [[unlikely]]
    show_affinity(t, in.of_llvm);
  if (tool::is_on) [[unlikely]]
    tool::implicit_begins(t, t.told.called.stack);
}

void run_region(thread& t, const region& r, unsigned wanted) {
  open_with(t, r, wanted);
  if (tool::is_on) [[unlikely]]
    tool::exits_from(t, __builtin_frame_address(0));
  r.function(r.data); // SWITCH: may resume on another worker
  close_region(t);
}

} // namespace

// A proxy cannot be the master between the two calls of a program that runs the master's part itself.
void open_region(thread& t, const region& r) {
  open_with(t, r, needs_a_proxy(t) ? 1 : threads_for(t, r.threads, r.most));
}

namespace {

void await_members(thread& t, team& in) {
  const unsigned others = in.size - 1;
  const auto done = [&in, others] {
    // acquire, both: what members and tasks did comes before what follows the region
    return in.finished.load_acquire() == others && in.unfinished.load_acquire() == 0;
  };
  if (!done())
    await(t, helping::everything, done); // SWITCH: may resume on another worker
}

// Members are in their last barrier, each on a stack of its own. It ends for all of them before the region.
[[gnu::noinline, gnu::cold]] void end_and_tell(thread& t, team& in) {
  const unsigned others = in.size - 1;
  if (others == 0) {
    await_members(t, in); // SWITCH: may resume on another worker
  } else {
    const tool::waiting told(t, tool::sync::end_of_region);
    await_members(t, in);           // SWITCH: may resume on another worker
    in.region.fetch_add_seq_cst(1); // (T1)
    in.wake_all();
  }
  tool::implicit_ends(t);
  await(t, helping::none, // SWITCH: may resume on another worker
        [&in, others] { return in.told.left.load_acquire() == others; });
}

void end_quietly(thread& t, team& in) {
  if (in.size > 1 && (t.runs_on_own_variables || door::calls_from_a_kernel_thread()))
    run_free_members(in, in.region.load_relaxed()); // SWITCH: may resume on another worker
  await_members(t, in);                             // SWITCH: may resume on another worker
  if (in.size > 1) {
    in.region.fetch_add_seq_cst(1); // (H1)
    for (unsigned looks = 0; in.helpers.load_seq_cst() != 0;)
      door::pause_for_another(looks);
  }
}

} // namespace

void close_region(thread& t) {
  team& in = *t.at.team;
  leave_share(t, nullptr);
  if (tool::is_on) [[unlikely]]
    end_and_tell(t, in); // SWITCH: may resume on another worker
  else
    end_quietly(t, in); // SWITCH: may resume on another worker
  for (unsigned i = 0; i < in.size; ++i)
    in.members[i].implicit.table.reset(); // holds tasks, whose memory is its threads'
  task* const generating = in.members[0].implicit.parent;
  t.current = generating;
  t.at = in.outer;
  in.is_open = false;
  --t.mastering;
  count_threads(t, in, false);
  if (tool::is_on) [[unlikely]]
    tool::region_ends(t, in);
}

void parallel(thread& t, const region& r) {
  const unsigned wanted = threads_for(t, r.threads, r.most);
  if (wanted > 1 && needs_a_proxy(t)) {
    const auto job = [](thread& proxys, void* of) { parallel(proxys, *static_cast<const region*>(of)); };
    if (!call_on_proxy(t, job, const_cast<region*>(&r))) // SWITCH: may resume on another worker
      run_region(t, r, 1);
    return;
  }
  run_region(t, r, wanted);
}

void finish(thread& t) noexcept {
  leave_share(t, nullptr);
  count_finished(*t.at.team);
}

// Who waits here is counted as finished, so the master may end the region; it goes on when all have left.
void finish_and_tell(thread& t, std::uint32_t region) noexcept {
  team& in = *t.at.team;
  leave_share(t, nullptr);
  {
    const tool::waiting told(t, tool::sync::end_of_region);
    count_finished(in);
    await(t, helping::everything, // SWITCH: may resume on another worker
          [&in, region] { return in.region.load_acquire() != region; });
  }
  tool::implicit_ends(t);
  if (in.told.left.fetch_add_seq_cst(1) + 1 == in.size - 1) // (T1)
    in.wake_all();
}

void count_finished(team& in) noexcept {
  // acq_rel: what it did is seen by the master; seq_cst for (T1)
  if (in.finished.fetch_add_seq_cst(1) + 1 == in.size - 1)
    in.wake_all();
}

// --- barriers ---

namespace {

[[gnu::always_inline]] inline bool wait_in_barrier(thread& t, bool may_cancel) {
  team& in = *t.at.team;
  if (may_cancel && in.cancelled.load_relaxed()) // a hint: who misses it finds it below
    return true;
  const std::uint32_t round = in.round.load_relaxed(); // relaxed: it cannot change before the caller arrives
  const auto is_over = [&in, may_cancel] { return may_cancel && in.cancelled.load_acquire(); };
  // acq_rel: the last one has what all did before behind it
  if (in.arrived.fetch_add_acq_rel(1) + 1 == in.size) {
    const auto done = [&in, is_over] { return in.unfinished.load_acquire() == 0 || is_over(); };
    if (!done())
      await(t, helping::everything, done); // SWITCH: may resume on another worker
    if (is_over())
      return true;
    in.arrived.store_relaxed(0); // relaxed, both: published by the round
    in.share_cancelled.store_relaxed(false);
    in.round.store_release(round + 1); // pairs with the acquire below
    if (in.size > 1)
      in.wake_all();
    return false;
  }
  await(t, helping::everything, [&in, round, is_over] { // SWITCH: may resume on another worker
    return in.round.load_acquire() != round || is_over();
  });
  return in.round.load_acquire() == round;
}

} // namespace

namespace {

[[gnu::noinline, gnu::cold]] bool barrier_and_tell(thread& t, bool may_cancel) {
  const tool::waiting told(t, t.told.called.barrier);
  return wait_in_barrier(t, may_cancel); // SWITCH: may resume on another worker
}

} // namespace

bool barrier(thread& t, bool may_cancel) {
  if (tool::is_on) [[unlikely]]
    return barrier_and_tell(t, may_cancel); // SWITCH: may resume on another worker
  return wait_in_barrier(t, may_cancel);    // SWITCH: may resume on another worker
}

// --- leagues ---

namespace {

struct league {
  unsigned teams;
  unsigned thread_limit;
  void (*function)(void*);
  void* data;
};

void run_here(thread& t, const league& wanted) {
  constexpr unsigned default_teams = 3;
  const auto& [teams, thread_limit, function, data] = wanted;
  const settings& s = process();
  const league_position before = t.league;
  const unsigned limit_before = t.current->icv.thread_limit;
  const unsigned limit = thread_limit != 0 ? thread_limit : s.teams_thread_limit;
  if (limit != 0)
    t.current->icv.thread_limit = std::min(limit, static_cast<unsigned>(INT_MAX));
  const unsigned n = teams != 0 ? teams : s.teams != 0 ? s.teams : default_teams;
  for (unsigned i = 0; i < n; ++i) {
    t.league = {i, n};
    function(data);
  }
  t.league = before;
  t.current->icv.thread_limit = limit_before;
}

} // namespace

void run_league(thread& t, unsigned teams, unsigned thread_limit, void (*function)(void*), void* data) {
  league wanted{teams, thread_limit, function, data};
  const auto job = [](thread& proxys, void* of) { run_here(proxys, *static_cast<const league*>(of)); };
  if (t.at.level == 0 && needs_a_proxy(t) && call_on_proxy(t, job, &wanted)) // SWITCH: may resume
    return;
  run_here(t, wanted);
}

// --- cancellation. Relaxed looks are hints: who misses one finds it at the next point ---

namespace {

bool is_cancelled_now(const thread& t, cancellation kind) noexcept {
  if (!process().cancellation)
    return false;
  const team& in = *t.at.team;
  const task_group* const g = t.current->group;
  if (kind == cancellation::group && g != nullptr && g->is_cancelled())
    return true;
  const bool of_share = kind == cancellation::loop || kind == cancellation::sections;
  return (of_share && in.share_cancelled.load_relaxed()) || in.cancelled.load_relaxed();
}

} // namespace

bool is_cancelled(thread& t, cancellation kind) noexcept {
  const bool is = is_cancelled_now(t, kind);
  if (is && tool::is_on) [[unlikely]]
    tool::cancels(t, kind, tool::cancelled::detected);
  return is;
}

// release, all: what the caller did comes before; pairs with the acquire in barrier(), where it is looked
// for.
bool cancel(thread& t, cancellation kind) noexcept {
  if (!process().cancellation)
    return false;
  if (tool::is_on) [[unlikely]]
    tool::cancels(t, kind, tool::cancelled::activated);
  team& in = *t.at.team;
  switch (kind) {
  case cancellation::parallel:
    in.cancelled.store_release(true);
    in.wake_all(); // who waits in a barrier
    break;
  case cancellation::group: {
    task_group* g = t.current->group;
    if (g != nullptr && g->of_work_share) // stands for the one around it
      g = g->outer;
    if (g != nullptr)
      g->cancelled.store_release(true);
    break;
  }
  default:
    in.share_cancelled.store_release(true);
    break;
  }
  return true;
}

} // namespace weft::openmp
