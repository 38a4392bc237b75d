// SPDX-License-Identifier: MIT
#include "units.hpp"

namespace abt_test {
namespace {

std::size_t default_size() {
  std::size_t size = 0;
  EXPECT_OK(ABT_info_query_config(ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE, &size));
  return size;
}

TEST(ABT_thread_attr_create, has_the_defaults) {
  const runtime rt;
  ABT_thread_attr attr = untouched<ABT_thread_attr>();
  ASSERT_OK(ABT_thread_attr_create(&attr));
  void* start = &attr;
  std::size_t size = 0;
  EXPECT_OK(ABT_thread_attr_get_stack(attr, &start, &size));
  EXPECT_EQ(start, nullptr);
  EXPECT_EQ(size, default_size());
  ABT_thread t = ABT_THREAD_NULL;
  ASSERT_OK(ABT_thread_create(self_pool(), nothing, nullptr, attr, &t));
  ABT_bool migratable = ABT_FALSE;
  EXPECT_OK(ABT_thread_is_migratable(t, &migratable));
  EXPECT_EQ(migratable, ABT_TRUE);
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_OK(ABT_thread_attr_free(&attr));
}

TEST(ABT_thread_attr_create, from_every_context) {
  const runtime rt;
  ABT_thread_attr a = ABT_THREAD_ATTR_NULL;
  ABT_thread_attr b = ABT_THREAD_ATTR_NULL;
  EXPECT_OK(from_tasklet([&] { return ABT_thread_attr_create(&a); }));
  EXPECT_OK(from_kernel_thread([&] { return ABT_thread_attr_create(&b); }));
  EXPECT_NE(a, b);
  EXPECT_OK(ABT_thread_attr_free(&a));
  EXPECT_OK(ABT_thread_attr_free(&b));
}

TEST(ABT_thread_attr_free, clears_the_handle) {
  const runtime rt;
  ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
  ASSERT_OK(ABT_thread_attr_create(&attr));
  EXPECT_OK(ABT_thread_attr_free(&attr));
  EXPECT_EQ(attr, ABT_THREAD_ATTR_NULL);
}

TEST(ABT_thread_attr_free, refuses_null_attr) {
  const runtime rt;
  for (ABT_thread_attr null : null_attrs)
    EXPECT_ABT(ABT_ERR_INV_THREAD_ATTR, ABT_thread_attr_free(&null));
}

TEST(ABT_thread_attr_set_stack, keeps_address_and_size) {
  const runtime rt;
  alignas(16) static char memory[32 << 10];
  const attributes attr;
  for (const std::size_t offset : {0, 8, 24}) {
    void* start = nullptr;
    std::size_t size = 0;
    EXPECT_OK(ABT_thread_attr_set_stack(attr, memory + offset, 16 << 10));
    EXPECT_OK(ABT_thread_attr_get_stack(attr, &start, &size));
    EXPECT_EQ(start, memory + offset);
    EXPECT_EQ(size, std::size_t{16 << 10});
  }
}

TEST(ABT_thread_attr_set_stack, without_an_address_is_just_a_size) {
  const runtime rt;
  alignas(16) static char memory[16 << 10];
  const attributes attr;
  EXPECT_OK(ABT_thread_attr_set_stack(attr, memory, sizeof memory));
  EXPECT_OK(ABT_thread_attr_set_stack(attr, nullptr, 128 << 10));
  std::size_t size = 0;
  void* start = memory;
  body f = [&] { EXPECT_OK(ABT_thread_get_stack(self(), &start, &size)); };
  ABT_thread t = new_thread(self_pool(), f, attr);
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_NE(start, memory);
  EXPECT_GE(size, std::size_t{128 << 10});
}

TEST(ABT_thread_attr_set_stack, refuses_null_attr) {
  const runtime rt;
  alignas(16) static char memory[16 << 10];
  for (const ABT_thread_attr null : null_attrs)
    EXPECT_ABT(ABT_ERR_INV_THREAD_ATTR, ABT_thread_attr_set_stack(null, memory, sizeof memory));
}

TEST(ABT_thread_attr_set_stack, refuses_an_address_that_is_not_aligned) {
  const runtime rt;
  alignas(16) static char memory[16 << 10];
  const attributes attr;
  for (const std::size_t offset : {1, 2, 4, 7, 12})
    EXPECT_ABT(ABT_ERR_INV_ARG, ABT_thread_attr_set_stack(attr, memory + offset, 8 << 10));
  void* start = memory;
  EXPECT_OK(ABT_thread_attr_get_stack(attr, &start, std::make_unique<std::size_t>().get()));
  EXPECT_EQ(start, nullptr); // nothing changed
}

TEST(ABT_thread_attr_get_stack, follows_set_stacksize) {
  const runtime rt;
  const sized_attributes attr(77 << 10);
  void* start = &start;
  std::size_t size = 0;
  EXPECT_OK(ABT_thread_attr_get_stack(attr, &start, &size));
  EXPECT_EQ(start, nullptr);
  EXPECT_EQ(size, std::size_t{77 << 10});
}

TEST(ABT_thread_attr_get_stack, refuses_null_attr) {
  const runtime rt;
  void* start = nullptr;
  std::size_t size = 0;
  for (const ABT_thread_attr null : null_attrs)
    EXPECT_ABT(ABT_ERR_INV_THREAD_ATTR, ABT_thread_attr_get_stack(null, &start, &size));
}

TEST(ABT_thread_attr_set_stacksize, is_what_threads_get) {
  const runtime rt;
  for (const std::size_t bytes : {32 << 10, 64 << 10, 1 << 20, 16 << 20}) {
    const sized_attributes attr(bytes);
    body f = [&] {
      char* start = nullptr;
      std::size_t size = 0;
      EXPECT_OK(ABT_thread_get_stack(self(), reinterpret_cast<void**>(&start), &size));
      EXPECT_GE(size, bytes);
      start[0] = start[size / 2] = 1; // all of it is there
    };
    ABT_thread t = new_thread(self_pool(), f, attr);
    EXPECT_OK(ABT_thread_free(&t));
  }
}

TEST(ABT_thread_attr_set_stacksize, refuses_null_attr) {
  const runtime rt;
  for (const ABT_thread_attr null : null_attrs)
    EXPECT_ABT(ABT_ERR_INV_THREAD_ATTR, ABT_thread_attr_set_stacksize(null, 64 << 10));
}

TEST(ABT_thread_attr_get_stacksize, by_default_and_as_set) {
  const runtime rt;
  const attributes attr;
  std::size_t size = 0;
  EXPECT_OK(ABT_thread_attr_get_stacksize(attr, &size));
  EXPECT_EQ(size, default_size());
  EXPECT_OK(ABT_thread_attr_set_stacksize(attr, 99 << 10));
  EXPECT_OK(ABT_thread_attr_get_stacksize(attr, &size));
  EXPECT_EQ(size, std::size_t{99 << 10});
}

TEST(ABT_thread_attr_get_stacksize, refuses_null_attr) {
  const runtime rt;
  std::size_t size = 0;
  for (const ABT_thread_attr null : null_attrs)
    EXPECT_ABT(ABT_ERR_INV_THREAD_ATTR, ABT_thread_attr_get_stacksize(null, &size));
}

TEST(ABT_thread_attr_set_callback, is_called_when_a_thread_migrates) {
  const runtime rt;
  const streams es(1);
  std::atomic<ABT_thread> moved = ABT_THREAD_NULL;
  const attributes attr;
  EXPECT_OK(ABT_thread_attr_set_callback(
      attr, [](ABT_thread t, void* arg) { *static_cast<std::atomic<ABT_thread>*>(arg) = t; }, &moved));
  body f = [] {};
  ABT_thread t = new_thread(self_pool(), f, attr);
  EXPECT_OK(ABT_thread_migrate_to_pool(t, es.pool(0)));
  EXPECT_OK(ABT_thread_join(t));
  EXPECT_EQ(moved, t);
  EXPECT_OK(ABT_thread_free(&t));
  moved = ABT_THREAD_NULL;
  EXPECT_OK(ABT_thread_attr_set_callback(attr, nullptr, nullptr));
  t = new_thread(self_pool(), f, attr);
  EXPECT_OK(ABT_thread_migrate_to_pool(t, es.pool(0)));
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(moved, ABT_THREAD_NULL);
}

TEST(ABT_thread_attr_set_callback, refuses_null_attr) {
  const runtime rt;
  for (const ABT_thread_attr null : null_attrs)
    EXPECT_ABT(ABT_ERR_INV_THREAD_ATTR, ABT_thread_attr_set_callback(null, nullptr, nullptr));
}

TEST(ABT_thread_attr_set_migratable, is_what_threads_get) {
  const runtime rt;
  const attributes attr;
  body f = [] {};
  for (const ABT_bool wanted : {ABT_FALSE, ABT_TRUE}) {
    EXPECT_OK(ABT_thread_attr_set_migratable(attr, wanted));
    ABT_thread t = new_thread(self_pool(), f, attr);
    ABT_bool flag = -1;
    EXPECT_OK(ABT_thread_is_migratable(t, &flag));
    EXPECT_EQ(flag, wanted);
    EXPECT_OK(ABT_thread_free(&t));
  }
}

bool may_migrate(ABT_thread t) {
  ABT_bool flag = -1;
  EXPECT_OK(ABT_thread_is_migratable(t, &flag));
  return flag == ABT_TRUE;
}

void expect_to_stay(ABT_thread t, const streams& es) {
  EXPECT_FALSE(may_migrate(t));
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_migrate(t));
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_migrate_to_pool(t, es.pool(0)));
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_migrate_to_xstream(t, es[0]));
}

TEST(ABT_thread_attr_set_migratable, forbids_requests_in_pools_of_all_kinds) {
  const runtime rt;
  const streams es(1);
  const attributes attr;
  EXPECT_OK(ABT_thread_attr_set_migratable(attr, ABT_FALSE));
  int ran = 0;
  body f = [&ran] { ++ran; };
  ABT_thread t = new_thread(self_pool(), f, attr);
  expect_to_stay(t, es);
  EXPECT_OK(ABT_thread_free(&t));
  const own_pool fifo;
  user_pool users;
  for (const ABT_pool pool : {static_cast<ABT_pool>(fifo), static_cast<ABT_pool>(users)}) {
    t = new_thread(pool, f, attr);
    expect_to_stay(t, es);
    ABT_thread popped = ABT_THREAD_NULL;
    EXPECT_OK(ABT_pool_pop_thread(pool, &popped));
    EXPECT_EQ(popped, t);
    EXPECT_OK(ABT_self_schedule(popped, ABT_POOL_NULL));
    EXPECT_OK(ABT_thread_free(&t));
  }
  EXPECT_EQ(ran, 3);
  EXPECT_EQ(users.units(), 0);
}

// What comes later must not lose it.
TEST(ABT_thread_attr_set_migratable, stays_with_the_thread_whatever_else_it_gets) {
  const runtime rt;
  const attributes attr;
  EXPECT_OK(ABT_thread_attr_set_migratable(attr, ABT_FALSE));
  ABT_key key = ABT_KEY_NULL;
  ASSERT_OK(ABT_key_create([](void* p) { ++*static_cast<int*>(p); }, &key));
  int destroyed = 0;
  body sets = [&] { EXPECT_OK(ABT_key_set(key, &destroyed)); };
  body nothing = [] {};
  ABT_thread t = new_thread(self_pool(), nothing, attr);
  EXPECT_FALSE(may_migrate(t));
  EXPECT_OK(ABT_thread_join(t));
  ASSERT_OK(ABT_thread_revive(self_pool(), run_function, &nothing, &t));
  EXPECT_FALSE(may_migrate(t)) << "revived";
  EXPECT_OK(ABT_thread_join(t));
  ASSERT_OK(ABT_thread_revive(self_pool(), run_function, &sets, &t));
  EXPECT_OK(ABT_thread_join(t));
  EXPECT_FALSE(may_migrate(t)) << "with a value";
  ABT_thread_attr of_thread = ABT_THREAD_ATTR_NULL;
  ASSERT_OK(ABT_thread_get_attr(t, &of_thread));
  EXPECT_OK(ABT_thread_attr_set_stack(of_thread, nullptr, 0));
  ABT_thread other = new_thread(self_pool(), nothing, of_thread);
  EXPECT_FALSE(may_migrate(other)) << "with the attributes of one that has a value";
  EXPECT_OK(ABT_thread_free(&other));
  EXPECT_OK(ABT_thread_attr_free(&of_thread));
  ASSERT_OK(ABT_thread_revive(self_pool(), run_function, &nothing, &t));
  EXPECT_OK(ABT_thread_set_migratable(t, ABT_TRUE));
  EXPECT_TRUE(may_migrate(t));
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(destroyed, 1);
  EXPECT_OK(ABT_key_free(&key));
}

TEST(ABT_thread_attr_set_migratable, is_told_of_a_thread_that_nothing_else_is_known_of) {
  const runtime rt;
  const attributes attr;
  EXPECT_OK(ABT_thread_attr_set_migratable(attr, ABT_FALSE));
  body nothing = [] {};
  ABT_thread t = new_thread(self_pool(), nothing, attr);
  ABT_thread_attr of_thread = ABT_THREAD_ATTR_NULL;
  ASSERT_OK(ABT_thread_get_attr(t, &of_thread));
  ABT_thread other = new_thread(self_pool(), nothing, of_thread);
  EXPECT_FALSE(may_migrate(other));
  EXPECT_OK(ABT_thread_free(&other));
  EXPECT_OK(ABT_thread_attr_free(&of_thread));
  EXPECT_OK(ABT_thread_set_migratable(t, ABT_TRUE));
  EXPECT_TRUE(may_migrate(t));
  EXPECT_OK(ABT_thread_set_migratable(t, ABT_FALSE));
  EXPECT_FALSE(may_migrate(t));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_attr_set_migratable, goes_with_a_thread_without_a_name) {
  const runtime rt;
  const attributes attr;
  EXPECT_OK(ABT_thread_attr_set_migratable(attr, ABT_FALSE));
  body nothing = [] {};
  ABT_bool in_it = ABT_TRUE;
  bool ran = false;
  body asks = [&] {
    ABT_thread self = ABT_THREAD_NULL;
    EXPECT_OK(ABT_self_get_thread(&self));
    EXPECT_OK(ABT_thread_is_migratable(self, &in_it));
    ran = true;
  };
  ASSERT_OK(ABT_thread_create(self_pool(), run_function, &asks, attr, nullptr));
  yield_until([&] { return ran; });
  EXPECT_EQ(in_it, ABT_FALSE);
  ABT_thread t = new_thread(self_pool(), nothing); // may have its descriptor
  EXPECT_TRUE(may_migrate(t));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_attr_set_migratable, refuses_null_attr) {
  const runtime rt;
  for (const ABT_thread_attr null : null_attrs)
    EXPECT_ABT(ABT_ERR_INV_THREAD_ATTR, ABT_thread_attr_set_migratable(null, ABT_TRUE));
}

} // namespace
} // namespace abt_test
