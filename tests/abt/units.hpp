// SPDX-License-Identifier: MIT
// What the tests of work units share: null handles, units and pools that end with their scope, a scheduler
// that can be asked to call something, and calls from the contexts that functions refuse.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

#include "abt_test.hpp"

namespace abt_test {

// Each null value of a handle: the constant and 0; a thread may also be null as a tasklet.
inline const std::initializer_list<ABT_thread> null_threads = {ABT_THREAD_NULL, ABT_TASK_NULL, nullptr};
inline const std::initializer_list<ABT_pool> null_pools = {ABT_POOL_NULL, nullptr};
inline const std::initializer_list<ABT_xstream> null_xstreams = {ABT_XSTREAM_NULL, nullptr};
inline const std::initializer_list<ABT_sched> null_scheds = {ABT_SCHED_NULL, nullptr};
inline const std::initializer_list<ABT_key> null_keys = {ABT_KEY_NULL, nullptr};
inline const std::initializer_list<ABT_unit> null_units = {ABT_UNIT_NULL, nullptr};
inline const std::initializer_list<ABT_thread_attr> null_attrs = {ABT_THREAD_ATTR_NULL, nullptr};

// When a user's pool makes no unit. This is what the documentation says; upstream's code has ABT_ERR_OTHER.
inline constexpr int no_unit_made = ABT_ERR_UNIT;

// A value that no function sets a handle to, to see whether it was written.
template <class Handle>
Handle untouched() {
  static char place[16];
  return reinterpret_cast<Handle>(place);
}

inline void nothing(void*) {}
inline void count(void* counter) {
  ++*static_cast<std::atomic<int>*>(counter);
}

// A unit that runs `f`, which must outlive it.
inline ABT_thread new_thread(ABT_pool pool, body& f, ABT_thread_attr attr = ABT_THREAD_ATTR_NULL) {
  ABT_thread t = ABT_THREAD_NULL;
  EXPECT_OK(ABT_thread_create(pool, run_function, &f, attr, &t));
  return t;
}
inline ABT_task new_task(ABT_pool pool, body& f) {
  ABT_task t = ABT_TASK_NULL;
  EXPECT_OK(ABT_task_create(pool, run_function, &f, &t));
  return t;
}
// One that has ended.
inline ABT_thread ended_thread() {
  ABT_thread t = ABT_THREAD_NULL;
  EXPECT_OK(ABT_thread_create(self_pool(), nothing, nullptr, ABT_THREAD_ATTR_NULL, &t));
  EXPECT_OK(ABT_thread_join(t));
  return t;
}
inline ABT_task ended_task() {
  ABT_task t = ABT_TASK_NULL;
  EXPECT_OK(ABT_task_create(self_pool(), nothing, nullptr, &t));
  EXPECT_OK(ABT_task_join(t));
  return t;
}
inline void free_all(std::initializer_list<ABT_thread*> threads) {
  for (ABT_thread* t : threads)
    EXPECT_OK(ABT_thread_free(t));
}

inline ABT_thread self() {
  ABT_thread t = ABT_THREAD_NULL;
  EXPECT_OK(ABT_self_get_thread(&t));
  return t;
}
inline ABT_thread_state state_of(ABT_thread t) {
  auto state = static_cast<ABT_thread_state>(-1);
  EXPECT_OK(ABT_thread_get_state(t, &state));
  return state;
}
inline ABT_pool last_pool_of(ABT_thread t) {
  ABT_pool pool = ABT_POOL_NULL;
  EXPECT_OK(ABT_thread_get_last_pool(t, &pool));
  return pool;
}
inline ABT_unit_id id_of(ABT_thread t) {
  ABT_unit_id id = 0;
  EXPECT_OK(ABT_thread_get_id(t, &id));
  return id;
}
inline ABT_pool first_pool_of(ABT_xstream es) {
  ABT_pool pool = ABT_POOL_NULL;
  EXPECT_OK(ABT_xstream_get_main_pools(es, 1, &pool));
  return pool;
}
inline void resume_when_blocked(ABT_thread t) {
  yield_until([t] { return state_of(t) == ABT_THREAD_STATE_BLOCKED; });
  EXPECT_OK(ABT_thread_resume(t));
}

// A pool that no scheduler serves.
class own_pool {
 public:
  own_pool() { EXPECT_OK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool_)); }
  ~own_pool() { EXPECT_OK(ABT_pool_free(&pool_)); }
  own_pool(const own_pool&) = delete;
  own_pool& operator=(const own_pool&) = delete;

  operator ABT_pool() const { return pool_; }
  ABT_thread pop() const {
    ABT_thread t = ABT_THREAD_NULL;
    EXPECT_OK(ABT_pool_pop_thread(pool_, &t));
    return t;
  }
  std::size_t size() const {
    std::size_t n = SIZE_MAX;
    EXPECT_OK(ABT_pool_get_size(pool_, &n));
    return n;
  }
  // Runs what the pool holds as children of the caller until it is empty.
  void run_all() const {
    for (ABT_thread t = pop(); t != ABT_THREAD_NULL; t = pop())
      EXPECT_OK(ABT_self_schedule(t, ABT_POOL_NULL));
  }

 private:
  ABT_pool pool_ = ABT_POOL_NULL;
};

// A pool that users define, served by nobody; makes `units_to_make` units and then none.
class user_pool {
 public:
  explicit user_pool(int units_to_make = INT_MAX, ABT_unit refusal = ABT_UNIT_NULL);
  ~user_pool();
  user_pool(const user_pool&) = delete;
  user_pool& operator=(const user_pool&) = delete;

  operator ABT_pool() const { return pool_; }
  ABT_thread pop() const;
  int units() const { return units_; } // that exist now
  int made() const { return made_; }   // so far
  std::size_t size() const;
  void make(int more) { left_ = more; }

 private:
  struct unit {
    ABT_thread thread;
  };
  static user_pool& from(ABT_pool pool);

  ABT_pool pool_ = ABT_POOL_NULL;
  const ABT_unit refusal_;
  std::atomic<int> left_;
  std::atomic<int> units_ = 0;
  std::atomic<int> made_ = 0;
  mutable std::mutex lock_;
  std::deque<unit*> queue_;
};

// A stream whose scheduler calls what it is asked to, in its own ULT, and otherwise runs its pool.
class own_scheduler {
 public:
  own_scheduler();
  ~own_scheduler();
  own_scheduler(const own_scheduler&) = delete;
  own_scheduler& operator=(const own_scheduler&) = delete;

  ABT_xstream xstream() const { return es_; }
  ABT_sched sched() const { return sched_; }
  ABT_pool pool() const { return pool_; }
  ABT_thread thread();                           // the scheduler's ULT
  int returns(const std::function<int()>& call); // waits by yielding

 private:
  void run();

  ABT_xstream es_ = ABT_XSTREAM_NULL;
  ABT_sched sched_ = ABT_SCHED_NULL;
  ABT_pool pool_ = ABT_POOL_NULL;
  std::atomic<const std::function<int()>*> call_ = nullptr;
  std::atomic<int> code_ = -1;
};

// What `call` returns in a context that is not a yieldable ULT.
inline int from_tasklet(const std::function<int()>& call) {
  int code = -1;
  in_tasklet([&] { code = call(); });
  return code;
}
inline int from_kernel_thread(const std::function<int()>& call) {
  int code = -1;
  in_kernel_thread([&] { code = call(); });
  return code;
}
inline int from_scheduler(const std::function<int()>& call) {
  own_scheduler s;
  return s.returns(call);
}

// `call` finds no runtime, neither before ABT_init() nor after ABT_finalize().
inline void expect_uninitialized(const std::function<int()>& call) {
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, call());
  {
    const runtime rt;
  }
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, call());
}

// Attributes for as long as it lives.
class attributes {
 public:
  attributes() { EXPECT_OK(ABT_thread_attr_create(&attr_)); }
  ~attributes() { EXPECT_OK(ABT_thread_attr_free(&attr_)); }
  attributes(const attributes&) = delete;
  attributes& operator=(const attributes&) = delete;
  operator ABT_thread_attr() const { return attr_; }

 private:
  ABT_thread_attr attr_ = ABT_THREAD_ATTR_NULL;
};
// With a stack of so many bytes.
class sized_attributes : public attributes {
 public:
  explicit sized_attributes(std::size_t bytes) { EXPECT_OK(ABT_thread_attr_set_stacksize(*this, bytes)); }
};
inline constexpr std::size_t too_large = std::size_t{1} << 62;

// A key for as long as it lives.
class own_key {
 public:
  explicit own_key(void (*destructor)(void*) = nullptr) { EXPECT_OK(ABT_key_create(destructor, &key_)); }
  ~own_key() { EXPECT_OK(ABT_key_free(&key_)); }
  own_key(const own_key&) = delete;
  own_key& operator=(const own_key&) = delete;
  operator ABT_key() const { return key_; }

 private:
  ABT_key key_ = ABT_KEY_NULL;
};

} // namespace abt_test
