// SPDX-License-Identifier: MIT
// What a thread carries: argument, function, specific values, attributes.
#include "units.hpp"

namespace abt_test {
namespace {

using function = void (*)(void*);

TEST(ABT_thread_set_arg, takes_effect_at_the_start) {
  const runtime rt;
  const own_pool pool;
  std::atomic<int> first = 0;
  std::atomic<int> second = 0;
  for (const bool tasklet : {false, true}) {
    ABT_thread t = ABT_THREAD_NULL;
    if (tasklet)
      ASSERT_OK(ABT_task_create(pool, count, &first, &t));
    else
      ASSERT_OK(ABT_thread_create(pool, count, &first, ABT_THREAD_ATTR_NULL, &t));
    EXPECT_OK(ABT_thread_set_arg(t, &second));
    void* arg = nullptr;
    EXPECT_OK(ABT_thread_get_arg(t, &arg));
    EXPECT_EQ(arg, &second);
    pool.run_all();
    EXPECT_OK(ABT_thread_free(&t));
  }
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 2);
}

TEST(ABT_thread_set_arg, of_a_running_thread_is_for_the_next_start) {
  const runtime rt;
  int other = 0;
  void* passed = nullptr;
  void* asked = nullptr;
  struct {
    int* other;
    void** passed;
    void** asked;
  } all = {&other, &passed, &asked};
  const function f = [](void* arg) {
    const auto* in = static_cast<decltype(all)*>(arg);
    EXPECT_OK(ABT_thread_set_arg(self(), in->other));
    *in->passed = arg;
    EXPECT_OK(ABT_thread_get_arg(self(), in->asked));
  };
  ABT_thread t = ABT_THREAD_NULL;
  ASSERT_OK(ABT_thread_create(self_pool(), f, &all, ABT_THREAD_ATTR_NULL, &t));
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(passed, &all);
  EXPECT_EQ(asked, &other);
}

TEST(ABT_thread_set_arg, refuses_null_thread) {
  const runtime rt;
  for (const ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_set_arg(null, nullptr));
}

TEST(ABT_thread_get_arg, before_and_after_the_run_and_after_a_revival) {
  const runtime rt;
  std::atomic<int> a = 0;
  std::atomic<int> b = 0;
  void* arg = nullptr;
  ABT_thread t = ABT_THREAD_NULL;
  ASSERT_OK(ABT_thread_create(self_pool(), count, &a, ABT_THREAD_ATTR_NULL, &t));
  EXPECT_OK(ABT_thread_get_arg(t, &arg));
  EXPECT_EQ(arg, &a);
  EXPECT_OK(ABT_thread_join(t));
  EXPECT_OK(ABT_thread_get_arg(t, &arg));
  EXPECT_EQ(arg, &a);
  ASSERT_OK(ABT_thread_revive(self_pool(), count, &b, &t));
  EXPECT_OK(ABT_thread_get_arg(t, &arg));
  EXPECT_EQ(arg, &b);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_get_arg, refuses_null_thread) {
  const runtime rt;
  void* arg = nullptr;
  for (const ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_get_arg(null, &arg));
}

TEST(ABT_thread_get_thread_func, of_threads_and_tasklets) {
  const runtime rt;
  ABT_thread t = ended_thread();
  ABT_task task = ended_task();
  std::atomic<int> ran = 0;
  function f = nullptr;
  EXPECT_OK(ABT_thread_get_thread_func(t, &f));
  EXPECT_EQ(f, &nothing);
  f = nullptr;
  EXPECT_OK(ABT_thread_get_thread_func(task, &f));
  EXPECT_EQ(f, &nothing);
  ASSERT_OK(ABT_thread_revive(self_pool(), count, &ran, &t));
  EXPECT_OK(ABT_thread_get_thread_func(t, &f));
  EXPECT_EQ(f, &count);
  free_all({&t, &task});
}

TEST(ABT_thread_get_thread_func, refuses_null_thread) {
  const runtime rt;
  function f = nullptr;
  for (const ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_get_thread_func(null, &f));
}

TEST(ABT_thread_set_specific, before_the_start_and_after_the_end) {
  const runtime rt;
  const own_key key;
  int a = 0;
  int b = 0;
  void* seen = nullptr;
  body f = [&] { EXPECT_OK(ABT_self_get_specific(key, &seen)); };
  for (const auto& make : {+[](body& g) { return new_thread(self_pool(), g); },
                           +[](body& g) { return static_cast<ABT_thread>(new_task(self_pool(), g)); }}) {
    ABT_thread t = make(f);
    EXPECT_OK(ABT_thread_set_specific(t, key, &a));
    EXPECT_OK(ABT_thread_join(t));
    EXPECT_EQ(seen, &a);
    EXPECT_OK(ABT_thread_set_specific(t, key, &b));
    void* value = nullptr;
    EXPECT_OK(ABT_thread_get_specific(t, key, &value));
    EXPECT_EQ(value, &b);
    EXPECT_OK(ABT_thread_free(&t));
  }
}

TEST(ABT_thread_set_specific, the_last_value_is_destroyed_when_the_thread_is_freed) {
  const runtime rt;
  const own_key key(count);
  std::atomic<int> first = 0;
  std::atomic<int> second = 0;
  ABT_thread t = ended_thread();
  EXPECT_OK(ABT_thread_set_specific(t, key, &first));
  EXPECT_OK(ABT_thread_set_specific(t, key, &second));
  EXPECT_EQ(second, 0);
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
}

TEST(ABT_thread_set_specific, from_streams_at_once) {
  const runtime rt;
  const streams es(3);
  std::vector<std::unique_ptr<own_key>> keys;
  for (int i = 0; i < 60; ++i)
    keys.push_back(std::make_unique<own_key>());
  ABT_thread target = ended_thread();
  std::vector<int> values(60);
  body f[3];
  ABT_thread t[3] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    f[i] = [&, i] {
      for (std::size_t k = i; k < 60; k += 3)
        EXPECT_OK(ABT_thread_set_specific(target, *keys[k], &values[k]));
    };
    t[i] = new_thread(es.pool(i), f[i]);
  }
  free_all({&t[0], &t[1], &t[2]});
  for (std::size_t k = 0; k < 60; ++k) {
    void* value = nullptr;
    EXPECT_OK(ABT_thread_get_specific(target, *keys[k], &value));
    EXPECT_EQ(value, &values[k]);
  }
  EXPECT_OK(ABT_thread_free(&target));
}

TEST(ABT_thread_set_specific, refuses_null_handles) {
  const runtime rt;
  const own_key key;
  for (const ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_set_specific(null, key, nullptr));
  for (const ABT_key null : null_keys)
    EXPECT_ABT(ABT_ERR_INV_KEY, ABT_thread_set_specific(self(), null, nullptr));
}

TEST(ABT_thread_get_specific, null_until_set) {
  const runtime rt;
  const own_key key;
  const own_key other;
  int place = 0;
  ABT_thread t = ended_thread();
  void* value = &place;
  EXPECT_OK(ABT_thread_get_specific(t, key, &value));
  EXPECT_EQ(value, nullptr);
  EXPECT_OK(ABT_thread_set_specific(t, other, &place));
  value = &place;
  EXPECT_OK(ABT_thread_get_specific(t, key, &value));
  EXPECT_EQ(value, nullptr);
  EXPECT_OK(from_kernel_thread([&] { return ABT_thread_get_specific(t, other, &value); }));
  EXPECT_EQ(value, &place);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_get_specific, refuses_null_handles) {
  const runtime rt;
  const own_key key;
  void* value = nullptr;
  for (const ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_get_specific(null, key, &value));
  for (const ABT_key null : null_keys)
    EXPECT_ABT(ABT_ERR_INV_KEY, ABT_thread_get_specific(self(), null, &value));
}

TEST(ABT_thread_get_attr, shows_the_stack_of_the_thread) {
  const runtime rt;
  const sized_attributes given(100 << 10);
  ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
  void* expected_start = nullptr;
  std::size_t expected_size = 0;
  body f = [&] { // it has a stack while it runs
    EXPECT_OK(ABT_thread_get_attr(self(), &attr));
    EXPECT_OK(ABT_thread_get_stack(self(), &expected_start, &expected_size));
  };
  ABT_thread t = new_thread(self_pool(), f, given);
  EXPECT_OK(ABT_thread_join(t));
  void* start = nullptr;
  std::size_t size = 0;
  EXPECT_OK(ABT_thread_attr_get_stack(attr, &start, &size));
  EXPECT_NE(start, nullptr);
  EXPECT_EQ(start, expected_start);
  EXPECT_EQ(size, expected_size);
  EXPECT_OK(ABT_thread_free(&t));
  std::size_t still = 0;
  EXPECT_OK(ABT_thread_attr_get_stacksize(attr, &still)); // a copy, which outlives the thread
  EXPECT_EQ(still, size);
  EXPECT_OK(ABT_thread_attr_free(&attr));
}

TEST(ABT_thread_get_attr, a_stack_of_the_user_can_be_used_again) {
  const runtime rt;
  alignas(16) static char memory[128 << 10];
  std::atomic<int> ran = 0;
  const attributes given;
  ASSERT_OK(ABT_thread_attr_set_stack(given, memory, sizeof memory));
  ABT_thread t = ABT_THREAD_NULL;
  ASSERT_OK(ABT_thread_create(self_pool(), count, &ran, given, &t));
  EXPECT_OK(ABT_thread_set_migratable(t, ABT_FALSE));
  ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
  ASSERT_OK(ABT_thread_get_attr(t, &attr));
  EXPECT_OK(ABT_thread_free(&t));
  void* start = nullptr;
  std::size_t size = 0;
  EXPECT_OK(ABT_thread_attr_get_stack(attr, &start, &size));
  EXPECT_GE(start, memory);
  EXPECT_LE(static_cast<char*>(start) + size, memory + sizeof memory);
  ASSERT_OK(ABT_thread_create(self_pool(), count, &ran, attr, &t));
  ABT_bool migratable = ABT_TRUE;
  EXPECT_OK(ABT_thread_is_migratable(t, &migratable));
  EXPECT_EQ(migratable, ABT_FALSE);
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_OK(ABT_thread_attr_free(&attr));
  EXPECT_EQ(ran, 2);
}

TEST(ABT_thread_get_attr, of_the_caller_and_from_a_kernel_thread) {
  const runtime rt;
  in_thread([] {
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
    EXPECT_OK(ABT_thread_get_attr(self(), &attr));
    EXPECT_OK(ABT_thread_attr_free(&attr));
  });
  ABT_thread t = ended_thread();
  ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
  EXPECT_OK(from_kernel_thread([&] { return ABT_thread_get_attr(t, &attr); }));
  EXPECT_OK(ABT_thread_attr_free(&attr));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_get_attr, refuses_null_thread_and_tasklets) {
  const runtime rt;
  ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
  for (const ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_get_attr(null, &attr));
  ABT_task task = ended_task();
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_get_attr(task, &attr));
  EXPECT_OK(ABT_thread_free(&task));
}

} // namespace
} // namespace abt_test
