// SPDX-License-Identifier: MIT
// Schedulers: creating, asking, stopping and freeing them.
#include "abt_test.hpp"
#include "user_defs.hpp"

namespace {

using namespace abt_test;

std::atomic<int> inits;
std::atomic<int> frees;
std::atomic<int> init_result;
std::atomic<int> seen_option;

int counting_init(ABT_sched sched, ABT_sched_config config) {
  ++inits;
  int option = 0;
  if (config != ABT_SCHED_CONFIG_NULL) {
    EXPECT_OK(ABT_sched_config_read(config, 1, &option));
  }
  seen_option = option;
  EXPECT_OK(ABT_sched_set_data(sched, &inits));
  return init_result;
}
int counting_free(ABT_sched) {
  ++frees;
  return ABT_ERR_OTHER; // is ignored
}

ABT_sched_def counting_def() {
  inits = 0;
  frees = 0;
  init_result = ABT_SUCCESS;
  seen_option = 0;
  ABT_sched_def def = make_sched_def();
  def.init = counting_init;
  def.free = counting_free;
  return def;
}

std::size_t size_of(ABT_sched sched) {
  std::size_t size = 99;
  EXPECT_OK(ABT_sched_get_size(sched, &size));
  return size;
}
std::size_t total_size_of(ABT_sched sched) {
  std::size_t size = 99;
  EXPECT_OK(ABT_sched_get_total_size(sched, &size));
  return size;
}

TEST(ABT_sched_create, calls_init_and_free_once) {
  const runtime rt;
  ABT_sched_def def = counting_def();
  ABT_pool pool = make_pool();
  ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
  const ABT_sched_config_var option{0, ABT_SCHED_CONFIG_INT};
  ASSERT_OK(ABT_sched_config_create(&config, option, 42, ABT_sched_config_var_end));
  ABT_sched sched = ABT_SCHED_NULL;
  ASSERT_OK(ABT_sched_create(&def, 1, &pool, config, &sched));
  EXPECT_OK(ABT_sched_config_free(&config)); // was copied, as the definition and the list are
  def = {};
  EXPECT_EQ(inits, 1);
  EXPECT_EQ(seen_option, 42);

  ABT_xstream es = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create(sched, &es));
  EXPECT_EQ(run_many(pool, 10), 20);
  EXPECT_OK(ABT_xstream_join(es));
  EXPECT_OK(ABT_xstream_revive(es));
  EXPECT_EQ(run_many(pool, 10), 20);
  EXPECT_OK(ABT_xstream_free(&es));
  EXPECT_EQ(inits, 1);
  EXPECT_EQ(frees, 0);
  EXPECT_OK(ABT_sched_free(&sched));
  EXPECT_EQ(frees, 1);
  EXPECT_EQ(sched, ABT_SCHED_NULL);
  EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_sched_create, is_automatic_when_the_configuration_says_so) {
  const runtime rt;
  ABT_sched_def def = counting_def();
  ABT_pool pool = make_pool(ABT_TRUE);
  ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
  ASSERT_OK(ABT_sched_config_create(&config, ABT_sched_config_automatic, ABT_TRUE, ABT_sched_config_var_end));
  ABT_sched sched = ABT_SCHED_NULL;
  ASSERT_OK(ABT_sched_create(&def, 1, &pool, config, &sched));
  EXPECT_OK(ABT_sched_config_free(&config));
  ABT_xstream es = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create(sched, &es));
  EXPECT_EQ(run_many(pool, 5), 10);
  EXPECT_OK(ABT_xstream_free(&es));
  EXPECT_EQ(frees, 1);
}

TEST(ABT_sched_create, makes_the_pools_that_are_missing) {
  const runtime rt;
  ABT_sched_def def = make_sched_def();
  ABT_pool pools[] = {ABT_POOL_NULL, ABT_POOL_NULL};
  ABT_sched sched = ABT_SCHED_NULL;
  ASSERT_OK(ABT_sched_create(&def, 2, pools, ABT_SCHED_CONFIG_NULL, &sched));
  const std::vector<ABT_pool> got = pools_of(sched);
  ASSERT_EQ(got.size(), 2U);
  EXPECT_NE(got[0], got[1]);
  ABT_xstream es = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create(sched, &es));
  for (const ABT_pool pool : got)
    EXPECT_EQ(run_many(pool, 5), 10);
  EXPECT_OK(ABT_xstream_free(&es));
  EXPECT_OK(ABT_sched_free(&sched));
}

TEST(ABT_sched_create, ignores_the_type) {
  const runtime rt;
  ABT_sched_def def = make_sched_def();
  def.type = ABT_SCHED_TYPE_TASK;
  ABT_pool pool = make_pool();
  ABT_sched sched = ABT_SCHED_NULL;
  ASSERT_OK(ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
  ABT_xstream es = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create(sched, &es));
  EXPECT_EQ(run_many(pool, 5), 10); // with threads that yield
  EXPECT_OK(ABT_xstream_free(&es));
  EXPECT_OK(ABT_sched_free(&sched));
  EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_sched_create, refuses_a_negative_number_of_pools) {
  const runtime rt;
  ABT_sched_def def = counting_def();
  ABT_pool pool = self_pool();
  ABT_sched sched = main_sched(self_xstream());
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_sched_create(&def, -1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
  EXPECT_EQ(sched, ABT_SCHED_NULL);
  EXPECT_EQ(inits, 0);
}

TEST(ABT_sched_create, refuses_with_the_error_of_init) {
  const runtime rt;
  ABT_sched_def def = counting_def();
  init_result = ABT_ERR_TIMER;
  ABT_pool pools[] = {self_pool(), ABT_POOL_NULL};
  ABT_sched sched = main_sched(self_xstream());
  EXPECT_ABT(ABT_ERR_TIMER, ABT_sched_create(&def, 2, pools, ABT_SCHED_CONFIG_NULL, &sched));
  EXPECT_EQ(sched, ABT_SCHED_NULL);
  EXPECT_EQ(frees, 0);
}

TEST(ABT_sched_create, refuses_to_write_nowhere) {
  const runtime rt;
  ABT_sched_def def = counting_def();
  ABT_pool pool = self_pool();
  EXPECT_ABT(ABT_ERR_SCHED, ABT_sched_create(&def, 1, &pool, ABT_SCHED_CONFIG_NULL, nullptr));
}

TEST(ABT_sched_create_basic, makes_every_kind_with_its_own_pools) {
  const runtime rt;
  for (const ABT_sched_predef predef : every_predef) {
    SCOPED_TRACE(predef);
    ABT_sched sched = ABT_SCHED_NULL;
    ASSERT_OK(ABT_sched_create_basic(predef, 0, nullptr, ABT_SCHED_CONFIG_NULL, &sched));
    EXPECT_GE(pools_of(sched).size(), 1U);
    EXPECT_OK(ABT_sched_free(&sched));
    EXPECT_EQ(sched, ABT_SCHED_NULL);
  }
}

TEST(ABT_sched_create_basic, prefers_the_first_pool_when_it_has_priorities) {
  const runtime rt;
  ABT_pool pools[] = {make_pool(ABT_TRUE), make_pool(ABT_TRUE), make_pool(ABT_TRUE)};
  std::mutex lock;
  std::string order;
  body f[3];
  std::vector<ABT_thread> all;
  for (int i = 0; i < 3; ++i) {
    f[i] = [&, i] {
      const std::lock_guard guard(lock);
      order += static_cast<char>('0' + i);
    };
  }
  for (int i = 2; i >= 0; --i) {
    for (int k = 0; k < 3; ++k)
      all.push_back(make_thread(pools[i], f[i]));
  }
  ABT_xstream es = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create_basic(ABT_SCHED_PRIO, 3, pools, ABT_SCHED_CONFIG_NULL, &es));
  for (ABT_thread& t : all)
    EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(order, "000111222");
  EXPECT_OK(ABT_xstream_free(&es));
}

TEST(ABT_sched_create_basic, steals_from_the_pools_after_the_first) {
  const runtime rt;
  ABT_pool mine = make_pool(ABT_FALSE, ABT_POOL_RANDWS);
  ABT_pool victim = make_pool(ABT_FALSE, ABT_POOL_RANDWS);
  ABT_pool pools[] = {mine, victim};
  ABT_xstream es = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create_basic(ABT_SCHED_RANDWS, 2, pools, ABT_SCHED_CONFIG_NULL, &es));
  EXPECT_EQ(run_many(victim, 20), 40);
  EXPECT_EQ(run_many(mine, 20), 40);
  EXPECT_OK(ABT_xstream_free(&es));
  EXPECT_OK(ABT_pool_free(&mine));
  EXPECT_OK(ABT_pool_free(&victim));
}

TEST(ABT_sched_create_basic, refuses_bad_arguments) {
  const runtime rt;
  ABT_pool pool = self_pool();
  ABT_sched sched = main_sched(self_xstream());
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_sched_create_basic(no_predef, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
  EXPECT_EQ(sched, ABT_SCHED_NULL);
  sched = main_sched(self_xstream());
  EXPECT_ABT(ABT_ERR_INV_ARG,
             ABT_sched_create_basic(ABT_SCHED_BASIC, -1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
  EXPECT_EQ(sched, ABT_SCHED_NULL);
}

TEST(ABT_sched_free, frees_automatic_ones_that_were_never_used) {
  const runtime rt;
  ABT_sched sched = ABT_SCHED_NULL;
  ASSERT_OK(ABT_sched_create_basic(ABT_SCHED_BASIC, 0, nullptr, ABT_SCHED_CONFIG_NULL, &sched));
  EXPECT_OK(ABT_sched_free(&sched));
  EXPECT_EQ(sched, ABT_SCHED_NULL);
}

// The pool goes with its last scheduler: the callback is called then, and once.
TEST(ABT_sched_free, frees_automatic_pools_with_their_last_scheduler) {
  const runtime rt;
  user_fifo fifo;
  ABT_pool_user_def def = make_user_def(callbacks::all);
  ABT_pool_config config = ABT_POOL_CONFIG_NULL;
  ASSERT_OK(ABT_pool_config_create(&config));
  const int automatic = ABT_TRUE;
  EXPECT_OK(
      ABT_pool_config_set(config, ABT_pool_config_automatic.key, ABT_pool_config_automatic.type, &automatic));
  void* const data = &fifo;
  EXPECT_OK(ABT_pool_config_set(config, 0, ABT_POOL_CONFIG_PTR, &data));
  ABT_pool pool = ABT_POOL_NULL;
  ASSERT_OK(ABT_pool_create(def, config, &pool));
  EXPECT_OK(ABT_pool_user_def_free(&def));
  EXPECT_OK(ABT_pool_config_free(&config));
  ABT_sched one = make_user_sched({pool});
  ABT_sched two = make_user_sched({pool});
  EXPECT_OK(ABT_sched_free(&one));
  EXPECT_EQ(fifo.frees, 0);
  EXPECT_OK(ABT_sched_free(&two));
  EXPECT_EQ(fifo.frees, 1);
}

TEST(ABT_sched_free, refuses_no_scheduler) {
  const runtime rt;
  ABT_sched sched = ABT_SCHED_NULL;
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_sched_free(&sched));
  sched = nullptr;
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_sched_free(&sched));
}

TEST(ABT_sched_free, refuses_a_scheduler_in_use) {
  const runtime rt;
  ABT_sched sched = main_sched(self_xstream());
  EXPECT_ABT(ABT_ERR_SCHED, ABT_sched_free(&sched));
  EXPECT_EQ(sched, main_sched(self_xstream()));
}

TEST(ABT_sched_set_data, keeps_a_pointer) {
  const runtime rt;
  ABT_sched sched = make_user_sched({self_pool()});
  int value = 0;
  EXPECT_OK(ABT_sched_set_data(sched, &value));
  void* got = nullptr;
  EXPECT_OK(ABT_sched_get_data(sched, &got));
  EXPECT_EQ(got, &value);
  EXPECT_OK(ABT_sched_free(&sched));
}

TEST(ABT_sched_set_data, refuses_no_scheduler) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_sched_set_data(ABT_SCHED_NULL, nullptr));
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_sched_set_data(nullptr, nullptr));
}

TEST(ABT_sched_get_data, is_null_at_first) {
  const runtime rt;
  ABT_sched sched = make_user_sched({self_pool()});
  void* got = &sched;
  EXPECT_OK(ABT_sched_get_data(sched, &got));
  EXPECT_EQ(got, nullptr);
  EXPECT_OK(ABT_sched_free(&sched));
}

TEST(ABT_sched_get_data, refuses_no_scheduler) {
  const runtime rt;
  void* got = nullptr;
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_sched_get_data(ABT_SCHED_NULL, &got));
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_sched_get_data(nullptr, &got));
}

TEST(ABT_sched_get_num_pools, counts_them) {
  const runtime rt;
  ABT_pool pools[] = {make_pool(ABT_TRUE), make_pool(ABT_TRUE), make_pool(ABT_TRUE)};
  ABT_sched sched = ABT_SCHED_NULL;
  ASSERT_OK(ABT_sched_create_basic(ABT_SCHED_BASIC, 3, pools, ABT_SCHED_CONFIG_NULL, &sched));
  int count = 0;
  EXPECT_OK(ABT_sched_get_num_pools(sched, &count));
  EXPECT_EQ(count, 3);
  EXPECT_OK(ABT_sched_free(&sched));
}

TEST(ABT_sched_get_num_pools, refuses_no_scheduler) {
  const runtime rt;
  int count = 0;
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_sched_get_num_pools(ABT_SCHED_NULL, &count));
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_sched_get_num_pools(nullptr, &count));
}

TEST(ABT_sched_get_pools, begins_where_it_is_told) {
  const runtime rt;
  ABT_pool pools[] = {make_pool(ABT_TRUE), make_pool(ABT_TRUE), make_pool(ABT_TRUE)};
  ABT_sched sched = ABT_SCHED_NULL;
  ASSERT_OK(ABT_sched_create_basic(ABT_SCHED_PRIO, 3, pools, ABT_SCHED_CONFIG_NULL, &sched));
  ABT_pool got[3] = {nullptr, nullptr, nullptr};
  EXPECT_OK(ABT_sched_get_pools(sched, 2, 1, got));
  EXPECT_EQ(got[0], pools[1]);
  EXPECT_EQ(got[1], pools[2]);
  EXPECT_EQ(got[2], nullptr);
  EXPECT_OK(ABT_sched_get_pools(sched, 0, 3, got));
  EXPECT_OK(ABT_sched_free(&sched));
}

TEST(ABT_sched_get_pools, refuses_more_than_there_are) {
  const runtime rt;
  const ABT_sched sched = main_sched(self_xstream());
  const int count = static_cast<int>(pools_of(sched).size());
  std::vector<ABT_pool> got(static_cast<std::size_t>(count) + 1, nullptr);
  EXPECT_ABT(ABT_ERR_SCHED, ABT_sched_get_pools(sched, count + 1, 0, got.data()));
  EXPECT_ABT(ABT_ERR_SCHED, ABT_sched_get_pools(sched, count, 1, got.data()));
}

TEST(ABT_sched_get_pools, refuses_no_scheduler_and_negative_numbers) {
  const runtime rt;
  const ABT_sched sched = main_sched(self_xstream());
  ABT_pool pool = ABT_POOL_NULL;
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_sched_get_pools(ABT_SCHED_NULL, 1, 0, &pool));
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_sched_get_pools(nullptr, 1, 0, &pool));
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_sched_get_pools(sched, -1, 0, &pool));
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_sched_get_pools(sched, 1, -1, &pool));
}

// One in the pool, one that is blocked.
TEST(ABT_sched_get_size, counts_what_is_in_the_pools) {
  const runtime rt;
  ABT_pool pools[] = {make_pool(), make_pool()};
  ABT_sched sched = make_user_sched({pools[0], pools[1]});
  EXPECT_EQ(size_of(sched), 0U);
  body quick = [] {};
  body blocked = [] { EXPECT_OK(ABT_self_suspend()); };
  ABT_thread a = make_thread(pools[0], quick);
  ABT_thread b = make_thread(pools[1], blocked);
  EXPECT_EQ(size_of(sched), 2U);
  ABT_thread next = ABT_THREAD_NULL;
  EXPECT_OK(ABT_pool_pop_thread(pools[1], &next));
  EXPECT_OK(ABT_self_schedule(next, ABT_POOL_NULL));
  EXPECT_EQ(size_of(sched), 1U);
  EXPECT_EQ(total_size_of(sched), 2U);
  EXPECT_OK(ABT_thread_resume(b));
  EXPECT_EQ(size_of(sched), 2U);

  ABT_xstream es = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create(sched, &es));
  EXPECT_OK(ABT_thread_free(&a));
  EXPECT_OK(ABT_thread_free(&b));
  EXPECT_OK(ABT_xstream_free(&es));
  EXPECT_EQ(total_size_of(sched), 0U);
  EXPECT_OK(ABT_sched_free(&sched));
  for (ABT_pool& pool : pools)
    EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_sched_get_size, refuses_no_scheduler) {
  const runtime rt;
  std::size_t size = 7;
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_sched_get_size(ABT_SCHED_NULL, &size));
  EXPECT_EQ(size, 0U);
  size = 7;
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_sched_get_size(nullptr, &size));
  EXPECT_EQ(size, 0U);
}

TEST(ABT_sched_get_size, refuses_pools_that_cannot_tell) {
  const runtime rt;
  user_fifo fifo;
  ABT_pool pool = make_user_pool(fifo, callbacks::required);
  ABT_sched sched = make_user_sched({pool});
  std::size_t size = 7;
  EXPECT_ABT(ABT_ERR_POOL, ABT_sched_get_size(sched, &size));
  EXPECT_EQ(size, 0U);
  EXPECT_OK(ABT_sched_free(&sched));
  EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_sched_get_total_size, counts_blocked_units_of_a_users_pool) {
  const runtime rt;
  user_fifo fifo;
  ABT_pool pool = make_user_pool(fifo, callbacks::all);
  ABT_sched sched = make_user_sched({pool});
  body blocked = [] { EXPECT_OK(ABT_self_suspend()); };
  ABT_thread t = make_thread(pool, blocked);
  EXPECT_EQ(total_size_of(sched), 1U);
  ABT_thread next = ABT_THREAD_NULL;
  EXPECT_OK(ABT_pool_pop_thread(pool, &next));
  EXPECT_OK(ABT_self_schedule(next, ABT_POOL_NULL));
  EXPECT_EQ(size_of(sched), 0U);
  EXPECT_EQ(total_size_of(sched), 1U);
  EXPECT_OK(ABT_thread_resume(t));
  EXPECT_OK(ABT_pool_pop_thread(pool, &next));
  EXPECT_OK(ABT_self_schedule(next, ABT_POOL_NULL));
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(total_size_of(sched), 0U);
  EXPECT_OK(ABT_sched_free(&sched));
  EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_sched_get_total_size, refuses_no_scheduler_and_pools_that_cannot_tell) {
  const runtime rt;
  std::size_t size = 7;
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_sched_get_total_size(ABT_SCHED_NULL, &size));
  EXPECT_EQ(size, 0U);
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_sched_get_total_size(nullptr, &size));
  user_fifo fifo;
  ABT_pool pool = make_user_pool(fifo, callbacks::required);
  ABT_sched sched = make_user_sched({pool});
  size = 7;
  EXPECT_ABT(ABT_ERR_POOL, ABT_sched_get_total_size(sched, &size));
  EXPECT_EQ(size, 0U);
  EXPECT_OK(ABT_sched_free(&sched));
  EXPECT_OK(ABT_pool_free(&pool));
}

} // namespace
