// SPDX-License-Identifier: MIT
// The predefined pools. Who may touch what in a fifo_pool:
//
//   own_, in_use_          the owner, on its worker. While `in_use_`, the worker's fast paths use the list,
//                          too.
//   shared_                anybody, under its lock. Units in it read `posted`, so that no fast path of
//                          an owner takes them for its own.
//   must_share_            set once by whoever wants to see what the owner has; the owner's next look at its
//                          scheduler (worker::refresh_hot) ends the lending for good.
#include "front/abt/pool.hpp"

#include <algorithm>

#include "front/abt/context.hpp"
#include "front/abt/scheduler.hpp"
#include "weft/door/atomic.hpp"
#include "weft/door/deadline.hpp"
#include "weft/door/pool.hpp"
#include "weft/door/stream.hpp"
#include "weft/door/switch.hpp"
#include "weft/door/unit.hpp"

namespace weft::abt {
namespace {

std::atomic<int> next_pool_id{0};

using door::worker_here;

using door::unit_of;

// In no container: nobody but the taker may run or remove it.
descriptor* taken_by_user(descriptor* u) noexcept {
  if (u != nullptr)
    door::mark_taken(*u);
  return u;
}

} // namespace

// --- all pools ---

pool::pool(ABT_pool_access a, door::fast_path f, bool new_first, bool names)
    : weft::pool(weft::access::mpmc, f), object(own_kind), access(a), id(next_pool_id.fetch_add(1)),
      new_units_first(new_first), names_units_(names) {}

bool pool::empty() const noexcept {
  return looks_empty();
}

void pool::tell_drained() noexcept {
  if (drained())
    wake_users_of(*this);
}

std::size_t pool::size() const noexcept {
  return std::size_t{!looks_empty()};
}

void pool::push_from_user(descriptor& u, ABT_pool_context why) {
  announce_push(u, why);
  push(u); // GONE: u
}

std::size_t pool::pop_many(ABT_thread* into, std::size_t most, ABT_pool_context why) {
  std::size_t count = 0;
  while (count < most) {
    descriptor* u = pop_for_user(why);
    if (u == nullptr)
      break;
    into[count++] = handle_of(*u);
  }
  return count;
}

void pool::push_many(const std::vector<descriptor*>& units, ABT_pool_context why) {
  for (descriptor* u : units)
    push_from_user(*u, why);
}

bool pool::remove_for_user(descriptor& u) {
  if (!remove(u, worker_here()))
    return false;
  u.state.post();
  return true;
}

// A waiter counts itself (Q1), then looks; a push is done (Q2), then looks for waiters. The fences between
// let neither miss the other.
void pool::tell_waiters() noexcept {
  door::light_fence(); // (Q2) pairs with the heavy fence at (Q1)
  if (is_waited_for())
    wake_waiters();
}

void pool::wake_waiters() noexcept {
  pushes_.fetch_add_release(1);
  door::wake_blocked(pushes_);
}

descriptor* pool::pop_wait(double seconds, ABT_pool_context why) {
  const door::deadline until = door::deadline_in(seconds);
  const std::uint32_t first = pushes_.load_acquire();
  for (;;) {
    if (descriptor* u = pop_for_user(why))
      return u;
    // Somebody wants the caller to look around: a stream that is told to finish.
    if (pushes_.load_acquire() != first || door::now() >= until)
      return pop_for_user(why);
    door::deadline limit = until;
    if (worker* w = worker_here())
      limit = std::min(limit, door::next_timer_of(*w));
    waiting_.fetch_add_relaxed(1);
    door::heavy_fence(); // (Q1)
    if (looks_empty())
      door::block_while(pushes_, first, limit);
    waiting_.fetch_sub_relaxed(1);
    if (worker* w = worker_here())
      door::see_to_timers(*w); // they are nobody else's
  }
}

// --- fifo_pool ---

fifo_pool::fifo_pool(ABT_pool_access a, ABT_pool_kind k)
    : pool(a, a <= ABT_POOL_ACCESS_MPSC ? door::fast_path::owned_fifo : door::fast_path::none), kind_(k) {}

const char* fifo_pool::kind_name() const noexcept {
  return kind_ == ABT_POOL_FIFO_WAIT ? "FIFO_WAIT" : "FIFO";
}

bool fifo_pool::mine(const worker* w) const noexcept {
  return in_use_.load(std::memory_order_relaxed) && w != nullptr && owned_by(*w);
}

void fifo_pool::ask_to_share() noexcept {
  if (must_share_.exchange(true, std::memory_order_relaxed))
    return;
  if (worker* w = owner())
    door::look_again(*w);
}

door::unit_list* fifo_pool::lend_list(worker& w) {
  if (!lends() || must_share_.load(std::memory_order_relaxed))
    return nullptr;
  in_use_.store(true, std::memory_order_relaxed);
  door::heavy_fence(); // (Q3) pairs with (Q4): a push that did not see it is seen by the drain
  drain(w);
  return &own_.list;
}

void fifo_pool::end_lending(worker&) noexcept {
  in_use_.store(false, std::memory_order_relaxed);
  bool any = false;
  while (door::unit_link* l = own_.list.pop_front()) {
    descriptor::from(*l).state.post();
    shared_.push_back(l); // GONE: the unit
    any = true;
  }
  if (!any)
    return;
  tell_waiters();
  announce();
}

[[gnu::always_inline]] inline void fifo_pool::push_shared(descriptor& u) {
  u.state.post();
  shared_.push_back(&u.link); // GONE: u
  door::light_fence();        // (Q2), (Q4): pairs with the heavy fences at (Q1), (Q3)
  if (in_use_.load(std::memory_order_relaxed))
    notify_owner();
  if (is_waited_for())
    wake_waiters();
}

void fifo_pool::do_push(descriptor& u) {
  if (in_use_.load(std::memory_order_relaxed) && mine(worker_here())) {
    door::mark_listed(u);
    own_.list.push_back(&u.link);
    return;
  }
  push_shared(u); // GONE: u
}

void fifo_pool::push_plain(descriptor& u) {
  if (in_use_.load(std::memory_order_relaxed)) {
    do_push(u); // GONE: u
  } else {
    push_shared(u); // GONE: u
  }
  announce();
}

void fifo_pool::drain(worker& w) {
  if (!mine(&w))
    return;
  while (descriptor* u = unit_of(shared_.pop_front())) {
    door::mark_listed(*u);
    own_.list.push_back(&u->link);
  }
}

[[gnu::always_inline]] inline descriptor* fifo_pool::pop_shared() {
  descriptor* u = unit_of(shared_.pop_front());
  if (u == nullptr && in_use_.load(std::memory_order_relaxed))
    ask_to_share();
  return u;
}

descriptor* fifo_pool::do_pop(worker& here) {
  if (!mine(&here))
    return pop_shared();
  if (own_.list.empty())
    drain(here);
  return unit_of(own_.list.pop_front());
}

descriptor* fifo_pool::pop_for_user(ABT_pool_context) {
  worker* const w = in_use_.load(std::memory_order_relaxed) ? worker_here() : nullptr;
  return taken_by_user(w != nullptr ? do_pop(*w) : pop_shared());
}

std::size_t fifo_pool::pop_many(ABT_thread* into, std::size_t most, ABT_pool_context why) {
  std::size_t count = 0;
  if (mine(worker_here())) {
    while (count < most && !own_.list.empty())
      into[count++] = handle_of(*taken_by_user(unit_of(own_.list.pop_front())));
  }
  return count + pool::pop_many(into + count, most - count, why); // what others have pushed
}

bool fifo_pool::remove_listed(descriptor& u, worker& here) {
  if (u.own_pool.is(this) && door::is_taken(u))
    drain(here);
  if (!u.own_pool.is(this) || !door::is_listed(u))
    return false;
  own_.list.remove(&u.link);
  return true;
}

bool fifo_pool::do_remove(descriptor& u, worker* here) {
  if (in_use_.load(std::memory_order_relaxed)) [[unlikely]] {
    if (mine(here))
      return remove_listed(u, *here);
    ask_to_share();
  }
  // relaxed: under the lock, but for marks of other pools, which are not ours whatever they are
  return number_.get() != 0 &&
         shared_.remove_if(&u.link, [&u, this] { return u.container.load_relaxed() == number_.get(); });
}

// What only its owner may walk is counted by it, if that is short; else the pool keeps count from then on.
std::size_t fifo_pool::exact_size() {
  constexpr std::size_t short_walk = 256;
  if (mine(worker_here())) {
    const std::size_t count = own_.list.size() + shared_.size();
    if (count > short_walk)
      ask_to_share();
    return count;
  }
  const std::size_t shared = shared_.size();
  if (!in_use_.load(std::memory_order_relaxed))
    return shared;
  ask_to_share();
  const std::int64_t alive = units();
  return std::max(shared, alive > 1 ? static_cast<std::size_t>(alive - 1) : 0);
}

bool fifo_pool::looks_empty() const noexcept {
  if (!shared_.empty())
    return false;
  if (mine(worker_here()))
    return own_.list.empty();
  return !in_use_.load(std::memory_order_relaxed) || must_share_.load(std::memory_order_relaxed);
}

void fifo_pool::for_each(void* argument, void (*f)(void*, ABT_thread)) {
  if (mine(worker_here())) {
    for (door::unit_link* l = own_.list.first(); l != own_.list.end(); l = l->next)
      f(argument, handle_of(descriptor::from(*l)));
  }
  shared_.for_each([&](door::unit_link& l) { f(argument, handle_of(descriptor::from(l))); });
}

void fifo_pool::do_forget() {
  ::new (static_cast<void*>(&own_)) door::lent_list;
  ::new (static_cast<void*>(&shared_)) decltype(shared_)(door::marks_of(number_));
}

// --- randws_pool ---

randws_pool::randws_pool(ABT_pool_access a) : pool(a, door::fast_path::none, true) {}

void randws_pool::insert(descriptor& u, bool at_head) noexcept {
  u.state.post();
  if (at_head) {
    units_.push_front(&u.link); // GONE: u
  } else {
    units_.push_back(&u.link); // GONE: u
  }
  tell_waiters();
}

// What comes by a switch or a wake-up.
void randws_pool::do_push(descriptor& u) {
  const bool first = door::goes_first(u);
  if (first)
    door::let_go_first(u, false);
  insert(u, first);
}

void randws_pool::push_from_user(descriptor& u, ABT_pool_context why) {
  constexpr ABT_pool_context of_new_units =
      ABT_POOL_CONTEXT_OP_THREAD_CREATE | ABT_POOL_CONTEXT_OP_THREAD_CREATE_TO |
      ABT_POOL_CONTEXT_OP_THREAD_REVIVE | ABT_POOL_CONTEXT_OP_THREAD_REVIVE_TO;
  insert(u, (why & of_new_units) != 0); // GONE: u
  announce();
}

descriptor* randws_pool::do_pop(worker&) {
  return unit_of(units_.pop_front());
}

descriptor* randws_pool::do_steal(worker&) {
  return unit_of(units_.pop_back());
}

descriptor* randws_pool::pop_for_user(ABT_pool_context why) {
  return taken_by_user(
      unit_of((why & ABT_POOL_CONTEXT_OWNER_SECONDARY) != 0 ? units_.pop_back() : units_.pop_front()));
}

bool randws_pool::do_remove(descriptor& u, worker*) {
  // relaxed: as in fifo_pool
  return number_.get() != 0 &&
         units_.remove_if(&u.link, [&u, this] { return u.container.load_relaxed() == number_.get(); });
}

void randws_pool::for_each(void* argument, void (*f)(void*, ABT_thread)) {
  units_.for_each([&](door::unit_link& l) { f(argument, handle_of(descriptor::from(l))); });
}

void randws_pool::do_forget() {
  ::new (static_cast<void*>(&units_)) decltype(units_)(door::marks_of(number_));
}

// --- making ---

pool& make_pool(ABT_pool_kind k, ABT_pool_access a, bool automatic) {
  std::shared_ptr<pool> made;
  if (k == ABT_POOL_RANDWS) {
    made = std::allocate_shared<randws_pool>(cell_allocator<randws_pool>(), a);
  } else {
    made = std::allocate_shared<fifo_pool>(cell_allocator<fifo_pool>(), a, k);
  }
  made->automatic = automatic;
  pool& p = *made;
  p.self = std::move(made);
  return p;
}

void release_pool(pool& p) noexcept {
  const std::shared_ptr<pool> last = std::move(p.self);
}

} // namespace weft::abt
