// SPDX-License-Identifier: MIT
// What a front's pools are made of; weft::pool itself, from which they derive, is weft/pool.hpp's. A pool
// whose units stand in a list that is one worker's alone lends it to that worker's fast paths
// (weft::pool::lend_list()); all others stand under a lock, and read `posted`, so that no fast path takes
// them for its own.
#pragma once

#include "weft/door/atomic.hpp"
#include "weft/door/deadline.hpp"
#include "weft/door/unit.hpp"
#include "weft/os/futex.hpp"
#include "weft/sched/stealing.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::door {

/// What the owner's fast paths may know of a pool: that its list may be lent, or nothing.
using fast_path = sched::fast_path;

using unit_link = queue::link;
using unit_list = queue::intrusive_fifo;
/// The list to lend: one whose ends fast paths may read without a look at its size. Not locked.
using lent_list = queue::guarded_fifo;
/// Tells the units of one pool from those of others, in descriptor::container, while there is a number left.
/// *Errors*: none.
using pool_number = sched::container_number;
/// A list under a lock, whose units bear the number and read `posted`.
using locked_list = queue::basic_locked_fifo<sched::unit_marks>;
[[nodiscard]] inline sched::unit_marks marks_of(const pool_number& number) noexcept {
  return sched::unit_marks(number);
}

/// The unit behind a link; null for null. *Contexts*: who may read the list. *Switches*: never. *Errors*:
/// none.
[[nodiscard]] inline descriptor* unit_of(unit_link* l) noexcept {
  return l != nullptr ? &descriptor::from(*l) : nullptr;
}
/// Says of a unit that it stands in a list that fast paths know.
inline void mark_listed(descriptor& u) noexcept {
  if (u.has_started()) {
    u.state.make_ready();
  } else {
    u.state.reset();
  }
}
/// Whether it reads so: it is in the list of the owner of its pool, who alone may ask.
[[nodiscard]] inline bool is_listed(const descriptor& u) noexcept {
  return u.state.is(unit::state::ready) || u.state.is(unit::state::fresh);
}

/// One unit from pools[first, last), pointers of any kind, beginning at a random one; null: they have none.
/// `seed`: 0 at first. *Contexts*: the loop of `thief`. *Switches*: never. *Errors*: what pools throw.
template <class Pools>
descriptor* steal_among(worker& thief, const Pools& pools, std::size_t first, std::size_t last,
                        std::uint64_t& seed) {
  return sched::steal_among(thief, pools, first, last, seed);
}

// --- kernel threads that wait for a push ---

/// Blocks the kernel thread while the word reads `value`, until it is woken or the time has passed; may
/// return early. *Contexts*: all but signal handlers. *Switches*: never. *Errors*: none.
inline void block_while(atomic<std::uint32_t>& word, std::uint32_t value, deadline until) noexcept {
  os::futex_wait_until(&word, value, until);
}
inline void wake_blocked(atomic<std::uint32_t>& word) noexcept {
  os::futex_wake_all(&word);
}
/// A worker that blocks so sees to its own timers: until when it may, and what is to be done then.
/// *Contexts*: on `w`, in the runtime. *Switches*: never.
[[nodiscard]] inline deadline next_timer_of(const worker& w) noexcept {
  return w.timing.queue.earliest();
}
inline void see_to_timers(worker& w) {
  w.budget = -1; // due now
  w.look_around();
}

} // namespace weft::door
