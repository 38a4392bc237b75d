// SPDX-License-Identifier: MIT
// Configurations of pools.
#include "abt_test.hpp"
#include "user_defs.hpp"

namespace {

using namespace abt_test;

constexpr auto no_type = static_cast<ABT_pool_config_type>(3);

ABT_pool_config make_config() {
  ABT_pool_config config = ABT_POOL_CONFIG_NULL;
  EXPECT_OK(ABT_pool_config_create(&config));
  return config;
}

TEST(ABT_pool_config_create, is_empty) {
  const runtime rt;
  ABT_pool_config config = make_config();
  EXPECT_NE(config, ABT_POOL_CONFIG_NULL);
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_pool_config_get(config, ABT_pool_config_automatic.key, nullptr, nullptr));
  EXPECT_OK(ABT_pool_config_free(&config));
}

TEST(ABT_pool_config_free, sets_the_handle_to_null) {
  const runtime rt;
  ABT_pool_config config = make_config();
  EXPECT_OK(ABT_pool_config_free(&config));
  EXPECT_EQ(config, ABT_POOL_CONFIG_NULL);
}

TEST(ABT_pool_config_free, refuses_no_configuration) {
  const runtime rt;
  ABT_pool_config config = ABT_POOL_CONFIG_NULL;
  EXPECT_ABT(ABT_ERR_INV_POOL_CONFIG, ABT_pool_config_free(&config));
  config = nullptr;
  EXPECT_ABT(ABT_ERR_INV_POOL_CONFIG, ABT_pool_config_free(&config));
}

TEST(ABT_pool_config_set, overwrites_value_and_type_and_deletes) {
  const runtime rt;
  ABT_pool_config config = make_config();
  const int i = 7;
  const double d = 2.5;
  EXPECT_OK(ABT_pool_config_set(config, 3, ABT_POOL_CONFIG_INT, &i));
  EXPECT_OK(ABT_pool_config_set(config, 3, ABT_POOL_CONFIG_DOUBLE, &d));
  ABT_pool_config_type type = ABT_POOL_CONFIG_INT;
  double got = 0;
  EXPECT_OK(ABT_pool_config_get(config, 3, &type, &got));
  EXPECT_EQ(type, ABT_POOL_CONFIG_DOUBLE);
  EXPECT_EQ(got, 2.5);
  EXPECT_OK(ABT_pool_config_set(config, 3, ABT_POOL_CONFIG_INT, nullptr));
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_pool_config_get(config, 3, nullptr, nullptr));
  EXPECT_OK(ABT_pool_config_set(config, 3, ABT_POOL_CONFIG_INT, nullptr)); // is gone already
  EXPECT_OK(ABT_pool_config_free(&config));
}

TEST(ABT_pool_config_set, keeps_many_values) {
  const runtime rt;
  ABT_pool_config config = make_config();
  for (int i = -100; i < 1000; ++i) {
    const int value = i * 3;
    EXPECT_OK(ABT_pool_config_set(config, i, ABT_POOL_CONFIG_INT, &value));
  }
  for (int i = -100; i < 1000; ++i) {
    int value = 0;
    EXPECT_OK(ABT_pool_config_get(config, i, nullptr, &value));
    EXPECT_EQ(value, i * 3);
  }
  EXPECT_OK(ABT_pool_config_free(&config));
}

TEST(ABT_pool_config_set, refuses_no_configuration_and_an_unknown_type) {
  const runtime rt;
  ABT_pool_config config = make_config();
  const int value = 1;
  EXPECT_ABT(ABT_ERR_INV_POOL_CONFIG,
             ABT_pool_config_set(ABT_POOL_CONFIG_NULL, 0, ABT_POOL_CONFIG_INT, &value));
  EXPECT_ABT(ABT_ERR_INV_POOL_CONFIG, ABT_pool_config_set(nullptr, 0, ABT_POOL_CONFIG_INT, &value));
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_pool_config_set(config, 0, no_type, &value));
  EXPECT_OK(ABT_pool_config_free(&config));
}

TEST(ABT_pool_config_get, tells_type_and_value_or_either) {
  const runtime rt;
  ABT_pool_config config = make_config();
  const int automatic = ABT_TRUE;
  int target = 0;
  void* const p = &target;
  EXPECT_OK(
      ABT_pool_config_set(config, ABT_pool_config_automatic.key, ABT_pool_config_automatic.type, &automatic));
  EXPECT_OK(ABT_pool_config_set(config, 0, ABT_POOL_CONFIG_PTR, &p));
  int i = 0;
  EXPECT_OK(ABT_pool_config_get(config, ABT_pool_config_automatic.key, nullptr, &i));
  EXPECT_EQ(i, ABT_TRUE);
  ABT_pool_config_type type = ABT_POOL_CONFIG_INT;
  EXPECT_OK(ABT_pool_config_get(config, 0, &type, nullptr));
  EXPECT_EQ(type, ABT_POOL_CONFIG_PTR);
  void* got = nullptr;
  EXPECT_OK(ABT_pool_config_get(config, 0, &type, &got));
  EXPECT_EQ(got, &target);
  EXPECT_OK(ABT_pool_config_free(&config));
}

TEST(ABT_pool_config_get, refuses_no_configuration_and_a_missing_value) {
  const runtime rt;
  ABT_pool_config config = make_config();
  int i = 0;
  EXPECT_ABT(ABT_ERR_INV_POOL_CONFIG, ABT_pool_config_get(ABT_POOL_CONFIG_NULL, 0, nullptr, &i));
  EXPECT_ABT(ABT_ERR_INV_POOL_CONFIG, ABT_pool_config_get(nullptr, 0, nullptr, &i));
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_pool_config_get(config, 5, nullptr, &i));
  EXPECT_OK(ABT_pool_config_free(&config));
}

} // namespace
