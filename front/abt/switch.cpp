// SPDX-License-Identifier: MIT
// The functions of the C API that switch from one ULT to another. Called on one stack and returning on
// another, they go back to their callers by a jump: the fast ways end in arch::swap_and_return(), the slow
// ones are exported by WEFT_EXPORT_SWITCHING, `..._slowly`. A fast way that is none has changed nothing.
#include "front/abt/context.hpp"
#include "front/abt/error.hpp"
#include "front/abt/pool.hpp"
#include "front/abt/tool.hpp"
#include "front/abt/unit.hpp"
#include "front/abt/xstream.hpp"
#include "weft/door/section.hpp"
#include "weft/sched/direct.hpp"

using namespace weft;
using namespace weft::abt;

namespace {

// The caller must be a ULT on a stream.
int require_ult() noexcept {
  if (stream_here() == nullptr)
    return ABT_ERR_INV_XSTREAM;
  return who() == caller::thread ? ABT_SUCCESS : ABT_ERR_INV_THREAD;
}

// The same for switches that name what runs next.
int require_replaceable() noexcept {
  const int code = require_ult();
  return code == ABT_SUCCESS && is_main_loop(*unit_here()) ? ABT_ERR_INV_THREAD : code;
}

// Nor may schedulers' loops and the primary ULT end.
int require_mortal() noexcept {
  const int code = require_ult();
  if (code != ABT_SUCCESS)
    return code;
  const descriptor& self = *unit_here();
  return is_primary(self) || self.operations == &loop_operations || !is_ours(self) ? ABT_ERR_INV_THREAD
                                                                                   : ABT_SUCCESS;
}

descriptor* checked_ult(ABT_thread handle) noexcept {
  descriptor* u = checked_unit(handle);
  return u != nullptr && !is_tasklet(*u) && u != unit_here() ? u : nullptr;
}

// A suspended ULT is taken from now on, and like one that the caller has popped in no container, which reads
// `posted`: the caller may run elsewhere before it, and must not find it suspended still.
bool is_takeable(descriptor& u, bool suspended) noexcept {
  if (!suspended)
    return u.state.is(unit::state::posted);
  if (!u.state.take_suspended())
    return false;
  u.state.post();
  return true;
}

// A weft::thread or weft::tasklet that a user's scheduler has popped.
descriptor* foreign_unit(ABT_thread handle) noexcept {
  if (is_null(handle) || reinterpret_cast<std::uintptr_t>(handle) % alignof(descriptor) != 0)
    return nullptr;
  auto* u = reinterpret_cast<descriptor*>(handle);
  return u->operations != &freed_operations && u->state.is(unit::state::posted) ? u : nullptr;
}

[[gnu::always_inline]] inline bool looks_like_ult(ABT_thread handle) noexcept {
  return !is_null(handle) && reinterpret_cast<descriptor*>(handle)->operations == &ult_operations;
}
template <class F>
[[gnu::noinline]] int slowly(F f) noexcept {
  return guarded(f, ABT_ERR_INV_THREAD);
}

void announce_self(ABT_pool_context why) noexcept {
  announce_push(*unit_here(), why);
}

int yield_slowly(bool says_where) noexcept {
  const weft::door::runtime_section in_runtime;
  const int code = require_ult();
  if (code != ABT_SUCCESS)
    return says_where ? code : ABT_SUCCESS;
  return slowly([] {
    announce_self(ABT_POOL_CONTEXT_OP_THREAD_YIELD);
    sched::yield();
    return ABT_SUCCESS;
  });
}

int yield_to_slowly(ABT_thread handle) noexcept {
  const weft::door::runtime_section in_runtime;
  descriptor* u = checked_ult(handle);
  if (u == nullptr)
    return ABT_ERR_INV_THREAD;
  if (require_ult() != ABT_SUCCESS)
    return ABT_SUCCESS;
  if (is_main_loop(*unit_here()))
    return ABT_ERR_INV_THREAD;
  return slowly([u] {
    pool* p = pool_of(*u);
    if (p == nullptr || !p->has_remove())
      return ABT_ERR_POOL;
    if (!p->remove_for_user(*u))
      return ABT_SUCCESS; // it is not ready there
    announce_self(ABT_POOL_CONTEXT_OP_THREAD_YIELD_TO);
    sched::yield_to_taken(*u);
    return ABT_SUCCESS;
  });
}

// To a unit that the caller has popped (`suspended`: that is suspended) and may name: `go` switches.
template <class Go>
int to_taken_slowly(ABT_thread handle, bool suspended, Go go) noexcept {
  const weft::door::runtime_section in_runtime;
  const int code = require_replaceable();
  if (code != ABT_SUCCESS)
    return code;
  descriptor* u = checked_ult(handle);
  if (u == nullptr || !is_takeable(*u, suspended))
    return ABT_ERR_INV_THREAD;
  if (suspended)
    tell_tool(*u, ABT_TOOL_EVENT_THREAD_RESUME);
  return slowly([u, go] {
    go(*u);
    return ABT_SUCCESS;
  });
}

int self_yield_to_slowly(ABT_thread handle, bool suspended, ABT_pool_context why) noexcept {
  return to_taken_slowly(handle, suspended, [why](descriptor& next) {
    announce_self(why);
    sched::yield_to_taken(next);
  });
}

int self_suspend_to_slowly(ABT_thread handle, bool suspended) noexcept {
  return to_taken_slowly(handle, suspended, [](descriptor& next) { sched::suspend_to_taken(next); });
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
  const int code = require_ult();
  if (code != ABT_SUCCESS)
    return code;
  return slowly([] {
    sched::suspend_until_taken();
    return ABT_SUCCESS;
  });
}
WEFT_ABT_SLOWLY(weft_abt_self_suspend_to, ABT_thread handle) {
  return self_suspend_to_slowly(handle, false);
}
WEFT_ABT_SLOWLY(weft_abt_self_resume_suspend_to, ABT_thread handle) {
  return self_suspend_to_slowly(handle, true);
}

namespace {

// The worker's own list has who runs next, or there is no fast way.
template <class Slowly>
[[gnu::always_inline]] inline int yield(Slowly slowly) noexcept {
  worker& w = sched::here();
  descriptor* self = w.current;
  descriptor* next = w.fifo != nullptr ? sched::start_yield(w, *w.fifo) : nullptr;
  if (next == nullptr) [[unlikely]]
    return slowly();
  return arch::swap_and_return(self->context, next->context); // SWITCH: may resume on another worker
}

[[gnu::always_inline]] inline int yield_into(worker& w, descriptor& self, descriptor& next) noexcept {
  sched::start_yield_into(w, self, next);
  return arch::swap_and_return(self.context, next.context); // SWITCH: may resume on another worker
}

[[gnu::always_inline]] inline int suspend_into(worker& w, descriptor& self, descriptor& next) noexcept {
  w.current = &next;
  // SWITCH: may resume on another worker
  return arch::swap_publishing_and_return(self.context, next.context, self.state.word(),
                                          static_cast<std::uint8_t>(unit::state::suspended));
}

} // namespace

extern "C" {

int ABT_thread_yield(void) {
  return yield(&weft_abt_thread_yield_slowly);
}

int ABT_self_yield(void) {
  return yield(&weft_abt_self_yield_slowly);
}

int ABT_thread_yield_to(ABT_thread handle) {
  worker& w = sched::here();
  if (looks_like_ult(handle)) [[likely]] {
    descriptor& target = *reinterpret_cast<descriptor*>(handle);
    if (target.home.is(w.listed) && target.state.is(unit::state::ready)) [[likely]] {
      descriptor& self = *w.current;
      if (self.home.is(w.listed) && sched::can_switch_to_started(w, self, target)) [[likely]] {
        queue::intrusive_fifo::unlink(&target.link);
        return yield_into(w, self, target);
      }
    }
  }
  return weft_abt_thread_yield_to_slowly(handle);
}

int ABT_self_yield_to(ABT_thread handle) {
  worker& w = sched::here();
  if (looks_like_ult(handle) && w.fifo != nullptr) [[likely]] {
    descriptor& self = *w.current;
    descriptor& target = *reinterpret_cast<descriptor*>(handle);
    if (self.home.is(w.listed) && target.state.is(unit::state::posted) &&
        sched::can_switch_to_taken(w, self, target)) [[likely]]
      return yield_into(w, self, target);
  }
  return weft_abt_self_yield_to_slowly(handle);
}

int ABT_self_resume_yield_to(ABT_thread handle) {
  return weft_abt_self_resume_yield_to_slowly(handle);
}

int ABT_self_suspend(void) {
  return weft_abt_self_suspend_slowly();
}

int ABT_self_suspend_to(ABT_thread handle) {
  worker& w = sched::here();
  if (looks_like_ult(handle) && w.fifo != nullptr) [[likely]] {
    descriptor& self = *w.current;
    descriptor& target = *reinterpret_cast<descriptor*>(handle);
    if (sched::can_switch_to_taken(w, self, target) && target.state.is(unit::state::posted)) [[likely]] {
      target.state.start_running();
      return suspend_into(w, self, target);
    }
  }
  return weft_abt_self_suspend_to_slowly(handle);
}

// The target, which is nobody else's now, is as running as it will be.
int ABT_self_resume_suspend_to(ABT_thread handle) {
  worker& w = sched::here();
  if (looks_like_ult(handle) && w.fifo != nullptr) [[likely]] {
    descriptor& self = *w.current;
    descriptor& target = *reinterpret_cast<descriptor*>(handle);
    // Who is suspended has started.
    if (sched::can_switch_to_started(w, self, target) && target.state.start_suspended()) [[likely]]
      return suspend_into(w, self, target);
  }
  return weft_abt_self_resume_suspend_to_slowly(handle);
}

} // extern "C"

extern "C" {

int ABT_thread_resume(ABT_thread handle) {
  const weft::door::runtime_section in_runtime;
  descriptor* u = checked_unit(handle);
  if (u == nullptr || is_tasklet(*u))
    return ABT_ERR_INV_THREAD;
  return guarded([u] {
    if (!u->state.take_suspended())
      return ABT_ERR_THREAD;
    tell_tool(*u, ABT_TOOL_EVENT_THREAD_RESUME);
    announce_push(*u, ABT_POOL_CONTEXT_OP_THREAD_RESUME);
    sched::resume_taken(*u);
    return ABT_SUCCESS;
  });
}

int ABT_self_exit(void) {
  const weft::door::runtime_section in_runtime;
  const int code = require_mortal();
  if (code != ABT_SUCCESS)
    return code;
  end_preemption(*unit_here());
  settle_end(*unit_here());
  sched::end_now();
}

int ABT_thread_exit(void) {
  const weft::door::runtime_section in_runtime;
  if (ABT_initialized() != ABT_SUCCESS)
    return ABT_ERR_UNINITIALIZED;
  return ABT_self_exit();
}

int ABT_self_exit_to(ABT_thread handle) {
  const weft::door::runtime_section in_runtime;
  const int code = require_mortal();
  if (code != ABT_SUCCESS)
    return code;
  descriptor* u = checked_ult(handle);
  if (u == nullptr || !is_takeable(*u, false))
    return ABT_ERR_INV_THREAD;
  end_preemption(*unit_here());
  settle_end(*unit_here());
  sched::end_to_taken(*u);
}

int ABT_self_resume_exit_to(ABT_thread handle) {
  const weft::door::runtime_section in_runtime;
  const int code = require_mortal();
  if (code != ABT_SUCCESS)
    return code;
  descriptor* u = checked_ult(handle);
  if (u == nullptr || !is_takeable(*u, true))
    return ABT_ERR_INV_THREAD;
  tell_tool(*u, ABT_TOOL_EVENT_THREAD_RESUME);
  end_preemption(*unit_here());
  settle_end(*unit_here());
  sched::end_to_taken(*u);
}

int ABT_self_schedule(ABT_thread handle, ABT_pool pool_handle) {
  const weft::door::runtime_section in_runtime;
  const int code = require_ult();
  if (code != ABT_SUCCESS)
    return code;
  descriptor* u = checked_unit(handle);
  if (u == nullptr)
    u = foreign_unit(handle);
  if (u == nullptr || u == unit_here())
    return ABT_ERR_INV_THREAD;
  return guarded([&] {
    if (!is_null(pool_handle) && is_ours(*u)) {
      pool* p = checked_pool(pool_handle);
      if (p == nullptr)
        return ABT_ERR_INV_POOL;
      move_home(*u, *p);
    }
    sched::run_child(*u);
    return ABT_SUCCESS;
  });
}

} // extern "C"
