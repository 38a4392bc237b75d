// SPDX-License-Identifier: MIT
// The objects and threads of one program over the C interface. Latches, semaphores and channels are made of
// its eventuals, mutexes and condition variables, as programs do.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "abtx.h"
#include "tests/random/interpreter.hpp"

namespace weft::random_programs {

class abt_machine {
 public:
  static constexpr bool unwinds = false;
  // `places`: the pools; 0 is the primary stream's. `own`: the stage's keys.
  abt_machine(const program& p, std::array<ABT_pool, pools> places, std::array<ABT_key, keys> own, record& r);
  abt_machine(const abt_machine&) = delete;
  abt_machine& operator=(const abt_machine&) = delete;
  ~abt_machine();

  // --- the caller ---
  void yield(unsigned) { ABT_thread_yield(); }
  void sleep(long us) { check(ABTX_self_sleep(static_cast<double>(us) * 1e-6), "sleep"); }
  void move(unsigned where);
  // A resume that comes too early is not remembered, so a ULT of the slot's own waits for the suspension.
  void suspend(unsigned t);
  [[noreturn]] static void exit(unsigned) {
    ABT_self_exit();
    std::abort();
  }
  void set_key(unsigned k, long n) { check(ABT_key_set(keys_[k], reinterpret_cast<void*>(n)), "key_set"); }
  long get_key(unsigned k);
  template <class F>
  void without_preemption(F f) {
    f();
  }
  // One ULT that is revived n - 1 times.
  template <class F>
  void fork(long n, F f);
  template <class F>
  void group(long n, F f);
  using body = std::function<void()>;
  // Of all three, `n` calls of f by others.
  void hand_over(long n, unsigned way, const body& f);
  void nest(long n, unsigned way, const body& f);
  void errand(long n, unsigned way, const body& f);
  bool waits_in_vain(unsigned way);

  // --- locks ---
  void lock(unsigned a, unsigned way);
  bool try_lock(unsigned a, long us);
  void unlock(unsigned a);
  void lock_shared(unsigned a, unsigned way);
  void unlock_shared(unsigned a) { check(ABT_rwlock_unlock(shared_[a]), "rwlock_unlock"); }
  void take_permit() { acquire(semaphores, 0); }
  void give_permit() { release(semaphores, 1); }
  template <class F>
  void call(unsigned, F) {} // no delegators here
  template <class F>
  void post(unsigned, F) {}

  // --- what waits, and is waited for ---
  void release(unsigned a, long n);
  void acquire(unsigned a, unsigned way);
  void count_down(unsigned a, long n);
  void wait(unsigned a, unsigned way);
  void arrive(unsigned a, unsigned) { check(ABT_barrier_wait(barriers_[a]), "barrier_wait"); }
  void set(unsigned a, long n, unsigned way);
  long get(unsigned a, unsigned way);
  void send(unsigned a, stamped value, unsigned way);
  stamped receive(unsigned a, unsigned way);
  void stop(unsigned) {} // no stop tokens here
  bool await_stop(unsigned, unsigned) { return false; }

  // --- threads ---
  template <class F>
  void spawn(unsigned t, unsigned way, F f);
  void join(unsigned t, unsigned way);
  void cancel(unsigned t);
  void ask_to_move(unsigned t, unsigned where);
  void yield_to(unsigned t);
  void resume(unsigned t);
  void one_left() { count_down(latches, 1); }
  void wait_for_the_rest();

 private:
  struct channel {
    ABT_mutex lock;
    ABT_cond changed;
    std::size_t capacity;
    std::deque<stamped> queue{};
  };
  struct counter {
    ABT_mutex lock;
    ABT_cond changed;
    long count;
  };
  struct down_counter {
    std::atomic<long> left;
    ABT_eventual at_zero;
  };
  struct slot {
    ABT_eventual there = ABT_EVENTUAL_NULL;
    ABT_eventual resumed = ABT_EVENTUAL_NULL;
    ABT_thread handle = ABT_THREAD_NULL;
    std::thread foreign{};
    body run{};
  };

  static void resume_suspended(void* of);
  static void run_body(void* f) { (*static_cast<body*>(f))(); }
  void check(int code, const char* what) {
    if (code != ABT_SUCCESS)
      record_.complain(what, code);
  }
  // For conditions: signals, or waits, in one way or the other.
  void pause(ABT_cond c, ABT_mutex m, unsigned way);
  void create(unsigned t, unsigned way, ABT_thread_attr attr, ABT_thread* handle);
  [[nodiscard]] ABT_thread handle_of(unsigned t);
  template <class F>
  void on_ult(F f);
  [[nodiscard]] ABT_thread create_one(ABT_pool where, body& f);
  [[nodiscard]] ABT_thread self();
  void await_suspension(ABT_thread t);
  void by_revival(long n, bool tasklet, const body& f);
  void by_stream(long n, const body& f);
  void by_reset(long n, const body& f);
  void by_growing_barrier(long n, const body& f);
  void by_key_of_others(long n, const body& f);
  void by_hand(long n, unsigned how, const body& f);
  void by_chain(long n, const body& f);
  void by_broadcast(long n, const body& f);
  void by_own_stack(long n, const body& f);
  [[nodiscard]] ABT_pool pool_of(const thread_spec& spec) const;

  const program& program_;
  const std::array<ABT_pool, pools> places_;
  const std::array<ABT_key, keys> keys_;
  record& record_;
  std::array<ABT_mutex, locks> mutexes_{};
  std::array<ABT_rwlock, locks> shared_{};
  std::array<counter, semaphores + 1> semaphores_{}; // the last one: permits
  std::array<down_counter, latches + 1> latches_{};  // the last one: who has left
  std::array<ABT_barrier, barriers> barriers_{};
  std::array<ABT_eventual, futures> eventuals_{};
  std::array<ABT_future, futures> futures_{}; // in place of eventuals that have odd numbers
  std::array<std::atomic<long>, futures> values_{};
  std::array<channel, channels> channels_{};
  std::array<slot, most_threads> slots_{};
};

template <class F>
void abt_machine::fork(long n, F f) {
  body one = f;
  ABT_thread t = ABT_THREAD_NULL;
  check(ABT_thread_create(places_[0], run_body, &one, ABT_THREAD_ATTR_NULL, &t), "thread_create");
  for (long i = 1; i < n; ++i) {
    check(ABT_thread_join(t), "thread_join");
    check(ABT_thread_revive(places_[static_cast<unsigned>(i) % pools], run_body, &one, &t), "thread_revive");
  }
  check(ABT_thread_free(&t), "thread_free");
}

template <class F>
void abt_machine::group(long n, F f) {
  constexpr long most = 8;
  n = std::min(n, most);
  body one = f;
  ABT_pool where[most];
  void (*functions[most])(void*);
  void* arguments[most];
  ABT_thread all[most];
  for (long i = 0; i < n; ++i) {
    where[i] = places_[static_cast<unsigned>(i) % pools];
    functions[i] = run_body;
    arguments[i] = &one;
  }
  const int count = static_cast<int>(n);
  check(ABT_thread_create_many(count, where, functions, arguments, ABT_THREAD_ATTR_NULL, all), "create_many");
  check(ABT_thread_join_many(count, all), "join_many");
  check(ABT_thread_free_many(count, all), "free_many");
}

template <class F>
void abt_machine::spawn(unsigned t, unsigned way, F f) {
  const thread_spec& spec = program_.threads[t];
  slot& s = slots_[t];
  s.run = f;
  if (spec.kind == unit_kind::foreign) {
    s.foreign = std::thread(f);
  } else if (spec.kind == unit_kind::tasklet) {
    check(ABT_task_create(pool_of(spec), run_body, &s.run, &s.handle), "task_create");
  } else {
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
    check(ABT_thread_attr_create(&attr), "attr_create");
    constexpr int techniques[] = {0, 4, 1, 5, 6, 7, 8, 9, 3, 10, 11, 12, 13}; // of technique_id
    check(ABTX_thread_attr_set_technique(attr, static_cast<ABTX_technique>(techniques[spec.technique])),
          "technique");
    check(ABTX_thread_attr_set_preemption(attr, static_cast<ABTX_preemption>(spec.preemption)), "preemption");
    create(t, way, attr, &s.handle);
    check(ABT_thread_attr_free(&attr), "attr_free");
  }
  check(ABT_eventual_set(s.there, nullptr, 0), "eventual_set");
}

} // namespace weft::random_programs
