// SPDX-License-Identifier: MIT
#include "tests/random/abt_own.hpp"

#include <sched.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::random_programs {

namespace {

class ring {
 public:
  void push(ABT_unit u) {
    const std::scoped_lock held(lock_);
    if (count_ == units_.size())
      std::abort(); // more than any program has at once
    units_[(first_ + count_++) % units_.size()] = u;
  }
  ABT_unit pop() {
    const std::scoped_lock held(lock_);
    if (count_ == 0)
      return ABT_UNIT_NULL;
    const ABT_unit u = units_[first_];
    first_ = (first_ + 1) % units_.size();
    --count_;
    return u;
  }
  std::size_t size() {
    const std::scoped_lock held(lock_);
    return count_;
  }

 private:
  std::mutex lock_;
  std::vector<ABT_unit> units_ = std::vector<ABT_unit>(1024);
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

ring& ring_of(ABT_pool pool) {
  void* data = nullptr;
  require(ABT_pool_get_data(pool, &data), "pool_get_data");
  return *static_cast<ring*>(data);
}

// The thread is its own name.
ABT_unit create_unit(ABT_pool, ABT_thread thread) {
  return reinterpret_cast<ABT_unit>(thread);
}
void free_unit(ABT_pool, ABT_unit) {}
ABT_bool is_empty(ABT_pool pool) {
  return ring_of(pool).size() == 0 ? ABT_TRUE : ABT_FALSE;
}
ABT_thread pop(ABT_pool pool, ABT_pool_context) {
  const ABT_unit u = ring_of(pool).pop();
  return u == ABT_UNIT_NULL ? ABT_THREAD_NULL : reinterpret_cast<ABT_thread>(u);
}
void push(ABT_pool pool, ABT_unit unit, ABT_pool_context) {
  ring_of(pool).push(unit);
}
int begin_pool(ABT_pool pool, ABT_pool_config) {
  return ABT_pool_set_data(pool, new ring);
}
void end_pool(ABT_pool pool) {
  delete &ring_of(pool);
}
std::size_t get_size(ABT_pool pool) {
  return ring_of(pool).size();
}

// One unit of each pool in turn. Null: all are empty.
ABT_thread next_of(const std::vector<ABT_pool>& pools, std::size_t& turn) {
  ABT_thread t = ABT_THREAD_NULL;
  for (std::size_t tried = 0; t == ABT_THREAD_NULL && tried < pools.size(); ++tried) {
    turn = (turn + 1) % pools.size();
    require(ABT_pool_pop_thread(pools[turn], &t), "pool_pop_thread");
  }
  return t;
}

std::atomic<unsigned> running{0};

template <bool InsideAnother>
void run(ABT_sched sched) {
  const struct counted {
    counted() { ++running; }
    ~counted() { --running; }
  } here;
  int count = 0;
  require(ABT_sched_get_num_pools(sched, &count), "sched_get_num_pools");
  std::vector<ABT_pool> pools(static_cast<std::size_t>(count));
  require(ABT_sched_get_pools(sched, count, 0, pools.data()), "sched_get_pools");
  for (std::size_t turn = 0;;) {
    const ABT_thread t = next_of(pools, turn);
    if (t != ABT_THREAD_NULL) {
      require(ABT_self_schedule(t, ABT_POOL_NULL), "self_schedule");
    } else if (!InsideAnother) {
      ::sched_yield(); // does not sleep: timers are looked at once in many turns
    }
    ABT_bool stop = ABT_FALSE;
    require(ABT_sched_has_to_stop(sched, &stop), "sched_has_to_stop");
    if (stop == ABT_TRUE)
      return;
    require(ABT_xstream_check_events(sched), "xstream_check_events");
    if (InsideAnother)
      require(ABT_self_yield(), "self_yield"); // the other one goes on
  }
}

} // namespace

unsigned running_own_scheds() noexcept {
  return running;
}

void require(int code, const char* what) {
  if (code != ABT_SUCCESS)
    throw std::runtime_error(std::string(what) + ": error " + std::to_string(code));
}

ABT_pool make_own_pool() {
  ABT_pool_user_def def = ABT_POOL_USER_DEF_NULL;
  require(ABT_pool_user_def_create(create_unit, free_unit, is_empty, pop, push, &def),
          "pool_user_def_create");
  require(ABT_pool_user_def_set_init(def, begin_pool), "pool_user_def_set_init");
  require(ABT_pool_user_def_set_free(def, end_pool), "pool_user_def_set_free");
  require(ABT_pool_user_def_set_get_size(def, get_size), "pool_user_def_set_get_size");
  ABT_pool_config config = ABT_POOL_CONFIG_NULL;
  require(ABT_pool_config_create(&config), "pool_config_create");
  const int automatic = 1;
  const ABT_pool_config_var var = ABT_pool_config_automatic;
  require(ABT_pool_config_set(config, var.key, var.type, &automatic), "pool_config_set");
  ABT_pool p = ABT_POOL_NULL;
  require(ABT_pool_create(def, config, &p), "pool_create");
  require(ABT_pool_config_free(&config), "pool_config_free");
  require(ABT_pool_user_def_free(&def), "pool_user_def_free");
  return p;
}

ABT_sched make_own_sched(int count, ABT_pool* pools, bool inside_another) {
  ABT_sched_def def{};
  def.type = ABT_SCHED_TYPE_ULT;
  def.run = inside_another ? run<true> : run<false>;
  ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
  require(ABT_sched_config_create(&config, ABT_sched_config_automatic, ABT_TRUE, ABT_sched_config_var_end),
          "sched_config_create");
  ABT_sched s = ABT_SCHED_NULL;
  require(ABT_sched_create(&def, count, pools, config, &s), "sched_create");
  require(ABT_sched_config_free(&config), "sched_config_free");
  return s;
}

} // namespace weft::random_programs
