// SPDX-License-Identifier: MIT
#include "weft/door/local.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace {

using weft::door::local_key;
using weft::door::local_values;

void count(void* calls) {
  ++*static_cast<int*>(calls);
}

TEST(door_local, a_value_is_found_by_its_key) {
  const local_key first(nullptr);
  const local_key second(nullptr);
  local_values values;
  int a = 0;
  int b = 0;
  EXPECT_EQ(values.get(first), nullptr);
  values.set(first, &a);
  values.set(second, &b);
  EXPECT_EQ(values.get(first), &a);
  EXPECT_EQ(values.get(second), &b);
  values.set(first, &b);
  EXPECT_EQ(values.get(first), &b);
}

TEST(door_local, destructors_run_once_and_not_for_null) {
  const local_key key(&count);
  const local_key unused(&count);
  local_values values;
  int calls = 0;
  values.set(key, &calls);
  values.set(unused, nullptr);
  values.run_destructors();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(values.get(key), nullptr);
  values.run_destructors();
  EXPECT_EQ(calls, 1);
}

TEST(door_local, a_key_may_be_freed_before_values) {
  std::optional<local_key> key(&count);
  local_values values;
  int calls = 0;
  values.set(*key, &calls);
  key.emplace(nullptr); // another key, where the first one was
  EXPECT_EQ(values.get(*key), nullptr);
  values.run_destructors();
  EXPECT_EQ(calls, 1);
}

} // namespace
