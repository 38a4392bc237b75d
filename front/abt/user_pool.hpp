// SPDX-License-Identifier: MIT
// What a pool that the user wrote is made of.
#pragma once

#include "front/abt/object.hpp"
#include "front/abt/pool.hpp"

namespace weft::abt {

// The new definition; null: not given.
struct pool_user_def : object {
  static constexpr kind own_kind = kind::pool_user_def;
  pool_user_def() noexcept : object(own_kind) {}

  ABT_pool_user_create_unit_fn create_unit = nullptr;
  ABT_pool_user_free_unit_fn free_unit = nullptr;
  ABT_pool_user_is_empty_fn is_empty = nullptr;
  ABT_pool_user_pop_fn pop = nullptr;
  ABT_pool_user_push_fn push = nullptr;
  ABT_pool_user_init_fn init = nullptr;
  ABT_pool_user_free_fn free = nullptr;
  ABT_pool_user_get_size_fn get_size = nullptr;
  ABT_pool_user_pop_wait_fn pop_wait = nullptr;
  ABT_pool_user_pop_many_fn pop_many = nullptr;
  ABT_pool_user_push_many_fn push_many = nullptr;
  ABT_pool_user_print_all_fn print_all = nullptr;
};

// Exactly one of the definitions is in use.
struct pool_callbacks {
  bool old_style = false;
  ABT_pool_user_create_unit_fn create_unit = nullptr;
  ABT_pool_user_free_unit_fn free_unit = nullptr;
  ABT_pool_user_is_empty_fn is_empty = nullptr;
  ABT_pool_user_pop_fn pop = nullptr;
  ABT_pool_user_push_fn push = nullptr;
  ABT_pool_user_init_fn init = nullptr;
  ABT_pool_user_free_fn free = nullptr;
  ABT_pool_user_get_size_fn get_size = nullptr;
  ABT_pool_user_pop_wait_fn pop_wait = nullptr;
  ABT_pool_user_pop_many_fn pop_many = nullptr;
  ABT_pool_user_push_many_fn push_many = nullptr;
  ABT_pool_user_print_all_fn print_all = nullptr;
  ABT_pool_def old{}; // without p_pop_wait, which stands here:
  ABT_pool_pop_wait_fn old_pop_wait = nullptr;
};

// Errors: std::bad_alloc, failure with the code of the user's init.
pool& make_user_pool(std::unique_ptr<pool_callbacks> callbacks, ABT_pool_access a, bool automatic,
                     ABT_pool_config config);

} // namespace weft::abt
