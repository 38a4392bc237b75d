// SPDX-License-Identifier: MIT
// ABT_thread_migrate*: requests, which the core carries out when the unit is next scheduled. A unit of a
// user's pool has got its name there when the request is made, so that an error reaches who asked.
#include <algorithm>

#include "front/abt/context.hpp"
#include "front/abt/error.hpp"
#include "front/abt/pool.hpp"
#include "front/abt/runtime.hpp"
#include "front/abt/xstream.hpp"
#include "weft/door/request.hpp"
#include "weft/door/section.hpp"

using namespace weft::abt;
namespace door = weft::door;

namespace {

// Called by the core when the unit has its new own pool and is in no pool. `name`: what it is called there.
// What the info says of requests may be a later one's already, which the bit tells: that is noted under the
// lock.
void arrive(descriptor& u, void* name) {
  unit_info& info = *info_if_any(u);
  pool& target = *pool_of(u);
  auto* const old = static_cast<pool*>(door::pool_left_by(u).front());
  {
    const std::scoped_lock held(info.lock);
    if (!door::is_to_migrate(u)) {
      info.unit_there = ABT_UNIT_NULL;
      info.migration_target = nullptr;
    }
  }
  if (!is_null(info.unit))
    old->drop_name(info.unit);
  info.unit = static_cast<ABT_unit>(name);
  info.push_context = ABT_POOL_CONTEXT_OP_THREAD_MIGRATE;
  worker& w = door::here();
  target.count_unit(w, 1);
  old->count_leaving(w);
  if (info.callback != nullptr)
    info.callback(handle_of(u), info.callback_argument);
}

// Noted, no more: the unit goes where it is next scheduled, so that the last request wins. The names of those
// that give way are dropped; that of one which is being carried out is the unit's.
void note_request(descriptor& u, unit_info& info, pool& target, ABT_unit name) {
  door::prepare_migration(u); // memory is not taken under the lock
  pool* given_up = nullptr;
  ABT_unit name_there = ABT_UNIT_NULL;
  {
    const std::scoped_lock held(info.lock);
    bool replaced = false;
    if (!door::request_migration(u, target, &arrive, name, replaced))
      throw failure{ABT_ERR_INV_THREAD};
    if (replaced) {
      given_up = info.migration_target;
      name_there = info.unit_there;
    }
    info.migration_target = &target;
    info.unit_there = name;
  }
  if (given_up != nullptr)
    forget_name_in(*given_up, name_there);
}

int migrate(descriptor& u, pool& target) {
  pool* from = pool_of(u);
  if (!may_migrate(u) || has_ended(u) || from == nullptr)
    return ABT_ERR_INV_THREAD;
  if (from == &target)
    return ABT_ERR_MIGRATION_TARGET;
  unit_info& info = info_of(u);
  const ABT_unit name = target.names_units() ? target.name_unit(u, info) : ABT_UNIT_NULL;
  try {
    note_request(u, info, target, name);
  } catch (...) {
    forget_name_in(target, name);
    throw;
  }
  return ABT_SUCCESS;
}

// Where units that migrate to a scheduler go.
pool* pool_for_migration(scheduler& s) {
  if (s.definition.get_migr_pool == nullptr)
    return s.pools.front().get();
  return checked_pool(s.definition.get_migr_pool(weft::abt::handle_of<ABT_sched>(&s)));
}

int migrate_to_scheduler(descriptor& u, scheduler& s) {
  pool* p = pool_for_migration(s);
  return p != nullptr ? migrate(u, *p) : ABT_ERR_INV_SCHED;
}

// Another running stream that does not serve the unit's pool, from a different one on each time.
xstream* other_stream(const descriptor& u) {
  static std::atomic<std::size_t> turn{0};
  const pool* from = pool_of(u);
  const std::scoped_lock held(state().lock);
  const auto& all = state().streams;
  const std::size_t first = turn.fetch_add(1, std::memory_order_relaxed);
  for (std::size_t i = 0; i < all.size(); ++i) {
    xstream* es = all[(first + i) % all.size()];
    if (es->condition.load() == ABT_XSTREAM_STATE_RUNNING && !es->serves(from))
      return es;
  }
  return nullptr;
}

} // namespace

extern "C" {

int ABT_thread_migrate_to_xstream(ABT_thread thread, ABT_xstream handle) {
  const weft::door::runtime_section in_runtime;
  descriptor* u = checked_unit(thread);
  if (u == nullptr)
    return ABT_ERR_INV_THREAD;
  xstream* es = checked<xstream>(handle);
  if (es == nullptr || es->condition.load() == ABT_XSTREAM_STATE_TERMINATED)
    return ABT_ERR_INV_XSTREAM;
  return guarded([&] {
    if (es->serves(pool_of(*u)))
      return ABT_ERR_MIGRATION_TARGET;
    return migrate_to_scheduler(*u, *es->main.load());
  });
}

int ABT_thread_migrate_to_sched(ABT_thread thread, ABT_sched handle) {
  const weft::door::runtime_section in_runtime;
  descriptor* u = checked_unit(thread);
  if (u == nullptr)
    return ABT_ERR_INV_THREAD;
  scheduler* s = checked<scheduler>(handle);
  if (s == nullptr)
    return ABT_ERR_INV_SCHED;
  return guarded([&] { return migrate_to_scheduler(*u, *s); });
}

int ABT_thread_migrate_to_pool(ABT_thread thread, ABT_pool handle) {
  const weft::door::runtime_section in_runtime;
  descriptor* u = checked_unit(thread);
  if (u == nullptr)
    return ABT_ERR_INV_THREAD;
  pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  return guarded([&] { return migrate(*u, *p); });
}

int ABT_thread_migrate(ABT_thread thread) {
  const weft::door::runtime_section in_runtime;
  descriptor* u = checked_unit(thread);
  if (u == nullptr)
    return ABT_ERR_INV_THREAD;
  return guarded([&] {
    xstream* es = other_stream(*u);
    return es != nullptr ? migrate_to_scheduler(*u, *es->main.load()) : ABT_ERR_MIGRATION_NA;
  });
}

int ABT_thread_set_callback(ABT_thread thread, void (*callback)(ABT_thread, void*), void* argument) {
  const weft::door::runtime_section in_runtime;
  descriptor* u = checked_unit(thread);
  if (u == nullptr)
    return ABT_ERR_INV_THREAD;
  return guarded([&] {
    unit_info& info = info_of(*u);
    info.callback = callback;
    info.callback_argument = argument;
    return ABT_SUCCESS;
  });
}

int ABT_thread_set_migratable(ABT_thread thread, ABT_bool migratable) {
  const weft::door::runtime_section in_runtime;
  descriptor* u = checked_unit(thread);
  if (u == nullptr)
    return ABT_ERR_INV_THREAD;
  if (!is_users(*u))
    return ABT_SUCCESS;
  return guarded([&] {
    info_of(*u).migratable = migratable != ABT_FALSE;
    return ABT_SUCCESS;
  });
}

int ABT_thread_is_migratable(ABT_thread thread, ABT_bool* is_migratable) {
  const weft::door::runtime_section in_runtime;
  const descriptor* u = checked_unit(thread);
  if (u == nullptr)
    return ABT_ERR_INV_THREAD;
  *is_migratable = may_migrate(*u) ? ABT_TRUE : ABT_FALSE;
  return ABT_SUCCESS;
}

int ABT_task_set_migratable(ABT_task task, ABT_bool migratable) {
  const weft::door::runtime_section in_runtime;
  const int code = ABT_thread_set_migratable(task, migratable);
  return code == ABT_ERR_INV_THREAD ? ABT_ERR_INV_TASK : code;
}

int ABT_task_is_migratable(ABT_task task, ABT_bool* is_migratable) {
  const weft::door::runtime_section in_runtime;
  const int code = ABT_thread_is_migratable(task, is_migratable);
  return code == ABT_ERR_INV_THREAD ? ABT_ERR_INV_TASK : code;
}

} // extern "C"
