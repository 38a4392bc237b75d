// SPDX-License-Identifier: MIT
// ABT_xstream_*.
#include "front/abt/xstream.hpp"

#include <algorithm>
#include <new>

#include "front/abt/affinity.hpp"
#include "front/abt/context.hpp"
#include "front/abt/error.hpp"
#include "front/abt/requests.hpp"
#include "front/abt/runtime.hpp"
#include "weft/door/section.hpp"

using namespace weft::abt;

namespace {

xstream* stream(ABT_xstream handle) noexcept {
  return checked<xstream>(handle);
}

// Takes the scheduler of the caller, or makes the default one, which goes again if the stream cannot be made.
int create(ABT_sched handle, int rank, ABT_xstream* result) {
  *result = ABT_XSTREAM_NULL;
  return guarded(
      [&] {
        owner<scheduler> made;
        scheduler* s = nullptr;
        if (handle == ABT_SCHED_NULL || handle == nullptr) {
          made = make_predefined(ABT_SCHED_DEFAULT, 0, nullptr, true);
          s = made.get();
        } else {
          s = checked<scheduler>(handle);
        }
        if (s == nullptr || !take(*s, use::main))
          return ABT_ERR_INV_SCHED;
        try {
          *result = handle_of(create_stream(*s, rank, false));
        } catch (...) {
          forget_requests(*s);
          s->used = use::none;
          throw;
        }
        made.release();
        return ABT_SUCCESS;
      },
      ABT_ERR_SYS);
}

// Nobody can wait for the end of a stream that could not end meanwhile: the primary one, and that of a caller
// which only this stream runs.
bool cannot_be_awaited(const xstream& es) noexcept {
  if (es.primary)
    return true;
  if (&es != stream_here())
    return false;
  const descriptor& self = *unit_here();
  const pool* p = is_ours(self) && self.operations != &loop_operations ? pool_of(self) : nullptr;
  return who() != caller::thread || p == nullptr || p->schedulers.load() <= 1;
}

} // namespace

extern "C" {

int ABT_xstream_create(ABT_sched sched, ABT_xstream* newxstream) {
  const weft::door::runtime_section in_runtime;
  return create(sched, -1, newxstream);
}

int ABT_xstream_create_basic(ABT_sched_predef predef, int num_pools, ABT_pool* pools, ABT_sched_config config,
                             ABT_xstream* newxstream) {
  const weft::door::runtime_section in_runtime;
  *newxstream = ABT_XSTREAM_NULL;
  ABT_sched s = ABT_SCHED_NULL;
  const int made = ABT_sched_create_basic(predef, num_pools, pools, config, &s);
  if (made != ABT_SUCCESS)
    return made;
  const int created = create(s, -1, newxstream);
  if (created != ABT_SUCCESS) {
    give_back_pools(*checked<scheduler>(s), num_pools, pools);
    ABT_sched_free(&s);
  }
  return created;
}

int ABT_xstream_create_with_rank(ABT_sched sched, int rank, ABT_xstream* newxstream) {
  const weft::door::runtime_section in_runtime;
  if (rank < 0) {
    *newxstream = ABT_XSTREAM_NULL;
    return ABT_ERR_INV_XSTREAM_RANK;
  }
  return create(sched, rank, newxstream);
}

int ABT_xstream_free(ABT_xstream* xstream_handle) {
  const weft::door::runtime_section in_runtime;
  xstream* es = stream(*xstream_handle);
  if (es == nullptr || cannot_be_awaited(*es))
    return ABT_ERR_INV_XSTREAM;
  return guarded([&] {
    join_stream(*es);
    free_stream(*es);
    *xstream_handle = ABT_XSTREAM_NULL;
    return ABT_SUCCESS;
  });
}

int ABT_xstream_join(ABT_xstream xstream_handle) {
  const weft::door::runtime_section in_runtime;
  xstream* es = stream(xstream_handle);
  if (es == nullptr || cannot_be_awaited(*es))
    return ABT_ERR_INV_XSTREAM;
  return guarded([&] {
    join_stream(*es);
    return ABT_SUCCESS;
  });
}

int ABT_xstream_revive(ABT_xstream xstream_handle) {
  const weft::door::runtime_section in_runtime;
  xstream* es = stream(xstream_handle);
  if (es == nullptr || es->primary || es->condition.load() != ABT_XSTREAM_STATE_TERMINATED)
    return ABT_ERR_INV_XSTREAM;
  return guarded([&] {
    revive_stream(*es);
    return ABT_SUCCESS;
  });
}

int ABT_xstream_exit(void) {
  const weft::door::runtime_section in_runtime;
  if (!initialised())
    return ABT_ERR_UNINITIALIZED;
  xstream* es = stream_here();
  if (es == nullptr || es->primary)
    return ABT_ERR_INV_XSTREAM;
  if (who() != caller::thread)
    return ABT_ERR_INV_THREAD;
  const int cancelled = ABT_xstream_cancel(handle_of(*es));
  return cancelled == ABT_SUCCESS ? ABT_self_exit() : cancelled;
}

int ABT_xstream_cancel(ABT_xstream xstream_handle) {
  const weft::door::runtime_section in_runtime;
  xstream* es = stream(xstream_handle);
  if (es == nullptr || es->primary)
    return ABT_ERR_INV_XSTREAM;
  if (es->condition.load() == ABT_XSTREAM_STATE_TERMINATED)
    return ABT_SUCCESS;
  es->request(exit_requested);
  return ABT_SUCCESS;
}

int ABT_xstream_self(ABT_xstream* result) {
  const weft::door::runtime_section in_runtime;
  *result = ABT_XSTREAM_NULL;
  if (!initialised())
    return ABT_ERR_UNINITIALIZED;
  return ABT_self_get_xstream(result);
}

int ABT_xstream_self_rank(int* rank) {
  const weft::door::runtime_section in_runtime;
  if (!initialised())
    return ABT_ERR_UNINITIALIZED;
  return ABT_self_get_xstream_rank(rank);
}

int ABT_xstream_set_rank(ABT_xstream xstream_handle, int rank) {
  const weft::door::runtime_section in_runtime;
  xstream* es = stream(xstream_handle);
  if (es == nullptr || es->primary)
    return ABT_ERR_INV_XSTREAM;
  if (rank < 0)
    return ABT_ERR_INV_XSTREAM_RANK;
  return guarded([&] {
    const int before = es->rank;
    {
      const std::scoped_lock held(state().lock);
      for (const xstream* other : state().streams) {
        if (other != es && other->rank == rank)
          return ABT_ERR_INV_XSTREAM_RANK;
      }
      es->rank = rank;
    }
    try {
      bind_by_environment(*es);
    } catch (...) {
      es->rank = before;
      throw;
    }
    return ABT_SUCCESS;
  });
}

int ABT_xstream_get_rank(ABT_xstream xstream_handle, int* rank) {
  const weft::door::runtime_section in_runtime;
  const xstream* es = stream(xstream_handle);
  if (es == nullptr)
    return ABT_ERR_INV_XSTREAM;
  *rank = es->rank;
  return ABT_SUCCESS;
}

int ABT_xstream_set_main_sched(ABT_xstream xstream_handle, ABT_sched sched) {
  const weft::door::runtime_section in_runtime;
  xstream* es = stream(xstream_handle);
  if (es == nullptr)
    return ABT_ERR_INV_XSTREAM;
  if (es->condition.load() != ABT_XSTREAM_STATE_TERMINATED) {
    if (stream_here() == nullptr)
      return ABT_ERR_INV_XSTREAM;
    if (es != stream_here())
      return ABT_ERR_XSTREAM_STATE;
    if (who() != caller::thread || !runs_on_main_scheduler(*es))
      return ABT_ERR_INV_THREAD;
  }
  return guarded([&] {
    owner<scheduler> made;
    scheduler* s = checked<scheduler>(sched);
    if (is_null(sched)) {
      made = make_predefined(ABT_SCHED_DEFAULT, 0, nullptr, true);
      s = made.get();
    }
    if (s == nullptr)
      return ABT_ERR_INV_SCHED;
    if (s == es->main.load())
      return ABT_SUCCESS;
    if (!take(*s, use::main))
      return ABT_ERR_INV_SCHED;
    try {
      replace_main_scheduler(*es, *s);
    } catch (...) {
      s->used = use::none;
      throw;
    }
    made.release();
    return ABT_SUCCESS;
  });
}

int ABT_xstream_set_main_sched_basic(ABT_xstream xstream_handle, ABT_sched_predef predef, int num_pools,
                                     ABT_pool* pools) {
  const weft::door::runtime_section in_runtime;
  ABT_sched s = ABT_SCHED_NULL;
  const int made = ABT_sched_create_basic(predef, num_pools, pools, ABT_SCHED_CONFIG_NULL, &s);
  if (made != ABT_SUCCESS)
    return made;
  const int set = ABT_xstream_set_main_sched(xstream_handle, s);
  if (set != ABT_SUCCESS) {
    give_back_pools(*checked<scheduler>(s), num_pools, pools);
    ABT_sched_free(&s);
  }
  return set;
}

int ABT_xstream_get_main_sched(ABT_xstream xstream_handle, ABT_sched* sched) {
  const weft::door::runtime_section in_runtime;
  const xstream* es = stream(xstream_handle);
  if (es == nullptr)
    return ABT_ERR_INV_XSTREAM;
  *sched = handle_of<ABT_sched>(es->main.load());
  return ABT_SUCCESS;
}

int ABT_xstream_get_main_pools(ABT_xstream xstream_handle, int max_pools, ABT_pool* pools) {
  const weft::door::runtime_section in_runtime;
  const xstream* es = stream(xstream_handle);
  if (es == nullptr)
    return ABT_ERR_INV_XSTREAM;
  if (max_pools < 0)
    return ABT_ERR_INV_ARG;
  const auto& all = es->main.load()->pools;
  for (std::size_t i = 0; i < all.size() && i < static_cast<std::size_t>(max_pools); ++i)
    pools[i] = handle_of(*all[i]);
  return ABT_SUCCESS;
}

int ABT_xstream_get_state(ABT_xstream xstream_handle, ABT_xstream_state* result) {
  const weft::door::runtime_section in_runtime;
  const xstream* es = stream(xstream_handle);
  if (es == nullptr)
    return ABT_ERR_INV_XSTREAM;
  *result = es->condition.load();
  return ABT_SUCCESS;
}

int ABT_xstream_equal(ABT_xstream a, ABT_xstream b, ABT_bool* result) {
  const weft::door::runtime_section in_runtime;
  *result = a == b || (is_null(a) && is_null(b)) ? ABT_TRUE : ABT_FALSE;
  return ABT_SUCCESS;
}

int ABT_xstream_get_num(int* num_xstreams) {
  const weft::door::runtime_section in_runtime;
  *num_xstreams = 0;
  if (!initialised())
    return ABT_ERR_UNINITIALIZED;
  const std::scoped_lock held(state().lock);
  *num_xstreams = static_cast<int>(state().streams.size());
  return ABT_SUCCESS;
}

int ABT_xstream_is_primary(ABT_xstream xstream_handle, ABT_bool* is_primary) {
  const weft::door::runtime_section in_runtime;
  const xstream* es = stream(xstream_handle);
  if (es == nullptr)
    return ABT_ERR_INV_XSTREAM;
  *is_primary = es->primary ? ABT_TRUE : ABT_FALSE;
  return ABT_SUCCESS;
}

int ABT_xstream_run_unit(ABT_unit unit, ABT_pool pool) {
  const weft::door::runtime_section in_runtime;
  if (stream_here() == nullptr)
    return ABT_ERR_INV_XSTREAM;
  if (who() != caller::thread)
    return ABT_ERR_INV_THREAD;
  descriptor* u = unit_behind(unit);
  if (u == nullptr)
    return ABT_ERR_INV_UNIT;
  if (checked_pool(pool) == nullptr)
    return ABT_ERR_INV_POOL;
  return ABT_self_schedule(handle_of(*u), pool);
}

int ABT_xstream_check_events(ABT_sched sched) {
  const weft::door::runtime_section in_runtime;
  if (!initialised())
    return ABT_ERR_UNINITIALIZED;
  if (stream_here() == nullptr)
    return ABT_ERR_INV_XSTREAM;
  scheduler* s = checked<scheduler>(sched);
  if (s == nullptr)
    return ABT_ERR_INV_SCHED;
  const descriptor* u = unit_here();
  const unit_info* info = u->operations == &loop_operations ? info_if_any(*u) : nullptr;
  if (info == nullptr || info->loop != s)
    return ABT_ERR_INV_THREAD;
  check_events(*s);
  return ABT_SUCCESS;
}

} // extern "C"
