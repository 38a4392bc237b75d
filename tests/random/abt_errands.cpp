// SPDX-License-Identifier: MIT
// What a ULT has others do and waits for, over the C interface: hand-overs, schedulers that are put into
// pools, and errands in as many ways as there are for them.
#include "tests/random/abt_machine.hpp"
#include "tests/random/abt_own.hpp"

namespace weft::random_programs {

// In a ULT of its own where the caller is none.
template <class F>
void abt_machine::on_ult(F f) {
  ABT_unit_type caller = ABT_UNIT_TYPE_EXT;
  ABT_self_get_type(&caller);
  if (caller == ABT_UNIT_TYPE_THREAD)
    return f();
  body whole = f;
  ABT_thread t = create_one(places_[0], whole);
  check(ABT_thread_free(&t), "thread_free");
}

ABT_thread abt_machine::create_one(ABT_pool where, body& f) {
  ABT_thread t = ABT_THREAD_NULL;
  check(ABT_thread_create(where, run_body, &f, ABT_THREAD_ATTR_NULL, &t), "thread_create");
  return t;
}

ABT_thread abt_machine::self() {
  ABT_thread t = ABT_THREAD_NULL;
  check(ABT_self_get_thread(&t), "self_get_thread");
  return t;
}

void abt_machine::await_suspension(ABT_thread t) {
  for (ABT_thread_state s = ABT_THREAD_STATE_READY; s != ABT_THREAD_STATE_BLOCKED;) {
    check(ABT_thread_get_state(t, &s), "thread_get_state");
    if (s != ABT_THREAD_STATE_BLOCKED)
      check(ABTX_self_sleep(30e-6), "sleep");
  }
}

// --- hand-overs ---

// To and fro; the other one stays suspended, or ends, when it has been called for the last time.
void abt_machine::hand_over(long n, unsigned way, const body& f) {
  on_ult([this, n, way, &f] {
    const ABT_thread caller = self();
    body other = [this, n, way, caller, &f] {
      check(ABT_self_suspend(), "self_suspend");
      for (long k = 0; k < n; ++k) {
        f();
        if (way == 2) {
          check(ABT_self_suspend(), "self_suspend");
        } else if (way == 1 && k + 1 == n) {
          check(ABT_self_resume_exit_to(caller), "self_resume_exit_to");
        } else {
          check(ABT_self_resume_suspend_to(caller), "self_resume_suspend_to");
        }
      }
    };
    ABT_thread t = create_one(places_[static_cast<unsigned>(n) % pools], other);
    for (long k = 0; k < n; ++k) {
      await_suspension(t);
      check(way == 2 ? ABT_self_resume_yield_to(t) : ABT_self_resume_suspend_to(t), "self_resume_..._to");
    }
    if (n == 0 || way != 1) {
      await_suspension(t);
      check(ABT_thread_resume(t), "thread_resume");
    }
    check(ABT_thread_free(&t), "thread_free");
  });
}

// --- schedulers in pools ---

// Of units that nobody joins, for their pool goes with its scheduler.
void abt_machine::nest(long n, unsigned way, const body& f) {
  ABT_eventual all_ended = ABT_EVENTUAL_NULL;
  check(ABT_eventual_create(0, &all_ended), "eventual_create");
  if (n == 0)
    check(ABT_eventual_set(all_ended, nullptr, 0), "eventual_set");
  std::atomic<long> left{n};
  body member = [this, &f, &left, all_ended] {
    ABT_thread_yield();
    f();
    if (left.fetch_sub(1) == 1)
      check(ABT_eventual_set(all_ended, nullptr, 0), "eventual_set");
  };
  const auto make_inner = [this](bool own) {
    ABT_pool p = own ? make_own_pool() : ABT_POOL_NULL;
    if (!own)
      check(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &p), "pool_create_basic");
    return p;
  };
  const auto make_over = [this, way](ABT_pool p) {
    ABT_sched s = ABT_SCHED_NULL;
    constexpr ABT_sched_predef predefs[] = {ABT_SCHED_BASIC, ABT_SCHED_PRIO, ABT_SCHED_RANDWS};
    if (way % 2 == 0)
      return make_own_sched(1, &p, true);
    check(ABT_sched_create_basic(predefs[way % std::size(predefs)], 1, &p, ABT_SCHED_CONFIG_NULL, &s),
          "sched_create_basic");
    return s;
  };
  ABT_pool inner = make_inner(way % 3 == 0);
  for (long k = 0; k < n; ++k)
    check(ABT_thread_create(inner, run_body, &member, ABT_THREAD_ATTR_NULL, nullptr), "thread_create");
  if (way >= 3) { // two deep
    ABT_pool middle = make_inner(way == 3);
    check(ABT_pool_add_sched(middle, make_over(inner)), "pool_add_sched");
    inner = middle;
  }
  check(ABT_pool_add_sched(places_[way % pools], make_over(inner)), "pool_add_sched");
  check(ABT_eventual_wait(all_ended, nullptr), "eventual_wait");
  check(ABT_eventual_free(&all_ended), "eventual_free");
}

// --- errands ---

// One unit that is started again and again.
void abt_machine::by_revival(long n, bool tasklet, const body& f) {
  if (n == 0)
    return;
  body one = f;
  ABT_thread t = ABT_THREAD_NULL;
  if (tasklet) {
    check(ABT_task_create(places_[0], run_body, &one, &t), "task_create");
  } else {
    t = create_one(places_[0], one);
  }
  for (long k = 1; k < n; ++k) {
    const ABT_pool where = places_[static_cast<unsigned>(k) % pools];
    if (tasklet) {
      check(ABT_task_join(t), "task_join");
      check(ABT_task_revive(where, run_body, &one, &t), "task_revive");
    } else {
      check(ABT_thread_join(t), "thread_join");
      check(ABT_thread_revive_to(where, run_body, &one, &t), "thread_revive_to");
    }
  }
  check(ABT_thread_free(&t), "thread_free");
}

// A stream of its own, which is joined and started again in between.
void abt_machine::by_stream(long n, const body& f) {
  ABT_xstream x = ABT_XSTREAM_NULL;
  check(ABT_xstream_create(ABT_SCHED_NULL, &x), "xstream_create");
  body one = f;
  for (long k = 0; k < n; ++k) {
    check(ABT_thread_create_on_xstream(x, run_body, &one, ABT_THREAD_ATTR_NULL, nullptr),
          "create_on_xstream");
    if (k % 2 == 0) {
      check(ABT_xstream_join(x), "xstream_join");
      check(ABT_xstream_revive(x), "xstream_revive");
    }
  }
  check(ABT_xstream_free(&x), "xstream_free");
}

// An eventual and a future that are used again.
void abt_machine::by_reset(long n, const body& f) {
  ABT_eventual e = ABT_EVENTUAL_NULL;
  ABT_future all = ABT_FUTURE_NULL;
  check(ABT_eventual_create(sizeof(long), &e), "eventual_create");
  check(ABT_future_create(2, nullptr, &all), "future_create");
  for (long k = 0; k < n; ++k) {
    body sets = [this, e, k] {
      long value = k;
      check(ABT_eventual_set(e, &value, sizeof value), "eventual_set");
    };
    body fills = [this, all] { check(ABT_future_set(all, nullptr), "future_set"); };
    ABT_thread others[] = {create_one(places_[1], sets), create_one(places_[2], fills),
                           create_one(places_[0], fills)};
    void* value = nullptr;
    check(ABT_eventual_wait(e, &value), "eventual_wait");
    check(ABT_future_wait(all), "future_wait");
    if (*static_cast<long*>(value) == k)
      f();
    check(ABT_thread_free_many(3, others), "thread_free_many");
    check(ABT_eventual_reset(e), "eventual_reset");
    check(ABT_future_reset(all), "future_reset");
  }
  check(ABT_future_free(&all), "future_free");
  check(ABT_eventual_free(&e), "eventual_free");
}

// With one more at each round.
void abt_machine::by_growing_barrier(long n, const body& f) {
  ABT_barrier b = ABT_BARRIER_NULL;
  check(ABT_barrier_create(1, &b), "barrier_create");
  body arrives = [this, b] { check(ABT_barrier_wait(b), "barrier_wait"); };
  for (long k = 0; k < n; ++k) {
    check(ABT_barrier_reinit(b, static_cast<std::uint32_t>(k + 1)), "barrier_reinit");
    std::vector<ABT_thread> others;
    for (long j = 0; j < k; ++j)
      others.push_back(create_one(places_[static_cast<unsigned>(j) % pools], arrives));
    check(ABT_barrier_wait(b), "barrier_wait");
    f();
    check(ABT_thread_free_many(static_cast<int>(others.size()), others.data()), "thread_free_many");
  }
  check(ABT_barrier_free(&b), "barrier_free");
}

// What another has put under a key of mine, and what I find there.
void abt_machine::by_key_of_others(long n, const body& f) {
  ABT_key key = ABT_KEY_NULL;
  check(ABT_key_create(nullptr, &key), "key_create");
  for (long k = 1; k <= n; ++k) {
    ABT_eventual there = ABT_EVENTUAL_NULL;
    check(ABT_eventual_create(0, &there), "eventual_create");
    body reads = [this, key, k, there, &f] {
      check(ABT_eventual_wait(there, nullptr), "eventual_wait");
      void* value = nullptr;
      check(ABT_self_get_specific(key, &value), "self_get_specific");
      if (reinterpret_cast<long>(value) == k)
        f();
    };
    ABT_thread t = create_one(places_[static_cast<unsigned>(k) % pools], reads);
    check(ABT_thread_set_specific(t, key, reinterpret_cast<void*>(k)), "thread_set_specific");
    check(ABT_eventual_set(there, nullptr, 0), "eventual_set");
    check(ABT_thread_free(&t), "thread_free");
    check(ABT_eventual_free(&there), "eventual_free");
  }
  check(ABT_key_free(&key), "key_free");
}

// From a pool that nobody serves, by hand.
void abt_machine::by_hand(long n, unsigned how, const body& f) {
  ABT_pool p = ABT_POOL_NULL;
  check(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &p), "pool_create_basic");
  body one = f;
  std::vector<ABT_thread> all;
  for (long k = 0; k < n; ++k)
    all.push_back(create_one(p, one));
  ABT_thread popped[8];
  std::size_t count = 0;
  check(ABT_pool_pop_threads(p, popped, std::size(popped), &count), "pool_pop_threads");
  check(ABT_pool_push_threads(p, popped, count), "pool_push_threads");
  for (long k = 0; k < n; ++k) {
    ABT_thread t = ABT_THREAD_NULL;
    check(ABT_pool_pop_thread(p, &t), "pool_pop_thread");
    if (how == 0) {
      check(ABT_self_schedule(t, ABT_POOL_NULL), "self_schedule");
    } else if (how == 1) {
      check(ABT_self_yield_to(t), "self_yield_to");
    } else {
      check(ABT_pool_push_thread(places_[static_cast<unsigned>(k) % pools], t), "pool_push_thread");
    }
  }
  check(ABT_thread_free_many(static_cast<int>(n), all.data()), "thread_free_many");
  check(ABT_pool_free(&p), "pool_free");
}

// Each ends by going on with the next one.
void abt_machine::by_chain(long n, const body& f) {
  ABT_pool p = ABT_POOL_NULL;
  check(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &p), "pool_create_basic");
  body link = [this, p, &f] {
    f();
    ABT_thread next = ABT_THREAD_NULL;
    check(ABT_pool_pop_thread(p, &next), "pool_pop_thread");
    if (next != ABT_THREAD_NULL)
      check(ABT_self_exit_to(next), "self_exit_to");
  };
  std::vector<ABT_thread> all;
  for (long k = 1; k < n; ++k)
    all.push_back(create_one(p, link));
  if (n > 0)
    all.push_back(create_one(places_[static_cast<unsigned>(n) % pools], link));
  check(ABT_thread_free_many(static_cast<int>(n), all.data()), "thread_free_many");
  check(ABT_pool_free(&p), "pool_free");
}

void abt_machine::by_broadcast(long n, const body& f) {
  ABT_mutex m = ABT_MUTEX_NULL;
  ABT_cond c = ABT_COND_NULL;
  check(ABT_mutex_create(&m), "mutex_create");
  check(ABT_cond_create(&c), "cond_create");
  bool open = false;
  body waits = [this, &open, m, c, &f] {
    check(ABT_mutex_lock(m), "mutex_lock");
    while (!open)
      check(ABT_cond_wait(c, m), "cond_wait");
    check(ABT_mutex_unlock(m), "mutex_unlock");
    f();
  };
  std::vector<ABT_thread> all;
  for (long k = 0; k < n; ++k)
    all.push_back(create_one(places_[static_cast<unsigned>(k) % pools], waits));
  check(ABT_mutex_lock(m), "mutex_lock");
  open = true;
  check(ABT_cond_broadcast(c), "cond_broadcast");
  check(ABT_mutex_unlock(m), "mutex_unlock");
  check(ABT_thread_free_many(static_cast<int>(n), all.data()), "thread_free_many");
  check(ABT_cond_free(&c), "cond_free");
  check(ABT_mutex_free(&m), "mutex_free");
}

// On stacks of the caller's.
void abt_machine::by_own_stack(long n, const body& f) {
  constexpr std::size_t size = 64 * 1024;
  body one = f;
  const auto stack = std::make_unique<std::byte[]>(size);
  ABT_thread_attr a = ABT_THREAD_ATTR_NULL;
  check(ABT_thread_attr_create(&a), "attr_create");
  check(ABT_thread_attr_set_stack(a, stack.get(), size), "attr_set_stack");
  for (long k = 0; k < n; ++k) {
    ABT_thread t = ABT_THREAD_NULL;
    const ABT_pool where = places_[static_cast<unsigned>(k) % pools];
    check(ABT_thread_create(where, run_body, &one, a, &t), "thread_create");
    check(ABT_thread_free(&t), "thread_free");
  }
  check(ABT_thread_attr_free(&a), "attr_free");
}

void abt_machine::errand(long n, unsigned way, const body& f) {
  on_ult([this, n, way, &f] {
    switch (way) {
    case 0:
    case 1:
      return by_revival(n, way == 1, f);
    case 2:
      return by_stream(n, f);
    case 3:
      return by_reset(n, f);
    case 4:
      return by_growing_barrier(n, f);
    case 5:
      return by_key_of_others(n, f);
    case 6:
    case 7:
    case 8:
      return by_hand(n, way - 6, f);
    case 9:
      return by_chain(n, f);
    case 10:
      return by_broadcast(n, f);
    default:
      return by_own_stack(n, f);
    }
  });
}

} // namespace weft::random_programs
