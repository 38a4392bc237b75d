// SPDX-License-Identifier: MIT
// Work units of the C API: ULTs and tasklets. A unit is a descriptor of the core, its handle the descriptor's
// address; what the core has no place for stands in a `unit_info` that most units never need.
//
// A unit lives in one pool at a time (descriptor::own_pool): that pool counts it (pool::count_unit), from
// creation to the end of its function, so that a stream knows whether blocked units will still come back to
// it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "front/abt/abt.h"
#include "front/abt/abtx.h"
#include "front/abt/context.hpp"
#include "front/abt/error.hpp"
#include "front/abt/object.hpp"
#include "front/abt/unit_names.hpp"
#include "weft/door/atomic.hpp"
#include "weft/door/local.hpp"
#include "weft/door/unit.hpp"

namespace weft::abt {

using door::descriptor;
using weft::worker;

struct key;
class pool;
struct scheduler;

struct thread_attr : object {
  static constexpr kind own_kind = kind::thread_attr;
  thread_attr() noexcept : object(own_kind) {}
  thread_attr(const thread_attr& other) noexcept : object(own_kind) { assign(other); }
  void assign(const thread_attr& other) noexcept {
    stack = other.stack;
    stack_size = other.stack_size;
    migratable = other.migratable;
    callback = other.callback;
    callback_argument = other.callback_argument;
    technique = other.technique;
    preemption = other.preemption;
    of_thread = other.of_thread;
  }

  void* stack = nullptr;      // the user's, lowest address
  std::size_t stack_size = 0; // bytes; 0: the default
  bool migratable = true;
  void (*callback)(ABT_thread, void*) = nullptr;
  void* callback_argument = nullptr;
  ABTX_technique technique = ABTX_TECHNIQUE_DEFAULT;
  ABTX_preemption preemption = ABTX_PREEMPTION_COOPERATIVE;
  bool of_thread = false; // from ABT_thread_get_attr: a size of 0 is what it says
};

// What few units need. Made at the first need (info_of), freed with the unit. Ownership: `lock` guards
// the fields of migration; the rest, but the values, belongs to whoever holds the unit.
struct unit_info {
  door::spin_lock lock;
  door::local_values values;
  std::atomic<ABT_unit_id> id{0};
  ABT_unit unit = ABT_UNIT_NULL; // what the user's pool calls it; null: in no such pool
  unit_name name;                // of those that such pools call it by, one
  ABT_pool_context push_context = ABT_POOL_CONTEXT_OP_POOL_OTHER; // of the next push into a user's pool
  bool migratable = true;
  void (*callback)(ABT_thread, void*) = nullptr;
  void* callback_argument = nullptr;
  void* stack = nullptr; // the user's
  std::size_t stack_size = 0;
  pool* migration_target = nullptr; // asked for; `unit_there` is its unit if it is a user's pool
  ABT_unit unit_there = ABT_UNIT_NULL;
  ABT_sync_event_type waits_for = ABT_SYNC_EVENT_TYPE_USER; // told to tools
  void* waits_for_object = nullptr;
  ABTX_preemption preemption = ABTX_PREEMPTION_COOPERATIVE;
  scheduler* loop = nullptr; // the scheduler whose loop this ULT is
};

using closure = door::closure<unit_info>;
inline closure& closure_of(descriptor& u) noexcept {
  return closure::of(u);
}
inline const closure& closure_of(const descriptor& u) noexcept {
  return closure::of(u);
}

// The function of a ULT, and the end of its accounts.
void run_ult(descriptor& u);
extern const std::array<door::operations, 5> operations_of_units; // together: is_ours() asks for all of them
inline constexpr const door::operations& ult_operations = operations_of_units[0];
inline constexpr const door::operations& tasklet_operations = operations_of_units[1];
inline constexpr const door::operations& loop_operations = operations_of_units[2]; // a scheduler's loop
inline constexpr const door::operations& primary_operations = operations_of_units[3];
inline constexpr const door::operations& preemptible_operations = operations_of_units[4];
extern const door::operations freed_operations; // what stale handles find

// While a ULT may be preempted its operations are the runtime's; it has an info.
inline bool is_ours(const descriptor& u) noexcept {
  const door::operations* o = u.operations;
  const auto offset =
      reinterpret_cast<std::uintptr_t>(o) - reinterpret_cast<std::uintptr_t>(operations_of_units.data());
  return offset < sizeof operations_of_units || (door::is_fronted(u) && o != &freed_operations);
}
// Of a unit of the C API: whether it is neither a scheduler's loop nor the primary ULT, which nobody may join
// or end.
inline bool is_users(const descriptor& u) noexcept {
  const door::operations* o = u.operations;
  return o != &loop_operations && o != &primary_operations;
}
// Stands in the place of an info that would say no more than that the unit may not migrate: such a unit has
// none, and is a plain one to the fast paths.
inline unit_info* only_stays() noexcept {
  return reinterpret_cast<unit_info*>(std::uintptr_t{1});
}
// Of a unit of the C API; null: it never needed one. acquire: pairs with the release in info_of().
inline unit_info* info_in(const descriptor& u) noexcept {
  unit_info* const info = closure_of(u).more.load(std::memory_order_acquire);
  return info != only_stays() ? info : nullptr;
}
// A new unit without an info, that nobody else knows yet, may not migrate.
inline void forbid_migration(descriptor& u) noexcept {
  closure_of(u).more.store(only_stays(), std::memory_order_relaxed);
}
// Null: it never needed one, or is no unit of the C API, as a weft::thread.
inline unit_info* info_if_any(const descriptor& u) noexcept {
  return is_ours(u) ? info_in(u) : nullptr;
}
// Errors: std::bad_alloc; failure{ABT_ERR_INV_THREAD} for no unit of the C API.
unit_info& info_of(descriptor& u);
using door::has_ended;
using door::is_tasklet;
inline bool is_primary(const descriptor& u) noexcept {
  return u.operations == &primary_operations;
}

// The unit behind a handle; null for null handles, freed units, and what is none.
inline descriptor* checked_unit(ABT_thread handle) noexcept {
  if (is_null(handle) || reinterpret_cast<std::uintptr_t>(handle) % alignof(descriptor) != 0)
    return nullptr;
  auto* u = reinterpret_cast<descriptor*>(handle);
  return is_ours(*u) ? u : nullptr;
}
inline ABT_thread handle_of(descriptor& u) noexcept {
  return reinterpret_cast<ABT_thread>(&u);
}

struct creation {
  void (*function)(void*);
  void* argument;
  const thread_attr* attributes = nullptr;
  bool tasklet = false;
  bool unnamed = false;
  const door::operations* operations = nullptr; // null: as `tasklet` says
};

// Makes a unit that lives in `own_pool` and is in no pool yet. Contexts: all but signal handlers. Switches:
// never, unless the user's create_unit does. Errors: std::bad_alloc, failure{ABT_ERR_...}; nothing is left
// behind.
descriptor& make_unit(pool& own_pool, const creation& c, ABT_pool_context why);
// What a stream keeps of the memory of infos.
void drop_kept_infos(xstream& es) noexcept;
// Gives a new unit, in no pool yet, the name that its pool has for it. Errors: as make_unit(); the unit is
// gone then.
unit_info& name_new_unit(descriptor& u, pool& own_pool);
// make_unit(), and pushes it.
descriptor& create_unit(pool& own_pool, const creation& c);
// Pushes a unit that was made, as its technique wants it: it may have its stack from then on, or run at once
// in place of the caller. Switches: may. GONE: u, if it is unnamed.
void launch(pool& own_pool, descriptor& u);

// A new life for a unit that has ended. Errors: as make_unit(); the unit is as before then.
void revive_unit(descriptor& u, pool& own_pool, void (*function)(void*), void* argument,
                 ABT_pool_context why);

// Frees a unit that has ended and that nobody else knows. Runs the destructors of its local values.
void free_ended_unit(descriptor& u) noexcept;
// The slow ways of ABT_*_join and ABT_*_free. `code`: what is told of a handle of none, and of a unit that
// the caller may not join. `null`: the handle's last value.
int join_slowly(ABT_thread handle, int code) noexcept;
int free_slowly(ABT_thread* handle, ABT_thread null, int code) noexcept;

// Ends the running unit's accounts: its pool, its values if nobody will free it. For ULTs that end without
// returning.
void settle_end(descriptor& u) noexcept;

ABT_unit_id id_of(descriptor& u);
ABT_thread_state state_of(const descriptor& u) noexcept;
// Migration is refused for the primary ULT and the loops of schedulers.
bool may_migrate(const descriptor& u) noexcept;
// A ULT that is the loop of a stream's main scheduler: it may wait, but not name what runs in its place.
bool is_main_loop(const descriptor& u) noexcept;

// calling_ult() for switches that name what runs next.
inline ult_caller calling_replaceable() noexcept {
  const ult_caller c = calling_ult();
  return c.code == ABT_SUCCESS && is_main_loop(*c.self) ? ult_caller{nullptr, ABT_ERR_INV_THREAD} : c;
}

// The pool the unit lives in, if it is one of the C API's.
pool* pool_of(const descriptor& u) noexcept;

// What the primary ULT was given, at finalisation.
void drop_values_of_primary(descriptor& u) noexcept;

// Makes `target` the pool of its own of a unit that is in no pool. Errors: failure; the unit is as before
// then.
void move_to(descriptor& u, pool& target);
// The same in two steps, of which only the first can fail; forget_name_in() takes that back.
[[nodiscard]] ABT_unit name_in(descriptor& u, pool& target);
void forget_name_in(pool& target, ABT_unit name) noexcept;
void settle_in(descriptor& u, pool& target, ABT_unit name) noexcept;

// --- the unit handles of user-defined pools ---

// The ULT or tasklet of a unit handle of any pool; null if there is none.
descriptor* unit_behind(ABT_unit unit) noexcept;
ABT_unit unit_handle(const descriptor& u) noexcept;

// Where a switch or a push of `u` comes from, for user-defined pools.
inline void announce_push(descriptor& u, ABT_pool_context why) noexcept {
  if (unit_info* info = info_if_any(u))
    info->push_context = why;
}

} // namespace weft::abt
