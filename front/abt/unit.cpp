// SPDX-License-Identifier: MIT
// How units of the C API are made, end, wait for each other and are freed.
#include "front/abt/unit.hpp"

#include <array>
#include <mutex>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "front/abt/context.hpp"
#include "front/abt/key.hpp"
#include "front/abt/pool.hpp"
#include "front/abt/runtime.hpp"
#include "front/abt/scheduler.hpp"
#include "front/abt/technique.hpp"
#include "front/abt/tool.hpp"
#include "weft/door/section.hpp"
#include "weft/memory/stack_record.hpp"
#include "weft/os/signal.hpp"
#include "weft/preempt/preparation.hpp"
#include "weft/sched/user_mode.hpp"
#include "weft/unit/extension.hpp"

namespace weft::abt {
namespace {

std::atomic<ABT_unit_id> next_id{1};

// --- end ---

[[gnu::noinline]] void count_end_elsewhere(worker& w, descriptor& u) noexcept {
  pool* p = pool_of(u);
  if (p == nullptr)
    return;
  p->count_leaving(w); // the last one may end on another stream than the one that waits for it
}

// The unit has no further use of its pool. Its descriptor is not published yet.
[[gnu::always_inline]] inline void count_end(descriptor& u) noexcept {
  worker& w = sched::here();
  sched::pool* const listed = w.listed;
  if (u.home.is(listed)) [[likely]] {
    listed->count_unit_here(-1);
  } else {
    count_end_elsewhere(w, u);
  }
}

void drop_info(descriptor& u) noexcept {
  unit_info* info = closure_of(u).info.exchange(nullptr, std::memory_order_acq_rel);
  if (info == nullptr)
    return;
  info->values.run_destructors();
  if (!is_null(info->unit)) {
    if (pool* p = pool_of(u))
      p->drop_name(info->unit);
  }
  if (info->migration_target != nullptr)
    forget_name_in(*info->migration_target, info->unit_there);
  destroy(info);
}

// Who frees a unit runs the user's code for it.
[[gnu::noinline]] void run_destructors_in_user_mode(unit_info& info) noexcept {
  const door::user_code_section out;
  info.values.run_destructors();
}

[[gnu::noinline]] void end_with_info(descriptor& u, unit_info& info) noexcept {
  if (u.join.is_detached())
    info.values.run_destructors(); // where they may still wait
}

[[gnu::always_inline]] inline void settle(descriptor& u) noexcept {
  if (unit_info* info = closure_of(u).info.load(std::memory_order_acquire)) [[unlikely]]
    end_with_info(u, *info);
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
  sched::end_now();
}

void discard(descriptor& u) {
  u.join.reset(); // its end has overwritten that it was unnamed, which a tool may ask
  static_cast<void>(u.join.detach());
  tell_tool(u, ABT_TOOL_EVENT_THREAD_FREE);
  drop_info(u);
  u.operations = &freed_operations;
}

// --- making ---

bool fits_descriptor(std::size_t stack_size) noexcept {
  return stack_size < (std::size_t{1} << 32);
}

// The record of a stack that the user supplies stands at its upper end, as in our own.
void* record_of(void* stack, std::size_t size) noexcept {
  const auto low = reinterpret_cast<std::uintptr_t>(stack);
  return reinterpret_cast<void*>((low + size - sizeof(memory::stack_record)) / 64 * 64);
}

void supply_stack(descriptor& u, const thread_attr& a) {
  auto* record = ::new (record_of(a.stack, a.stack_size)) memory::stack_record{};
  record->low = static_cast<std::byte*>(a.stack);
  record->size = a.stack_size;
  record->inline_floor = memory::stack_options::inline_floor(
      record->low, memory::stack_depot::process().options().inline_need());
  unit::extend(u).stack = record;
}

void apply_attributes(descriptor& u, const thread_attr& a) {
  const bool preemptible = a.preemption != ABTX_PREEMPTION_COOPERATIVE && u.kind() == unit::kind_thread;
  if (a.migratable && a.callback == nullptr && a.stack == nullptr && !preemptible)
    return;
  unit_info& info = info_of(u);
  info.preemption = preemptible ? a.preemption : ABTX_PREEMPTION_COOPERATIVE;
  info.migratable = a.migratable;
  info.callback = a.callback;
  info.callback_argument = a.callback_argument;
  info.stack = a.stack;
  info.stack_size = a.stack_size;
  if (a.stack != nullptr)
    supply_stack(u, a);
}

// What the attributes say, else the pool.
unit::technique_id technique_for(const creation& c, const pool& home) {
  if (c.operations != nullptr)
    return unit::technique_id::automatic; // a scheduler's loop
  const bool own_stack =
      c.attributes != nullptr && (c.attributes->stack != nullptr || c.attributes->stack_size != 0);
  unit::technique_id t = unit::technique_id::automatic;
  if (c.attributes != nullptr)
    t = *core_technique(c.attributes->technique);
  if (t == unit::technique_id::sc && own_stack)
    throw failure{ABT_ERR_INV_THREAD_ATTR};
  // What runs on its joiner's stack anyway needs no mark, and is made in fewer steps.
  if (t == unit::technique_id::inline_join)
    return home.default_technique() == unit::technique_id::automatic ? unit::technique_id::automatic : t;
  return t != unit::technique_id::automatic ? t : home.default_technique(own_stack);
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
  const auto kind = static_cast<sched::preemption>(info->preemption);
  int streams = 1;
  ABT_xstream_get_num(&streams);
  try {
    if (const preempt::preparation made{kind, static_cast<std::size_t>(streams)})
      sched::user_mode::attach(u, kind);
  } catch (const std::system_error& e) {
    throw failure{e.code() == std::errc::not_supported ? ABT_ERR_FEATURE_NA : ABT_ERR_SYS};
  }
}

std::uint64_t traits_for(const creation& c, const pool& home) {
  if (c.tasklet)
    return unit::kind_tasklet;
  std::size_t size = c.attributes != nullptr ? c.attributes->stack_size : 0;
  const bool supplied = c.attributes != nullptr && c.attributes->stack != nullptr;
  // A supplied one's size is always spelt out, so that no fast path takes it for ours.
  if (!supplied && (size == 0 || size == current().default_stack_size))
    size = current().stack_trait;
  // The kernel's signal frame, and what its handler calls.
  if (!supplied && size != 0 && preemption_for(c) != ABTX_PREEMPTION_COOPERATIVE)
    size += os::signal_stack_bytes(4096);
  if (!fits_descriptor(size))
    throw failure{ABT_ERR_MEM};
  std::uint64_t traits = unit::kind_thread | unit::stack_size_trait(static_cast<std::uint32_t>(size));
  if (supplied)
    traits |= unit::supplied_stack;
  return traits | unit::technique_trait(technique_for(c, home));
}

void give_name(descriptor& u, pool& home) {
  if (!home.names_units())
    return;
  unit_info& info = info_of(u);
  info.unit = home.name_unit(u);
}

} // namespace

void end_preemption(descriptor& self) noexcept {
  door::enter_runtime_for_good();
  sched::user_mode::detach(self);
}

namespace {

void run_preemptible(descriptor& u) {
  const closure& c = closure_of(u);
  c.function(c.argument);
  if (unit_info* info = c.info.load(std::memory_order_acquire)) // the user's destructors, in user mode
    end_with_info(u, *info);
  door::enter_runtime_for_good();
  sched::user_mode::prepare_end(u); // it yields, and may migrate meanwhile: no pool may have let it go
  count_end(u);
}

} // namespace

void run_ult(descriptor& u) {
  const closure& c = closure_of(u);
  c.function(c.argument);
  settle(u);
}

// The user's function names a unit.
constexpr std::size_t function_at = offsetof(descriptor, closure) + offsetof(closure, function);

constinit const unit::operations ult_operations{&run_ult,       &drop,    nullptr,    nullptr,
                                                &end_cancelled, &discard, function_at};
constinit const unit::operations preemptible_operations{&run_preemptible, &drop,    nullptr,    nullptr,
                                                        &end_cancelled,   &discard, function_at};
constinit const unit::operations tasklet_operations{&run_tasklet, &drop,    nullptr,    nullptr,
                                                    nullptr,      &discard, function_at};
constinit const unit::operations loop_operations{&run_ult,       &drop,    nullptr,    nullptr,
                                                 &end_cancelled, &discard, function_at};
constinit const unit::operations primary_operations{nullptr, nullptr, nullptr, "primary ULT",
                                                    nullptr, nullptr, 0};
constinit const unit::operations freed_operations{nullptr, nullptr, nullptr, "freed", nullptr, nullptr, 0};

unit_info& info_of(descriptor& u) {
  if (!is_ours(u))
    throw failure{ABT_ERR_INV_THREAD};
  std::atomic<unit_info*>& slot = closure_of(u).info;
  unit_info* info = slot.load(std::memory_order_acquire);
  if (info != nullptr)
    return *info;
  auto fresh = make_owned<unit_info>();
  u.traits.fetch_or_acq_rel(unit::fronted); // first: who finds nothing in `traits` need not look for it
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
  sched::pool* home = u.home;
  return home != nullptr ? static_cast<pool*>(home->front()) : nullptr;
}

descriptor& make_unit(pool& home, const creation& c, ABT_pool_context why) {
  const std::uint64_t traits = traits_for(c, home);
  descriptor& u = sched::allocate_unit_anywhere();
  const unit::operations* o = c.operations;
  if (o == nullptr)
    o = c.tasklet                                          ? &tasklet_operations
        : preemption_for(c) != ABTX_PREEMPTION_COOPERATIVE ? &preemptible_operations
                                                           : &ult_operations;
  unit::initialise(u, *o, &home, traits);
  if (unit::has_stack_at_creation(u.technique()))
    arch::idle_word(u.context) = nullptr; // it has none yet: see launch()
  ::new (static_cast<void*>(u.closure)) closure{c.function, c.argument, nullptr};
  try {
    if (c.attributes != nullptr)
      apply_attributes(u, *c.attributes);
    give_name(u, home);
    make_preemptible(u);
  } catch (...) {
    drop_info(u);
    unit::drop_extension(u);
    u.operations = &freed_operations;
    sched::free_unit(sched::here(), u);
    throw;
  }
  if (c.unnamed)
    static_cast<void>(u.join.detach());
  home.count_unit(sched::here(), 1);
  announce_push(u, why);
  tell_tool(u, ABT_TOOL_EVENT_THREAD_CREATE);
  return u;
}

descriptor& create_unit(pool& home, const creation& c) {
  descriptor& u = make_unit(home, c, ABT_POOL_CONTEXT_OP_THREAD_CREATE);
  launch(home, u); // GONE: u, if it is unnamed
  return u;
}

void launch(pool& home, descriptor& u) {
  if (unit::has_stack_at_creation(u.technique()))
    sched::reserve_stack(u);
  // Who pushes into a user's pool must give it what that pool calls the unit.
  if (unit::is_child_first(u.technique()) && !home.names_units())
    return sched::start_child(u);
  home.push_new(u);
}

void revive_unit(descriptor& u, pool& home, void (*function)(void*), void* argument, ABT_pool_context why) {
  unit_info* info = info_if_any(u);
  const bool supplied = u.has(unit::supplied_stack);
  unit::extension* extension = nullptr;
  if (supplied)
    extension = &unit::extend(u);
  move_home(u, home);
  if (extension != nullptr)
    extension->stack = static_cast<memory::stack_record*>(record_of(info->stack, info->stack_size));
  const std::uint64_t kept =
      u.traits.load_relaxed() & (unit::kind_mask | unit::supplied_stack | unit::technique_mask |
                                 unit::extended | unit::fronted | ~std::uint64_t{0xffffffff});
  const unit::operations& operations = *u.operations;
  sched::release_kept_stack(u);
  unit::initialise(u, operations, &home, kept);
  try {
    make_preemptible(u);
    if (unit::has_stack_at_creation(u.technique()))
      sched::reserve_stack(u);
  } catch (...) {
    sched::user_mode::detach(u);
    static_cast<void>(u.join.finish()); // it has ended, as before
    throw;
  }
  closure_of(u).function = function;
  closure_of(u).argument = argument;
  home.count_unit(sched::here(), 1);
  announce_push(u, why);
  tell_tool(u, ABT_TOOL_EVENT_THREAD_REVIVE);
}

void settle_end(descriptor& u) noexcept {
  settle(u);
}

void free_ended_unit(descriptor& u) noexcept {
  tell_tool(u, ABT_TOOL_EVENT_THREAD_FREE);
  sched::release_kept_stack(u);
  if (unit_info* info = info_if_any(u)) [[unlikely]] {
    run_destructors_in_user_mode(*info);
    drop_info(u);
  }
  u.operations = &freed_operations;
  sched::free_unit(sched::here(), u);
}

void drop_values_of_primary(descriptor& u) noexcept {
  drop_info(u);
}

int join_unit(descriptor& u, int code) noexcept {
  if (u.operations == &primary_operations || u.operations == &loop_operations || u.join.is_detached())
    return code;
  if (sched::on_worker() && sched::here().current == &u)
    return code;
  return guarded(
      [&] {
        if (!u.join.has_ended()) {
          const caller c = who();
          if (c == caller::tasklet || c == caller::loop) {
            door::poll_until([&u] { return u.join.has_ended(); });
          } else {
            const tool_reason why(ABT_SYNC_EVENT_TYPE_THREAD_JOIN, &u);
            sched::join_elsewhere(u); // what may run on this stack has gone the fast way
          }
        }
        sched::release_kept_stack(u);
        tell_tool(u, ABT_TOOL_EVENT_THREAD_JOIN);
        return ABT_SUCCESS;
      },
      code);
}

int free_unit(descriptor& u, int code) noexcept {
  const int joined = join_unit(u, code);
  if (joined == ABT_SUCCESS)
    free_ended_unit(u);
  return joined;
}

ABT_unit_id id_of(descriptor& u) {
  std::atomic<ABT_unit_id>& slot = info_of(u).id;
  ABT_unit_id id = slot.load(std::memory_order_relaxed);
  if (id != 0)
    return id;
  const ABT_unit_id fresh = next_id.fetch_add(1, std::memory_order_relaxed);
  return slot.compare_exchange_strong(id, fresh, std::memory_order_relaxed) ? fresh : id;
}

bool has_ended(const descriptor& u) noexcept {
  return u.join.has_ended();
}

ABT_thread_state state_of(const descriptor& u) noexcept {
  if (u.join.has_ended())
    return ABT_THREAD_STATE_TERMINATED;
  if (sched::on_worker() && sched::here().current == &u)
    return ABT_THREAD_STATE_RUNNING; // a tasklet that its joiner runs has no other mark
  switch (u.state.load()) {
  case unit::state::fresh:
  case unit::state::posted:
  case unit::state::ready:
    return ABT_THREAD_STATE_READY;
  case unit::state::blocked:
  case unit::state::suspended:
    return ABT_THREAD_STATE_BLOCKED;
  default: // one that is finished and not ended yet is on its last instructions
    return ABT_THREAD_STATE_RUNNING;
  }
}

bool may_migrate(const descriptor& u) noexcept {
  if (is_primary(u) || u.operations == &loop_operations)
    return false;
  const unit_info* info = info_if_any(u);
  return info == nullptr || info->migratable;
}

void move_home(descriptor& u, pool& target) {
  settle_in(u, target, name_in(u, target));
}

ABT_unit name_in(descriptor& u, pool& target) {
  if (pool_of(u) == &target || !target.names_units())
    return ABT_UNIT_NULL;
  static_cast<void>(info_of(u));
  return target.name_unit(u);
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
    worker& w = sched::here();
    target.count_unit(w, 1);
    if (from != nullptr)
      from->count_leaving(w);
  }
  u.home.publish(&target);
}

// --- unit handles ---

namespace {

// A pool may call a unit what another one calls it, the thread's own handle perhaps: while it moves from one
// to the other both names stand.
struct named_unit {
  descriptor* unit = nullptr;
  unsigned names = 0;
};
struct shard {
  std::mutex lock;
  std::unordered_map<ABT_unit, named_unit> units;
};
std::array<shard, 64>& shards() noexcept {
  alignas(std::array<shard, 64>) static std::byte room[sizeof(std::array<shard, 64>)];
  static auto* made = ::new (static_cast<void*>(room)) std::array<shard, 64>;
  return *made;
}
shard& shard_of(ABT_unit unit) noexcept {
  return shards()[(reinterpret_cast<std::uintptr_t>(unit) >> 6) % shards().size()];
}
constexpr std::uintptr_t predefined_bit = 1; // handles of users have it clear

} // namespace

void remember(ABT_unit unit, descriptor& u) {
  shard& s = shard_of(unit);
  const std::scoped_lock held(s.lock);
  named_unit& named = s.units[unit];
  named.unit = &u;
  ++named.names;
}

void forget(ABT_unit unit) noexcept {
  shard& s = shard_of(unit);
  const std::scoped_lock held(s.lock);
  if (const auto found = s.units.find(unit); found != s.units.end() && --found->second.names == 0)
    s.units.erase(found);
}

descriptor* unit_behind(ABT_unit unit) noexcept {
  if (is_null(unit))
    return nullptr;
  const auto word = reinterpret_cast<std::uintptr_t>(unit);
  if ((word & predefined_bit) != 0)
    return checked_unit(reinterpret_cast<ABT_thread>(word & ~predefined_bit));
  shard& s = shard_of(unit);
  const std::scoped_lock held(s.lock);
  const auto found = s.units.find(unit);
  return found != s.units.end() ? found->second.unit : nullptr;
}

ABT_unit unit_handle(const descriptor& u) noexcept {
  const unit_info* info = info_if_any(u);
  if (info != nullptr && !is_null(info->unit))
    return info->unit;
  return reinterpret_cast<ABT_unit>(reinterpret_cast<std::uintptr_t>(&u) | predefined_bit);
}

} // namespace weft::abt
