// SPDX-License-Identifier: MIT
// Configurations of schedulers.
#include "abt_test.hpp"
#include "user_defs.hpp"

namespace {

using namespace abt_test;

constexpr ABT_sched_config_var var_int{0, ABT_SCHED_CONFIG_INT};
constexpr ABT_sched_config_var var_double{1, ABT_SCHED_CONFIG_DOUBLE};
constexpr ABT_sched_config_var var_ptr{2, ABT_SCHED_CONFIG_PTR};
constexpr auto no_type = static_cast<ABT_sched_config_type>(3);

int target;

// With an int, a double and a pointer.
ABT_sched_config make_config() {
  ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
  EXPECT_OK(ABT_sched_config_create(&config, var_ptr, static_cast<void*>(&target), var_int, 7, var_double,
                                    2.5, ABT_sched_config_var_end));
  return config;
}

TEST(ABT_sched_config_create, takes_each_type_in_any_order) {
  const runtime rt;
  ABT_sched_config config = make_config();
  int i = 0;
  double d = 0;
  void* p = nullptr;
  EXPECT_OK(ABT_sched_config_read(config, 3, &i, &d, &p));
  EXPECT_EQ(i, 7);
  EXPECT_EQ(d, 2.5);
  EXPECT_EQ(p, &target);
  EXPECT_OK(ABT_sched_config_free(&config));
}

TEST(ABT_sched_config_create, takes_nothing) {
  const runtime rt;
  ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
  ASSERT_OK(ABT_sched_config_create(&config, ABT_sched_config_var_end));
  EXPECT_NE(config, ABT_SCHED_CONFIG_NULL);
  EXPECT_OK(ABT_sched_config_free(&config));
}

TEST(ABT_sched_config_create, takes_what_the_predefined_schedulers_read) {
  const runtime rt;
  for (const ABT_sched_predef predef : every_predef) {
    ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
    ASSERT_OK(ABT_sched_config_create(&config, ABT_sched_basic_freq, 3, ABT_sched_config_access,
                                      static_cast<int>(ABT_POOL_ACCESS_MPMC), ABT_sched_config_automatic,
                                      ABT_TRUE, ABT_sched_config_var_end));
    ABT_xstream es = ABT_XSTREAM_NULL;
    ASSERT_OK(ABT_xstream_create_basic(predef, 0, nullptr, config, &es));
    EXPECT_OK(ABT_sched_config_free(&config));
    EXPECT_EQ(run_many(first_pool(es), 10), 20);
    EXPECT_OK(ABT_xstream_free(&es));
  }
}

TEST(ABT_sched_config_create, refuses_an_unknown_type_and_leaves_the_handle) {
  const runtime rt;
  ABT_sched_config config = nullptr;
  const ABT_sched_config_var bad{0, no_type};
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_sched_config_create(&config, bad, 1, ABT_sched_config_var_end));
  EXPECT_EQ(config, nullptr);
}

TEST(ABT_sched_config_read, skips_null_pointers_and_missing_values) {
  const runtime rt;
  ABT_sched_config config = make_config();
  double d = 0;
  int missing = -5;
  EXPECT_OK(ABT_sched_config_read(config, 4, nullptr, &d, nullptr, &missing));
  EXPECT_EQ(d, 2.5);
  EXPECT_EQ(missing, -5);
  EXPECT_OK(ABT_sched_config_read(config, 0));
  EXPECT_OK(ABT_sched_config_free(&config));
}

TEST(ABT_sched_config_read, refuses_no_configuration_and_a_negative_count) {
  const runtime rt;
  ABT_sched_config config = make_config();
  int i = 0;
  EXPECT_ABT(ABT_ERR_INV_SCHED_CONFIG, ABT_sched_config_read(ABT_SCHED_CONFIG_NULL, 1, &i));
  EXPECT_ABT(ABT_ERR_INV_SCHED_CONFIG, ABT_sched_config_read(nullptr, 1, &i));
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_sched_config_read(config, -1, &i));
  EXPECT_OK(ABT_sched_config_free(&config));
}

TEST(ABT_sched_config_free, sets_the_handle_to_null) {
  const runtime rt;
  ABT_sched_config config = make_config();
  EXPECT_OK(ABT_sched_config_free(&config));
  EXPECT_EQ(config, ABT_SCHED_CONFIG_NULL);
}

TEST(ABT_sched_config_free, refuses_no_configuration) {
  const runtime rt;
  ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
  EXPECT_ABT(ABT_ERR_INV_SCHED_CONFIG, ABT_sched_config_free(&config));
  config = nullptr;
  EXPECT_ABT(ABT_ERR_INV_SCHED_CONFIG, ABT_sched_config_free(&config));
}

TEST(ABT_sched_config_set, overwrites_value_and_type_and_deletes) {
  const runtime rt;
  ABT_sched_config config = make_config();
  const double d = -1.5;
  EXPECT_OK(ABT_sched_config_set(config, 0, ABT_SCHED_CONFIG_DOUBLE, &d));
  ABT_sched_config_type type = ABT_SCHED_CONFIG_INT;
  double got = 0;
  EXPECT_OK(ABT_sched_config_get(config, 0, &type, &got));
  EXPECT_EQ(type, ABT_SCHED_CONFIG_DOUBLE);
  EXPECT_EQ(got, -1.5);
  EXPECT_OK(ABT_sched_config_set(config, 0, ABT_SCHED_CONFIG_DOUBLE, nullptr));
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_sched_config_get(config, 0, nullptr, nullptr));
  EXPECT_OK(ABT_sched_config_set(config, 0, ABT_SCHED_CONFIG_DOUBLE, nullptr)); // is gone already
  EXPECT_OK(ABT_sched_config_free(&config));
}

TEST(ABT_sched_config_set, keeps_many_values) {
  const runtime rt;
  ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
  ASSERT_OK(ABT_sched_config_create(&config, ABT_sched_config_var_end));
  for (int i = -100; i < 1000; ++i) {
    const int value = i * 3;
    EXPECT_OK(ABT_sched_config_set(config, i, ABT_SCHED_CONFIG_INT, &value));
  }
  for (int i = -100; i < 1000; ++i) {
    int value = 0;
    EXPECT_OK(ABT_sched_config_get(config, i, nullptr, &value));
    EXPECT_EQ(value, i * 3);
  }
  EXPECT_OK(ABT_sched_config_free(&config));
}

TEST(ABT_sched_config_set, refuses_no_configuration_and_an_unknown_type) {
  const runtime rt;
  ABT_sched_config config = make_config();
  const int value = 1;
  EXPECT_ABT(ABT_ERR_INV_SCHED_CONFIG, ABT_sched_config_set(ABT_SCHED_CONFIG_NULL, 0, var_int.type, &value));
  EXPECT_ABT(ABT_ERR_INV_SCHED_CONFIG, ABT_sched_config_set(nullptr, 0, var_int.type, &value));
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_sched_config_set(config, 0, no_type, &value));
  EXPECT_OK(ABT_sched_config_free(&config));
}

TEST(ABT_sched_config_get, tells_type_and_value_or_either) {
  const runtime rt;
  ABT_sched_config config = make_config();
  ABT_sched_config_type type = ABT_SCHED_CONFIG_INT;
  void* p = nullptr;
  EXPECT_OK(ABT_sched_config_get(config, 2, &type, &p));
  EXPECT_EQ(type, ABT_SCHED_CONFIG_PTR);
  EXPECT_EQ(p, &target);
  EXPECT_OK(ABT_sched_config_get(config, 1, &type, nullptr));
  EXPECT_EQ(type, ABT_SCHED_CONFIG_DOUBLE);
  int i = 0;
  EXPECT_OK(ABT_sched_config_get(config, 0, nullptr, &i));
  EXPECT_EQ(i, 7);
  EXPECT_OK(ABT_sched_config_free(&config));
}

TEST(ABT_sched_config_get, refuses_no_configuration_and_a_missing_value) {
  const runtime rt;
  ABT_sched_config config = make_config();
  int i = 0;
  EXPECT_ABT(ABT_ERR_INV_SCHED_CONFIG, ABT_sched_config_get(ABT_SCHED_CONFIG_NULL, 0, nullptr, &i));
  EXPECT_ABT(ABT_ERR_INV_SCHED_CONFIG, ABT_sched_config_get(nullptr, 0, nullptr, &i));
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_sched_config_get(config, 5, nullptr, &i));
  EXPECT_OK(ABT_sched_config_free(&config));
}

} // namespace
