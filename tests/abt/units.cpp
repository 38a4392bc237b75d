// SPDX-License-Identifier: MIT
#include "units.hpp"

namespace abt_test {

user_pool& user_pool::from(ABT_pool pool) {
  void* self = nullptr;
  EXPECT_OK(ABT_pool_get_data(pool, &self));
  return *static_cast<user_pool*>(self);
}

user_pool::user_pool(int units_to_make, ABT_unit refusal) : refusal_(refusal), left_(units_to_make) {
  const ABT_pool_user_create_unit_fn create = [](ABT_pool pool, ABT_thread thread) {
    user_pool& self = from(pool);
    if (self.left_.fetch_sub(1) <= 0)
      return self.refusal_;
    ++self.units_;
    ++self.made_;
    return reinterpret_cast<ABT_unit>(new unit{thread});
  };
  const ABT_pool_user_free_unit_fn free = [](ABT_pool pool, ABT_unit u) {
    --from(pool).units_;
    delete reinterpret_cast<unit*>(u);
  };
  const ABT_pool_user_is_empty_fn is_empty = [](ABT_pool pool) {
    return from(pool).size() == 0 ? ABT_TRUE : ABT_FALSE;
  };
  const ABT_pool_user_pop_fn pop = [](ABT_pool pool, ABT_pool_context) {
    user_pool& self = from(pool);
    const std::lock_guard hold(self.lock_);
    if (self.queue_.empty())
      return ABT_THREAD_NULL;
    unit* first = self.queue_.front();
    self.queue_.pop_front();
    return first->thread;
  };
  const ABT_pool_user_push_fn push = [](ABT_pool pool, ABT_unit u, ABT_pool_context) {
    user_pool& self = from(pool);
    const std::lock_guard hold(self.lock_);
    self.queue_.push_back(reinterpret_cast<unit*>(u));
  };
  const ABT_pool_user_get_size_fn get_size = [](ABT_pool pool) { return from(pool).size(); };
  ABT_pool_user_def def = nullptr;
  EXPECT_OK(ABT_pool_user_def_create(create, free, is_empty, pop, push, &def));
  EXPECT_OK(ABT_pool_user_def_set_get_size(def, get_size));
  EXPECT_OK(ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &pool_));
  EXPECT_OK(ABT_pool_user_def_free(&def));
  EXPECT_OK(ABT_pool_set_data(pool_, this));
}

user_pool::~user_pool() {
  EXPECT_EQ(units_, 0);
  EXPECT_EQ(size(), 0U);
  EXPECT_OK(ABT_pool_free(&pool_));
}

ABT_thread user_pool::pop() const {
  ABT_thread t = ABT_THREAD_NULL;
  EXPECT_OK(ABT_pool_pop_thread(pool_, &t));
  return t;
}

std::size_t user_pool::size() const {
  const std::lock_guard hold(lock_);
  return queue_.size();
}

own_scheduler::own_scheduler() {
  ABT_sched_def def = {};
  def.type = ABT_SCHED_TYPE_ULT;
  def.init = [](ABT_sched, ABT_sched_config) { return ABT_SUCCESS; };
  def.run = [](ABT_sched sched) {
    void* self = nullptr;
    EXPECT_OK(ABT_sched_get_data(sched, &self));
    static_cast<own_scheduler*>(self)->run();
  };
  def.free = [](ABT_sched) { return ABT_SUCCESS; };
  EXPECT_OK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool_));
  EXPECT_OK(ABT_sched_create(&def, 1, &pool_, ABT_SCHED_CONFIG_NULL, &sched_));
  EXPECT_OK(ABT_sched_set_data(sched_, this));
  EXPECT_OK(ABT_xstream_create(sched_, &es_));
}

own_scheduler::~own_scheduler() {
  EXPECT_OK(ABT_xstream_free(&es_));
  EXPECT_OK(ABT_sched_free(&sched_));
}

void own_scheduler::run() {
  for (ABT_bool stop = ABT_FALSE; stop != ABT_TRUE;) {
    if (const auto* call = call_.load()) {
      code_ = (*call)();
      call_ = nullptr;
    }
    ABT_thread t = ABT_THREAD_NULL;
    EXPECT_OK(ABT_pool_pop_thread(pool_, &t));
    if (t != ABT_THREAD_NULL)
      EXPECT_OK(ABT_self_schedule(t, ABT_POOL_NULL));
    else
      std::this_thread::yield(); // somebody waits for what this one was asked
    EXPECT_OK(ABT_xstream_check_events(sched_));
    EXPECT_OK(ABT_sched_has_to_stop(sched_, &stop));
  }
}

int own_scheduler::returns(const std::function<int()>& call) {
  call_ = &call;
  yield_until([this] { return call_ == nullptr; });
  return code_;
}

ABT_thread own_scheduler::thread() {
  ABT_thread t = ABT_THREAD_NULL;
  EXPECT_OK(returns([&t] { return ABT_self_get_thread(&t); }));
  return t;
}

} // namespace abt_test
