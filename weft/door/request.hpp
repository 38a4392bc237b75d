// SPDX-License-Identifier: MIT
// What is asked of a unit by others, and happens at its next scheduling point: to end, or to go on in another
// pool.
#pragma once

#include "weft/door/unit.hpp"
#include "weft/sched/requests.hpp"

namespace weft::door {

/// The unit ends as its operations say (drop, end). Nothing for one that has ended. *Contexts*: in the
/// runtime; who has a handle. *Switches*: may: one that waits in a pool may be ended by the caller. *Errors*:
/// std::bad_alloc.
inline void cancel(descriptor& u) {
  sched::request_cancel(u);
}
/// The primary thread and those that stand for a scheduler cannot be cancelled. *Contexts*: any. *Switches*:
/// never. *Errors*: none.
[[nodiscard]] inline bool may_be_cancelled(const descriptor& u) noexcept {
  return !u.has(unit::not_cancellable);
}

/// What a migration calls when the unit has its new own pool and is in none. *Contexts*: the loop of a
/// worker.
using arrival = void (*)(descriptor& moved, void* argument);

/// Takes what memory request_migration() needs, which is then called with a lock held. *Contexts*: in the
/// runtime; who has a handle. *Switches*: never. *Errors*: std::bad_alloc.
inline void prepare_migration(descriptor& u) {
  static_cast<void>(unit::extend(u));
}
/// Noted, no more: the unit goes to `target` where it is next scheduled, so that the last request wins.
/// False: it has ended. `replaced`: a request that nobody had begun to carry out has given way to this one.
/// *Contexts*, *Switches*: as prepare_migration(), which has been called. *Errors*: none.
[[nodiscard]] inline bool request_migration(descriptor& u, weft::pool& target, arrival f, void* argument,
                                            bool& replaced) noexcept {
  return unit::request_migration(u, {&target, f, argument}, &replaced);
}
/// Whether a request has come that nobody has begun to carry out. RACY, unless a lock orders it.
[[nodiscard]] inline bool is_to_migrate(const descriptor& u) noexcept {
  return u.has(unit::migration_requested);
}
/// In an arrival: the pool that the unit has left.
[[nodiscard]] inline weft::pool& pool_left_by(const descriptor& moved) noexcept {
  return *unit::extension_of(moved)->left;
}

} // namespace weft::door
