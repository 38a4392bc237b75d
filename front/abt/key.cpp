// SPDX-License-Identifier: MIT
#include "front/abt/key.hpp"

#include <atomic>
#include <mutex>
#include <utility>

#include "front/abt/context.hpp"
#include "front/abt/runtime.hpp"
#include "weft/door/section.hpp"

namespace weft::abt {
namespace {

std::atomic<std::uint64_t> next_serial{1};

unit_info::value* find(unit_info& info, const key& k) noexcept {
  for (unit_info::value& v : info.values) {
    if (v.key == &k && v.serial == k.serial)
      return &v;
  }
  return nullptr;
}

} // namespace

key::key(void (*d)(void*)) noexcept
    : object(own_kind), destructor(d), serial(next_serial.fetch_add(1, std::memory_order_relaxed)) {}

void set_value(descriptor& u, const key& k, void* value) {
  unit_info& info = info_of(u);
  const std::scoped_lock held(info.lock);
  if (unit_info::value* v = find(info, k)) {
    v->data = value;
  } else {
    info.values.push_back({&k, k.serial, k.destructor, value});
  }
}

void* value_of(const descriptor& u, const key& k) noexcept {
  unit_info* info = info_if_any(u);
  if (info == nullptr)
    return nullptr;
  const std::scoped_lock held(info->lock);
  const unit_info::value* v = find(*info, k);
  return v != nullptr ? v->data : nullptr;
}

void run_destructors(unit_info& info) noexcept {
  std::vector<unit_info::value> values;
  {
    const std::scoped_lock held(info.lock);
    values.swap(info.values);
  }
  for (const unit_info::value& v : values) {
    if (v.destructor != nullptr && v.data != nullptr)
      v.destructor(v.data);
  }
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
