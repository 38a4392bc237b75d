// SPDX-License-Identifier: MIT
// What can be asked of a unit, under the names of ULTs and of tasklets.
#include "front/abt/context.hpp"
#include "front/abt/error.hpp"
#include "front/abt/pool.hpp"
#include "front/abt/runtime.hpp"
#include "front/abt/technique.hpp"
#include "front/abt/unit.hpp"
#include "front/abt/xstream.hpp"
#include "weft/door/request.hpp"
#include "weft/door/section.hpp"
#include "weft/door/unit.hpp"

using namespace weft::abt;
namespace door = weft::door;

namespace {

// The stream whose worker runs it now, else the one that ran it last. RACY.
__attribute__((no_sanitize("thread"))) xstream* last_stream_of(const descriptor& u) noexcept {
  const std::scoped_lock held(state().lock);
  xstream* last = nullptr;
  for (xstream* es : state().streams) {
    const worker* w = es->worker.load();
    if (w->current == &u)
      return es;
    // Units of a list that a worker has for itself run there and are not noted one by one.
    const bool by_owner = u.own_pool->owned_by(*w) && (u.has_started() || has_ended(u)) && last == nullptr;
    if (by_owner || w->number + 1 == u.last_worker.load_relaxed())
      last = es;
  }
  return last;
}

template <class F>
int with_unit(ABT_thread handle, int code, F f) {
  descriptor* u = checked_unit(handle);
  return u != nullptr ? guarded([&] { return f(*u); }) : code;
}

// A call under a ULT's name as one under a tasklet's.
int as_task(int code) noexcept {
  return code == ABT_ERR_INV_THREAD ? ABT_ERR_INV_TASK : code;
}

std::size_t stack_size_of(const descriptor& u) noexcept {
  if (is_tasklet(u) || is_primary(u))
    return 0;
  const unit_info* info = info_if_any(u);
  if (info != nullptr && info->stack != nullptr)
    return info->stack_size;
  return u.stack_size() != 0 ? u.stack_size() : current().default_stack_size;
}

void* stack_of(const descriptor& u) noexcept {
  if (is_tasklet(u) || is_primary(u))
    return nullptr;
  const unit_info* info = info_if_any(u);
  if (info != nullptr && info->stack != nullptr)
    return info->stack;
  if (u.stack == nullptr)
    return nullptr;                              // it gets one when it starts
  if (const void* host = door::stack_of_host(u)) // on its joiner's stack, from where the joiner left off
    return static_cast<std::byte*>(const_cast<void*>(host)) - stack_size_of(u);
  return reinterpret_cast<std::byte*>(u.stack) - stack_size_of(u); // what is beyond is a reserve
}

} // namespace

extern "C" {

int ABT_thread_get_last_xstream(ABT_thread thread, ABT_xstream* result) {
  const weft::door::runtime_section in_runtime;
  return with_unit(thread, ABT_ERR_INV_THREAD, [&](descriptor& u) {
    xstream* es = last_stream_of(u);
    *result = es != nullptr ? handle_of(*es) : ABT_XSTREAM_NULL;
    return ABT_SUCCESS;
  });
}

int ABT_thread_get_state(ABT_thread thread, ABT_thread_state* result) {
  const weft::door::runtime_section in_runtime;
  return with_unit(thread, ABT_ERR_INV_THREAD, [&](descriptor& u) {
    *result = state_of(u);
    return ABT_SUCCESS;
  });
}

int ABT_thread_get_last_pool(ABT_thread thread, ABT_pool* result) {
  const weft::door::runtime_section in_runtime;
  return with_unit(thread, ABT_ERR_INV_THREAD, [&](descriptor& u) {
    pool* p = pool_of(u);
    *result = p != nullptr ? handle_of(*p) : ABT_POOL_NULL;
    return ABT_SUCCESS;
  });
}

int ABT_thread_get_last_pool_id(ABT_thread thread, int* id) {
  const weft::door::runtime_section in_runtime;
  return with_unit(thread, ABT_ERR_INV_THREAD, [&](descriptor& u) {
    const pool* p = pool_of(u);
    *id = p != nullptr ? p->id : -1;
    return ABT_SUCCESS;
  });
}

int ABT_thread_get_unit(ABT_thread thread, ABT_unit* result) {
  const weft::door::runtime_section in_runtime;
  return with_unit(thread, ABT_ERR_INV_THREAD, [&](descriptor& u) {
    *result = unit_handle(u);
    return ABT_SUCCESS;
  });
}

int ABT_thread_set_associated_pool(ABT_thread thread, ABT_pool handle) {
  const weft::door::runtime_section in_runtime;
  return with_unit(thread, ABT_ERR_INV_THREAD, [&](descriptor& u) {
    pool* p = checked_pool(handle);
    if (p == nullptr)
      return ABT_ERR_INV_POOL;
    move_to(u, *p);
    return ABT_SUCCESS;
  });
}

// Neither this nor ABT_thread_get_arg() uses the runtime: no section.
int ABT_thread_is_primary(ABT_thread thread, ABT_bool* result) {
  const descriptor* const u = checked_unit(thread);
  if (u == nullptr)
    return ABT_ERR_INV_THREAD;
  *result = is_primary(*u) ? ABT_TRUE : ABT_FALSE;
  return ABT_SUCCESS;
}

int ABT_thread_is_unnamed(ABT_thread thread, ABT_bool* result) {
  const weft::door::runtime_section in_runtime;
  return with_unit(thread, ABT_ERR_INV_THREAD, [&](descriptor& u) {
    *result = u.join.is_detached() || is_primary(u) ? ABT_TRUE : ABT_FALSE;
    return ABT_SUCCESS;
  });
}

int ABT_thread_equal(ABT_thread a, ABT_thread b, ABT_bool* result) {
  const weft::door::runtime_section in_runtime;
  *result = a == b || (is_null(a) && is_null(b)) ? ABT_TRUE : ABT_FALSE;
  return ABT_SUCCESS;
}

int ABT_thread_get_stacksize(ABT_thread thread, size_t* size) {
  const weft::door::runtime_section in_runtime;
  return with_unit(thread, ABT_ERR_INV_THREAD, [&](descriptor& u) {
    *size = stack_size_of(u);
    return ABT_SUCCESS;
  });
}

int ABT_thread_get_stack(ABT_thread thread, void** stack, size_t* size) {
  const weft::door::runtime_section in_runtime;
  return with_unit(thread, ABT_ERR_INV_THREAD, [&](descriptor& u) {
    if (stack != nullptr)
      *stack = stack_of(u);
    if (size != nullptr)
      *size = stack_size_of(u);
    return ABT_SUCCESS;
  });
}

int ABT_thread_get_id(ABT_thread thread, ABT_unit_id* id) {
  const weft::door::runtime_section in_runtime;
  return with_unit(thread, ABT_ERR_INV_THREAD, [&](descriptor& u) {
    *id = id_of(u);
    return ABT_SUCCESS;
  });
}

int ABT_thread_set_arg(ABT_thread thread, void* arg) {
  const weft::door::runtime_section in_runtime;
  return with_unit(thread, ABT_ERR_INV_THREAD, [&](descriptor& u) {
    closure_of(u).argument = arg;
    return ABT_SUCCESS;
  });
}

int ABT_thread_get_arg(ABT_thread thread, void** arg) {
  const descriptor* const u = checked_unit(thread);
  if (u == nullptr)
    return ABT_ERR_INV_THREAD;
  *arg = closure_of(*u).argument;
  return ABT_SUCCESS;
}

int ABT_thread_get_thread_func(ABT_thread thread, void (**func)(void*)) {
  const weft::door::runtime_section in_runtime;
  return with_unit(thread, ABT_ERR_INV_THREAD, [&](descriptor& u) {
    *func = closure_of(u).function;
    return ABT_SUCCESS;
  });
}

int ABT_thread_get_attr(ABT_thread thread, ABT_thread_attr* result) {
  const weft::door::runtime_section in_runtime;
  return with_unit(thread, ABT_ERR_INV_THREAD, [&](descriptor& u) {
    if (is_tasklet(u))
      return ABT_ERR_INV_THREAD;
    auto a = make_owned<thread_attr>();
    a->of_thread = true;
    a->stack = stack_of(u);
    a->stack_size = stack_size_of(u);
    a->migratable = may_migrate(u);
    if (const unit_info* info = info_if_any(u)) {
      a->callback = info->callback;
      a->callback_argument = info->callback_argument;
    }
    *result = handle_of<ABT_thread_attr>(a.release());
    return ABT_SUCCESS;
  });
}

int ABTX_thread_get_technique(ABT_thread thread, ABTX_technique* technique) {
  const weft::door::runtime_section in_runtime;
  return with_unit(thread, ABT_ERR_INV_THREAD, [&](descriptor& u) {
    if (is_tasklet(u)) {
      *technique = ABTX_TECHNIQUE_RUN_TO_COMPLETION;
    } else if (u.technique() != weft::technique_id::automatic) {
      *technique = technique_of(u.technique());
    } else {
      const bool own_stack = u.stack_size() != 0 || !door::may_be_cancelled(u);
      *technique = own_stack ? ABTX_TECHNIQUE_FULL_LAZY : ABTX_TECHNIQUE_INLINE_JOIN;
    }
    return ABT_SUCCESS;
  });
}

int ABTX_thread_get_preemption(ABT_thread thread, ABTX_preemption* preemption) {
  const weft::door::runtime_section in_runtime;
  return with_unit(thread, ABT_ERR_INV_THREAD, [&](descriptor& u) {
    const unit_info* info = info_if_any(u);
    *preemption = info != nullptr ? info->preemption : ABTX_PREEMPTION_COOPERATIVE;
    return ABT_SUCCESS;
  });
}

int ABT_task_get_xstream(ABT_task task, ABT_xstream* result) {
  const weft::door::runtime_section in_runtime;
  return as_task(ABT_thread_get_last_xstream(task, result));
}

int ABT_task_get_state(ABT_task task, ABT_task_state* result) {
  const weft::door::runtime_section in_runtime;
  return with_unit(task, ABT_ERR_INV_TASK, [&](descriptor& u) {
    if (!is_tasklet(u))
      return ABT_ERR_INV_TASK;
    const ABT_thread_state s = state_of(u);
    *result = s == ABT_THREAD_STATE_TERMINATED ? ABT_TASK_STATE_TERMINATED
              : s == ABT_THREAD_STATE_READY    ? ABT_TASK_STATE_READY
                                               : ABT_TASK_STATE_RUNNING;
    return ABT_SUCCESS;
  });
}

int ABT_task_get_last_pool(ABT_task task, ABT_pool* result) {
  const weft::door::runtime_section in_runtime;
  return as_task(ABT_thread_get_last_pool(task, result));
}

int ABT_task_get_last_pool_id(ABT_task task, int* id) {
  const weft::door::runtime_section in_runtime;
  return as_task(ABT_thread_get_last_pool_id(task, id));
}

int ABT_task_equal(ABT_task a, ABT_task b, ABT_bool* result) {
  const weft::door::runtime_section in_runtime;
  return ABT_thread_equal(a, b, result);
}

int ABT_task_get_id(ABT_task task, uint64_t* id) {
  const weft::door::runtime_section in_runtime;
  return as_task(ABT_thread_get_id(task, id));
}

int ABT_task_get_arg(ABT_task task, void** arg) {
  const weft::door::runtime_section in_runtime;
  return as_task(ABT_thread_get_arg(task, arg));
}

} // extern "C"
