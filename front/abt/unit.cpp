// SPDX-License-Identifier: MIT
// How units of the C API are made, end, wait for each other and are freed.
#include "front/abt/unit.hpp"

#include <system_error>
#include <utility>

#include "front/abt/context.hpp"
#include "front/abt/key.hpp"
#include "front/abt/pool.hpp"
#include "front/abt/runtime.hpp"
#include "front/abt/scheduler.hpp"
#include "front/abt/technique.hpp"
#include "front/abt/tool.hpp"
#include "front/abt/xstream.hpp"
#include "weft/door/preemptible.hpp"
#include "weft/door/section.hpp"
#include "weft/door/stack.hpp"
#include "weft/door/unit.hpp"

namespace weft::abt {
namespace {

std::atomic<ABT_unit_id> next_id{1};

// --- infos ---

// A stream keeps some for its next units, without a lock.
using kept_info = xstream::kept_info;
constexpr unsigned most_kept = 32;

[[gnu::always_inline]] inline void free_info(unit_info* info) noexcept {
  xstream* const es = stream_here();
  if (es == nullptr || es->kept_infos >= most_kept)
    return destroy(info);
  info->~unit_info();
  es->first_info = ::new (static_cast<void*>(info)) kept_info{es->first_info};
  ++es->kept_infos;
}

struct gives_back {
  void operator()(unit_info* info) const noexcept { free_info(info); }
};
using owner_of_info = std::unique_ptr<unit_info, gives_back>;

[[gnu::always_inline]] inline owner_of_info new_info() {
  xstream* const es = stream_here();
  if (es == nullptr || es->first_info == nullptr)
    return owner_of_info(make<unit_info>());
  kept_info* const kept = es->first_info;
  es->first_info = kept->next;
  --es->kept_infos;
  return owner_of_info(::new (static_cast<void*>(kept)) unit_info);
}

// --- end ---

[[gnu::noinline]] void count_end_elsewhere(worker& w, descriptor& u) noexcept {
  pool* p = pool_of(u);
  if (p == nullptr)
    return;
  p->count_leaving(w); // the last one may end on another stream than the one that waits for it
}

// The unit has no further use of its pool. Its descriptor is not published yet.
[[gnu::always_inline]] inline void count_end(descriptor& u) noexcept {
  worker& w = door::here();
  weft::pool* const listed = w.listed;
  if (u.own_pool.is(listed)) [[likely]] {
    listed->count_unit_here(-1);
  } else if (u.operations == &ult_operations || u.operations == &tasklet_operations) {
    static_cast<pool&>(*u.own_pool).count_leaving(w); // these live in pools of ours alone
  } else {
    count_end_elsewhere(w, u);
  }
}

// The pool of one that has a name: no others name units.
user_pool& naming_pool_of(const descriptor& u) noexcept {
  return static_cast<user_pool&>(*u.own_pool);
}

// Of one without values. `info` is no longer that of `u`.
[[gnu::always_inline]] inline void give_up_info(descriptor& u, unit_info* info) noexcept {
  if (!is_null(info->unit))
    naming_pool_of(u).drop_name(info->unit);
  if (info->migration_target != nullptr)
    forget_name_in(*info->migration_target, info->unit_there);
  free_info(info);
}

void drop_info(descriptor& u) noexcept {
  unit_info* info = closure_of(u).more.exchange(nullptr, std::memory_order_acq_rel);
  if (info == nullptr || info == only_stays())
    return;
  if (!info->values.empty())
    info->values.run_destructors();
  give_up_info(u, info);
}

// Who frees a unit runs the user's code for it.
[[gnu::noinline]] void run_destructors_in_user_mode(unit_info& info) noexcept {
  const door::user_code_section out;
  info.values.run_destructors();
}

[[gnu::noinline]] void end_detached(unit_info* info) noexcept {
  if (info != only_stays())
    info->values.run_destructors(); // where they may still wait
}
[[gnu::always_inline]] inline void end_with_info(const descriptor& u, unit_info* info) noexcept {
  if (u.join.is_detached())
    end_detached(info);
}

[[gnu::always_inline]] inline void settle(descriptor& u) noexcept {
  if (unit_info* info = closure_of(u).more.load(std::memory_order_acquire)) [[unlikely]]
    end_with_info(u, info);
  count_end(u);
}

// Nothing may leave a tasklet by an exception: there is no frame below it.
void run_tasklet(descriptor& u) noexcept {
  const closure& c = closure_of(u);
  c.function(c.argument);
  settle(u);
}

// Cancelled before it started.
void drop(descriptor& u) {
  tell_tool(u, ABT_TOOL_EVENT_THREAD_CANCEL);
  settle(u);
}

// Cancelled at a scheduling point: to a tool it yielded, and was cancelled while it was ready.
void end_cancelled(descriptor& u) {
  tell_tool(u, ABT_TOOL_EVENT_THREAD_YIELD);
  tell_tool(u, ABT_TOOL_EVENT_THREAD_CANCEL);
  settle(u);
  door::end_now();
}

void discard(descriptor& u) {
  if (!door::is_fronted(u) && !door::units_are_watched()) [[likely]] {
    u.operations = &freed_operations; // there is no more of it than its descriptor
    return;
  }
  u.join.begin_detached(); // its end has overwritten that it was unnamed, which a tool may ask
  tell_tool(u, ABT_TOOL_EVENT_THREAD_FREE);
  drop_info(u);
  u.operations = &freed_operations;
}

// --- making ---

void apply_attributes(descriptor& u, const thread_attr& a) {
  const bool preemptible = a.preemption != ABTX_PREEMPTION_COOPERATIVE && !is_tasklet(u);
  if (a.callback == nullptr && a.stack == nullptr && !preemptible) {
    if (!a.migratable)
      forbid_migration(u);
    return;
  }
  unit_info& info = info_of(u);
  info.preemption = preemptible ? a.preemption : ABTX_PREEMPTION_COOPERATIVE;
  info.migratable = a.migratable;
  info.callback = a.callback;
  info.callback_argument = a.callback_argument;
  info.stack = a.stack;
  info.stack_size = a.stack_size;
  if (a.stack != nullptr)
    door::supply_stack(u, a.stack, a.stack_size);
}

// What the attributes say, else the pool.
technique_id technique_for(const creation& c, const pool& own_pool) {
  if (c.operations != nullptr)
    return technique_id::automatic; // a scheduler's loop
  const bool own_stack =
      c.attributes != nullptr && (c.attributes->stack != nullptr || c.attributes->stack_size != 0);
  technique_id t = technique_id::automatic;
  if (c.attributes != nullptr)
    t = *core_technique(c.attributes->technique);
  if (t == technique_id::sc && own_stack)
    throw failure{ABT_ERR_INV_THREAD_ATTR};
  // What runs on its joiner's stack anyway needs no mark, and is made in fewer steps.
  if (t == technique_id::inline_join)
    return own_pool.default_technique() == technique_id::automatic ? technique_id::automatic : t;
  return t != technique_id::automatic ? t : own_pool.default_technique(own_stack);
}

ABTX_preemption preemption_for(const creation& c) noexcept {
  return c.attributes != nullptr && !c.tasklet && c.operations == nullptr ? c.attributes->preemption
                                                                          : ABTX_PREEMPTION_COOPERATIVE;
}

// What the info says, before the unit is pushed. FEATURE_NA: not on this machine.
void make_preemptible(descriptor& u) {
  const unit_info* info = info_if_any(u);
  if (info == nullptr || info->preemption == ABTX_PREEMPTION_COOPERATIVE)
    return;
  const auto kind = static_cast<weft::preemption>(info->preemption);
  int streams = 1;
  ABT_xstream_get_num(&streams);
  try {
    door::make_preemptible(u, kind, static_cast<std::size_t>(streams));
  } catch (const std::system_error& e) {
    throw failure{e.code() == std::errc::not_supported ? ABT_ERR_FEATURE_NA : ABT_ERR_SYS};
  }
}

std::uint64_t traits_for(const creation& c, const pool& own_pool) {
  if (c.tasklet)
    return door::plain_tasklet;
  std::size_t size = c.attributes != nullptr ? c.attributes->stack_size : 0;
  const bool supplied = c.attributes != nullptr && c.attributes->stack != nullptr;
  // A supplied one's size is always spelt out, so that no fast path takes it for ours.
  if (!supplied && (size == 0 || size == current().default_stack_size))
    size = current().stack_trait;
  // The kernel's signal frame, and what its handler calls.
  if (!supplied && size != 0 && preemption_for(c) != ABTX_PREEMPTION_COOPERATIVE)
    size += door::bytes_for_preemption();
  if (!door::thread_form::fits(size))
    throw failure{ABT_ERR_MEM};
  return door::thread_form{size, supplied, technique_for(c, own_pool)}.traits();
}

// info_of() for a new unit that nobody else knows. Errors: std::bad_alloc.
[[gnu::always_inline]] inline unit_info& info_of_new(descriptor& u) {
  std::atomic<unit_info*>& slot = closure_of(u).more;
  unit_info* const known = slot.load(std::memory_order_relaxed);
  if (known != nullptr && known != only_stays())
    return *known;
  unit_info* const fresh = new_info().release();
  fresh->migratable = known == nullptr;
  door::mark_fronted(u);
  slot.store(fresh,
             std::memory_order_relaxed); // whoever gets the unit gets it by a push, or from its creator
  return *fresh;
}

[[gnu::always_inline]] inline unit_info& give_name(descriptor& u, pool& own_pool) {
  unit_info& info = info_of_new(u);
  info.unit = static_cast<user_pool&>(own_pool).name_unit(u, info);
  return info;
}

void run_preemptible(descriptor& u) {
  const closure& c = closure_of(u);
  c.function(c.argument);
  if (unit_info* info = c.more.load(std::memory_order_acquire)) // the user's destructors, in user mode
    end_with_info(u, info);
  door::prepare_end_of_preemptible(u); // it may migrate meanwhile: no pool may have let it go
  count_end(u);
}

} // namespace

void run_ult(descriptor& u) {
  const closure& c = closure_of(u);
  c.function(c.argument);
  settle(u);
}

// The user's function names a unit.
constexpr std::size_t function_at = door::closure_function_at;

constinit const std::array<door::operations, 5> operations_of_units{{
    {&run_ult, &drop, nullptr, nullptr, &end_cancelled, &discard, function_at},         // of ULTs
    {&run_tasklet, &drop, nullptr, nullptr, nullptr, &discard, function_at},            // of tasklets
    {&run_ult, &drop, nullptr, nullptr, &end_cancelled, &discard, function_at},         // of loops
    {nullptr, nullptr, nullptr, "primary ULT", nullptr, nullptr, 0},                    // of the primary ULT
    {&run_preemptible, &drop, nullptr, nullptr, &end_cancelled, &discard, function_at}, // of preemptible ULTs
}};
constinit const door::operations freed_operations{nullptr, nullptr, nullptr, "freed", nullptr, nullptr, 0};

unit_info& info_of(descriptor& u) {
  if (!is_ours(u))
    throw failure{ABT_ERR_INV_THREAD};
  std::atomic<unit_info*>& slot = closure_of(u).more;
  unit_info* info = slot.load(std::memory_order_acquire);
  const bool stays = info == only_stays();
  if (info != nullptr && !stays)
    return *info;
  owner_of_info fresh = new_info();
  fresh->migratable = !stays;
  door::mark_fronted(u); // first
  // release: publishes it to info_if_any(); another thread may be faster
  if (slot.compare_exchange_strong(info, fresh.get(), std::memory_order_acq_rel, std::memory_order_acquire))
    return *fresh.release();
  return *info;
}

bool is_main_loop(const descriptor& u) noexcept {
  if (u.operations != &loop_operations)
    return false;
  const unit_info* info = info_if_any(u);
  return info != nullptr && info->loop != nullptr && info->loop->used.load() == use::main;
}

pool* pool_of(const descriptor& u) noexcept {
  weft::pool* own_pool = u.own_pool;
  return own_pool != nullptr ? static_cast<pool*>(own_pool->front()) : nullptr;
}

descriptor& make_unit(pool& own_pool, const creation& c, ABT_pool_context why) {
  const std::uint64_t traits = traits_for(c, own_pool);
  descriptor& u = door::allocate_unit();
  const door::operations* o = c.operations;
  if (o == nullptr)
    o = c.tasklet                                          ? &tasklet_operations
        : preemption_for(c) != ABTX_PREEMPTION_COOPERATIVE ? &preemptible_operations
                                                           : &ult_operations;
  door::begin_unit(u, *o, own_pool, traits);
  closure::make_in(u, c.function, c.argument);
  try {
    if (c.attributes != nullptr)
      apply_attributes(u, *c.attributes);
    if (own_pool.names_units())
      give_name(u, own_pool);
    if (o == &preemptible_operations) [[unlikely]]
      make_preemptible(u);
  } catch (...) {
    drop_info(u);
    door::forget_new_unit(u, freed_operations);
    throw;
  }
  if (c.unnamed)
    u.join.begin_detached();
  door::count(own_pool, 1);
  announce_push(u, why);
  tell_tool(u, ABT_TOOL_EVENT_THREAD_CREATE);
  return u;
}

unit_info& name_new_unit(descriptor& u, pool& own_pool) {
  try {
    return give_name(u, own_pool);
  } catch (...) {
    drop_info(u);
    own_pool.count_leaving(door::here());
    door::forget_new_unit(u, freed_operations);
    throw;
  }
}

descriptor& create_unit(pool& own_pool, const creation& c) {
  descriptor& u = make_unit(own_pool, c, ABT_POOL_CONTEXT_OP_THREAD_CREATE);
  launch(own_pool, u); // GONE: u, if it is unnamed
  return u;
}

void launch(pool& own_pool, descriptor& u) {
  // Who pushes into a user's pool must give it what that pool calls the unit.
  door::launch(u, !own_pool.names_units(), [&] { own_pool.push_new(u); }); // GONE: u, if it is unnamed
}

void revive_unit(descriptor& u, pool& own_pool, void (*function)(void*), void* argument,
                 ABT_pool_context why) {
  door::prepare_to_supply_again(u);
  move_to(u, own_pool);
  if (const unit_info* info = info_if_any(u))
    door::supply_again(u, info->stack, info->stack_size);
  door::renew_unit(u, own_pool, [&] { make_preemptible(u); });
  closure_of(u).function = function;
  closure_of(u).argument = argument;
  door::count(own_pool, 1);
  announce_push(u, why);
  tell_tool(u, ABT_TOOL_EVENT_THREAD_REVIVE);
}

void settle_end(descriptor& u) noexcept {
  settle(u);
}

namespace {

[[gnu::always_inline]] inline void free_ended(descriptor& u) noexcept {
  tell_tool(u, ABT_TOOL_EVENT_THREAD_FREE);
  door::release_stack(u);
  if (unit_info* info = info_in(u)) [[unlikely]] {
    if (info->values.empty()) {
      closure_of(u).more.store(nullptr, std::memory_order_relaxed); // nobody else knows the unit
      give_up_info(u, info);
    } else {
      run_destructors_in_user_mode(*info);
      drop_info(u);
    }
  }
  door::free_unit(u, freed_operations);
}

} // namespace

void free_ended_unit(descriptor& u) noexcept {
  free_ended(u);
}

void drop_values_of_primary(descriptor& u) noexcept {
  drop_info(u);
}

namespace {

// For the end of one that has not ended.
[[gnu::always_inline]] inline int await_unit(descriptor& u, int code) noexcept {
  if (!may_wait()) {
    if (door::is_caller(u))
      return code;
    door::poll_until([&u] { return has_ended(u); });
    return ABT_SUCCESS;
  }
  return guarded(
      [&u] {
        const tool_reason why(ABT_SYNC_EVENT_TYPE_THREAD_JOIN, &u);
        door::await_end(u); // what may run on this stack has gone the fast way
        return ABT_SUCCESS;
      },
      code);
}

[[gnu::always_inline]] inline int join_unit(descriptor& u, int code) noexcept {
  if (!is_users(u) || u.join.is_detached())
    return code;
  if (!has_ended(u)) {
    if (const int waited = await_unit(u, code); waited != ABT_SUCCESS)
      return waited;
  }
  door::release_stack(u);
  tell_tool(u, ABT_TOOL_EVENT_THREAD_JOIN);
  return ABT_SUCCESS;
}

} // namespace

int join_slowly(ABT_thread handle, int code) noexcept {
  const door::runtime_section in_runtime;
  descriptor* u = checked_unit(handle);
  return u != nullptr ? join_unit(*u, code) : code;
}

int free_slowly(ABT_thread* handle, ABT_thread null, int code) noexcept {
  const door::runtime_section in_runtime;
  descriptor* u = checked_unit(*handle);
  if (u == nullptr)
    return code;
  const int joined = join_unit(*u, code);
  if (joined != ABT_SUCCESS)
    return joined;
  free_ended(*u);
  *handle = null;
  return ABT_SUCCESS;
}

ABT_unit_id id_of(descriptor& u) {
  std::atomic<ABT_unit_id>& slot = info_of(u).id;
  ABT_unit_id id = slot.load(std::memory_order_relaxed);
  if (id != 0)
    return id;
  const ABT_unit_id fresh = next_id.fetch_add(1, std::memory_order_relaxed);
  return slot.compare_exchange_strong(id, fresh, std::memory_order_relaxed) ? fresh : id;
}

ABT_thread_state state_of(const descriptor& u) noexcept {
  switch (door::stage_of(u)) {
  case door::stage::ended:
    return ABT_THREAD_STATE_TERMINATED;
  case door::stage::ready:
    return ABT_THREAD_STATE_READY;
  case door::stage::blocked:
    return ABT_THREAD_STATE_BLOCKED;
  default:
    return ABT_THREAD_STATE_RUNNING;
  }
}

bool may_migrate(const descriptor& u) noexcept {
  if (!is_users(u))
    return false;
  if (is_ours(u) && closure_of(u).more.load(std::memory_order_acquire) == only_stays())
    return false;
  const unit_info* info = info_if_any(u);
  return info == nullptr || info->migratable;
}

void move_to(descriptor& u, pool& target) {
  settle_in(u, target, name_in(u, target));
}

ABT_unit name_in(descriptor& u, pool& target) {
  if (pool_of(u) == &target || !target.names_units())
    return ABT_UNIT_NULL;
  return target.name_unit(u, info_of(u));
}

void forget_name_in(pool& target, ABT_unit name) noexcept {
  if (!is_null(name))
    target.drop_name(name);
}

void settle_in(descriptor& u, pool& target, ABT_unit name) noexcept {
  pool* from = pool_of(u);
  if (from == &target)
    return;
  if (unit_info* info = info_if_any(u)) {
    if (!is_null(info->unit))
      from->drop_name(info->unit);
    info->unit = name;
  }
  if (!has_ended(u) && !is_primary(u)) {
    worker& w = door::here();
    target.count_unit(w, 1);
    if (from != nullptr)
      from->count_leaving(w);
  }
  u.own_pool.publish(&target);
}

void drop_kept_infos(xstream& es) noexcept {
  es.kept_infos = 0;
  while (kept_info* const kept = es.first_info) {
    es.first_info = kept->next;
    cell_allocator<unit_info>().deallocate(reinterpret_cast<unit_info*>(kept), 1);
  }
}

// --- unit handles ---

namespace {

constexpr std::uintptr_t predefined_bit = 1; // handles of users have it clear

} // namespace

descriptor* unit_behind(ABT_unit unit) noexcept {
  if (is_null(unit))
    return nullptr;
  const auto word = reinterpret_cast<std::uintptr_t>(unit);
  if ((word & predefined_bit) != 0)
    return checked_unit(reinterpret_cast<ABT_thread>(word & ~predefined_bit));
  return unit_named(unit);
}

ABT_unit unit_handle(const descriptor& u) noexcept {
  const unit_info* info = info_if_any(u);
  if (info != nullptr && !is_null(info->unit))
    return info->unit;
  return reinterpret_cast<ABT_unit>(reinterpret_cast<std::uintptr_t>(&u) | predefined_bit);
}

} // namespace weft::abt
