// SPDX-License-Identifier: MIT
// Pools that users define, in the new style and by the old struct, and users' schedulers over them.
#include <set>

#include "abt_test.hpp"
#include "user_defs.hpp"

namespace {

using namespace abt_test;

using pool_maker = ABT_pool (*)(user_fifo&, callbacks);

// Calls f(fifo, pool) for users' pools of both styles, with all and with the required callbacks.
void with_each_users_pool(const std::function<void(user_fifo&, ABT_pool)>& f) {
  for (const pool_maker make : {make_user_pool, make_old_pool}) {
    for (const callbacks which : {callbacks::required, callbacks::all}) {
      SCOPED_TRACE(testing::Message() << (make == make_user_pool ? "new" : "old") << " style, "
                                      << (which == callbacks::all ? "all" : "required") << " callbacks");
      user_fifo fifo;
      ABT_pool pool = make(fifo, which);
      f(fifo, pool);
      EXPECT_OK(ABT_pool_free(&pool));
      EXPECT_EQ(pool, ABT_POOL_NULL);
      EXPECT_EQ(fifo.inits, which == callbacks::all ? 1 : 0);
      EXPECT_EQ(fifo.frees, which == callbacks::all ? 1 : 0);
      EXPECT_EQ(fifo.units, 0);
      EXPECT_EQ(old_style_units, 0);
    }
  }
}

TEST(ABT_pool_create, works_with_each_predefined_scheduler) {
  const runtime rt;
  for (const ABT_sched_predef predef : every_predef) {
    SCOPED_TRACE(predef);
    with_each_users_pool([predef](user_fifo& fifo, ABT_pool pool) {
      if (predef == ABT_SCHED_BASIC_WAIT && fifo.inits == 0)
        return; // that one waits, for which the required callbacks do not suffice
      ABT_xstream es = ABT_XSTREAM_NULL;
      ASSERT_OK(ABT_xstream_create_basic(predef, 1, &pool, ABT_SCHED_CONFIG_NULL, &es));
      EXPECT_EQ(run_many(pool, 100), 200);
      EXPECT_OK(ABT_xstream_free(&es));
    });
  }
}

TEST(ABT_pool_create, works_with_users_schedulers) {
  const runtime rt;
  for (const ABT_sched_run_fn run : {run_user_sched, run_unit_sched}) {
    with_each_users_pool([run](user_fifo&, ABT_pool pool) {
      ABT_sched sched = make_user_sched({pool}, run);
      ABT_xstream es = ABT_XSTREAM_NULL;
      ASSERT_OK(ABT_xstream_create(sched, &es));
      EXPECT_EQ(run_many(pool, 100), 200);
      EXPECT_OK(ABT_xstream_free(&es));
      EXPECT_OK(ABT_sched_free(&sched));
    });
  }
}

// The first one empties its pool into the second, from where another stream takes it, and back.
TEST(ABT_pool_create, lets_threads_move_between_users_pools) {
  const runtime rt;
  with_each_users_pool([](user_fifo&, ABT_pool pool) {
    user_fifo other_fifo;
    ABT_pool other = make_user_pool(other_fifo, callbacks::all);
    ABT_xstream es[2];
    ASSERT_OK(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &es[0]));
    ASSERT_OK(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &other, ABT_SCHED_CONFIG_NULL, &es[1]));
    std::atomic<int> moves = 0;
    body f = [&] {
      for (int i = 0; i < 10; ++i) {
        EXPECT_OK(ABT_self_set_associated_pool(i % 2 == 0 ? other : pool));
        EXPECT_OK(ABT_thread_yield());
        EXPECT_EQ(self_xstream(), es[i % 2 == 0 ? 1 : 0]);
        ++moves;
      }
    };
    std::vector<ABT_thread> all;
    for (int i = 0; i < 10; ++i)
      all.push_back(make_thread(pool, f));
    for (ABT_thread& t : all)
      EXPECT_OK(ABT_thread_free(&t));
    EXPECT_EQ(moves, 100);
    for (ABT_xstream& one : es)
      EXPECT_OK(ABT_xstream_free(&one));
    EXPECT_OK(ABT_pool_free(&other));
    EXPECT_EQ(other_fifo.units, 0);
  });
}

TEST(ABT_pool_create, keeps_a_thread_that_suspends) {
  const runtime rt;
  with_each_users_pool([](user_fifo& fifo, ABT_pool pool) {
    body f = [] { EXPECT_OK(ABT_self_suspend()); };
    ABT_thread t = make_thread(pool, f);
    ABT_thread next = ABT_THREAD_NULL;
    EXPECT_OK(ABT_pool_pop_thread(pool, &next));
    EXPECT_EQ(next, t);
    EXPECT_OK(ABT_self_schedule(next, ABT_POOL_NULL));
    EXPECT_EQ(fifo.size(), 0U);
    EXPECT_OK(ABT_thread_resume(t));
    EXPECT_EQ(fifo.size(), 1U);
    EXPECT_OK(ABT_pool_pop_thread(pool, &next));
    EXPECT_OK(ABT_self_schedule(next, ABT_POOL_NULL));
    EXPECT_OK(ABT_thread_free(&t));
  });
}

TEST(ABT_pool_create, has_the_access_of_the_definition) {
  const runtime rt;
  user_fifo fifo;
  ABT_pool fresh = make_user_pool(fifo, callbacks::required);
  ABT_pool old = make_old_pool(fifo, callbacks::required);
  ABT_pool_access access = ABT_POOL_ACCESS_PRIV;
  EXPECT_OK(ABT_pool_get_access(fresh, &access));
  EXPECT_EQ(access, ABT_POOL_ACCESS_MPMC);
  EXPECT_OK(ABT_pool_get_access(old, &access));
  EXPECT_EQ(access, ABT_POOL_ACCESS_MPSC);
  EXPECT_OK(ABT_pool_free(&fresh));
  EXPECT_OK(ABT_pool_free(&old));
}

TEST(ABT_pool_create, passes_the_context_on) {
  const runtime rt;
  user_fifo fifo;
  ABT_pool pool = make_user_pool(fifo, callbacks::required);
  body f = [] { EXPECT_OK(ABT_thread_yield()); };
  ABT_thread t = make_thread(pool, f);
  EXPECT_EQ(fifo.contexts, ABT_POOL_CONTEXT_OP_THREAD_CREATE);
  for (int i = 0; i < 2; ++i) {
    ABT_thread next = ABT_THREAD_NULL;
    EXPECT_OK(ABT_pool_pop_thread(pool, &next));
    EXPECT_OK(ABT_self_schedule(next, ABT_POOL_NULL));
  }
  EXPECT_NE(fifo.contexts & ABT_POOL_CONTEXT_OP_THREAD_YIELD, 0U);
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_pool_create, refuses_no_definition) {
  const runtime rt;
  for (const ABT_pool_user_def none : {ABT_POOL_USER_DEF_NULL, ABT_pool_user_def{}}) {
    ABT_pool pool = self_pool();
    EXPECT_ABT(ABT_ERR_INV_POOL_USER_DEF, ABT_pool_create(none, ABT_POOL_CONFIG_NULL, &pool));
    EXPECT_EQ(pool, ABT_POOL_NULL);
  }
}

TEST(ABT_pool_create, refuses_with_the_error_of_init) {
  const runtime rt;
  user_fifo fifo;
  fifo.init_result = ABT_ERR_TIMER;
  ABT_pool_config config = ABT_POOL_CONFIG_NULL;
  ASSERT_OK(ABT_pool_config_create(&config));
  void* const data = &fifo;
  EXPECT_OK(ABT_pool_config_set(config, 0, ABT_POOL_CONFIG_PTR, &data));
  ABT_pool_user_def fresh = make_user_def(callbacks::all);
  ABT_pool_def old = make_old_def(callbacks::all);
  for (const ABT_pool_user_def def : {fresh, &old}) {
    ABT_pool pool = self_pool();
    EXPECT_ABT(ABT_ERR_TIMER, ABT_pool_create(def, config, &pool));
    EXPECT_EQ(pool, ABT_POOL_NULL);
  }
  EXPECT_EQ(fifo.frees, 0);
  EXPECT_OK(ABT_pool_user_def_free(&fresh));
  EXPECT_OK(ABT_pool_config_free(&config));
}

TEST(ABT_pool_set_data, keeps_a_pointer) {
  const runtime rt;
  user_fifo fifo;
  ABT_pool pool = make_old_pool(fifo, callbacks::required);
  EXPECT_EQ(&fifo_of(pool), &fifo);
  int value = 0;
  EXPECT_OK(ABT_pool_set_data(pool, &value));
  void* got = nullptr;
  EXPECT_OK(ABT_pool_get_data(pool, &got));
  EXPECT_EQ(got, &value);
  EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_pool_set_data, refuses_no_pool) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_set_data(ABT_POOL_NULL, nullptr));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_set_data(nullptr, nullptr));
}

TEST(ABT_pool_get_data, is_null_at_first) {
  const runtime rt;
  ABT_pool_user_def def = make_user_def(callbacks::required);
  ABT_pool pool = ABT_POOL_NULL;
  ASSERT_OK(ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &pool));
  void* got = &pool;
  EXPECT_OK(ABT_pool_get_data(pool, &got));
  EXPECT_EQ(got, nullptr);
  EXPECT_OK(ABT_pool_free(&pool));
  EXPECT_OK(ABT_pool_user_def_free(&def));
}

TEST(ABT_pool_get_data, refuses_no_pool) {
  const runtime rt;
  void* got = nullptr;
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_get_data(ABT_POOL_NULL, &got));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_get_data(nullptr, &got));
}

TEST(ABT_pool_user_def_create, may_be_used_many_times_and_freed_early) {
  const runtime rt;
  ABT_pool_user_def def = make_user_def(callbacks::all);
  user_fifo fifo[3];
  ABT_pool pools[3];
  for (int i = 0; i < 3; ++i)
    pools[i] = make_pool_of(fifo[i], def);
  EXPECT_OK(ABT_pool_user_def_free(&def)); // was copied
  EXPECT_EQ(def, ABT_POOL_USER_DEF_NULL);
  ABT_xstream es = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create_basic(ABT_SCHED_BASIC, 3, pools, ABT_SCHED_CONFIG_NULL, &es));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run_many(pools[i], 10), 20);
    EXPECT_EQ(fifo[i].units_made, 20);
  }
  EXPECT_OK(ABT_xstream_free(&es));
  for (ABT_pool& pool : pools)
    EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_pool_user_def_free, sets_the_handle_to_null) {
  const runtime rt;
  ABT_pool_user_def def = make_user_def(callbacks::required);
  EXPECT_OK(ABT_pool_user_def_free(&def));
  EXPECT_EQ(def, ABT_POOL_USER_DEF_NULL);
}

TEST(ABT_pool_user_def_free, refuses_no_definition) {
  const runtime rt;
  ABT_pool_user_def def = ABT_POOL_USER_DEF_NULL;
  EXPECT_ABT(ABT_ERR_INV_POOL_USER_DEF, ABT_pool_user_def_free(&def));
  def = nullptr;
  EXPECT_ABT(ABT_ERR_INV_POOL_USER_DEF, ABT_pool_user_def_free(&def));
}

// Null takes a callback away again: the rest of the definition does without.
TEST(ABT_pool_user_def_set_init, is_called_once_and_can_be_taken_away) {
  const runtime rt;
  ABT_pool_user_def def = make_user_def(callbacks::all);
  user_fifo with;
  ABT_pool pool = make_pool_of(with, def);
  EXPECT_EQ(with.inits, 1);
  EXPECT_OK(ABT_pool_free(&pool));
  EXPECT_OK(ABT_pool_user_def_set_init(def, nullptr));
  user_fifo without;
  pool = make_pool_of(without, def);
  EXPECT_EQ(without.inits, 0);
  EXPECT_OK(ABT_pool_free(&pool));
  EXPECT_OK(ABT_pool_user_def_free(&def));
}

TEST(ABT_pool_user_def_set_free, is_called_once_and_can_be_taken_away) {
  const runtime rt;
  ABT_pool_user_def def = make_user_def(callbacks::all);
  user_fifo with;
  ABT_pool pool = make_pool_of(with, def);
  EXPECT_OK(ABT_pool_free(&pool));
  EXPECT_EQ(with.frees, 1);
  EXPECT_OK(ABT_pool_user_def_set_free(def, nullptr));
  user_fifo without;
  pool = make_pool_of(without, def);
  EXPECT_OK(ABT_pool_free(&pool));
  EXPECT_EQ(without.frees, 0);
  EXPECT_OK(ABT_pool_user_def_free(&def));
}

// A pool whose definition lacks what `call` asks for, and one that has it.
void check_optional(int (*unset)(ABT_pool_user_def), const std::function<int(ABT_pool)>& call) {
  ABT_pool_user_def def = make_user_def(callbacks::all);
  user_fifo fifo;
  ABT_pool with = make_pool_of(fifo, def);
  EXPECT_OK(unset(def));
  ABT_pool without = make_pool_of(fifo, def);
  EXPECT_OK(call(with));
  EXPECT_ABT(ABT_ERR_POOL, call(without));
  EXPECT_OK(ABT_pool_free(&with));
  EXPECT_OK(ABT_pool_free(&without));
  EXPECT_OK(ABT_pool_user_def_free(&def));
}

TEST(ABT_pool_user_def_set_get_size, lets_a_pool_tell_its_size) {
  const runtime rt;
  std::size_t size = 0;
  const auto unset = [](ABT_pool_user_def def) { return ABT_pool_user_def_set_get_size(def, nullptr); };
  check_optional(unset, [&size](ABT_pool pool) { return ABT_pool_get_size(pool, &size); });
  check_optional(unset, [&size](ABT_pool pool) { return ABT_pool_get_total_size(pool, &size); });
}

TEST(ABT_pool_user_def_set_pop_wait, lets_a_pool_wait) {
  const runtime rt;
  ABT_thread t = ABT_THREAD_NULL;
  const auto unset = [](ABT_pool_user_def def) { return ABT_pool_user_def_set_pop_wait(def, nullptr); };
  check_optional(unset, [&t](ABT_pool pool) { return ABT_pool_pop_wait_thread(pool, &t, 0.0); });
  check_optional(unset, [&t](ABT_pool pool) {
    return ABT_pool_pop_wait_thread_ex(pool, &t, 0.0, ABT_POOL_CONTEXT_OP_POOL_OTHER);
  });
}

TEST(ABT_pool_user_def_set_pop_many, lets_a_pool_give_several) {
  const runtime rt;
  ABT_thread t[2];
  std::size_t count = 0;
  const auto unset = [](ABT_pool_user_def def) { return ABT_pool_user_def_set_pop_many(def, nullptr); };
  check_optional(unset, [&](ABT_pool pool) { return ABT_pool_pop_threads(pool, t, 2, &count); });
  check_optional(unset, [&](ABT_pool pool) { return ABT_pool_pop_threads_ex(pool, t, 2, &count, 0); });
}

// Pushes the thread to the pool and pops it again.
TEST(ABT_pool_user_def_set_push_many, lets_a_pool_take_several) {
  const runtime rt;
  body nothing = [] {};
  ABT_pool home = make_pool();
  ABT_thread t = make_thread(home, nothing);
  ABT_thread popped = ABT_THREAD_NULL;
  EXPECT_OK(ABT_pool_pop_thread(home, &popped));
  const auto unset = [](ABT_pool_user_def def) { return ABT_pool_user_def_set_push_many(def, nullptr); };
  for (const bool extended : {false, true}) {
    check_optional(unset, [&](ABT_pool pool) {
      const int result =
          extended ? ABT_pool_push_threads_ex(pool, &t, 1, 0) : ABT_pool_push_threads(pool, &t, 1);
      if (result == ABT_SUCCESS) {
        EXPECT_OK(ABT_pool_pop_thread(pool, &popped));
        EXPECT_EQ(popped, t);
        EXPECT_OK(ABT_thread_set_associated_pool(t, home));
      }
      return result;
    });
  }
  EXPECT_OK(ABT_self_schedule(t, home));
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_OK(ABT_pool_free(&home));
}

TEST(ABT_pool_user_def_set_print_all, lets_a_pool_show_its_threads) {
  const runtime rt;
  const auto unset = [](ABT_pool_user_def def) { return ABT_pool_user_def_set_print_all(def, nullptr); };
  check_optional(unset, [](ABT_pool pool) {
    return ABT_pool_print_all_threads(pool, nullptr, [](void*, ABT_thread) {});
  });
}

TEST(ABT_pool_user_def_set_init, refuses_no_definition) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_POOL_USER_DEF, ABT_pool_user_def_set_init(ABT_POOL_USER_DEF_NULL, fifo_init));
  EXPECT_ABT(ABT_ERR_INV_POOL_USER_DEF, ABT_pool_user_def_set_init(nullptr, fifo_init));
}
TEST(ABT_pool_user_def_set_free, refuses_no_definition) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_POOL_USER_DEF, ABT_pool_user_def_set_free(ABT_POOL_USER_DEF_NULL, fifo_free));
  EXPECT_ABT(ABT_ERR_INV_POOL_USER_DEF, ABT_pool_user_def_set_free(nullptr, fifo_free));
}
TEST(ABT_pool_user_def_set_get_size, refuses_no_definition) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_POOL_USER_DEF,
             ABT_pool_user_def_set_get_size(ABT_POOL_USER_DEF_NULL, fifo_get_size));
  EXPECT_ABT(ABT_ERR_INV_POOL_USER_DEF, ABT_pool_user_def_set_get_size(nullptr, fifo_get_size));
}
TEST(ABT_pool_user_def_set_pop_wait, refuses_no_definition) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_POOL_USER_DEF,
             ABT_pool_user_def_set_pop_wait(ABT_POOL_USER_DEF_NULL, fifo_pop_wait));
  EXPECT_ABT(ABT_ERR_INV_POOL_USER_DEF, ABT_pool_user_def_set_pop_wait(nullptr, fifo_pop_wait));
}
TEST(ABT_pool_user_def_set_pop_many, refuses_no_definition) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_POOL_USER_DEF,
             ABT_pool_user_def_set_pop_many(ABT_POOL_USER_DEF_NULL, fifo_pop_many));
  EXPECT_ABT(ABT_ERR_INV_POOL_USER_DEF, ABT_pool_user_def_set_pop_many(nullptr, fifo_pop_many));
}
TEST(ABT_pool_user_def_set_push_many, refuses_no_definition) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_POOL_USER_DEF,
             ABT_pool_user_def_set_push_many(ABT_POOL_USER_DEF_NULL, fifo_push_many));
  EXPECT_ABT(ABT_ERR_INV_POOL_USER_DEF, ABT_pool_user_def_set_push_many(nullptr, fifo_push_many));
}
TEST(ABT_pool_user_def_set_print_all, refuses_no_definition) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_POOL_USER_DEF,
             ABT_pool_user_def_set_print_all(ABT_POOL_USER_DEF_NULL, fifo_print_all));
  EXPECT_ABT(ABT_ERR_INV_POOL_USER_DEF, ABT_pool_user_def_set_print_all(nullptr, fifo_print_all));
}

} // namespace
