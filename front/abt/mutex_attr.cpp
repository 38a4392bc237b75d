// SPDX-License-Identifier: MIT
#include "front/abt/mutex_attr.hpp"

#include "front/abt/primitive.hpp"
#include "weft/door/section.hpp"

using namespace weft::abt;

extern "C" {

int ABT_mutex_attr_create(ABT_mutex_attr* new_attr) {
  const weft::door::runtime_section in_runtime;
  return create_or_leave<mutex_attr>(new_attr, false);
}

int ABT_mutex_attr_free(ABT_mutex_attr* attr) {
  const weft::door::runtime_section in_runtime;
  return free_object<mutex_attr>(attr, ABT_MUTEX_ATTR_NULL, ABT_ERR_INV_MUTEX_ATTR);
}

int ABT_mutex_attr_set_recursive(ABT_mutex_attr attr, ABT_bool recursive) {
  const weft::door::runtime_section in_runtime;
  mutex_attr* const a = checked<mutex_attr>(attr);
  if (a == nullptr)
    return ABT_ERR_INV_MUTEX_ATTR;
  a->recursive = recursive != ABT_FALSE;
  return ABT_SUCCESS;
}

int ABT_mutex_attr_get_recursive(ABT_mutex_attr attr, ABT_bool* recursive) {
  const weft::door::runtime_section in_runtime;
  const mutex_attr* const a = checked<mutex_attr>(attr);
  if (a == nullptr)
    return ABT_ERR_INV_MUTEX_ATTR;
  *recursive = a->recursive ? ABT_TRUE : ABT_FALSE;
  return ABT_SUCCESS;
}

} // extern "C"
