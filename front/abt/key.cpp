// SPDX-License-Identifier: MIT
#include "front/abt/key.hpp"

#include "front/abt/context.hpp"
#include "front/abt/runtime.hpp"
#include "weft/door/section.hpp"

namespace weft::abt {

void set_value(descriptor& u, const key& k, void* value) {
  info_of(u).values.set(k, value);
}

void* value_of(const descriptor& u, const key& k) noexcept {
  unit_info* info = info_if_any(u);
  return info != nullptr ? info->values.get(k) : nullptr;
}

} // namespace weft::abt

using namespace weft::abt;

extern "C" {

int ABT_key_create(void (*destructor)(void*), ABT_key* new_key) {
  const weft::door::runtime_section in_runtime;
  return guarded([&] {
    *new_key = handle_of<ABT_key>(make<key>(destructor));
    return ABT_SUCCESS;
  });
}

int ABT_key_free(ABT_key* handle) {
  const weft::door::runtime_section in_runtime;
  key* k = checked<key>(*handle);
  if (k == nullptr)
    return ABT_ERR_INV_KEY;
  destroy(k);
  *handle = ABT_KEY_NULL;
  return ABT_SUCCESS;
}

int ABT_key_set(ABT_key handle, void* value) {
  const weft::door::runtime_section in_runtime;
  if (!initialised())
    return ABT_ERR_UNINITIALIZED;
  return ABT_self_set_specific(handle, value);
}

int ABT_key_get(ABT_key handle, void** value) {
  const weft::door::runtime_section in_runtime;
  if (!initialised())
    return ABT_ERR_UNINITIALIZED;
  return ABT_self_get_specific(handle, value);
}

int ABT_self_set_specific(ABT_key handle, void* value) {
  const weft::door::runtime_section in_runtime;
  descriptor* u = unit_here();
  if (u == nullptr)
    return ABT_ERR_INV_XSTREAM;
  return ABT_thread_set_specific(handle_of(*u), handle, value);
}

int ABT_self_get_specific(ABT_key handle, void** value) {
  const weft::door::runtime_section in_runtime;
  descriptor* u = unit_here();
  if (u == nullptr)
    return ABT_ERR_INV_XSTREAM;
  return ABT_thread_get_specific(handle_of(*u), handle, value);
}

int ABT_thread_set_specific(ABT_thread thread, ABT_key handle, void* value) {
  const weft::door::runtime_section in_runtime;
  descriptor* u = checked_unit(thread);
  if (u == nullptr)
    return ABT_ERR_INV_THREAD;
  const key* k = checked<key>(handle);
  if (k == nullptr)
    return ABT_ERR_INV_KEY;
  return guarded([&] {
    set_value(*u, *k, value);
    return ABT_SUCCESS;
  });
}

int ABT_thread_get_specific(ABT_thread thread, ABT_key handle, void** value) {
  const weft::door::runtime_section in_runtime;
  const descriptor* u = checked_unit(thread);
  if (u == nullptr)
    return ABT_ERR_INV_THREAD;
  const key* k = checked<key>(handle);
  if (k == nullptr)
    return ABT_ERR_INV_KEY;
  *value = value_of(*u, *k);
  return ABT_SUCCESS;
}

} // extern "C"
