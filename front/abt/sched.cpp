// SPDX-License-Identifier: MIT
// ABT_sched_*: how schedulers are made, asked and freed.
#include <algorithm>
#include <new>

#include "front/abt/config.hpp"
#include "front/abt/context.hpp"
#include "front/abt/error.hpp"
#include "front/abt/requests.hpp"
#include "front/abt/runtime.hpp"
#include "front/abt/scheduler.hpp"
#include "front/abt/xstream.hpp"
#include "weft/door/section.hpp"

namespace weft::abt {
namespace {

std::size_t own_pools(ABT_sched_predef predef) noexcept {
  return predef == ABT_SCHED_PRIO ? 3 : 1;
}

ABT_pool_kind kind_for(ABT_sched_predef predef) noexcept {
  return predef == ABT_SCHED_BASIC_WAIT ? ABT_POOL_FIFO_WAIT
         : predef == ABT_SCHED_RANDWS   ? ABT_POOL_RANDWS
                                        : ABT_POOL_FIFO;
}

// An automatic pool that nobody has used yet goes with the list.
struct list_guard {
  std::vector<pool*> made;
  ~list_guard() {
    for (pool* p : made)
      release_pool(*p);
  }
};

void count_use(const std::vector<std::shared_ptr<pool>>& pools) noexcept {
  for (const auto& p : pools)
    p->schedulers.fetch_add(1, std::memory_order_relaxed);
}

} // namespace

namespace {

// Errors: failure{ABT_ERR_INV_POOL}, std::bad_alloc; what was made goes again.
std::vector<std::shared_ptr<pool>> pools_for(ABT_sched_predef predef, int count, ABT_pool* handles) {
  const std::size_t wanted = handles == nullptr ? own_pools(predef) : static_cast<std::size_t>(count);
  std::vector<std::shared_ptr<pool>> pools;
  pools.reserve(wanted);
  list_guard guard;
  guard.made.reserve(wanted);
  const ABT_pool_access access = predef == ABT_SCHED_RANDWS ? ABT_POOL_ACCESS_MPMC : ABT_POOL_ACCESS_MPSC;
  for (std::size_t i = 0; i < wanted; ++i) {
    pool* p = handles != nullptr && !is_null(handles[i]) ? checked_pool(handles[i]) : nullptr;
    if (handles != nullptr && !is_null(handles[i]) && p == nullptr)
      throw failure{ABT_ERR_INV_POOL};
    if (p == nullptr) {
      p = &make_pool(kind_for(predef), access, true);
      guard.made.push_back(p);
    }
    pools.push_back(p->self);
  }
  guard.made.clear();
  return pools;
}

} // namespace

void give_back_pools(scheduler& s, int count, const ABT_pool* handles) noexcept {
  for (int i = 0; handles != nullptr && i < count; ++i) {
    pool* p = is_null(handles[i]) ? nullptr : checked_pool(handles[i]);
    const auto found =
        std::find_if(s.pools.begin(), s.pools.end(), [p](const auto& q) { return q.get() == p; });
    if (found == s.pools.end())
      continue;
    p->schedulers.fetch_sub(1, std::memory_order_relaxed);
    s.pools.erase(found);
  }
}

void wake_users_of(const pool& p) noexcept {
  const std::scoped_lock held(state().lock);
  for (xstream* es : state().streams) {
    if (es->serves(&p))
      es->wake();
  }
}

void wake_user_of(const scheduler& s) noexcept {
  const std::scoped_lock held(state().lock);
  for (xstream* es : state().streams) {
    if (es->main.load() == &s)
      es->wake();
  }
}

namespace {

// Few pools, whose order within an access mode is kept. (std::stable_sort takes memory.)
void sort_by_access(std::vector<std::shared_ptr<pool>>& pools) noexcept {
  for (auto end = pools.begin(); end != pools.end(); ++end) {
    for (auto at = end; at != pools.begin() && (*at)->access < (*(at - 1))->access; --at)
      std::swap(*at, *(at - 1));
  }
}

} // namespace

owner<scheduler> make_predefined(ABT_sched_predef predef, int count, ABT_pool* handles, bool automatic) {
  auto s = make_owned<scheduler>();
  s->predefined = predef == ABT_SCHED_DEFAULT ? ABT_SCHED_BASIC : predef;
  s->automatic = automatic;
  s->event_frequency = current().event_frequency;
  s->pools = pools_for(predef, count, handles);
  if (s->predefined == ABT_SCHED_BASIC || s->predefined == ABT_SCHED_BASIC_WAIT) {
    sort_by_access(s->pools);
  }
  count_use(s->pools);
  return s;
}

scheduler::~scheduler() {
  for (const auto& p : pools) {
    if (p->schedulers.fetch_sub(1, std::memory_order_acq_rel) == 1 && p->automatic)
      release_pool(*p);
  }
}

bool take(scheduler& s, use how) noexcept {
  use expected = use::none;
  return s.used.compare_exchange_strong(expected, how);
}

void destroy_scheduler(scheduler& s) noexcept {
  if (s.initialised && s.definition.free != nullptr)
    static_cast<void>(s.definition.free(handle_of<ABT_sched>(&s)));
  destroy(&s);
}

namespace {

// The ULT that a scheduler becomes in a pool; it frees what it ran when it is automatic.
void run_in_pool(void* argument) {
  auto& s = *static_cast<scheduler*>(argument);
  if (s.loops()) {
    s.definition.run(handle_of<ABT_sched>(&s));
  } else {
    run_predefined(s);
  }
  forget_requests(s);
  const bool automatic = s.automatic; // once it is not in use, somebody else may free it
  s.used.store(use::none);
  if (automatic)
    destroy_scheduler(s);
}

int push_scheduler(pool& p, scheduler& s) {
  thread_attr a;
  a.stack_size = current().loop_stack_size;
  creation c{&run_in_pool, &s};
  c.attributes = &a;
  c.unnamed = true;
  c.operations = &loop_operations;
  descriptor& u = make_unit(p, c, ABT_POOL_CONTEXT_OP_THREAD_CREATE);
  try {
    info_of(u).loop = &s;
  } catch (...) {
    settle_end(u);
    free_ended_unit(u);
    throw;
  }
  p.push_new(u); // GONE: u
  return ABT_SUCCESS;
}

scheduler* sched_of(ABT_sched handle) noexcept {
  return checked<scheduler>(handle);
}

const sched_config* config_of(ABT_sched_config handle) {
  if (is_null(handle))
    return nullptr;
  const sched_config* c = checked<sched_config>(handle);
  if (c == nullptr)
    throw failure{ABT_ERR_INV_SCHED_CONFIG};
  return c;
}

void configure(scheduler& s, const sched_config* c, bool automatic) {
  s.automatic = c != nullptr ? c->integer(key_automatic_sched, automatic) != 0 : automatic;
  const int frequency = c != nullptr ? c->integer(key_frequency, 0) : 0;
  if (frequency > 0)
    s.event_frequency = static_cast<std::uint64_t>(frequency);
}

int create_user_sched(const ABT_sched_def& def, int num_pools, ABT_pool* pools, ABT_sched_config config,
                      ABT_sched* result) {
  const sched_config* c = config_of(config);
  auto s = make_owned<scheduler>();
  s->definition = def;
  s->event_frequency = current().event_frequency;
  s->pools = pools_for(ABT_SCHED_BASIC, num_pools, pools);
  count_use(s->pools);
  configure(*s, c, false);
  if (def.init != nullptr) {
    const int code = def.init(handle_of<ABT_sched>(s.get()), config);
    if (code != ABT_SUCCESS) {
      give_back_pools(*s, num_pools, pools);
      return code;
    }
  }
  s->initialised = true;
  *result = handle_of<ABT_sched>(s.release());
  return ABT_SUCCESS;
}

template <class Size>
int sum(ABT_sched handle, std::size_t* result, Size size_of) {
  *result = 0;
  scheduler* s = sched_of(handle);
  if (s == nullptr)
    return ABT_ERR_INV_SCHED;
  std::size_t total = 0;
  for (const auto& p : s->pools) {
    if (!p->has_size())
      return ABT_ERR_POOL;
    total += size_of(*p);
  }
  *result = total;
  return ABT_SUCCESS;
}

} // namespace
} // namespace weft::abt

using namespace weft::abt;

extern "C" {

int ABT_sched_create(ABT_sched_def* def, int num_pools, ABT_pool* pools, ABT_sched_config config,
                     ABT_sched* newsched) {
  const weft::door::runtime_section in_runtime;
  if (newsched == nullptr)
    return ABT_ERR_SCHED;
  *newsched = ABT_SCHED_NULL;
  if (def == nullptr || def->run == nullptr || num_pools <= 0 || pools == nullptr)
    return ABT_ERR_INV_ARG;
  return guarded([&] { return create_user_sched(*def, num_pools, pools, config, newsched); });
}

int ABT_sched_create_basic(ABT_sched_predef predef, int num_pools, ABT_pool* pools, ABT_sched_config config,
                           ABT_sched* newsched) {
  const weft::door::runtime_section in_runtime;
  *newsched = ABT_SCHED_NULL;
  if (predef < ABT_SCHED_DEFAULT || predef > ABT_SCHED_BASIC_WAIT)
    return ABT_ERR_INV_ARG;
  if (num_pools < 0 || (num_pools == 0 && pools != nullptr))
    return ABT_ERR_INV_ARG;
  return guarded([&] {
    const sched_config* c = config_of(config);
    owner<scheduler> s = make_predefined(predef, num_pools, pools, true);
    configure(*s, c, true);
    *newsched = handle_of<ABT_sched>(s.release());
    return ABT_SUCCESS;
  });
}

int ABT_sched_free(ABT_sched* sched) {
  const weft::door::runtime_section in_runtime;
  scheduler* s = sched_of(*sched);
  if (s == nullptr)
    return ABT_ERR_INV_SCHED;
  if (s->used.load() != use::none)
    return ABT_ERR_SCHED;
  destroy_scheduler(*s);
  *sched = ABT_SCHED_NULL;
  return ABT_SUCCESS;
}

int ABT_sched_set_data(ABT_sched sched, void* data) {
  const weft::door::runtime_section in_runtime;
  scheduler* s = sched_of(sched);
  if (s == nullptr)
    return ABT_ERR_INV_SCHED;
  s->data = data;
  return ABT_SUCCESS;
}

int ABT_sched_get_data(ABT_sched sched, void** data) {
  const weft::door::runtime_section in_runtime;
  const scheduler* s = sched_of(sched);
  if (s == nullptr)
    return ABT_ERR_INV_SCHED;
  *data = s->data;
  return ABT_SUCCESS;
}

int ABT_sched_get_num_pools(ABT_sched sched, int* num_pools) {
  const weft::door::runtime_section in_runtime;
  const scheduler* s = sched_of(sched);
  if (s == nullptr)
    return ABT_ERR_INV_SCHED;
  *num_pools = static_cast<int>(s->pools.size());
  return ABT_SUCCESS;
}

int ABT_sched_get_pools(ABT_sched sched, int max_pools, int idx, ABT_pool* pools) {
  const weft::door::runtime_section in_runtime;
  const scheduler* s = sched_of(sched);
  if (s == nullptr)
    return ABT_ERR_INV_SCHED;
  if (max_pools < 0 || idx < 0)
    return ABT_ERR_INV_ARG;
  if (static_cast<std::size_t>(idx) + static_cast<std::size_t>(max_pools) > s->pools.size())
    return ABT_ERR_SCHED;
  for (int i = 0; i < max_pools; ++i)
    pools[i] = handle_of(*s->pools[static_cast<std::size_t>(idx) + static_cast<std::size_t>(i)]);
  return ABT_SUCCESS;
}

int ABT_sched_get_size(ABT_sched sched, size_t* size) {
  const weft::door::runtime_section in_runtime;
  return sum(sched, size, [](pool& p) { return p.exact_size(); });
}

int ABT_sched_get_total_size(ABT_sched sched, size_t* size) {
  const weft::door::runtime_section in_runtime;
  return sum(sched, size, [](pool& p) { return total_size(p); });
}

int ABT_sched_finish(ABT_sched sched) {
  const weft::door::runtime_section in_runtime;
  scheduler* s = sched_of(sched);
  if (s == nullptr)
    return ABT_ERR_INV_SCHED;
  add_request(*s, finish_requested);
  wake_user_of(*s);
  return ABT_SUCCESS;
}

int ABT_sched_exit(ABT_sched sched) {
  const weft::door::runtime_section in_runtime;
  scheduler* s = sched_of(sched);
  if (s == nullptr)
    return ABT_ERR_INV_SCHED;
  add_request(*s, exit_requested);
  wake_user_of(*s);
  return ABT_SUCCESS;
}

int ABT_sched_has_to_stop(ABT_sched sched, ABT_bool* stop) {
  const weft::door::runtime_section in_runtime;
  *stop = ABT_FALSE;
  const scheduler* s = sched_of(sched);
  if (s == nullptr)
    return ABT_ERR_INV_SCHED;
  if (stream_here() == nullptr)
    return ABT_ERR_INV_XSTREAM;
  *stop = s->has_to_stop() ? ABT_TRUE : ABT_FALSE;
  return ABT_SUCCESS;
}

int ABT_pool_add_sched(ABT_pool handle, ABT_sched sched) {
  const weft::door::runtime_section in_runtime;
  pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  scheduler* s = sched_of(sched);
  if (s == nullptr || !take(*s, use::in_pool))
    return ABT_ERR_INV_SCHED;
  const int code = guarded([&] { return push_scheduler(*p, *s); });
  if (code != ABT_SUCCESS)
    s->used = use::none;
  return code;
}

} // extern "C"
