// SPDX-License-Identifier: MIT
// ABT_thread_*: making, joining, freeing, reviving; and the tasklets' names for the same.
#include <algorithm>
#include <new>
#include <vector>

#include "front/abt/context.hpp"
#include "front/abt/error.hpp"
#include "front/abt/fast.hpp"
#include "front/abt/runtime.hpp"
#include "front/abt/tool.hpp"
#include "front/abt/xstream.hpp"
#include "weft/door/deadline.hpp"
#include "weft/door/preemptible.hpp"
#include "weft/door/request.hpp"
#include "weft/door/section.hpp"
#include "weft/door/switch.hpp"

using namespace weft::abt;
namespace door = weft::door;

namespace {

// Null attributes are the default ones; a wrong handle is an error.
const thread_attr* attributes_of(ABT_thread_attr handle) {
  if (is_null(handle))
    return nullptr;
  const thread_attr* a = checked<thread_attr>(handle);
  if (a == nullptr)
    throw failure{ABT_ERR_INV_THREAD_ATTR};
  return a;
}

bool is_tasklet_technique(const thread_attr* a) noexcept {
  return a != nullptr && a->technique == ABTX_TECHNIQUE_RUN_TO_COMPLETION;
}

creation creation_for(void (*function)(void*), void* argument, ABT_thread_attr attr, const ABT_thread* out) {
  creation c{function, argument};
  c.attributes = attributes_of(attr);
  c.tasklet = is_tasklet_technique(c.attributes);
  c.unnamed = out == nullptr;
  return c;
}

[[gnu::noinline]] int create_slowly(ABT_pool handle, const creation& c, ABT_thread* out) {
  const weft::door::runtime_section in_runtime;
  pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  descriptor& u = create_unit(*p, c); // GONE: u, if it is unnamed
  if (out != nullptr)
    *out = handle_of(u);
  return ABT_SUCCESS;
}

// Where its handle goes; null: nobody wants to know, and it frees itself. Of a unit that nobody else knows,
// if only because it stands in the caller's own list.
[[gnu::always_inline]] inline void name_or_detach(descriptor& u, ABT_thread* out) noexcept {
  if (out != nullptr) [[likely]]
    *out = handle_of(u);
  else
    u.join.begin_detached();
}

[[gnu::noinline]] int create_thread_slowly(ABT_pool pool, void (*function)(void*), void* argument,
                                           ABT_thread_attr attr, ABT_thread* out) {
  if (out != nullptr)
    *out = ABT_THREAD_NULL;
  return guarded([&] { return create_slowly(pool, creation_for(function, argument, attr, out), out); });
}

// `u` is new, and `p` a pool of the user's.
[[gnu::noinline]] int push_named(pool& p, descriptor& u, ABT_thread* out) {
  return guarded([&] {
    if (out != nullptr)
      *out = is_tasklet(u) ? ABT_TASK_NULL : ABT_THREAD_NULL;
    name_new_unit(u, p).push_context = ABT_POOL_CONTEXT_OP_THREAD_CREATE;
    name_or_detach(u, out);
    tell_tool(u, ABT_TOOL_EVENT_THREAD_CREATE);
    p.push_inside(u); // GONE: u may run already
    return ABT_SUCCESS;
  });
}

constexpr int go_slowly = -1; // no code of the API's

// Without attributes, for a pool that is not the caller's own list. `make(pool)`: null where the slow way is
// to follow. go_slowly: it is.
template <class Make>
[[gnu::always_inline]] inline int create_inside(ABT_pool handle, ABT_thread* out, Make make) {
  pool* const p = checked_pool(handle);
  descriptor* const u = p != nullptr ? make(*p) : nullptr;
  if (u == nullptr) [[unlikely]]
    return go_slowly;
  if (p->names_units())
    return push_named(*p, *u, out);
  name_or_detach(*u, out);
  tell_tool(*u, ABT_TOOL_EVENT_THREAD_CREATE);
  p->push_plain(*u); // GONE: u may run already
  return ABT_SUCCESS;
}

template <class Make>
[[gnu::always_inline]] inline int create_elsewhere(ABT_pool handle, ABT_thread* out, Make make) {
  if (door::needs_no_section()) [[likely]]
    return create_inside(handle, out, make);
  return call_in_section([=] { return create_inside(handle, out, make); });
}

// A plain one in such a pool. `stays`: it may not migrate.
[[gnu::always_inline]] inline int create_plain_elsewhere(ABT_pool handle, void (*function)(void*),
                                                         void* argument, bool stays, ABT_thread* out) {
  return create_elsewhere(handle, out, [=](pool& p) -> descriptor* {
    if (stack_trait_now != 0 || p.default_technique() != weft::technique_id::automatic)
      return nullptr;
    descriptor* const u = fast::make_thread_for(p, function, argument);
    if (stays && u != nullptr)
      forbid_migration(*u);
    return u;
  });
}

[[gnu::noinline]] int create_thread_elsewhere(ABT_pool handle, void (*function)(void*), void* argument,
                                              ABT_thread* out) {
  const int code = create_plain_elsewhere(handle, function, argument, false, out);
  return code != go_slowly ? code
                           : create_thread_slowly(handle, function, argument, ABT_THREAD_ATTR_NULL, out);
}

// Whether a unit with these attributes is as one without, but that it may not migrate perhaps.
[[gnu::always_inline]] inline bool are_plain(const thread_attr& a) noexcept {
  if (a.stack != nullptr || a.callback != nullptr || a.technique != ABTX_TECHNIQUE_DEFAULT ||
      a.preemption != ABTX_PREEMPTION_COOPERATIVE)
    return false;
  return stack_trait_now == 0 && (a.stack_size == 0 || a.stack_size == current().default_stack_size);
}

[[gnu::noinline]] int create_with_attributes(ABT_pool pool, void (*function)(void*), void* argument,
                                             ABT_thread_attr attr, ABT_thread* out) {
  const thread_attr* const a = checked<thread_attr>(attr);
  if (a == nullptr || !are_plain(*a))
    return create_thread_slowly(pool, function, argument, attr, out);
  if (descriptor* u =
          fast::make_thread(door::here(), reinterpret_cast<weft::pool*>(pool), function, argument)) {
    if (!a->migratable)
      forbid_migration(*u);
    name_or_detach(*u, out);
    return ABT_SUCCESS;
  }
  const int code = create_plain_elsewhere(pool, function, argument, !a->migratable, out);
  return code != go_slowly ? code : create_thread_slowly(pool, function, argument, attr, out);
}

[[gnu::noinline]] int create_task_slowly(ABT_pool pool, void (*function)(void*), void* argument,
                                         ABT_task* out) {
  if (out != nullptr)
    *out = ABT_TASK_NULL;
  return guarded([&] {
    creation c{function, argument};
    c.tasklet = true;
    c.unnamed = out == nullptr;
    return create_slowly(pool, c, out);
  });
}

[[gnu::noinline]] int create_task_elsewhere(ABT_pool handle, void (*function)(void*), void* argument,
                                            ABT_task* out) {
  const int code =
      create_elsewhere(handle, out, [=](pool& p) { return fast::make_tasklet_for(p, function, argument); });
  return code != go_slowly ? code : create_task_slowly(handle, function, argument, out);
}

[[gnu::always_inline]] inline descriptor& unit_of(ABT_thread handle) noexcept {
  return *reinterpret_cast<descriptor*>(handle);
}

[[gnu::always_inline]] inline bool is_tasklet_handle(ABT_thread handle) noexcept {
  return !is_null(handle) && is_tasklet(unit_of(handle));
}

[[gnu::always_inline]] inline bool is_ult_handle(ABT_thread handle) noexcept {
  return !is_null(handle) && unit_of(handle).operations == &ult_operations;
}

[[gnu::always_inline]] inline bool join_ult(ABT_thread handle) {
  return !is_null(handle) && fast::join_thread(unit_of(handle));
}

// The names of a unit in the two families of functions: its null handle, and the error for what is none.
struct as_thread {
  static constexpr std::uintptr_t null = 0x08;
  static constexpr int error = ABT_ERR_INV_THREAD;
};
struct as_task {
  static constexpr std::uintptr_t null = 0x0a;
  static constexpr int error = ABT_ERR_INV_TASK;
};
template <class Names>
ABT_thread null_handle() noexcept {
  return reinterpret_cast<ABT_thread>(Names::null);
}

// Functions of their own: what switches saves all registers, which tasklets need not pay.
template <class Names>
[[gnu::noinline]] int join_thread(ABT_thread handle) {
  return join_ult(handle) ? ABT_SUCCESS : join_slowly(handle, Names::error);
}

template <class Names>
[[gnu::noinline]] int join_tasklet(ABT_thread handle) noexcept {
  return fast::join_tasklet(unit_of(handle)) ? ABT_SUCCESS : join_slowly(handle, Names::error);
}

template <class Names>
[[gnu::always_inline]] inline int join(ABT_thread handle) {
  return is_tasklet_handle(handle) ? join_tasklet<Names>(handle) : join_thread<Names>(handle);
}

template <class Names>
[[gnu::noinline]] int free_listed_thread(ABT_thread* handle, descriptor& u, worker& w) {
  if (!fast::free_listed_thread(w, &u)) [[unlikely]]
    return free_slowly(handle, null_handle<Names>(), Names::error);
  *handle = null_handle<Names>();
  return ABT_SUCCESS;
}

template <class Names>
[[gnu::noinline]] int free_thread_elsewhere(ABT_thread* handle, descriptor& u, worker& w) {
  if (!fast::free_thread_elsewhere(w, u))
    return free_slowly(handle, null_handle<Names>(), Names::error);
  *handle = null_handle<Names>();
  return ABT_SUCCESS;
}

// Nothing may leave a tasklet by an exception: there is no frame below it.
template <class Names>
[[gnu::noinline]] int free_tasklet(ABT_thread* handle, descriptor& u) noexcept {
  if (!fast::free_tasklet(u)) [[unlikely]]
    return free_slowly(handle, null_handle<Names>(), Names::error);
  *handle = null_handle<Names>();
  return ABT_SUCCESS;
}

template <class Names>
[[gnu::always_inline]] inline int free_one(ABT_thread* handle) {
  if (!is_null(*handle)) [[likely]] {
    descriptor& u = unit_of(*handle);
    if (u.operations == &ult_operations) {
      worker& w = door::here();
      return fast::is_listed(w, u) ? free_listed_thread<Names>(handle, u, w)
                                   : free_thread_elsewhere<Names>(handle, u, w);
    }
    if (u.operations == &tasklet_operations)
      return free_tasklet<Names>(handle, u);
  }
  return free_slowly(handle, null_handle<Names>(), Names::error);
}

// The first pool of a stream's main scheduler.
ABT_pool main_pool_of(ABT_xstream handle) {
  const xstream* es = checked<xstream>(handle);
  if (es == nullptr)
    throw failure{ABT_ERR_INV_XSTREAM};
  return handle_of(*es->main.load()->pools.front());
}

// `u` runs in place of the caller, `self`, which becomes ready.
void switch_to_new(descriptor& self, descriptor& u, ABT_pool_context why) {
  announce_push(self, why);
  const pool* const own_pool = pool_of(self);
  if (own_pool == nullptr || !own_pool->new_units_first)
    return door::yield_to_new(u);
  door::let_go_first(self, true);
  door::yield_to_new(u);
  door::let_go_first(self, false); // it may have been moved to another pool
}

int create_to(ABT_pool handle, const creation& c, ABT_thread* out) {
  const ult_caller who = calling_replaceable();
  if (who.code != ABT_SUCCESS)
    return who.code;
  pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  descriptor& u = make_unit(*p, c, ABT_POOL_CONTEXT_OP_POOL_OTHER);
  if (out != nullptr)
    *out = handle_of(u);
  door::mark_taken(u);
  switch_to_new(*who.self, u, ABT_POOL_CONTEXT_OP_THREAD_CREATE_TO); // GONE: u, if it is unnamed
  return ABT_SUCCESS;
}

// Without attributes, in the pool that is the caller's own list: all that is special is that it runs at once.
bool create_to_quickly(ABT_pool handle, void (*function)(void*), void* argument, ABT_thread* out) {
  const worker& w = door::here();
  if (w.births == nullptr || reinterpret_cast<weft::pool*>(handle) != w.listed || stack_trait_now != 0)
    return false;
  descriptor& self = *w.current;
  if (self.operations != &ult_operations && self.operations != &primary_operations)
    return false;
  descriptor* const u = fast::make_thread_for(*w.listed, function, argument);
  if (u == nullptr)
    return false;
  name_or_detach(*u, out);
  door::mark_taken(*u);
  // A list that is its owner's is of no pool that asks where a push comes from, or puts new units first.
  if (self.own_pool.is(w.listed)) [[likely]] {
    door::yield_to_new(*u); // GONE: u, if it is unnamed
  } else {
    switch_to_new(self, *u, ABT_POOL_CONTEXT_OP_THREAD_CREATE_TO);
  }
  return true;
}

// Makes all, or none: nothing runs before all exist.
int create_many(int count, ABT_pool* pools, void (**functions)(void*), void** arguments, ABT_thread_attr attr,
                ABT_thread* out) {
  const weft::door::runtime_section in_runtime;
  for (int i = 0; out != nullptr && i < count; ++i)
    out[i] = ABT_THREAD_NULL;
  const thread_attr* a = attributes_of(attr);
  if (a != nullptr && a->stack != nullptr)
    return ABT_ERR_INV_THREAD_ATTR;
  std::vector<descriptor*> made;
  made.reserve(static_cast<std::size_t>(count));
  try {
    for (int i = 0; i < count; ++i) {
      pool* p = checked_pool(pools[i]);
      if (p == nullptr)
        throw failure{ABT_ERR_INV_POOL};
      creation c = creation_for(functions[i], arguments != nullptr ? arguments[i] : nullptr, attr, out);
      made.push_back(&make_unit(*p, c, ABT_POOL_CONTEXT_OP_THREAD_CREATE));
    }
  } catch (...) {
    for (descriptor* u : made) {
      door::make_cooperative_again(*u);
      settle_end(*u);
      free_ended_unit(*u);
    }
    throw;
  }
  for (int i = 0; i < count; ++i) {
    descriptor& u = *made[static_cast<std::size_t>(i)];
    if (out != nullptr)
      out[i] = handle_of(u);
    launch(*pool_of(u), u); // GONE: u, if it is unnamed
  }
  return ABT_SUCCESS;
}

// Always false.
[[gnu::noinline]] bool take_back(int made, ABT_thread* out) {
  while (made-- > 0)
    fast::take_back(unit_of(out[made]));
  return false;
}

// All in the caller's own list, with nothing special, from descriptors that are at hand; or none of them.
bool create_many_here(int count, ABT_pool* pools, void (**functions)(void*), void** arguments,
                      ABT_thread* out) {
  weft::worker& w = door::here();
  weft::pool* const listed = w.listed;
  if (std::any_of(pools, pools + count,
                  [listed](ABT_pool p) { return reinterpret_cast<weft::pool*>(p) != listed; }))
    return false;
  for (int made = 0; made < count; ++made) {
    void* argument = arguments != nullptr ? arguments[made] : nullptr;
    descriptor* u = fast::make_thread(w, listed, functions[made], argument);
    if (u == nullptr) [[unlikely]]
      return take_back(made, out);
    out[made] = handle_of(*u);
  }
  return true;
}

// `code`: INV_THREAD or INV_TASK.
descriptor& revivable(ABT_thread handle, int code) {
  descriptor* u = checked_unit(handle);
  if (u == nullptr || !has_ended(*u) || is_primary(*u))
    throw failure{code};
  return *u;
}

// A plain unit that has ended, into the caller's own list.
bool revive_quickly(ABT_pool handle, void (*function)(void*), void* argument, ABT_thread thread) {
  if (is_null(thread))
    return false;
  descriptor& u = unit_of(thread);
  const bool is_thread = u.operations == &ult_operations;
  if (!is_thread && u.operations != &tasklet_operations)
    return false;
  unit_info* const more = closure_of(u).more.load(std::memory_order_relaxed);
  if (!fast::renew(door::here(), reinterpret_cast<weft::pool*>(handle), u, is_thread, function, argument))
    return false;
  closure_of(u).more.store(more, std::memory_order_relaxed); // null, or only_stays()
  return true;
}

int revive(ABT_pool handle, void (*function)(void*), void* argument, ABT_thread thread, int code) {
  if (revive_quickly(handle, function, argument, thread)) [[likely]]
    return ABT_SUCCESS;
  return guarded([&] {
    pool* p = checked_pool(handle);
    if (p == nullptr)
      return ABT_ERR_INV_POOL;
    descriptor& u = revivable(thread, code);
    revive_unit(u, *p, function, argument, ABT_POOL_CONTEXT_OP_THREAD_REVIVE);
    p->push_from_user(u, ABT_POOL_CONTEXT_OP_THREAD_REVIVE); // GONE: u
    return ABT_SUCCESS;
  });
}

} // namespace

extern "C" {

int ABT_thread_create(ABT_pool pool, void (*function)(void*), void* arg, ABT_thread_attr attr,
                      ABT_thread* out) {
  if (is_null(attr)) [[likely]] {
    if (descriptor* u = fast::make_thread(door::here(), reinterpret_cast<weft::pool*>(pool), function, arg))
        [[likely]] {
      name_or_detach(*u, out);
      return ABT_SUCCESS;
    }
    return create_thread_elsewhere(pool, function, arg, out);
  }
  return create_with_attributes(pool, function, arg, attr, out);
}

int ABT_thread_create_to(ABT_pool pool, void (*function)(void*), void* arg, ABT_thread_attr attr,
                         ABT_thread* out) {
  const weft::door::runtime_section in_runtime;
  return guarded([&] {
    if (is_null(attr) && create_to_quickly(pool, function, arg, out))
      return ABT_SUCCESS;
    return create_to(pool, creation_for(function, arg, attr, out), out);
  });
}

int ABT_thread_create_on_xstream(ABT_xstream xstream, void (*function)(void*), void* arg,
                                 ABT_thread_attr attr, ABT_thread* out) {
  const weft::door::runtime_section in_runtime;
  if (out != nullptr)
    *out = ABT_THREAD_NULL;
  return guarded([&] { return ABT_thread_create(main_pool_of(xstream), function, arg, attr, out); });
}

int ABT_thread_create_many(int count, ABT_pool* pools, void (**functions)(void*), void** args,
                           ABT_thread_attr attr, ABT_thread* out) {
  return guarded([&] {
    if (out != nullptr && is_null(attr) && door::here().fifo != nullptr &&
        create_many_here(count, pools, functions, args, out))
      return ABT_SUCCESS;
    return create_many(count, pools, functions, args, attr, out);
  });
}

int ABT_thread_revive(ABT_pool pool, void (*function)(void*), void* arg, ABT_thread* thread) {
  const weft::door::runtime_section in_runtime;
  return revive(pool, function, arg, *thread, ABT_ERR_INV_THREAD);
}

int ABT_thread_revive_to(ABT_pool handle, void (*function)(void*), void* arg, ABT_thread* thread) {
  const weft::door::runtime_section in_runtime;
  return guarded([&] {
    const ult_caller who = calling_replaceable();
    if (who.code != ABT_SUCCESS)
      return who.code;
    pool* p = checked_pool(handle);
    if (p == nullptr)
      return ABT_ERR_INV_POOL;
    descriptor& u = revivable(*thread, ABT_ERR_INV_THREAD);
    if (is_tasklet(u))
      return ABT_ERR_INV_THREAD;
    revive_unit(u, *p, function, arg, ABT_POOL_CONTEXT_OP_POOL_OTHER);
    door::mark_taken(u);
    switch_to_new(*who.self, u, ABT_POOL_CONTEXT_OP_THREAD_REVIVE_TO);
    return ABT_SUCCESS;
  });
}

int ABT_thread_free(ABT_thread* thread) {
  return free_one<as_thread>(thread);
}

int ABT_thread_free_many(int count, ABT_thread* threads) {
  int worst = ABT_SUCCESS;
  for (int i = 0; i < count; ++i) {
    if (is_ult_handle(threads[i]) && fast::free_thread(unit_of(threads[i]))) {
      threads[i] = ABT_THREAD_NULL;
      continue;
    }
    const int code =
        is_null(threads[i]) ? ABT_SUCCESS : free_slowly(&threads[i], ABT_THREAD_NULL, ABT_ERR_INV_THREAD);
    worst = code != ABT_SUCCESS ? code : worst;
  }
  return worst;
}

int ABT_thread_join(ABT_thread thread) {
  return join<as_thread>(thread);
}

int ABT_thread_join_many(int count, ABT_thread* threads) {
  int worst = ABT_SUCCESS;
  for (int i = 0; i < count; ++i) {
    if (join_ult(threads[i])) [[likely]]
      continue;
    const int code = is_null(threads[i]) ? ABT_SUCCESS : join_slowly(threads[i], ABT_ERR_INV_THREAD);
    worst = code != ABT_SUCCESS ? code : worst;
  }
  return worst;
}

int ABT_thread_cancel(ABT_thread thread) {
  const weft::door::runtime_section in_runtime;
  descriptor* u = checked_unit(thread);
  if (u == nullptr || !is_users(*u))
    return ABT_ERR_INV_THREAD;
  return guarded([&] {
    door::cancel(*u);
    return ABT_SUCCESS;
  });
}

int ABTX_thread_timedjoin(ABT_thread thread, const struct timespec* abstime) {
  const weft::door::runtime_section in_runtime;
  descriptor* u = checked_unit(thread);
  if (u == nullptr || u == unit_here() || is_primary(*u) || u->join.is_detached() || !may_wait())
    return ABT_ERR_INV_THREAD;
  if (abstime == nullptr)
    return ABT_ERR_INV_ARG;
  return guarded([&] {
    return door::await_end_until(*u, door::deadline_of(*abstime)) ? ABT_SUCCESS : ABT_ERR_COND_TIMEDOUT;
  });
}

int ABTX_thread_detach(ABT_thread* thread) {
  const weft::door::runtime_section in_runtime;
  descriptor* u = checked_unit(*thread);
  if (u == nullptr || !is_users(*u) || u->join.is_detached())
    return ABT_ERR_INV_THREAD;
  if (!u->join.detach()) {
    if (!u->join.has_ended())
      return ABT_ERR_INV_THREAD; // somebody joins it
    free_ended_unit(*u);
  }
  *thread = ABT_THREAD_NULL;
  return ABT_SUCCESS;
}

// --- tasklets ---

int ABT_task_create(ABT_pool pool, void (*function)(void*), void* arg, ABT_task* out) {
  if (descriptor* u = fast::make_tasklet(door::here(), reinterpret_cast<weft::pool*>(pool), function, arg))
      [[likely]] {
    name_or_detach(*u, out);
    return ABT_SUCCESS;
  }
  return create_task_elsewhere(pool, function, arg, out);
}

int ABT_task_create_on_xstream(ABT_xstream xstream, void (*function)(void*), void* arg, ABT_task* out) {
  const weft::door::runtime_section in_runtime;
  if (out != nullptr)
    *out = ABT_TASK_NULL;
  return guarded([&] { return ABT_task_create(main_pool_of(xstream), function, arg, out); });
}

int ABT_task_revive(ABT_pool pool, void (*function)(void*), void* arg, ABT_task* task) {
  const weft::door::runtime_section in_runtime;
  return revive(pool, function, arg, *task, ABT_ERR_INV_TASK);
}

int ABT_task_free(ABT_task* task) {
  return free_one<as_task>(task);
}

int ABT_task_join(ABT_task task) {
  return join<as_task>(task);
}

int ABT_task_cancel(ABT_task task) {
  const weft::door::runtime_section in_runtime;
  const int code = ABT_thread_cancel(task);
  return code == ABT_ERR_INV_THREAD ? ABT_ERR_INV_TASK : code;
}

} // extern "C"
