// SPDX-License-Identifier: MIT
// ABT_pool_*, ABT_pool_user_def_*, ABT_unit_*.
#include "front/abt/pool.hpp"

#include <algorithm>
#include <new>

#include "front/abt/config.hpp"
#include "front/abt/context.hpp"
#include "front/abt/error.hpp"
#include "front/abt/technique.hpp"
#include "front/abt/user_pool.hpp"
#include "weft/door/section.hpp"

namespace weft::abt {

std::size_t total_size(pool& p) {
  const std::size_t ready = p.exact_size();
  std::int64_t alive = p.units();
  const descriptor* self = unit_here();
  if (self != nullptr && is_ours(*self) && !is_primary(*self) && pool_of(*self) == &p)
    --alive; // it runs
  return std::max(ready, alive > 0 ? static_cast<std::size_t>(alive) : 0);
}

namespace {

// Into the pool, which becomes its own.
void push(pool& p, descriptor& u, ABT_pool_context why) {
  move_to(u, p);
  p.push_from_user(u, why);
}

const pool_config* config_of(ABT_pool_config handle) {
  if (is_null(handle))
    return nullptr;
  const pool_config* c = checked<pool_config>(handle);
  if (c == nullptr)
    throw failure{ABT_ERR_INV_POOL_CONFIG};
  return c;
}

// A definition is of the old style if it says how units are made of threads.
bool is_old_style(ABT_pool_user_def def) noexcept {
  return !reinterpret_cast<const object*>(def)->is(kind::pool_user_def);
}

std::unique_ptr<pool_callbacks> copy_of(const pool_user_def& d) {
  auto c = std::make_unique<pool_callbacks>();
  c->create_unit = d.create_unit;
  c->free_unit = d.free_unit;
  c->is_empty = d.is_empty;
  c->pop = d.pop;
  c->push = d.push;
  c->init = d.init;
  c->free = d.free;
  c->get_size = d.get_size;
  c->pop_wait = d.pop_wait;
  c->pop_many = d.pop_many;
  c->push_many = d.push_many;
  c->print_all = d.print_all;
  return c;
}

bool is_complete(const ABT_pool_def& d) noexcept {
  return d.access >= ABT_POOL_ACCESS_PRIV && d.access <= ABT_POOL_ACCESS_MPMC &&
         d.u_create_from_thread != nullptr && d.u_free != nullptr && d.p_get_size != nullptr &&
         d.p_push != nullptr && d.p_pop != nullptr;
}

int create(std::unique_ptr<pool_callbacks> c, ABT_pool_access access, ABT_pool_config config,
           ABT_pool* result) {
  const pool_config* settings = config_of(config);
  const bool automatic = settings != nullptr && settings->integer(key_automatic_pool, 0) != 0;
  *result = handle_of(make_user_pool(std::move(c), access, automatic, config));
  return ABT_SUCCESS;
}

int create_old_style(const ABT_pool_def& d, ABT_pool_pop_wait_fn pop_wait, ABT_pool_config config,
                     ABT_pool* result) {
  if (!is_complete(d))
    return ABT_ERR_INV_POOL_USER_DEF;
  auto c = std::make_unique<pool_callbacks>();
  c->old_style = true;
  c->old = d;
  c->old_pop_wait = pop_wait;
  return create(std::move(c), d.access, config, result);
}

template <class Callback>
int set_callback(ABT_pool_user_def handle, Callback pool_user_def::* member, Callback callback) {
  auto* d = checked<pool_user_def>(handle);
  if (d == nullptr)
    return ABT_ERR_INV_POOL_USER_DEF;
  d->*member = callback;
  return ABT_SUCCESS;
}

[[gnu::always_inline]] inline int pop_inside(ABT_pool handle, ABT_thread* thread, ABT_pool_context context) {
  *thread = ABT_THREAD_NULL;
  pool* const p = checked_pool(handle);
  if (p == nullptr) [[unlikely]]
    return ABT_ERR_INV_POOL;
  if (descriptor* const u = p->pop_for_user(context))
    *thread = handle_of(*u);
  return ABT_SUCCESS;
}
[[gnu::always_inline]] inline int pop_thread(ABT_pool handle, ABT_thread* thread, ABT_pool_context context) {
  if (door::needs_no_section()) [[likely]]
    return pop_inside(handle, thread, context);
  return call_in_section([=] { return pop_inside(handle, thread, context); });
}

user_pool* as_user_pool(pool& p) noexcept {
  return p.names_units() ? static_cast<user_pool*>(&p) : nullptr;
}

} // namespace
} // namespace weft::abt

using namespace weft::abt;

extern "C" {

int ABT_pool_create(ABT_pool_user_def def, ABT_pool_config config, ABT_pool* newpool) {
  const weft::door::runtime_section in_runtime;
  *newpool = ABT_POOL_NULL;
  if (is_null(def))
    return ABT_ERR_INV_POOL_USER_DEF;
  return guarded([&] {
    if (is_old_style(def))
      return create_old_style(*reinterpret_cast<const ABT_pool_def*>(def), nullptr, config, newpool);
    return create(copy_of(*reinterpret_cast<const pool_user_def*>(def)), ABT_POOL_ACCESS_MPMC, config,
                  newpool);
  });
}

int ABT_pool_create_basic(ABT_pool_kind kind, ABT_pool_access access, ABT_bool automatic, ABT_pool* newpool) {
  const weft::door::runtime_section in_runtime;
  *newpool = ABT_POOL_NULL;
  if (kind < ABT_POOL_FIFO || kind > ABT_POOL_RANDWS)
    return ABT_ERR_INV_POOL_KIND;
  if (access < ABT_POOL_ACCESS_PRIV || access > ABT_POOL_ACCESS_MPMC)
    return ABT_ERR_INV_POOL_ACCESS;
  return guarded([&] {
    *newpool = handle_of(make_pool(kind, access, automatic != ABT_FALSE));
    return ABT_SUCCESS;
  });
}

int ABT_pool_free(ABT_pool* handle) {
  const weft::door::runtime_section in_runtime;
  pool* p = checked_pool(*handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  release_pool(*p);
  *handle = ABT_POOL_NULL;
  return ABT_SUCCESS;
}

int ABT_pool_get_access(ABT_pool handle, ABT_pool_access* access) {
  const weft::door::runtime_section in_runtime;
  const pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  *access = p->access;
  return ABT_SUCCESS;
}

int ABT_pool_is_empty(ABT_pool handle, ABT_bool* is_empty) {
  const weft::door::runtime_section in_runtime;
  pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  *is_empty = p->exact_empty() ? ABT_TRUE : ABT_FALSE;
  return ABT_SUCCESS;
}

int ABT_pool_get_size(ABT_pool handle, size_t* size) {
  const weft::door::runtime_section in_runtime;
  pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  if (!p->has_size())
    return ABT_ERR_POOL;
  *size = p->exact_size();
  return ABT_SUCCESS;
}

int ABT_pool_get_total_size(ABT_pool handle, size_t* size) {
  const weft::door::runtime_section in_runtime;
  pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  if (!p->has_size())
    return ABT_ERR_POOL;
  *size = total_size(*p);
  return ABT_SUCCESS;
}

int ABT_pool_pop_thread(ABT_pool pool, ABT_thread* thread) {
  return pop_thread(pool, thread, ABT_POOL_CONTEXT_OP_POOL_OTHER);
}

int ABT_pool_pop_thread_ex(ABT_pool pool, ABT_thread* thread, ABT_pool_context context) {
  return pop_thread(pool, thread, context);
}

int ABT_pool_pop_threads(ABT_pool pool, ABT_thread* threads, size_t len, size_t* num) {
  const weft::door::runtime_section in_runtime;
  return ABT_pool_pop_threads_ex(pool, threads, len, num, ABT_POOL_CONTEXT_OP_POOL_OTHER);
}

int ABT_pool_pop_threads_ex(ABT_pool handle, ABT_thread* threads, size_t len, size_t* num,
                            ABT_pool_context context) {
  const weft::door::runtime_section in_runtime;
  pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  if (!p->has_pop_many())
    return ABT_ERR_POOL;
  *num = p->pop_many(threads, len, context);
  return ABT_SUCCESS;
}

int ABT_pool_push_thread(ABT_pool pool, ABT_thread thread) {
  const weft::door::runtime_section in_runtime;
  return ABT_pool_push_thread_ex(pool, thread, ABT_POOL_CONTEXT_OP_POOL_OTHER);
}

int ABT_pool_push_thread_ex(ABT_pool handle, ABT_thread thread, ABT_pool_context context) {
  const weft::door::runtime_section in_runtime;
  pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  descriptor* u = checked_unit(thread);
  if (u == nullptr)
    return is_null(thread) ? ABT_SUCCESS : ABT_ERR_INV_THREAD;
  return guarded([&] {
    push(*p, *u, context);
    return ABT_SUCCESS;
  });
}

int ABT_pool_push_threads(ABT_pool pool, const ABT_thread* threads, size_t num) {
  const weft::door::runtime_section in_runtime;
  return ABT_pool_push_threads_ex(pool, threads, num, ABT_POOL_CONTEXT_OP_POOL_OTHER);
}

int ABT_pool_push_threads_ex(ABT_pool handle, const ABT_thread* threads, size_t num,
                             ABT_pool_context context) {
  const weft::door::runtime_section in_runtime;
  pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  if (!p->has_push_many())
    return ABT_ERR_POOL;
  return guarded([&] {
    std::vector<descriptor*> units;
    units.reserve(num);
    for (size_t i = 0; i < num; ++i) {
      if (is_null(threads[i]))
        continue;
      descriptor* u = checked_unit(threads[i]);
      if (u == nullptr)
        return ABT_ERR_INV_THREAD;
      units.push_back(u);
    }
    for (descriptor* u : units)
      move_to(*u, *p);
    p->push_many(units, context);
    return ABT_SUCCESS;
  });
}

int ABT_pool_pop_wait_thread(ABT_pool pool, ABT_thread* thread, double time_secs) {
  const weft::door::runtime_section in_runtime;
  return ABT_pool_pop_wait_thread_ex(pool, thread, time_secs, ABT_POOL_CONTEXT_OP_POOL_OTHER);
}

int ABT_pool_pop_wait_thread_ex(ABT_pool handle, ABT_thread* thread, double time_secs,
                                ABT_pool_context context) {
  const weft::door::runtime_section in_runtime;
  *thread = ABT_THREAD_NULL;
  pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  if (!p->has_pop_wait())
    return ABT_ERR_POOL;
  if (descriptor* u = p->pop_wait(time_secs, context))
    *thread = handle_of(*u);
  return ABT_SUCCESS;
}

int ABT_pool_print_all_threads(ABT_pool handle, void* arg, void (*print_fn)(void*, ABT_thread)) {
  const weft::door::runtime_section in_runtime;
  pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  if (!p->has_print())
    return ABT_ERR_POOL;
  p->for_each(arg, print_fn);
  return ABT_SUCCESS;
}

int ABT_pool_set_data(ABT_pool handle, void* data) {
  const weft::door::runtime_section in_runtime;
  pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  p->data = data;
  return ABT_SUCCESS;
}

int ABT_pool_get_data(ABT_pool handle, void** data) {
  const pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  *data = p->data;
  return ABT_SUCCESS;
}

// As ABTX_thread_attr_set_technique(): to load any number for an enumeration is the refusal of it.
__attribute__((no_sanitize("undefined"))) int ABTX_pool_set_technique(ABT_pool handle,
                                                                      ABTX_technique technique) {
  const weft::door::runtime_section in_runtime;
  pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  const auto t = core_technique(technique);
  if (!t)
    return ABT_ERR_INV_ARG;
  p->set_default_technique(*t);
  return ABT_SUCCESS;
}

int ABTX_pool_get_technique(ABT_pool handle, ABTX_technique* technique) {
  const weft::door::runtime_section in_runtime;
  const pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  *technique = technique_of(p->default_technique());
  return ABT_SUCCESS;
}

int ABT_pool_get_id(ABT_pool handle, int* id) {
  const weft::door::runtime_section in_runtime;
  const pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  *id = p->id;
  return ABT_SUCCESS;
}

// --- by units ---

int ABT_pool_pop(ABT_pool handle, ABT_unit* unit) {
  const weft::door::runtime_section in_runtime;
  *unit = ABT_UNIT_NULL;
  pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  if (descriptor* u = p->pop_for_user(ABT_POOL_CONTEXT_OP_POOL_OTHER))
    *unit = unit_handle(*u);
  return ABT_SUCCESS;
}

int ABT_pool_pop_wait(ABT_pool handle, ABT_unit* unit, double time_secs) {
  const weft::door::runtime_section in_runtime;
  *unit = ABT_UNIT_NULL;
  pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  if (!p->has_pop_wait())
    return ABT_ERR_POOL;
  if (descriptor* u = p->pop_wait(time_secs, ABT_POOL_CONTEXT_OP_POOL_OTHER))
    *unit = unit_handle(*u);
  return ABT_SUCCESS;
}

int ABT_pool_pop_timedwait(ABT_pool handle, ABT_unit* unit, double abstime_secs) {
  const weft::door::runtime_section in_runtime;
  *unit = ABT_UNIT_NULL;
  pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  user_pool* users = as_user_pool(*p);
  if (users != nullptr && !users->has_timed_wait())
    return ABT_ERR_POOL;
  descriptor* u = users != nullptr
                      ? users->pop_timed_wait(abstime_secs)
                      : p->pop_wait(abstime_secs - ABT_get_wtime(), ABT_POOL_CONTEXT_OP_POOL_OTHER);
  if (u != nullptr)
    *unit = unit_handle(*u);
  return ABT_SUCCESS;
}

int ABT_pool_remove(ABT_pool handle, ABT_unit unit) {
  const weft::door::runtime_section in_runtime;
  pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  descriptor* u = unit_behind(unit);
  if (u == nullptr)
    return ABT_ERR_INV_UNIT;
  if (!p->has_remove())
    return ABT_ERR_POOL;
  if (user_pool* users = as_user_pool(*p))
    return users->remove_unit(unit);
  return p->remove_for_user(*u) ? ABT_SUCCESS : ABT_ERR_POOL;
}

int ABT_pool_push(ABT_pool handle, ABT_unit unit) {
  const weft::door::runtime_section in_runtime;
  pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  descriptor* u = unit_behind(unit);
  if (u == nullptr)
    return ABT_ERR_INV_UNIT;
  return guarded([&] {
    push(*p, *u, ABT_POOL_CONTEXT_OP_POOL_OTHER);
    return ABT_SUCCESS;
  });
}

int ABT_pool_print_all(ABT_pool handle, void* arg, void (*print_fn)(void*, ABT_unit)) {
  const weft::door::runtime_section in_runtime;
  pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  if (!p->has_print())
    return ABT_ERR_POOL;
  if (user_pool* users = as_user_pool(*p)) {
    users->print_units(arg, print_fn);
    return ABT_SUCCESS;
  }
  struct visitor {
    void* argument;
    void (*f)(void*, ABT_unit);
  } v{arg, print_fn};
  p->for_each(&v, [](void* to, ABT_thread t) {
    auto& at = *static_cast<visitor*>(to);
    at.f(at.argument, unit_handle(*checked_unit(t)));
  });
  return ABT_SUCCESS;
}

// --- definitions ---

int ABT_pool_user_def_create(ABT_pool_user_create_unit_fn create_unit, ABT_pool_user_free_unit_fn free_unit,
                             ABT_pool_user_is_empty_fn is_empty, ABT_pool_user_pop_fn pop,
                             ABT_pool_user_push_fn push, ABT_pool_user_def* newdef) {
  const weft::door::runtime_section in_runtime;
  if (create_unit == nullptr || free_unit == nullptr || is_empty == nullptr || pop == nullptr ||
      push == nullptr)
    return ABT_ERR_INV_ARG;
  return guarded([&] {
    auto* d = make<pool_user_def>();
    d->create_unit = create_unit;
    d->free_unit = free_unit;
    d->is_empty = is_empty;
    d->pop = pop;
    d->push = push;
    *newdef = handle_of<ABT_pool_user_def>(d);
    return ABT_SUCCESS;
  });
}

int ABT_pool_user_def_free(ABT_pool_user_def* handle) {
  const weft::door::runtime_section in_runtime;
  auto* d = checked<pool_user_def>(*handle);
  if (d == nullptr)
    return ABT_ERR_INV_POOL_USER_DEF;
  destroy(d);
  *handle = ABT_POOL_USER_DEF_NULL;
  return ABT_SUCCESS;
}

int ABT_pool_user_def_set_init(ABT_pool_user_def def, ABT_pool_user_init_fn init) {
  const weft::door::runtime_section in_runtime;
  return set_callback(def, &pool_user_def::init, init);
}
int ABT_pool_user_def_set_free(ABT_pool_user_def def, ABT_pool_user_free_fn free) {
  const weft::door::runtime_section in_runtime;
  return set_callback(def, &pool_user_def::free, free);
}
int ABT_pool_user_def_set_get_size(ABT_pool_user_def def, ABT_pool_user_get_size_fn get_size) {
  const weft::door::runtime_section in_runtime;
  return set_callback(def, &pool_user_def::get_size, get_size);
}
int ABT_pool_user_def_set_pop_wait(ABT_pool_user_def def, ABT_pool_user_pop_wait_fn pop_wait) {
  const weft::door::runtime_section in_runtime;
  return set_callback(def, &pool_user_def::pop_wait, pop_wait);
}
int ABT_pool_user_def_set_pop_many(ABT_pool_user_def def, ABT_pool_user_pop_many_fn pop_many) {
  const weft::door::runtime_section in_runtime;
  return set_callback(def, &pool_user_def::pop_many, pop_many);
}
int ABT_pool_user_def_set_push_many(ABT_pool_user_def def, ABT_pool_user_push_many_fn push_many) {
  const weft::door::runtime_section in_runtime;
  return set_callback(def, &pool_user_def::push_many, push_many);
}
int ABT_pool_user_def_set_print_all(ABT_pool_user_def def, ABT_pool_user_print_all_fn print_all) {
  const weft::door::runtime_section in_runtime;
  return set_callback(def, &pool_user_def::print_all, print_all);
}

// --- units ---

int ABT_unit_get_thread(ABT_unit unit, ABT_thread* thread) {
  const weft::door::runtime_section in_runtime;
  descriptor* u = unit_behind(unit);
  if (u == nullptr)
    return ABT_ERR_INV_UNIT;
  *thread = handle_of(*u);
  return ABT_SUCCESS;
}

int ABT_unit_set_associated_pool(ABT_unit unit, ABT_pool handle) {
  const weft::door::runtime_section in_runtime;
  if (is_null(unit))
    return ABT_ERR_INV_UNIT;
  return checked_pool(handle) == nullptr ? ABT_ERR_INV_POOL : ABT_SUCCESS;
}

} // extern "C"
