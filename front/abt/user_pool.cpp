// SPDX-License-Identifier: MIT
// Pools that the user wrote, by either definition. They have names of their own for units: made when a unit
// comes to live in the pool, dropped when it leaves.
#include "front/abt/user_pool.hpp"

#include <utility>

#include "front/abt/context.hpp"
#include "weft/door/stream.hpp"

namespace weft::abt {

user_pool::user_pool(ABT_pool_access a, std::unique_ptr<pool_callbacks> callbacks)
    : pool(a, door::fast_path::none, false, true), callbacks_(std::move(callbacks)) {}

ABT_pool user_pool::handle() const noexcept {
  return handle_of(const_cast<user_pool&>(*this));
}

void user_pool::initialise(ABT_pool_config config) {
  int code = ABT_SUCCESS;
  if (callbacks_->old_style && callbacks_->old.p_init != nullptr)
    code = callbacks_->old.p_init(handle(), config);
  if (!callbacks_->old_style && callbacks_->init != nullptr)
    code = callbacks_->init(handle(), config);
  if (code != ABT_SUCCESS)
    throw failure{code};
  initialised_ = true;
}

user_pool::~user_pool() {
  if (!initialised_)
    return;
  if (callbacks_->old_style && callbacks_->old.p_free != nullptr)
    callbacks_->old.p_free(handle());
  if (!callbacks_->old_style && callbacks_->free != nullptr)
    callbacks_->free(handle());
}

bool user_pool::is_old_style() const noexcept {
  return callbacks_->old_style;
}
bool user_pool::has_size() const noexcept {
  return callbacks_->old_style ? callbacks_->old.p_get_size != nullptr : callbacks_->get_size != nullptr;
}
bool user_pool::has_pop_wait() const noexcept {
  return callbacks_->old_style ? callbacks_->old_pop_wait != nullptr : callbacks_->pop_wait != nullptr;
}
bool user_pool::has_timed_wait() const noexcept {
  return callbacks_->old_style && callbacks_->old.p_pop_timedwait != nullptr;
}
bool user_pool::has_pop_many() const noexcept {
  return !callbacks_->old_style && callbacks_->pop_many != nullptr;
}
bool user_pool::has_push_many() const noexcept {
  return !callbacks_->old_style && callbacks_->push_many != nullptr;
}
bool user_pool::has_remove() const noexcept {
  return callbacks_->old_style && callbacks_->old.p_remove != nullptr;
}
bool user_pool::has_print() const noexcept {
  return callbacks_->old_style ? callbacks_->old.p_print_all != nullptr : callbacks_->print_all != nullptr;
}

ABT_unit user_pool::name_unit(descriptor& u, unit_info& info) {
  const ABT_unit name = callbacks_->old_style ? callbacks_->old.u_create_from_thread(handle_of(u))
                                              : callbacks_->create_unit(handle(), handle_of(u));
  if (is_null(name))
    throw failure{ABT_ERR_UNIT};
  try {
    remember(name, u, info.name);
  } catch (...) {
    drop_name(name);
    throw;
  }
  return name;
}

void user_pool::drop_name(ABT_unit name) noexcept {
  forget(name);
  if (!callbacks_->old_style) {
    callbacks_->free_unit(handle(), name);
  } else if (callbacks_->old.u_free != nullptr) {
    callbacks_->old.u_free(&name);
  }
}

// A weft::thread has no name here: it runs where its creator's stream runs what is its own.
void user_pool::push_foreign(descriptor& u) {
  if (worker* w = owner())
    return w->local.push(u);
  u.own_pool = &door::pool_of_default_runtime();
  u.own_pool->push(u);
}

void user_pool::do_push(descriptor& u) {
  if (!is_ours(u))
    return push_foreign(u);
  unit_info& info = *info_if_any(u); // there is one: it has the unit's name
  const ABT_pool_context why = std::exchange(info.push_context, ABT_POOL_CONTEXT_OP_POOL_OTHER);
  const ABT_unit name = info.unit;
  u.state.post();
  if (callbacks_->old_style) {
    callbacks_->old.p_push(handle(), name); // GONE: u
  } else {
    callbacks_->push(handle(), name, why); // GONE: u
  }
}

descriptor* user_pool::taken(ABT_thread t) noexcept {
  if (is_null(t))
    return nullptr;
  auto* u = reinterpret_cast<descriptor*>(t);
  u->state.post();
  return u;
}

descriptor* user_pool::pop_for_user(ABT_pool_context why) {
  if (!callbacks_->old_style)
    return taken(callbacks_->pop(handle(), why));
  descriptor* u = unit_behind(callbacks_->old.p_pop(handle()));
  return u != nullptr ? taken(handle_of(*u)) : nullptr;
}

descriptor* user_pool::do_pop(worker& here) {
  return pop_for_user(owned_by(here) ? ABT_POOL_CONTEXT_OWNER_PRIMARY : ABT_POOL_CONTEXT_OWNER_SECONDARY);
}

descriptor* user_pool::do_steal(worker&) {
  return pop_for_user(ABT_POOL_CONTEXT_OWNER_SECONDARY);
}

descriptor* user_pool::pop_wait(double seconds, ABT_pool_context why) {
  if (!callbacks_->old_style)
    return taken(callbacks_->pop_wait(handle(), seconds, why));
  descriptor* u = unit_behind(callbacks_->old_pop_wait(handle(), seconds));
  return u != nullptr ? taken(handle_of(*u)) : nullptr;
}

descriptor* user_pool::pop_timed_wait(double deadline) {
  descriptor* u = unit_behind(callbacks_->old.p_pop_timedwait(handle(), deadline));
  return u != nullptr ? taken(handle_of(*u)) : nullptr;
}

std::size_t user_pool::exact_size() {
  return callbacks_->old_style ? callbacks_->old.p_get_size(handle()) : callbacks_->get_size(handle());
}

bool user_pool::exact_empty() {
  return callbacks_->old_style ? exact_size() == 0 : callbacks_->is_empty(handle()) != ABT_FALSE;
}

bool user_pool::looks_empty() const noexcept {
  return const_cast<user_pool*>(this)->exact_empty();
}

std::size_t user_pool::pop_many(ABT_thread* into, std::size_t most, ABT_pool_context why) {
  std::size_t count = 0;
  callbacks_->pop_many(handle(), into, most, &count, why);
  for (std::size_t i = 0; i < count; ++i)
    taken(into[i]);
  return count;
}

void user_pool::push_many(const std::vector<descriptor*>& units, ABT_pool_context why) {
  std::vector<ABT_unit> names;
  names.reserve(units.size());
  for (descriptor* u : units)
    names.push_back(info_if_any(*u)->unit);
  callbacks_->push_many(handle(), names.data(), names.size(), why);
  announce();
}

void user_pool::for_each(void* argument, void (*f)(void*, ABT_thread)) {
  if (!callbacks_->old_style)
    return callbacks_->print_all(handle(), argument, f);
  struct visitor {
    void* argument;
    void (*f)(void*, ABT_thread);
  } v{argument, f};
  callbacks_->old.p_print_all(handle(), &v, [](void* p, ABT_unit name) {
    auto& to = *static_cast<visitor*>(p);
    if (descriptor* u = unit_behind(name))
      to.f(to.argument, handle_of(*u));
  });
}

bool user_pool::print_units(void* argument, void (*f)(void*, ABT_unit)) {
  if (callbacks_->old_style) {
    callbacks_->old.p_print_all(handle(), argument, f);
    return true;
  }
  struct visitor {
    void* argument;
    void (*f)(void*, ABT_unit);
  } v{argument, f};
  callbacks_->print_all(handle(), &v, [](void* p, ABT_thread t) {
    auto& to = *static_cast<visitor*>(p);
    if (descriptor* u = checked_unit(t))
      to.f(to.argument, unit_handle(*u));
  });
  return true;
}

int user_pool::remove_unit(ABT_unit unit) {
  const int code = callbacks_->old.p_remove(handle(), unit);
  if (code == ABT_SUCCESS)
    unit_behind(unit)->state.post();
  return code;
}

bool user_pool::do_remove(descriptor& u, worker*) {
  if (!has_remove() || callbacks_->old.u_is_in_pool == nullptr || !u.own_pool.is(this))
    return false;
  const unit_info* info = info_if_any(u);
  if (info == nullptr || is_null(info->unit) || callbacks_->old.u_is_in_pool(info->unit) == ABT_FALSE)
    return false;
  return callbacks_->old.p_remove(handle(), info->unit) == ABT_SUCCESS;
}

bool user_pool::remove_for_user(descriptor& u) {
  return pool::remove_for_user(u);
}

pool& make_user_pool(std::unique_ptr<pool_callbacks> callbacks, ABT_pool_access a, bool automatic,
                     ABT_pool_config config) {
  auto made = std::allocate_shared<user_pool>(cell_allocator<user_pool>(), a, std::move(callbacks));
  made->automatic = automatic;
  user_pool& p = *made;
  p.self = made; // the user's init may use the handle
  try {
    p.initialise(config);
  } catch (...) {
    p.self.reset();
    throw;
  }
  return p;
}

} // namespace weft::abt
