// SPDX-License-Identifier: MIT
// ABT_sched_config_* and ABT_pool_config_*.
#include "front/abt/config.hpp"

#include <cstdarg>

#include "front/abt/error.hpp"
#include "weft/door/section.hpp"

using namespace weft::abt;

namespace {

// The next argument of a type, or false for a type that is none.
bool next_argument(std::va_list& arguments, int type, config_value& value) {
  switch (type) {
  case ABT_SCHED_CONFIG_INT:
    value = va_arg(arguments, int);
    return true;
  case ABT_SCHED_CONFIG_DOUBLE:
    value = va_arg(arguments, double);
    return true;
  case ABT_SCHED_CONFIG_PTR:
    value = va_arg(arguments, void*);
    return true;
  default:
    return false;
  }
}

template <class Config, class Handle, class Type>
int get(Handle handle, int key, Type* type, void* value, int wrong_handle) {
  const Config* c = checked<Config>(handle);
  if (c == nullptr)
    return wrong_handle;
  const config_value* v = c->get(key);
  if (v == nullptr)
    return ABT_ERR_INV_ARG;
  if (type != nullptr)
    *type = static_cast<Type>(v->index());
  if (value != nullptr)
    write_value(*v, value);
  return ABT_SUCCESS;
}

template <class Config, class Handle>
int set(Handle handle, int key, int type, const void* value, int wrong_handle) {
  Config* c = checked<Config>(handle);
  if (c == nullptr)
    return wrong_handle;
  return guarded([&] { return c->set(key, type, value) ? ABT_SUCCESS : ABT_ERR_INV_ARG; });
}

template <class Config, class Handle>
int free_config(Handle* handle, Handle null, int wrong_handle) {
  Config* c = checked<Config>(*handle);
  if (c == nullptr)
    return wrong_handle;
  destroy(c);
  *handle = null;
  return ABT_SUCCESS;
}

} // namespace

extern "C" {

ABT_sched_config_var ABT_sched_config_var_end = {-1, ABT_SCHED_CONFIG_INT};
ABT_sched_config_var ABT_sched_config_access = {-2, ABT_SCHED_CONFIG_INT};
ABT_sched_config_var ABT_sched_config_automatic = {key_automatic_sched, ABT_SCHED_CONFIG_INT};
ABT_sched_config_var ABT_sched_basic_freq = {key_frequency, ABT_SCHED_CONFIG_INT};
extern const ABT_pool_config_var ABT_pool_config_automatic = {key_automatic_pool, ABT_POOL_CONFIG_INT};

int ABT_sched_config_create(ABT_sched_config* result, ...) {
  const weft::door::runtime_section in_runtime;
  std::va_list arguments;
  va_start(arguments, result);
  const int code = guarded([&] {
    auto made = make_owned<sched_config>();
    for (;;) {
      const auto var = va_arg(arguments, ABT_sched_config_var);
      if (var.idx == ABT_sched_config_var_end.idx)
        break;
      config_value value;
      if (!next_argument(arguments, var.type, value))
        return ABT_ERR_INV_ARG;
      made->values[var.idx] = value;
    }
    *result = handle_of<ABT_sched_config>(made.release());
    return ABT_SUCCESS;
  });
  va_end(arguments);
  return code;
}

int ABT_sched_config_read(ABT_sched_config handle, int num_vars, ...) {
  const weft::door::runtime_section in_runtime;
  const sched_config* c = checked<sched_config>(handle);
  if (c == nullptr)
    return ABT_ERR_INV_SCHED_CONFIG;
  if (num_vars < 0)
    return ABT_ERR_INV_ARG;
  std::va_list arguments;
  va_start(arguments, num_vars);
  for (int index = 0; index < num_vars; ++index) {
    void* into = va_arg(arguments, void*);
    const config_value* v = c->get(index);
    if (into != nullptr && v != nullptr)
      write_value(*v, into);
  }
  va_end(arguments);
  return ABT_SUCCESS;
}

int ABT_sched_config_free(ABT_sched_config* handle) {
  const weft::door::runtime_section in_runtime;
  return free_config<sched_config>(handle, ABT_SCHED_CONFIG_NULL, ABT_ERR_INV_SCHED_CONFIG);
}
int ABT_sched_config_set(ABT_sched_config handle, int idx, ABT_sched_config_type type, const void* value) {
  const weft::door::runtime_section in_runtime;
  return set<sched_config>(handle, idx, type, value, ABT_ERR_INV_SCHED_CONFIG);
}
int ABT_sched_config_get(ABT_sched_config handle, int idx, ABT_sched_config_type* type, void* value) {
  const weft::door::runtime_section in_runtime;
  return get<sched_config>(handle, idx, type, value, ABT_ERR_INV_SCHED_CONFIG);
}

int ABT_pool_config_create(ABT_pool_config* result) {
  const weft::door::runtime_section in_runtime;
  return guarded([&] {
    *result = handle_of<ABT_pool_config>(make<pool_config>());
    return ABT_SUCCESS;
  });
}
int ABT_pool_config_free(ABT_pool_config* handle) {
  const weft::door::runtime_section in_runtime;
  return free_config<pool_config>(handle, ABT_POOL_CONFIG_NULL, ABT_ERR_INV_POOL_CONFIG);
}
int ABT_pool_config_set(ABT_pool_config handle, int key, ABT_pool_config_type type, const void* value) {
  const weft::door::runtime_section in_runtime;
  return set<pool_config>(handle, key, type, value, ABT_ERR_INV_POOL_CONFIG);
}
int ABT_pool_config_get(ABT_pool_config handle, int key, ABT_pool_config_type* type, void* value) {
  const weft::door::runtime_section in_runtime;
  return get<pool_config>(handle, key, type, value, ABT_ERR_INV_POOL_CONFIG);
}

} // extern "C"
