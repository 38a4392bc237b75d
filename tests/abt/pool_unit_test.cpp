// SPDX-License-Identifier: MIT
// Pools by their old API, which works with ABT_unit: built-in pools and users' pools of both styles.
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "abt_test.hpp"
#include "user_defs.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // ABT_pool_pop_timedwait

namespace {

using namespace abt_test;

constexpr ABT_pool_kind kinds[] = {ABT_POOL_FIFO, ABT_POOL_FIFO_WAIT, ABT_POOL_RANDWS};

std::size_t size_of(ABT_pool pool) {
  std::size_t size = 99;
  EXPECT_OK(ABT_pool_get_size(pool, &size));
  return size;
}

ABT_unit unit_of_thread(ABT_thread t) {
  ABT_unit unit = ABT_UNIT_NULL;
  EXPECT_OK(ABT_thread_get_unit(t, &unit));
  return unit;
}

// One thread that has not run in a pool that nobody serves; it is run and freed with `end`.
struct waiting_thread {
  explicit waiting_thread(ABT_pool p) : pool(p), handle(make_thread(p, nothing)) {}
  ~waiting_thread() {
    ABT_thread next = ABT_THREAD_NULL;
    EXPECT_OK(ABT_pool_pop_thread(pool, &next));
    EXPECT_EQ(next, handle);
    EXPECT_OK(ABT_self_schedule(next, ABT_POOL_NULL));
    EXPECT_OK(ABT_thread_free(&handle));
  }
  waiting_thread(const waiting_thread&) = delete;
  waiting_thread& operator=(const waiting_thread&) = delete;

  body nothing = [] {};
  ABT_pool pool;
  ABT_thread handle;
};

// Calls f(pool) with each built-in pool and with users' pools that have every callback.
void with_each_pool(bool old_style_only, const std::function<void(ABT_pool)>& f) {
  for (const ABT_pool_kind kind : kinds) {
    ABT_pool pool = make_pool(ABT_FALSE, kind);
    f(pool);
    EXPECT_OK(ABT_pool_free(&pool));
  }
  user_fifo fifo;
  ABT_pool pool = make_old_pool(fifo, callbacks::all);
  f(pool);
  EXPECT_OK(ABT_pool_free(&pool));
  if (old_style_only)
    return;
  pool = make_user_pool(fifo, callbacks::all);
  f(pool);
  EXPECT_OK(ABT_pool_free(&pool));
  EXPECT_EQ(fifo.units, 0);
  EXPECT_EQ(fifo.frees, 2);
}

TEST(ABT_pool_pop, is_the_unit_of_the_thread) {
  const runtime rt;
  with_each_pool(false, [](ABT_pool pool) {
    const waiting_thread t(pool);
    ABT_unit unit = ABT_UNIT_NULL;
    EXPECT_OK(ABT_pool_pop(pool, &unit));
    EXPECT_EQ(unit, unit_of_thread(t.handle));
    ABT_thread thread = ABT_THREAD_NULL;
    EXPECT_OK(ABT_unit_get_thread(unit, &thread));
    EXPECT_EQ(thread, t.handle);
    ABT_unit none = nullptr;
    EXPECT_OK(ABT_pool_pop(pool, &none));
    EXPECT_EQ(none, ABT_UNIT_NULL);
    EXPECT_OK(ABT_pool_push(pool, unit));
  });
}

TEST(ABT_pool_pop, refuses_no_pool) {
  const runtime rt;
  for (const ABT_pool none : {ABT_POOL_NULL, ABT_pool{}}) {
    ABT_unit unit = nullptr;
    EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_pop(none, &unit));
    EXPECT_EQ(unit, ABT_UNIT_NULL);
  }
}

// An old-style struct has no such callback in the 1.x API.
TEST(ABT_pool_pop_wait, takes_what_is_there_and_gives_up_otherwise) {
  const runtime rt;
  const auto check = [](ABT_pool pool) {
    const waiting_thread t(pool);
    ABT_unit unit = ABT_UNIT_NULL;
    EXPECT_OK(ABT_pool_pop_wait(pool, &unit, 60.0));
    EXPECT_EQ(unit, unit_of_thread(t.handle));
    ABT_unit none = nullptr;
    EXPECT_OK(ABT_pool_pop_wait(pool, &none, 0.001));
    EXPECT_EQ(none, ABT_UNIT_NULL);
    EXPECT_OK(ABT_pool_push(pool, unit));
  };
  for (const ABT_pool_kind kind : kinds) {
    ABT_pool pool = make_pool(ABT_FALSE, kind);
    check(pool);
    EXPECT_OK(ABT_pool_free(&pool));
  }
  user_fifo fifo;
  ABT_pool pool = make_user_pool(fifo, callbacks::all);
  check(pool);
  EXPECT_EQ(fifo.pop_waits, 2);
  EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_pool_pop_wait, refuses_no_pool_and_pools_that_cannot) {
  const runtime rt;
  user_fifo fifo;
  ABT_pool minimal = make_user_pool(fifo, callbacks::required);
  ABT_pool old = make_old_pool(fifo, callbacks::required);
  ABT_unit unit = nullptr;
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_pop_wait(ABT_POOL_NULL, &unit, 0.0));
  EXPECT_EQ(unit, ABT_UNIT_NULL);
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_pop_wait(nullptr, &unit, 0.0));
  for (const ABT_pool pool : {minimal, old}) {
    unit = nullptr;
    EXPECT_ABT(ABT_ERR_POOL, ABT_pool_pop_wait(pool, &unit, 0.0));
    EXPECT_EQ(unit, ABT_UNIT_NULL);
  }
  EXPECT_OK(ABT_pool_free(&minimal));
  EXPECT_OK(ABT_pool_free(&old));
}

TEST(ABT_pool_pop_timedwait, waits_until_a_time) {
  const runtime rt;
  with_each_pool(true, [](ABT_pool pool) {
    const waiting_thread t(pool);
    ABT_unit unit = ABT_UNIT_NULL;
    EXPECT_OK(ABT_pool_pop_timedwait(pool, &unit, ABT_get_wtime() + 60.0));
    EXPECT_EQ(unit, unit_of_thread(t.handle));
    ABT_unit none = nullptr;
    EXPECT_OK(ABT_pool_pop_timedwait(pool, &none, ABT_get_wtime() + 0.001));
    EXPECT_EQ(none, ABT_UNIT_NULL);
    none = nullptr;
    EXPECT_OK(ABT_pool_pop_timedwait(pool, &none, ABT_get_wtime() - 1.0));
    EXPECT_EQ(none, ABT_UNIT_NULL);
    EXPECT_OK(ABT_pool_push(pool, unit));
  });
}

TEST(ABT_pool_pop_timedwait, refuses_no_pool_and_pools_that_cannot) {
  const runtime rt;
  user_fifo fifo;
  ABT_pool minimal = make_user_pool(fifo, callbacks::required);
  ABT_pool old = make_old_pool(fifo, callbacks::required);
  ABT_unit unit = nullptr;
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_pop_timedwait(ABT_POOL_NULL, &unit, 0.0));
  EXPECT_EQ(unit, ABT_UNIT_NULL);
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_pop_timedwait(nullptr, &unit, 0.0));
  for (const ABT_pool pool : {minimal, old}) {
    unit = nullptr;
    EXPECT_ABT(ABT_ERR_POOL, ABT_pool_pop_timedwait(pool, &unit, 0.0));
    EXPECT_EQ(unit, ABT_UNIT_NULL);
  }
  EXPECT_OK(ABT_pool_free(&minimal));
  EXPECT_OK(ABT_pool_free(&old));
}

TEST(ABT_pool_remove, takes_out_the_one_it_is_told) {
  const runtime rt;
  with_each_pool(true, [](ABT_pool pool) {
    body nothing = [] {};
    ABT_thread t[3];
    for (ABT_thread& one : t)
      one = make_thread(pool, nothing);
    EXPECT_OK(ABT_pool_remove(pool, unit_of_thread(t[1])));
    EXPECT_EQ(size_of(pool), 2U);
    std::set<ABT_thread> left;
    for (int i = 0; i < 2; ++i) {
      ABT_thread next = ABT_THREAD_NULL;
      EXPECT_OK(ABT_pool_pop_thread(pool, &next));
      left.insert(next);
      EXPECT_OK(ABT_self_schedule(next, ABT_POOL_NULL));
    }
    EXPECT_EQ(left, (std::set<ABT_thread>{t[0], t[2]}));
    EXPECT_OK(ABT_self_schedule(t[1], ABT_POOL_NULL));
    for (ABT_thread& one : t)
      EXPECT_OK(ABT_thread_free(&one));
  });
}

TEST(ABT_pool_remove, refuses_no_pool_no_unit_and_pools_that_cannot) {
  const runtime rt;
  user_fifo fifo;
  ABT_pool pools[] = {make_user_pool(fifo, callbacks::all), make_old_pool(fifo, callbacks::required)};
  for (ABT_pool& pool : pools) {
    {
      const waiting_thread t(pool);
      const ABT_unit unit = unit_of_thread(t.handle);
      EXPECT_ABT(ABT_ERR_POOL, ABT_pool_remove(pool, unit));
      EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_remove(ABT_POOL_NULL, unit));
      EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_remove(nullptr, unit));
    }
    EXPECT_OK(ABT_pool_free(&pool));
  }
  EXPECT_ABT(ABT_ERR_INV_UNIT, ABT_pool_remove(self_pool(), ABT_UNIT_NULL));
}

TEST(ABT_pool_push, moves_a_unit_to_another_pool) {
  const runtime rt;
  with_each_pool(false, [](ABT_pool pool) {
    user_fifo fifo;
    ABT_pool other = make_user_pool(fifo, callbacks::all);
    {
      const waiting_thread t(pool);
      ABT_unit unit = ABT_UNIT_NULL;
      EXPECT_OK(ABT_pool_pop(pool, &unit));
      EXPECT_OK(ABT_pool_push(other, unit));
      EXPECT_EQ(fifo.units, 1);
      EXPECT_EQ(size_of(other), 1U);
      EXPECT_OK(ABT_pool_pop(other, &unit));
      EXPECT_EQ(unit, unit_of_thread(t.handle)); // its unit is another one now
      EXPECT_OK(ABT_pool_push(pool, unit));
      EXPECT_EQ(fifo.units, 0);
    }
    EXPECT_OK(ABT_pool_free(&other));
  });
}

TEST(ABT_pool_push, refuses_no_pool_and_no_unit) {
  const runtime rt;
  ABT_pool pool = make_pool();
  {
    const waiting_thread t(pool);
    EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_push(ABT_POOL_NULL, unit_of_thread(t.handle)));
    EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_push(nullptr, unit_of_thread(t.handle)));
    EXPECT_ABT(ABT_ERR_INV_UNIT, ABT_pool_push(pool, ABT_UNIT_NULL));
    EXPECT_ABT(ABT_ERR_INV_UNIT, ABT_pool_push(pool, nullptr));
  }
  EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_pool_push, refuses_a_pool_that_makes_no_unit) {
  const runtime rt;
  user_fifo fifo;
  fifo.refuse_units = true;
  ABT_pool pool = make_pool();
  ABT_pool other = make_user_pool(fifo, callbacks::all);
  {
    const waiting_thread t(pool);
    ABT_unit unit = ABT_UNIT_NULL;
    EXPECT_OK(ABT_pool_pop(pool, &unit));
    EXPECT_ABT(ABT_ERR_UNIT, ABT_pool_push(other, unit));
    EXPECT_EQ(size_of(other), 0U);
    EXPECT_OK(ABT_pool_push(pool, unit));
  }
  EXPECT_OK(ABT_pool_free(&pool));
  EXPECT_OK(ABT_pool_free(&other));
}

void collect(void* set, ABT_unit unit) {
  static_cast<std::set<ABT_unit>*>(set)->insert(unit);
}

TEST(ABT_pool_print_all, visits_each_unit) {
  const runtime rt;
  with_each_pool(true, [](ABT_pool pool) {
    const waiting_thread t(pool);
    std::set<ABT_unit> seen;
    EXPECT_OK(ABT_pool_print_all(pool, &seen, collect));
    EXPECT_EQ(seen, std::set<ABT_unit>{unit_of_thread(t.handle)});
  });
}

TEST(ABT_pool_print_all, refuses_no_pool_and_pools_that_cannot) {
  const runtime rt;
  user_fifo fifo;
  ABT_pool minimal = make_user_pool(fifo, callbacks::required);
  ABT_pool old = make_old_pool(fifo, callbacks::required);
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_print_all(ABT_POOL_NULL, nullptr, collect));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_print_all(nullptr, nullptr, collect));
  EXPECT_ABT(ABT_ERR_POOL, ABT_pool_print_all(minimal, nullptr, collect));
  EXPECT_ABT(ABT_ERR_POOL, ABT_pool_print_all(old, nullptr, collect));
  EXPECT_OK(ABT_pool_free(&minimal));
  EXPECT_OK(ABT_pool_free(&old));
}

// --- units that move between users' pools ---

// A pool whose units are the threads themselves, as another one's of this kind are.
ABT_pool make_pool_of_handles(user_fifo& fifo) {
  ABT_pool_user_def def = ABT_POOL_USER_DEF_NULL;
  EXPECT_OK(ABT_pool_user_def_create([](ABT_pool, ABT_thread t) { return reinterpret_cast<ABT_unit>(t); },
                                     [](ABT_pool, ABT_unit) {}, fifo_is_empty,
                                     [](ABT_pool pool, ABT_pool_context) {
                                       const std::unique_ptr<user_fifo::node> n(fifo_of(pool).pop());
                                       return thread_of(n.get());
                                     },
                                     [](ABT_pool pool, ABT_unit unit, ABT_pool_context) {
                                       fifo_of(pool).push(
                                           new user_fifo::node{reinterpret_cast<ABT_thread>(unit)});
                                     },
                                     &def));
  ABT_pool pool = ABT_POOL_NULL;
  EXPECT_OK(ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &pool));
  EXPECT_OK(ABT_pool_set_data(pool, &fifo));
  EXPECT_OK(ABT_pool_user_def_free(&def));
  return pool;
}

TEST(ABT_unit_get_thread, after_it_has_moved_to_a_pool_that_calls_it_the_same) {
  const runtime rt;
  user_fifo fifo, other_fifo;
  ABT_pool pool = make_pool_of_handles(fifo), other = make_pool_of_handles(other_fifo);
  {
    const waiting_thread t(pool);
    ABT_unit unit = ABT_UNIT_NULL;
    for (const auto& [from, to] : {std::pair(pool, other), std::pair(other, pool)}) {
      EXPECT_OK(ABT_pool_pop(from, &unit));
      EXPECT_OK(ABT_pool_push(to, unit));
      ABT_thread thread = ABT_THREAD_NULL;
      EXPECT_OK(ABT_unit_get_thread(unit_of_thread(t.handle), &thread));
      EXPECT_EQ(thread, t.handle);
    }
  }
  EXPECT_OK(ABT_pool_free(&pool));
  EXPECT_OK(ABT_pool_free(&other));
}

// A request may come while the one before is carried out on another stream: each has its own unit, and the
// last one wins.
TEST(ABT_thread_migrate_to_pool, requests_between_users_pools_while_one_is_carried_out) {
  const runtime rt;
  user_fifo fifos[2];
  ABT_pool pools[] = {make_user_pool(fifos[0], callbacks::all), make_user_pool(fifos[1], callbacks::all)};
  ABT_xstream es = ABT_XSTREAM_NULL;
  EXPECT_OK(ABT_xstream_create_basic(ABT_SCHED_BASIC, 2, pools, ABT_SCHED_CONFIG_NULL, &es));
  std::atomic<bool> over = false;
  body f = [&over] {
    while (!over)
      ABT_thread_yield();
  };
  ABT_thread t = make_thread(pools[0], f);
  for (int i = 0; i < 100'000; ++i) {
    const int code = ABT_thread_migrate_to_pool(t, pools[i % 2]);
    EXPECT_TRUE(code == ABT_SUCCESS || code == ABT_ERR_MIGRATION_TARGET) << code;
  }
  over = true;
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(fifos[0].units + fifos[1].units, 0);
  EXPECT_OK(ABT_xstream_free(&es));
  for (ABT_pool& pool : pools)
    EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_unit_get_thread, of_each_of_very_many_in_a_users_pool) {
  constexpr std::size_t count = 20'000;
  const runtime rt;
  user_fifo fifo;
  ABT_pool pool = make_user_pool(fifo, callbacks::all);
  std::size_t ran = 0;
  body f = [&ran] { ++ran; };
  std::vector<ABT_thread> threads;
  for (std::size_t i = 0; i < count; ++i)
    threads.push_back(make_thread(pool, f));
  std::set<ABT_unit> units;
  for (const ABT_thread t : threads) {
    const ABT_unit unit = unit_of_thread(t);
    units.insert(unit);
    ABT_thread behind = ABT_THREAD_NULL;
    ASSERT_OK(ABT_unit_get_thread(unit, &behind));
    ASSERT_EQ(behind, t);
  }
  EXPECT_EQ(units.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    ABT_thread next = ABT_THREAD_NULL;
    ASSERT_OK(ABT_pool_pop_thread(pool, &next));
    ASSERT_OK(ABT_self_schedule(next, ABT_POOL_NULL));
  }
  EXPECT_EQ(ran, count);
  EXPECT_OK(ABT_thread_free(&threads.back()));
  for (ABT_thread& t : std::span(threads).first(count - 1))
    ASSERT_OK(ABT_thread_free(&t));
  EXPECT_EQ(fifo.units, 0);
  EXPECT_OK(ABT_pool_free(&pool));
}

// Who joins a thread goes on when that has ended, in its place: nobody pushes or pops the joiner.
TEST(ABT_thread_join, in_a_users_pool_goes_on_in_place_of_the_ended) {
  const runtime rt;
  user_fifo fifo;
  ABT_pool pool = make_user_pool(fifo, callbacks::all);
  ABT_xstream es = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &es));
  std::string order;
  body last = [&order] { order += 'l'; };
  body inner = [&order] { order += 'i'; };
  body outer = [&] {
    ABT_thread t = make_thread(pool, inner);
    ABT_thread behind = make_thread(pool, last);
    EXPECT_OK(ABT_thread_free(&t));
    order += 'o';
    EXPECT_OK(ABT_thread_free(&behind));
  };
  ABT_thread t = make_thread(pool, outer);
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(order, "iol");
  EXPECT_OK(ABT_xstream_free(&es));
  EXPECT_OK(ABT_pool_free(&pool));
}

} // namespace
