// SPDX-License-Identifier: MIT
// The functions of the C API that switch from one ULT to another. Called on one stack and returning on
// another, they go back to their callers by a jump: the fast ways are the door's, the slow
// ones are exported by WEFT_EXPORT_SWITCHING, `..._slowly`. A fast way that is none has changed nothing.
#include "weft/door/switch.hpp"
#include "front/abt/context.hpp"
#include "front/abt/error.hpp"
#include "front/abt/pool.hpp"
#include "front/abt/tool.hpp"
#include "front/abt/unit.hpp"
#include "front/abt/xstream.hpp"
#include "weft/door/preemptible.hpp"
#include "weft/door/section.hpp"

using namespace weft::abt;
namespace door = weft::door;

namespace {

// Nor may schedulers' loops and the primary ULT end.
ult_caller calling_mortal() noexcept {
  const ult_caller c = calling_ult();
  if (c.code == ABT_SUCCESS && (!is_users(*c.self) || !is_ours(*c.self)))
    return {nullptr, ABT_ERR_INV_THREAD};
  return c;
}

// One that is not `self`.
descriptor* checked_ult(ABT_thread handle, const descriptor* self) noexcept {
  descriptor* u = checked_unit(handle);
  return u != nullptr && !is_tasklet(*u) && u != self ? u : nullptr;
}

// A suspended ULT is taken from now on, and like one that the caller has popped in no container, which reads
// `posted`: the caller may run elsewhere before it, and must not find it suspended still.
bool is_takeable(descriptor& u, bool suspended) noexcept {
  if (!suspended)
    return door::is_taken(u);
  if (!door::take_suspended(u))
    return false;
  door::mark_taken(u);
  return true;
}

// A weft::thread or weft::tasklet that a user's scheduler has popped.
descriptor* foreign_unit(ABT_thread handle) noexcept {
  if (is_null(handle) || reinterpret_cast<std::uintptr_t>(handle) % alignof(descriptor) != 0)
    return nullptr;
  auto* u = reinterpret_cast<descriptor*>(handle);
  return u->operations != &freed_operations && door::is_taken(*u) ? u : nullptr;
}

[[gnu::always_inline]] inline bool looks_like_tasklet(ABT_thread handle) noexcept {
  return !is_null(handle) && reinterpret_cast<descriptor*>(handle)->operations == &tasklet_operations;
}
[[gnu::always_inline]] inline bool looks_like_ult(ABT_thread handle) noexcept {
  return !is_null(handle) && reinterpret_cast<descriptor*>(handle)->operations == &ult_operations;
}
template <class F>
[[gnu::noinline]] int slowly(F f) noexcept {
  return guarded(f, ABT_ERR_INV_THREAD);
}

// What switches saves all registers: not for those who have no list, and are switched by what they call.
[[gnu::noinline]] void yield_with_list() {
  door::yield();
}

int yield_slowly(bool says_where) noexcept {
  const weft::door::runtime_section in_runtime;
  const ult_caller c = calling_ult();
  if (c.code != ABT_SUCCESS)
    return says_where ? c.code : ABT_SUCCESS;
  announce_push(*c.self, ABT_POOL_CONTEXT_OP_THREAD_YIELD);
  return guarded(
      [] {
        door::here().fifo != nullptr ? yield_with_list() : door::yield_thoroughly();
        return ABT_SUCCESS;
      },
      ABT_ERR_INV_THREAD);
}

int yield_to_slowly(ABT_thread handle) noexcept {
  const weft::door::runtime_section in_runtime;
  descriptor* u = checked_ult(handle, unit_here());
  if (u == nullptr)
    return ABT_ERR_INV_THREAD;
  const ult_caller c = calling_ult();
  if (c.code != ABT_SUCCESS)
    return ABT_SUCCESS;
  if (is_main_loop(*c.self))
    return ABT_ERR_INV_THREAD;
  return slowly([u, c] {
    pool* p = pool_of(*u);
    if (p == nullptr || !p->has_remove())
      return ABT_ERR_POOL;
    if (!p->remove_for_user(*u))
      return ABT_SUCCESS; // it is not ready there
    announce_push(*c.self, ABT_POOL_CONTEXT_OP_THREAD_YIELD_TO);
    door::yield_to_taken(*u);
    return ABT_SUCCESS;
  });
}

// To a unit that the caller has popped (`suspended`: that is suspended) and may name: `go` switches.
template <class Go>
int to_taken_slowly(ABT_thread handle, bool suspended, Go go) noexcept {
  const weft::door::runtime_section in_runtime;
  const ult_caller c = calling_replaceable();
  if (c.code != ABT_SUCCESS)
    return c.code;
  descriptor* u = checked_ult(handle, c.self);
  if (u == nullptr || !is_takeable(*u, suspended))
    return ABT_ERR_INV_THREAD;
  if (suspended)
    tell_tool(*u, ABT_TOOL_EVENT_THREAD_RESUME);
  return slowly([u, c, go] {
    go(*c.self, *u);
    return ABT_SUCCESS;
  });
}

int self_yield_to_slowly(ABT_thread handle, bool suspended, ABT_pool_context why) noexcept {
  return to_taken_slowly(handle, suspended, [why](descriptor& self, descriptor& next) {
    announce_push(self, why);
    door::yield_to_taken(next);
  });
}

int self_suspend_to_slowly(ABT_thread handle, bool suspended) noexcept {
  return to_taken_slowly(handle, suspended,
                         [](descriptor&, descriptor& next) { door::suspend_to_taken(next); });
}

} // namespace

// Defines the slow way `name`_slowly, a function of C that switches, with this signature.
#define WEFT_ABT_SLOWLY(name, ...)                                                                           \
  extern "C" [[gnu::visibility("hidden")]] int name##_slowly(__VA_ARGS__) noexcept;                          \
  WEFT_EXPORT_SWITCHING(name##_slowly, name##_inner);                                                        \
  extern "C" [[gnu::visibility("hidden"), gnu::used]] int name##_inner(__VA_ARGS__) noexcept

WEFT_ABT_SLOWLY(weft_abt_thread_yield) {
  return yield_slowly(false);
}
WEFT_ABT_SLOWLY(weft_abt_self_yield) {
  return yield_slowly(true);
}
WEFT_ABT_SLOWLY(weft_abt_thread_yield_to, ABT_thread handle) {
  return yield_to_slowly(handle);
}
WEFT_ABT_SLOWLY(weft_abt_self_yield_to, ABT_thread handle) {
  return self_yield_to_slowly(handle, false, ABT_POOL_CONTEXT_OP_THREAD_YIELD_TO);
}
WEFT_ABT_SLOWLY(weft_abt_self_resume_yield_to, ABT_thread handle) {
  return self_yield_to_slowly(handle, true, ABT_POOL_CONTEXT_OP_THREAD_RESUME_YIELD_TO);
}
WEFT_ABT_SLOWLY(weft_abt_self_suspend) {
  const weft::door::runtime_section in_runtime;
  const ult_caller c = calling_ult();
  if (c.code != ABT_SUCCESS)
    return c.code;
  return guarded(
      [] {
        door::suspend_until_taken();
        return ABT_SUCCESS;
      },
      ABT_ERR_INV_THREAD);
}
WEFT_ABT_SLOWLY(weft_abt_self_suspend_to, ABT_thread handle) {
  return self_suspend_to_slowly(handle, false);
}
WEFT_ABT_SLOWLY(weft_abt_self_resume_suspend_to, ABT_thread handle) {
  return self_suspend_to_slowly(handle, true);
}

namespace {

[[gnu::always_inline]] inline descriptor* unit_at(ABT_thread handle) noexcept {
  return reinterpret_cast<descriptor*>(handle);
}

// Under a scheduler of the user's.
[[gnu::always_inline]] inline int yield_without_list(worker& w, int (*slowly)()) noexcept {
  return door::yield_to_parent_and_return(
      w, slowly, [](descriptor& self) { announce_push(self, ABT_POOL_CONTEXT_OP_THREAD_YIELD); });
}

} // namespace

extern "C" {

int ABT_thread_yield(void) {
  return door::yield_and_return(&weft_abt_thread_yield_slowly, [](worker& w) {
    return yield_without_list(w, &weft_abt_thread_yield_slowly);
  });
}

int ABT_self_yield(void) {
  return door::yield_and_return(&weft_abt_self_yield_slowly,
                                [](worker& w) { return yield_without_list(w, &weft_abt_self_yield_slowly); });
}

int ABT_thread_yield_to(ABT_thread handle) {
  return door::yield_to_ready_and_return(unit_at(handle), looks_like_ult(handle),
                                         [=] { return weft_abt_thread_yield_to_slowly(handle); });
}

int ABT_self_yield_to(ABT_thread handle) {
  return door::yield_to_taken_and_return(unit_at(handle), looks_like_ult(handle),
                                         [=] { return weft_abt_self_yield_to_slowly(handle); });
}

int ABT_self_resume_yield_to(ABT_thread handle) {
  return weft_abt_self_resume_yield_to_slowly(handle);
}

int ABT_self_suspend(void) {
  return weft_abt_self_suspend_slowly();
}

int ABT_self_suspend_to(ABT_thread handle) {
  return door::suspend_to_taken_and_return(unit_at(handle), looks_like_ult(handle),
                                           [=] { return weft_abt_self_suspend_to_slowly(handle); });
}

int ABT_self_resume_suspend_to(ABT_thread handle) {
  return door::suspend_to_suspended_and_return(unit_at(handle), looks_like_ult(handle), [=] {
    return weft_abt_self_resume_suspend_to_slowly(handle);
  });
}

} // extern "C"

namespace {

[[gnu::noinline]] int self_schedule_slowly(ABT_thread handle, ABT_pool pool_handle) noexcept {
  const weft::door::runtime_section in_runtime;
  const ult_caller c = calling_ult();
  if (c.code != ABT_SUCCESS)
    return c.code;
  descriptor* u = checked_unit(handle);
  if (u == nullptr)
    u = foreign_unit(handle);
  if (u == nullptr || u == c.self)
    return ABT_ERR_INV_THREAD;
  return guarded([&] {
    if (!is_null(pool_handle) && is_ours(*u)) {
      pool* p = checked_pool(pool_handle);
      if (p == nullptr)
        return ABT_ERR_INV_POOL;
      move_to(*u, *p);
    }
    door::run_child(*u);
    return ABT_SUCCESS;
  });
}

} // namespace

extern "C" {

int ABT_thread_resume(ABT_thread handle) {
  const weft::door::runtime_section in_runtime;
  descriptor* u = checked_unit(handle);
  if (u == nullptr || is_tasklet(*u))
    return ABT_ERR_INV_THREAD;
  return guarded([u] {
    if (!door::take_suspended(*u))
      return ABT_ERR_THREAD;
    tell_tool(*u, ABT_TOOL_EVENT_THREAD_RESUME);
    announce_push(*u, ABT_POOL_CONTEXT_OP_THREAD_RESUME);
    door::resume_taken(*u);
    return ABT_SUCCESS;
  });
}

int ABT_self_exit(void) {
  const weft::door::runtime_section in_runtime;
  const ult_caller c = calling_mortal();
  if (c.code != ABT_SUCCESS)
    return c.code;
  door::end_preemption(*c.self);
  settle_end(*c.self);
  door::end_now();
}

int ABT_thread_exit(void) {
  const weft::door::runtime_section in_runtime;
  if (ABT_initialized() != ABT_SUCCESS)
    return ABT_ERR_UNINITIALIZED;
  return ABT_self_exit();
}

int ABT_self_exit_to(ABT_thread handle) {
  const weft::door::runtime_section in_runtime;
  const ult_caller c = calling_mortal();
  if (c.code != ABT_SUCCESS)
    return c.code;
  descriptor* u = checked_ult(handle, c.self);
  if (u == nullptr || !is_takeable(*u, false))
    return ABT_ERR_INV_THREAD;
  door::end_preemption(*c.self);
  settle_end(*c.self);
  door::end_to_taken(*u);
}

int ABT_self_resume_exit_to(ABT_thread handle) {
  const weft::door::runtime_section in_runtime;
  const ult_caller c = calling_mortal();
  if (c.code != ABT_SUCCESS)
    return c.code;
  descriptor* u = checked_ult(handle, c.self);
  if (u == nullptr || !is_takeable(*u, true))
    return ABT_ERR_INV_THREAD;
  tell_tool(*u, ABT_TOOL_EVENT_THREAD_RESUME);
  door::end_preemption(*c.self);
  settle_end(*c.self);
  door::end_to_taken(*u);
}

int ABT_self_schedule(ABT_thread handle, ABT_pool pool_handle) {
  const auto slowly = [=] { return self_schedule_slowly(handle, pool_handle); };
  if (!is_null(pool_handle))
    return slowly();
  if (looks_like_ult(handle)) [[likely]]
    return door::run_thread_and_return(*unit_at(handle), slowly);
  return looks_like_tasklet(handle) ? door::run_tasklet_and_return(*unit_at(handle), slowly) : slowly();
}

} // extern "C"
