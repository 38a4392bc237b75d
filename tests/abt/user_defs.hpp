// SPDX-License-Identifier: MIT
// A FIFO pool and a scheduler as a user of the C API writes them: the pool with the new-style callbacks and
// with the old-style struct, each with all callbacks or with the required ones only.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <vector>

#include <sched.h>

#include "abt_test.hpp"

namespace abt_test {

constexpr std::initializer_list<ABT_sched_predef> every_predef = {
    ABT_SCHED_DEFAULT, ABT_SCHED_BASIC, ABT_SCHED_PRIO, ABT_SCHED_RANDWS, ABT_SCHED_BASIC_WAIT};
constexpr auto no_predef = static_cast<ABT_sched_predef>(7);

inline ABT_pool first_pool(ABT_xstream es) {
  ABT_pool pool = ABT_POOL_NULL;
  EXPECT_OK(ABT_xstream_get_main_pools(es, 1, &pool));
  return pool;
}

inline ABT_sched main_sched(ABT_xstream es) {
  ABT_sched sched = ABT_SCHED_NULL;
  EXPECT_OK(ABT_xstream_get_main_sched(es, &sched));
  return sched;
}

inline ABT_xstream make_stream() {
  ABT_xstream es = ABT_XSTREAM_NULL;
  EXPECT_OK(ABT_xstream_create(ABT_SCHED_NULL, &es));
  return es;
}

enum class callbacks { required, all };

// What a user pool keeps. Each ABT_unit points to a node.
struct user_fifo {
  struct node {
    ABT_thread thread;
    user_fifo* owner = nullptr; // of old-style nodes only while they are in the pool
  };

  std::mutex lock;
  std::deque<node*> nodes;
  std::atomic<int> units = 0; // made and not yet freed
  std::atomic<int> units_made = 0;
  std::atomic<int> inits = 0;
  std::atomic<int> frees = 0;
  std::atomic<int> pop_waits = 0;
  std::atomic<int> pop_manys = 0;
  std::atomic<int> push_manys = 0;
  std::atomic<ABT_pool_context> contexts = 0; // of all pushes, or-ed
  std::atomic<bool> refuse_units = false;
  std::atomic<int> init_result = ABT_SUCCESS;

  void push(node* n) {
    const std::lock_guard guard(lock);
    n->owner = this;
    nodes.push_back(n);
  }
  node* pop() {
    const std::lock_guard guard(lock);
    if (nodes.empty())
      return nullptr;
    node* const n = nodes.front();
    nodes.pop_front();
    n->owner = nullptr;
    return n;
  }
  void remove(node* n) {
    const std::lock_guard guard(lock);
    std::erase(nodes, n);
    n->owner = nullptr;
  }
  std::size_t size() {
    const std::lock_guard guard(lock);
    return nodes.size();
  }
};

inline user_fifo& fifo_of(ABT_pool pool) {
  void* data = nullptr;
  ABT_pool_get_data(pool, &data);
  return *static_cast<user_fifo*>(data);
}
inline user_fifo::node* node_of(ABT_unit unit) {
  return reinterpret_cast<user_fifo::node*>(unit);
}
inline ABT_unit unit_of(user_fifo::node* n) {
  return n == nullptr ? ABT_UNIT_NULL : reinterpret_cast<ABT_unit>(n);
}
inline ABT_thread thread_of(user_fifo::node* n) {
  return n == nullptr ? ABT_THREAD_NULL : n->thread;
}

// The new-style callbacks.
inline ABT_unit fifo_create_unit(ABT_pool pool, ABT_thread thread) {
  user_fifo& fifo = fifo_of(pool);
  if (fifo.refuse_units)
    return ABT_UNIT_NULL;
  ++fifo.units;
  ++fifo.units_made;
  return unit_of(new user_fifo::node{thread});
}
inline void fifo_free_unit(ABT_pool pool, ABT_unit unit) {
  --fifo_of(pool).units;
  delete node_of(unit);
}
inline ABT_bool fifo_is_empty(ABT_pool pool) {
  return fifo_of(pool).size() == 0 ? ABT_TRUE : ABT_FALSE;
}
inline ABT_thread fifo_pop(ABT_pool pool, ABT_pool_context) {
  return thread_of(fifo_of(pool).pop());
}
inline void fifo_push(ABT_pool pool, ABT_unit unit, ABT_pool_context context) {
  fifo_of(pool).contexts |= context;
  fifo_of(pool).push(node_of(unit));
}
// The state of the pool comes in its configuration, under key 0.
inline int fifo_init(ABT_pool pool, ABT_pool_config config) {
  void* data = nullptr;
  EXPECT_OK(ABT_pool_config_get(config, 0, nullptr, &data));
  EXPECT_OK(ABT_pool_set_data(pool, data));
  ++fifo_of(pool).inits;
  return fifo_of(pool).init_result;
}
inline void fifo_free(ABT_pool pool) {
  ++fifo_of(pool).frees;
}
inline std::size_t fifo_get_size(ABT_pool pool) {
  return fifo_of(pool).size();
}
inline ABT_thread fifo_pop_wait(ABT_pool pool, double seconds, ABT_pool_context) {
  ++fifo_of(pool).pop_waits;
  const double end = ABT_get_wtime() + seconds;
  do {
    if (user_fifo::node* const n = fifo_of(pool).pop())
      return n->thread;
    sched_yield();
  } while (ABT_get_wtime() < end);
  return ABT_THREAD_NULL;
}
inline void fifo_pop_many(ABT_pool pool, ABT_thread* threads, std::size_t max, std::size_t* count,
                          ABT_pool_context) {
  ++fifo_of(pool).pop_manys;
  *count = 0;
  while (*count < max) {
    user_fifo::node* const n = fifo_of(pool).pop();
    if (n == nullptr)
      break;
    threads[(*count)++] = n->thread;
  }
}
inline void fifo_push_many(ABT_pool pool, const ABT_unit* units, std::size_t count,
                           ABT_pool_context context) {
  ++fifo_of(pool).push_manys;
  for (std::size_t i = 0; i < count; ++i)
    fifo_push(pool, units[i], context);
}
inline void fifo_print_all(ABT_pool pool, void* arg, void (*print)(void*, ABT_thread)) {
  user_fifo& fifo = fifo_of(pool);
  const std::lock_guard guard(fifo.lock);
  for (user_fifo::node* const n : fifo.nodes)
    print(arg, n->thread);
}

inline ABT_pool_user_def make_user_def(callbacks which) {
  ABT_pool_user_def def = ABT_POOL_USER_DEF_NULL;
  EXPECT_OK(
      ABT_pool_user_def_create(fifo_create_unit, fifo_free_unit, fifo_is_empty, fifo_pop, fifo_push, &def));
  if (which == callbacks::all) {
    EXPECT_OK(ABT_pool_user_def_set_init(def, fifo_init));
    EXPECT_OK(ABT_pool_user_def_set_free(def, fifo_free));
    EXPECT_OK(ABT_pool_user_def_set_get_size(def, fifo_get_size));
    EXPECT_OK(ABT_pool_user_def_set_pop_wait(def, fifo_pop_wait));
    EXPECT_OK(ABT_pool_user_def_set_pop_many(def, fifo_pop_many));
    EXPECT_OK(ABT_pool_user_def_set_push_many(def, fifo_push_many));
    EXPECT_OK(ABT_pool_user_def_set_print_all(def, fifo_print_all));
  }
  return def;
}

// The old-style callbacks: a unit does not know its pool when it is made, so these are counted for all pools.
inline std::atomic<int> old_style_units = 0;

inline ABT_unit old_create_unit(ABT_thread thread) {
  ++old_style_units;
  return unit_of(new user_fifo::node{thread});
}
inline void old_free_unit(ABT_unit* unit) {
  --old_style_units;
  delete node_of(*unit);
  *unit = ABT_UNIT_NULL;
}
inline ABT_bool old_is_in_pool(ABT_unit unit) {
  return node_of(unit)->owner != nullptr ? ABT_TRUE : ABT_FALSE;
}
inline void old_push(ABT_pool pool, ABT_unit unit) {
  fifo_of(pool).push(node_of(unit));
}
inline ABT_unit old_pop(ABT_pool pool) {
  return unit_of(fifo_of(pool).pop());
}
inline ABT_unit old_pop_timedwait(ABT_pool pool, double until) {
  ++fifo_of(pool).pop_waits;
  do {
    if (user_fifo::node* const n = fifo_of(pool).pop())
      return unit_of(n);
    sched_yield();
  } while (ABT_get_wtime() < until);
  return ABT_UNIT_NULL;
}
inline int old_remove(ABT_pool pool, ABT_unit unit) {
  fifo_of(pool).remove(node_of(unit));
  return ABT_SUCCESS;
}
inline int old_free(ABT_pool pool) {
  ++fifo_of(pool).frees;
  return ABT_ERR_OTHER; // is ignored
}
inline int old_print_all(ABT_pool pool, void* arg, void (*print)(void*, ABT_unit)) {
  user_fifo& fifo = fifo_of(pool);
  const std::lock_guard guard(fifo.lock);
  for (user_fifo::node* const n : fifo.nodes)
    print(arg, unit_of(n));
  return ABT_SUCCESS;
}

inline ABT_pool_def make_old_def(callbacks which) {
  ABT_pool_def def{};
  def.access = ABT_POOL_ACCESS_MPSC;
  def.u_create_from_thread = old_create_unit;
  def.u_free = old_free_unit;
  def.p_get_size = fifo_get_size;
  def.p_push = old_push;
  def.p_pop = old_pop;
  if (which == callbacks::all) {
    def.u_is_in_pool = old_is_in_pool;
    def.p_init = fifo_init;
    def.p_pop_timedwait = old_pop_timedwait;
    def.p_remove = old_remove;
    def.p_free = old_free;
    def.p_print_all = old_print_all;
  }
  return def;
}

// A pool over `fifo`, by either kind of definition.
inline ABT_pool make_pool_of(user_fifo& fifo, ABT_pool_user_def def) {
  ABT_pool_config config = ABT_POOL_CONFIG_NULL;
  EXPECT_OK(ABT_pool_config_create(&config));
  void* const data = &fifo;
  EXPECT_OK(ABT_pool_config_set(config, 0, ABT_POOL_CONFIG_PTR, &data));
  ABT_pool pool = ABT_POOL_NULL;
  EXPECT_OK(ABT_pool_create(def, config, &pool));
  EXPECT_OK(ABT_pool_config_free(&config));
  EXPECT_OK(ABT_pool_set_data(pool, data)); // for pools without an init callback
  return pool;
}
inline ABT_pool make_user_pool(user_fifo& fifo, callbacks which) {
  ABT_pool_user_def def = make_user_def(which);
  const ABT_pool pool = make_pool_of(fifo, def);
  EXPECT_OK(ABT_pool_user_def_free(&def));
  return pool;
}
inline ABT_pool make_old_pool(user_fifo& fifo, callbacks which) {
  ABT_pool_def def = make_old_def(which);
  return make_pool_of(fifo, &def);
}

inline std::vector<ABT_pool> pools_of(ABT_sched sched) {
  int count = 0;
  EXPECT_OK(ABT_sched_get_num_pools(sched, &count));
  std::vector<ABT_pool> pools(static_cast<std::size_t>(count), ABT_POOL_NULL);
  EXPECT_OK(ABT_sched_get_pools(sched, count, 0, pools.data()));
  return pools;
}

// The loop of a scheduler as the documentation asks for it. Yields when idle, for use inside another one.
inline void run_user_sched(ABT_sched sched) {
  const std::vector<ABT_pool> pools = pools_of(sched);
  for (;;) {
    ABT_thread next = ABT_THREAD_NULL;
    for (const ABT_pool pool : pools) {
      EXPECT_OK(ABT_pool_pop_thread(pool, &next));
      if (next != ABT_THREAD_NULL)
        break;
    }
    if (next != ABT_THREAD_NULL) {
      EXPECT_OK(ABT_self_schedule(next, ABT_POOL_NULL));
    } else {
      sched_yield();
    }
    ABT_bool stop = ABT_FALSE;
    EXPECT_OK(ABT_sched_has_to_stop(sched, &stop));
    if (stop == ABT_TRUE)
      return;
    EXPECT_OK(ABT_xstream_check_events(sched));
  }
}

// The same in the old way, with units.
inline void run_unit_sched(ABT_sched sched) {
  const std::vector<ABT_pool> pools = pools_of(sched);
  for (;;) {
    ABT_unit next = ABT_UNIT_NULL;
    for (const ABT_pool pool : pools) {
      EXPECT_OK(ABT_pool_pop(pool, &next));
      if (next != ABT_UNIT_NULL) {
        EXPECT_OK(ABT_xstream_run_unit(next, pool));
        break;
      }
    }
    if (next == ABT_UNIT_NULL)
      sched_yield();
    ABT_bool stop = ABT_FALSE;
    EXPECT_OK(ABT_sched_has_to_stop(sched, &stop));
    if (stop == ABT_TRUE)
      return;
    EXPECT_OK(ABT_xstream_check_events(sched));
  }
}

inline ABT_sched_def make_sched_def(ABT_sched_run_fn run = run_user_sched) {
  ABT_sched_def def{};
  def.run = run;
  return def;
}

// A scheduler of the user over `pools`; not automatic.
inline ABT_sched make_user_sched(std::vector<ABT_pool> pools, ABT_sched_run_fn run = run_user_sched) {
  ABT_sched_def def = make_sched_def(run);
  ABT_sched sched = ABT_SCHED_NULL;
  EXPECT_OK(
      ABT_sched_create(&def, static_cast<int>(pools.size()), pools.data(), ABT_SCHED_CONFIG_NULL, &sched));
  return sched;
}

inline ABT_pool make_pool(ABT_bool automatic = ABT_FALSE, ABT_pool_kind kind = ABT_POOL_FIFO,
                          ABT_pool_access access = ABT_POOL_ACCESS_MPMC) {
  ABT_pool pool = ABT_POOL_NULL;
  EXPECT_OK(ABT_pool_create_basic(kind, access, automatic, &pool));
  return pool;
}

inline ABT_thread make_thread(ABT_pool pool, body& f) {
  ABT_thread t = ABT_THREAD_NULL;
  EXPECT_OK(ABT_thread_create(pool, run_function, &f, ABT_THREAD_ATTR_NULL, &t));
  return t;
}

// `count` ULTs and as many tasklets on `pool`, half of the ULTs with a yield; returns how many ran.
inline int run_many(ABT_pool pool, int count, bool yielding = true) {
  std::atomic<int> ran = 0;
  body quick = [&ran] { ++ran; };
  body slow = [&ran, yielding] {
    if (yielding) {
      EXPECT_OK(ABT_thread_yield());
    }
    ++ran;
  };
  std::vector<ABT_thread> all;
  for (int i = 0; i < count; ++i) {
    all.push_back(make_thread(pool, i % 2 == 0 ? quick : slow));
    ABT_task task = ABT_TASK_NULL;
    EXPECT_OK(ABT_task_create(pool, run_function, &quick, &task));
    all.push_back(task);
  }
  for (ABT_thread& t : all)
    EXPECT_OK(ABT_thread_free(&t));
  return ran;
}

// Environment variables that are set for as long as this lives.
class environment {
 public:
  explicit environment(std::initializer_list<std::pair<const char*, const char*>> values) {
    for (const auto& [name, value] : values) {
      const char* const old = getenv(name);
      old_.emplace_back(name, old == nullptr ? "" : old);
      set_.push_back(old != nullptr);
      setenv(name, value, 1);
    }
  }
  ~environment() {
    for (std::size_t i = old_.size(); i-- > 0;) {
      if (set_[i])
        setenv(old_[i].first.c_str(), old_[i].second.c_str(), 1);
      else
        unsetenv(old_[i].first.c_str());
    }
  }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

 private:
  std::vector<std::pair<std::string, std::string>> old_;
  std::vector<bool> set_;
};

} // namespace abt_test
