// SPDX-License-Identifier: MIT
// ABT_self_*: what the caller may ask of itself; and the older names for the same.
#include "front/abt/context.hpp"
#include "front/abt/error.hpp"
#include "front/abt/pool.hpp"
#include "front/abt/runtime.hpp"
#include "front/abt/unit.hpp"
#include "front/abt/xstream.hpp"
#include "weft/door/section.hpp"

using namespace weft::abt;
namespace door = weft::door;

namespace {

// A weft::thread, which has none of what is asked here, is no unit of the C API.
template <class F>
int with_self(F f) {
  descriptor* u = unit_here();
  if (u == nullptr)
    return ABT_ERR_INV_XSTREAM;
  return is_ours(*u) ? guarded([&] { return f(*u); }) : ABT_ERR_INV_THREAD;
}

template <class F>
int with_any_self(F f) {
  descriptor* u = unit_here();
  return u != nullptr ? f(*u) : ABT_ERR_INV_XSTREAM;
}

// The functions that are for ULTs, or for tasklets, alone.
int require(caller wanted, int code) noexcept {
  if (!initialised())
    return ABT_ERR_UNINITIALIZED;
  if (stream_here() == nullptr)
    return ABT_ERR_INV_XSTREAM;
  const caller c = who();
  const bool right = c == wanted || (wanted == caller::thread && c == caller::loop);
  return right ? ABT_SUCCESS : code;
}

} // namespace

extern "C" {

int ABT_self_get_xstream(ABT_xstream* result) {
  const weft::door::runtime_section in_runtime;
  *result = ABT_XSTREAM_NULL;
  xstream* es = stream_here();
  if (es == nullptr)
    return ABT_ERR_INV_XSTREAM;
  *result = handle_of(*es);
  return ABT_SUCCESS;
}

int ABT_self_get_xstream_rank(int* rank) {
  const weft::door::runtime_section in_runtime;
  const xstream* es = stream_here();
  if (es == nullptr)
    return ABT_ERR_INV_XSTREAM;
  *rank = es->rank;
  return ABT_SUCCESS;
}

int ABT_self_get_thread(ABT_thread* thread) {
  const weft::door::runtime_section in_runtime;
  *thread = ABT_THREAD_NULL;
  return with_any_self([&](descriptor& u) {
    *thread = handle_of(u);
    return ABT_SUCCESS;
  });
}

int ABT_self_get_thread_id(ABT_unit_id* id) {
  const weft::door::runtime_section in_runtime;
  return with_self([&](descriptor& u) {
    *id = id_of(u);
    return ABT_SUCCESS;
  });
}

int ABT_self_get_type(ABT_unit_type* type) {
  const weft::door::runtime_section in_runtime;
  *type = ABT_UNIT_TYPE_EXT;
  if (!initialised())
    return ABT_ERR_UNINITIALIZED;
  return with_any_self([&](descriptor& u) {
    *type = is_tasklet(u) ? ABT_UNIT_TYPE_TASK : ABT_UNIT_TYPE_THREAD;
    return ABT_SUCCESS;
  });
}

int ABT_self_is_primary(ABT_bool* result) {
  const weft::door::runtime_section in_runtime;
  *result = ABT_FALSE;
  const int code = require(caller::thread, ABT_ERR_INV_THREAD);
  if (code == ABT_SUCCESS)
    *result = is_primary(*unit_here()) ? ABT_TRUE : ABT_FALSE;
  return code;
}

int ABT_self_on_primary_xstream(ABT_bool* result) {
  const weft::door::runtime_section in_runtime;
  *result = ABT_FALSE;
  if (!initialised())
    return ABT_ERR_UNINITIALIZED;
  const xstream* es = stream_here();
  if (es == nullptr)
    return ABT_ERR_INV_XSTREAM;
  *result = es->primary ? ABT_TRUE : ABT_FALSE;
  return ABT_SUCCESS;
}

int ABT_self_is_unnamed(ABT_bool* result) {
  const weft::door::runtime_section in_runtime;
  return with_self([&](descriptor& u) {
    *result = u.join.is_detached() || is_primary(u) ? ABT_TRUE : ABT_FALSE;
    return ABT_SUCCESS;
  });
}

int ABT_self_get_last_pool(ABT_pool* result) {
  const weft::door::runtime_section in_runtime;
  return with_self([&](descriptor& u) {
    pool* p = pool_of(u);
    *result = p != nullptr ? handle_of(*p) : ABT_POOL_NULL;
    return ABT_SUCCESS;
  });
}

int ABT_self_get_last_pool_id(int* id) {
  const weft::door::runtime_section in_runtime;
  *id = -1;
  if (!initialised())
    return ABT_ERR_UNINITIALIZED;
  return with_self([&](descriptor& u) {
    const pool* p = pool_of(u);
    *id = p != nullptr ? p->id : -1;
    return ABT_SUCCESS;
  });
}

int ABT_self_set_associated_pool(ABT_pool handle) {
  const weft::door::runtime_section in_runtime;
  return with_self([&](descriptor& u) {
    pool* p = checked_pool(handle);
    if (p == nullptr)
      return ABT_ERR_INV_POOL;
    move_to(u, *p);
    return ABT_SUCCESS;
  });
}

int ABT_self_get_unit(ABT_unit* unit) {
  const weft::door::runtime_section in_runtime;
  return with_self([&](descriptor& u) {
    *unit = unit_handle(u);
    return ABT_SUCCESS;
  });
}

int ABT_self_set_arg(void* arg) {
  const weft::door::runtime_section in_runtime;
  if (!initialised())
    return ABT_ERR_UNINITIALIZED;
  return with_self([&](descriptor& u) {
    closure_of(u).argument = arg;
    return ABT_SUCCESS;
  });
}

int ABT_self_get_arg(void** arg) {
  const weft::door::runtime_section in_runtime;
  *arg = nullptr;
  if (!initialised())
    return ABT_ERR_UNINITIALIZED;
  return with_self([&](descriptor& u) {
    *arg = closure_of(u).argument;
    return ABT_SUCCESS;
  });
}

int ABT_self_get_thread_func(void (**func)(void*)) {
  const weft::door::runtime_section in_runtime;
  return with_self([&](descriptor& u) {
    *func = closure_of(u).function;
    return ABT_SUCCESS;
  });
}

// --- older names ---

int ABT_thread_self(ABT_thread* thread) {
  const weft::door::runtime_section in_runtime;
  *thread = ABT_THREAD_NULL;
  const int code = require(caller::thread, ABT_ERR_INV_THREAD);
  return code == ABT_SUCCESS ? ABT_self_get_thread(thread) : code;
}

int ABT_thread_self_id(ABT_unit_id* id) {
  const weft::door::runtime_section in_runtime;
  const int code = require(caller::thread, ABT_ERR_INV_THREAD);
  return code == ABT_SUCCESS ? ABT_self_get_thread_id(id) : code;
}

int ABT_task_self(ABT_task* task) {
  const weft::door::runtime_section in_runtime;
  *task = ABT_TASK_NULL;
  const int code = require(caller::tasklet, ABT_ERR_INV_TASK);
  return code == ABT_SUCCESS ? ABT_self_get_thread(task) : code;
}

int ABT_task_self_id(ABT_unit_id* id) {
  const weft::door::runtime_section in_runtime;
  const int code = require(caller::tasklet, ABT_ERR_INV_TASK);
  return code == ABT_SUCCESS ? ABT_self_get_thread_id(id) : code;
}

} // extern "C"
