// SPDX-License-Identifier: MIT
#include "tests/random/abt_machine.hpp"

#include <ctime>

namespace weft::random_programs {

namespace {

constexpr long impatience = 30; // us, of waits that are tried again

timespec in_us(long us) {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_nsec += us * 1000;
  t.tv_sec += t.tv_nsec / 1'000'000'000;
  t.tv_nsec %= 1'000'000'000;
  return t;
}

// Of futures: the value that the one compartment was given.
void keep_value(void** compartments) {
  auto* const value = static_cast<std::pair<std::atomic<long>*, long>*>(compartments[0]);
  value->first->store(value->second);
}

constexpr bool is_future(unsigned a) {
  return a % 2 != 0;
}

} // namespace

abt_machine::abt_machine(const program& p, std::array<ABT_pool, pools> places, std::array<ABT_key, keys> own,
                         record& r)
    : program_(p), places_(places), keys_(own), record_(r) {
  ABT_mutex_attr again = ABT_MUTEX_ATTR_NULL;
  check(ABT_mutex_attr_create(&again), "mutex_attr_create");
  check(ABT_mutex_attr_set_recursive(again, ABT_TRUE), "set_recursive");
  for (unsigned l = 0; l < locks; ++l) {
    const bool recursive = p.lock[l] == lock_kind::recursive;
    check(ABT_mutex_create_with_attr(recursive ? again : ABT_MUTEX_ATTR_NULL, &mutexes_[l]), "mutex_create");
    check(ABT_rwlock_create(&shared_[l]), "rwlock_create");
  }
  check(ABT_mutex_attr_free(&again), "mutex_attr_free");
  for (counter& s : semaphores_) {
    s.count = &s == &semaphores_.back() ? 2 : 0;
    check(ABT_mutex_create(&s.lock), "mutex_create");
    check(ABT_cond_create(&s.changed), "cond_create");
  }
  for (channel& c : channels_) {
    const auto number = static_cast<unsigned>(&c - channels_.data());
    c.capacity = is_unbounded(number) ? SIZE_MAX : std::max<std::size_t>(p.capacity[number], 1);
    check(ABT_mutex_create(&c.lock), "mutex_create");
    check(ABT_cond_create(&c.changed), "cond_create");
  }
  long leaving = 0;
  for_each_instruction(p, [&](const instruction& i, unsigned) {
    if (i.what == op::spawn)
      leaving += p.threads[i.a].detached || p.threads[i.a].kind == unit_kind::foreign ? 1 : 0;
  });
  for (unsigned l = 0; l <= latches; ++l) {
    latches_[l].left = l == latches ? leaving : downs_of(p, l);
    check(ABT_eventual_create(0, &latches_[l].at_zero), "eventual_create");
    if (latches_[l].left == 0)
      check(ABT_eventual_set(latches_[l].at_zero, nullptr, 0), "eventual_set");
  }
  for (unsigned b = 0; b < barriers; ++b)
    check(ABT_barrier_create(static_cast<std::uint32_t>(std::max(parties_of(p, b), 1L)), &barriers_[b]),
          "barrier");
  for (unsigned f = 0; f < futures; ++f) {
    check(ABT_eventual_create(sizeof(long), &eventuals_[f]), "eventual_create");
    check(ABT_future_create(1, keep_value, &futures_[f]), "future_create");
  }
  for (slot& s : slots_) {
    check(ABT_eventual_create(0, &s.there), "eventual_create");
    check(ABT_eventual_create(0, &s.resumed), "eventual_create");
  }
}

abt_machine::~abt_machine() {
  for (unsigned l = 0; l < locks; ++l) {
    check(ABT_mutex_free(&mutexes_[l]), "mutex_free");
    check(ABT_rwlock_free(&shared_[l]), "rwlock_free");
  }
  for (counter& s : semaphores_) {
    check(ABT_cond_free(&s.changed), "cond_free");
    check(ABT_mutex_free(&s.lock), "mutex_free");
  }
  for (channel& c : channels_) {
    check(ABT_cond_free(&c.changed), "cond_free");
    check(ABT_mutex_free(&c.lock), "mutex_free");
  }
  for (down_counter& l : latches_)
    check(ABT_eventual_free(&l.at_zero), "eventual_free");
  for (ABT_barrier& b : barriers_)
    check(ABT_barrier_free(&b), "barrier_free");
  for (unsigned f = 0; f < futures; ++f) {
    check(ABT_eventual_free(&eventuals_[f]), "eventual_free");
    check(ABT_future_free(&futures_[f]), "future_free");
  }
  for (slot& s : slots_) {
    check(ABT_eventual_free(&s.there), "eventual_free");
    check(ABT_eventual_free(&s.resumed), "eventual_free");
  }
}

// --- the caller ---

void abt_machine::move(unsigned where) {
  ABT_thread self = ABT_THREAD_NULL;
  check(ABT_self_get_thread(&self), "self_get_thread");
  const int code = ABT_thread_migrate_to_pool(self, places_[where]);
  if (code != ABT_ERR_MIGRATION_TARGET) // it is there already
    check(code, "migrate_to_pool");
  ABT_thread_yield();
}

long abt_machine::get_key(unsigned k) {
  void* value = nullptr;
  check(ABT_key_get(keys_[k], &value), "key_get");
  return reinterpret_cast<long>(value);
}

bool abt_machine::waits_in_vain(unsigned way) {
  const timespec soon = in_us(impatience);
  bool got = false;
  if (way == 0) {
    ABT_mutex m = ABT_MUTEX_NULL;
    ABT_cond c = ABT_COND_NULL;
    check(ABT_mutex_create(&m), "mutex_create");
    check(ABT_cond_create(&c), "cond_create");
    check(ABT_mutex_lock(m), "mutex_lock");
    got = ABT_cond_timedwait(c, m, &soon) != ABT_ERR_COND_TIMEDOUT;
    check(ABT_mutex_unlock(m), "mutex_unlock");
    check(ABT_cond_free(&c), "cond_free");
    check(ABT_mutex_free(&m), "mutex_free");
  } else if (way == 1) {
    ABT_future f = ABT_FUTURE_NULL;
    check(ABT_future_create(1, nullptr, &f), "future_create");
    got = ABTX_future_timedwait(f, &soon) != ABT_ERR_COND_TIMEDOUT;
    check(ABT_future_free(&f), "future_free");
  } else {
    ABT_barrier b = ABT_BARRIER_NULL;
    check(ABT_barrier_create(2, &b), "barrier_create");
    got = ABTX_barrier_timedwait(b, &soon) != ABT_ERR_COND_TIMEDOUT;
    check(ABT_barrier_free(&b), "barrier_free");
  }
  return got;
}

// --- locks ---

void abt_machine::lock(unsigned a, unsigned way) {
  if (way == 1) {
    while (!try_lock(a, impatience)) {
    }
    return;
  }
  const bool shared = program_.lock[a] == lock_kind::shared;
  check(shared ? ABT_rwlock_wrlock(shared_[a]) : ABT_mutex_lock(mutexes_[a]), "lock");
}

bool abt_machine::try_lock(unsigned a, long us) {
  const timespec until = in_us(us);
  int code;
  if (program_.lock[a] == lock_kind::shared) {
    code = us > 0 ? ABTX_rwlock_timedwrlock(shared_[a], &until) : ABTX_rwlock_trywrlock(shared_[a]);
  } else {
    code = us > 0 ? ABTX_mutex_timedlock(mutexes_[a], &until) : ABT_mutex_trylock(mutexes_[a]);
  }
  if (code != ABT_ERR_COND_TIMEDOUT && code != ABT_ERR_MUTEX_LOCKED && code != ABT_ERR_RWLOCK)
    check(code, "try_lock");
  return code == ABT_SUCCESS;
}

void abt_machine::lock_shared(unsigned a, unsigned way) {
  int code = ABT_ERR_COND_TIMEDOUT;
  while (code == ABT_ERR_COND_TIMEDOUT) {
    const timespec soon = in_us(impatience);
    code = way == 0 ? ABT_rwlock_rdlock(shared_[a]) : ABTX_rwlock_timedrdlock(shared_[a], &soon);
  }
  check(code, "rdlock");
}

void abt_machine::unlock(unsigned a) {
  const bool shared = program_.lock[a] == lock_kind::shared;
  check(shared ? ABT_rwlock_unlock(shared_[a]) : ABT_mutex_unlock(mutexes_[a]), "unlock");
}

// --- what waits, and is waited for ---

void abt_machine::pause(ABT_cond c, ABT_mutex m, unsigned way) {
  if (way == 0)
    return check(ABT_cond_wait(c, m), "cond_wait");
  const timespec soon = in_us(impatience);
  const int code = ABT_cond_timedwait(c, m, &soon);
  if (code != ABT_ERR_COND_TIMEDOUT)
    check(code, "cond_timedwait");
}

void abt_machine::release(unsigned a, long n) {
  counter& s = semaphores_[a];
  check(ABT_mutex_lock(s.lock), "mutex_lock");
  s.count += n;
  for (; n > 0; --n)
    check(ABT_cond_signal(s.changed), "cond_signal");
  check(ABT_mutex_unlock(s.lock), "mutex_unlock");
}

void abt_machine::acquire(unsigned a, unsigned way) {
  counter& s = semaphores_[a];
  check(ABT_mutex_lock(s.lock), "mutex_lock");
  while (s.count == 0)
    pause(s.changed, s.lock, way);
  --s.count;
  check(ABT_mutex_unlock(s.lock), "mutex_unlock");
}

void abt_machine::count_down(unsigned a, long n) {
  down_counter& l = latches_[a];
  if (l.left.fetch_sub(n) == n)
    check(ABT_eventual_set(l.at_zero, nullptr, 0), "eventual_set");
}

void abt_machine::wait(unsigned a, unsigned way) {
  ABT_bool ready = ABT_FALSE;
  if (way == 1) // polls a little first
    check(ABT_eventual_test(latches_[a].at_zero, nullptr, &ready), "eventual_test");
  if (ready != ABT_TRUE)
    check(ABT_eventual_wait(latches_[a].at_zero, nullptr), "eventual_wait");
}

void abt_machine::set(unsigned a, long n, unsigned) {
  if (!is_future(a))
    return check(ABT_eventual_set(eventuals_[a], &n, sizeof n), "eventual_set");
  std::pair<std::atomic<long>*, long> value{&values_[a], n};
  check(ABT_future_set(futures_[a], &value), "future_set");
}

long abt_machine::get(unsigned a, unsigned way) {
  if (!is_future(a)) {
    void* value = nullptr;
    check(ABT_eventual_wait(eventuals_[a], &value), "eventual_wait");
    return *static_cast<long*>(value);
  }
  int code = ABT_ERR_COND_TIMEDOUT;
  while (code == ABT_ERR_COND_TIMEDOUT) {
    const timespec soon = in_us(impatience);
    code = way == 0 ? ABT_future_wait(futures_[a]) : ABTX_future_timedwait(futures_[a], &soon);
  }
  check(code, "future_wait");
  return values_[a];
}

// One of 0 would have to wait for the receiver; one of 1 lets nobody see the difference.
void abt_machine::send(unsigned a, stamped value, unsigned way) {
  channel& c = channels_[a];
  check(ABT_mutex_lock(c.lock), "mutex_lock");
  while (c.queue.size() >= c.capacity)
    pause(c.changed, c.lock, way);
  c.queue.push_back(value);
  check(ABT_cond_broadcast(c.changed), "cond_broadcast");
  check(ABT_mutex_unlock(c.lock), "mutex_unlock");
}

stamped abt_machine::receive(unsigned a, unsigned way) {
  channel& c = channels_[a];
  check(ABT_mutex_lock(c.lock), "mutex_lock");
  while (c.queue.empty())
    pause(c.changed, c.lock, way);
  const stamped value = c.queue.front();
  c.queue.pop_front();
  check(ABT_cond_broadcast(c.changed), "cond_broadcast");
  check(ABT_mutex_unlock(c.lock), "mutex_unlock");
  return value;
}

// --- threads ---

ABT_pool abt_machine::pool_of(const thread_spec& spec) const {
  ABT_pool mine = places_[0];
  if (spec.pool != 0)
    return places_[spec.pool];
  return ABT_self_get_last_pool(&mine) == ABT_SUCCESS ? mine : places_[0]; // fails on foreign kernel threads
}

void abt_machine::create(unsigned t, unsigned way, ABT_thread_attr attr, ABT_thread* handle) {
  ABT_pool where = pool_of(program_.threads[t]);
  void* argument = &slots_[t].run;
  ABT_unit_type caller = ABT_UNIT_TYPE_EXT;
  ABT_self_get_type(&caller);
  if (way == 1 && caller == ABT_UNIT_TYPE_THREAD) {
    check(ABT_thread_create_to(where, run_body, argument, attr, handle), "thread_create_to");
  } else if (way == 2) {
    void (*function)(void*) = run_body;
    check(ABT_thread_create_many(1, &where, &function, &argument, attr, handle), "thread_create_many");
  } else {
    check(ABT_thread_create(where, run_body, argument, attr, handle), "thread_create");
  }
}

ABT_thread abt_machine::handle_of(unsigned t) {
  check(ABT_eventual_wait(slots_[t].there, nullptr), "eventual_wait");
  return slots_[t].handle;
}

void abt_machine::join(unsigned t, unsigned way) {
  static_cast<void>(handle_of(t));
  int code = ABT_ERR_COND_TIMEDOUT;
  while (way == 1 && code == ABT_ERR_COND_TIMEDOUT) {
    const timespec soon = in_us(impatience);
    code = ABTX_thread_timedjoin(slots_[t].handle, &soon);
  }
  if (way == 2)
    check(ABT_thread_join(slots_[t].handle), "thread_join");
  check(ABT_thread_free(&slots_[t].handle), "thread_free");
}

void abt_machine::cancel(unsigned t) {
  check(ABT_thread_cancel(handle_of(t)), "thread_cancel");
}

void abt_machine::ask_to_move(unsigned t, unsigned where) {
  static_cast<void>(
      ABT_thread_migrate_to_pool(handle_of(t), places_[where])); // it may be there, or have ended
}

void abt_machine::yield_to(unsigned t) {
  static_cast<void>(ABT_thread_yield_to(handle_of(t))); // not all pools can
}

void abt_machine::resume_suspended(void* of) {
  const slot& s = *static_cast<slot*>(of);
  ABT_eventual_wait(s.resumed, nullptr);
  while (ABT_thread_resume(s.handle) == ABT_ERR_THREAD) // not suspended yet
    ABT_thread_yield();
}

void abt_machine::suspend(unsigned t) {
  slot& s = slots_[t];
  check(ABT_eventual_wait(s.there, nullptr), "eventual_wait"); // else the handle may not be there
  check(ABT_thread_create(places_[t % pools], resume_suspended, &s, ABT_THREAD_ATTR_NULL, nullptr),
        "thread_create");
  check(ABT_self_suspend(), "suspend");
}

void abt_machine::resume(unsigned t) {
  check(ABT_eventual_set(slots_[t].resumed, nullptr, 0), "eventual_set");
}

void abt_machine::wait_for_the_rest() {
  wait(latches, 0);
  for (unsigned t = 0; t < program_.threads.size(); ++t) {
    slot& s = slots_[t];
    if (s.foreign.joinable())
      s.foreign.join();
    if (program_.threads[t].detached && s.handle != ABT_THREAD_NULL)
      check(t % 2 == 0 ? ABT_thread_free(&s.handle) : ABTX_thread_detach(&s.handle), "free or detach");
  }
}

} // namespace weft::random_programs
