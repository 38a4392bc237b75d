// SPDX-License-Identifier: MIT
// Where new units come from and go to: the slow twins of create() in switch.hpp.
#include "weft/base/immortal.hpp"
#include "weft/carrier/runtime_section.hpp"
#include "weft/sched/default_group.hpp"
#include "weft/sched/switch.hpp"
#include "weft/simulator/simulation.hpp"
#include "weft/workers/group.hpp"

namespace weft::sched {
namespace {

// Lives as long as the last foreign kernel thread.
memory::shared_object_cache<descriptor>& foreign_units() noexcept {
  return base::immortal<memory::shared_object_cache<descriptor>>();
}

descriptor* allocate_outside() {
  simulation::refuse_others("create threads");
  return foreign_units().allocate();
}

// Threads of a low class make such threads, if nothing else is said.
pool* pool_at(worker& w) noexcept {
  const pool* mine = w.current->own_pool;
  const bool lower = mine != nullptr && mine->priority_class() > w.hot->priority_class();
  pool* found = lower ? w.hot->of_class(mine->priority_class()) : nullptr;
  return found != nullptr ? found : w.hot;
}

} // namespace

void make_shared_state() {
  static_cast<void>(foreign_units());
  static_cast<void>(timers_left_behind());
}

descriptor& allocate_unit_slowly() {
  if (!on_worker())
    default_group();
  return allocate_unit_anywhere();
}

descriptor& allocate_unit_anywhere() {
  const runtime_section in;
  worker& w = here();
  descriptor* u =
      (w.attention.load_relaxed() & not_a_worker) == 0 ? w.caches.descriptors.allocate() : allocate_outside();
  if (u == nullptr)
    throw std::bad_alloc();
  return *u;
}

void free_unit_slowly(descriptor& u) noexcept {
  const runtime_section in;
  if (on_worker()) {
    here().caches.descriptors.free(&u);
  } else {
    foreign_units().free(&u);
  }
}

pool* pool_of_unusual(descriptor& u) {
  const runtime_section in;
  pool* const own_pool = on_worker() ? pool_at(here()) : &default_group().next_pool();
  note_here(trace::event::create, &u);
  return own_pool;
}

void submit_slowly(descriptor& u) {
  const runtime_section in;
  u.own_pool = pool_of_new(u);
  const bool chooses = u.traits.equals_relaxed(unit::kind_thread);
  const unit::technique_id t = chooses ? u.own_pool->default_technique() : unit::technique_id::automatic;
  u.traits.fetch_or_relaxed(unit::technique_trait(t));
  submit_as(u, t); // GONE: u may have ended already if it is detached
}

} // namespace weft::sched
