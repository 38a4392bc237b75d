// SPDX-License-Identifier: MIT
// Keys: one value per unit. A destructor runs when the unit is freed, not when it ends.
#include "units.hpp"

namespace abt_test {
namespace {

TEST(ABT_key_create, the_destructor_runs_when_the_unit_is_freed) {
  const runtime rt;
  std::atomic<int> destroyed = 0;
  const own_key key(count);
  body f = [&] { EXPECT_OK(ABT_key_set(key, &destroyed)); };
  for (ABT_thread t : {new_thread(self_pool(), f), static_cast<ABT_thread>(new_task(self_pool(), f))}) {
    destroyed = 0;
    EXPECT_OK(ABT_thread_join(t));
    EXPECT_EQ(destroyed, 0);
    EXPECT_OK(ABT_thread_free(&t));
    EXPECT_EQ(destroyed, 1);
  }
}

TEST(ABT_key_create, the_destructor_runs_for_unnamed_units) {
  const runtime rt;
  const streams es(1);
  std::atomic<int> destroyed = 0;
  const own_key key(count);
  body f = [&] { EXPECT_OK(ABT_key_set(key, &destroyed)); };
  for (const ABT_pool pool : {self_pool(), es.pool(0)}) {
    ASSERT_OK(ABT_thread_create(pool, run_function, &f, ABT_THREAD_ATTR_NULL, nullptr));
    ASSERT_OK(ABT_task_create(pool, run_function, &f, nullptr));
  }
  yield_until([&] { return destroyed == 4; });
}

TEST(ABT_key_create, the_destructor_runs_in_who_frees) {
  const runtime rt;
  static std::thread::id where;
  const own_key key([](void*) { where = std::this_thread::get_id(); });
  body f = [&] { EXPECT_OK(ABT_key_set(key, &where)); };
  ABT_thread t = new_thread(self_pool(), f);
  EXPECT_OK(ABT_thread_join(t));
  std::thread::id expected;
  EXPECT_OK(from_kernel_thread([&] {
    expected = std::this_thread::get_id();
    return ABT_thread_free(&t);
  }));
  EXPECT_EQ(where, expected);
}

TEST(ABT_key_create, no_destructor_for_null_values) {
  const runtime rt;
  static int destroyed;
  destroyed = 0;
  const own_key key([](void*) { ++destroyed; });
  in_thread([&] {
    int place = 0;
    EXPECT_OK(ABT_key_set(key, &place));
    EXPECT_OK(ABT_key_set(key, nullptr));
  });
  EXPECT_EQ(destroyed, 0);
}

TEST(ABT_key_create, the_primary_thread_is_freed_by_finalize) {
  std::atomic<int> destroyed = 0;
  {
    const runtime rt;
    ABT_key key = ABT_KEY_NULL;
    ASSERT_OK(ABT_key_create(count, &key));
    EXPECT_OK(ABT_key_set(key, &destroyed));
    EXPECT_OK(ABT_key_free(&key));
    EXPECT_EQ(destroyed, 0);
  }
  EXPECT_EQ(destroyed, 1);
}

TEST(ABT_key_create, many_keys_do_not_mix) {
  const runtime rt;
  constexpr std::size_t many = 200; // the table starts with room for four
  std::vector<std::unique_ptr<own_key>> keys;
  std::vector<std::atomic<int>> destroyed(many);
  for (std::size_t i = 0; i < many; ++i)
    keys.push_back(std::make_unique<own_key>(i % 2 == 0 ? count : nullptr));
  in_thread([&] {
    for (std::size_t i = 0; i < many; ++i)
      EXPECT_OK(ABT_key_set(*keys[i], &destroyed[i]));
    for (std::size_t i = 0; i < many; ++i) {
      void* value = nullptr;
      EXPECT_OK(ABT_key_get(*keys[i], &value));
      EXPECT_EQ(value, &destroyed[i]);
    }
  });
  for (std::size_t i = 0; i < many; ++i)
    EXPECT_EQ(destroyed[i], i % 2 == 0 ? 1 : 0);
}

TEST(ABT_key_free, clears_the_handle_and_keeps_the_destructor) {
  const runtime rt;
  std::atomic<int> destroyed = 0;
  ABT_key key = ABT_KEY_NULL;
  ASSERT_OK(ABT_key_create(count, &key));
  body f = [&] { EXPECT_OK(ABT_key_set(key, &destroyed)); };
  ABT_thread t = new_thread(self_pool(), f);
  EXPECT_OK(ABT_thread_join(t));
  EXPECT_OK(ABT_key_free(&key));
  EXPECT_EQ(key, ABT_KEY_NULL);
  EXPECT_EQ(destroyed, 0);
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(destroyed, 1);
}

TEST(ABT_key_free, the_next_key_does_not_inherit_values) {
  const runtime rt;
  int place = 0;
  for (int i = 0; i < 100; ++i) {
    const own_key key; // likely in the memory of the one before
    void* value = &place;
    EXPECT_OK(ABT_key_get(key, &value));
    EXPECT_EQ(value, nullptr);
    EXPECT_OK(ABT_key_set(key, &place));
  }
}

TEST(ABT_key_free, refuses_null_key) {
  const runtime rt;
  for (ABT_key null : null_keys)
    EXPECT_ABT(ABT_ERR_INV_KEY, ABT_key_free(&null));
}

TEST(ABT_key_set, a_value_for_each_unit) {
  const runtime rt;
  const streams es(1);
  const own_key key;
  int mine = 0;
  EXPECT_OK(ABT_key_set(key, &mine));
  const auto use = [&] {
    int place = 0;
    void* value = &place;
    EXPECT_OK(ABT_key_get(key, &value));
    EXPECT_EQ(value, nullptr);
    EXPECT_OK(ABT_key_set(key, &place));
    EXPECT_OK(ABT_thread_yield());
    EXPECT_OK(ABT_key_get(key, &value));
    EXPECT_EQ(value, &place);
  };
  in_thread(use);
  in_thread(use, es.pool(0));
  in_tasklet(use);
  void* value = nullptr;
  EXPECT_OK(ABT_key_get(key, &value));
  EXPECT_EQ(value, &mine);
}

TEST(ABT_key_set, refuses_null_key) {
  const runtime rt;
  for (const ABT_key null : null_keys)
    EXPECT_ABT(ABT_ERR_INV_KEY, ABT_key_set(null, nullptr));
}

TEST(ABT_key_set, refuses_callers_that_are_no_unit) {
  const runtime rt;
  const own_key key;
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, from_kernel_thread([&] { return ABT_key_set(key, nullptr); }));
}

TEST(ABT_key_set, refuses_without_a_runtime) {
  expect_uninitialized([] { return ABT_key_set(untouched<ABT_key>(), nullptr); });
}

TEST(ABT_key_get, null_until_set) {
  const runtime rt;
  const own_key key;
  int place = 0;
  void* value = &place;
  EXPECT_OK(ABT_key_get(key, &value));
  EXPECT_EQ(value, nullptr);
}

TEST(ABT_key_get, refuses_null_key) {
  const runtime rt;
  void* value = nullptr;
  for (const ABT_key null : null_keys)
    EXPECT_ABT(ABT_ERR_INV_KEY, ABT_key_get(null, &value));
}

TEST(ABT_key_get, refuses_callers_that_are_no_unit) {
  const runtime rt;
  const own_key key;
  void* value = nullptr;
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, from_kernel_thread([&] { return ABT_key_get(key, &value); }));
}

TEST(ABT_key_get, refuses_without_a_runtime) {
  void* value = nullptr;
  expect_uninitialized([&] { return ABT_key_get(untouched<ABT_key>(), &value); });
}

} // namespace
} // namespace abt_test
