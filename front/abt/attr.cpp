// SPDX-License-Identifier: MIT
// ABT_thread_attr_* and its extensions.
#include "front/abt/error.hpp"
#include "front/abt/runtime.hpp"
#include "front/abt/technique.hpp"
#include "front/abt/unit.hpp"
#include "weft/door/preemptible.hpp"
#include "weft/door/section.hpp"
#include "weft/door/stack.hpp"

using namespace weft::abt;

namespace {

thread_attr* attr_of(ABT_thread_attr handle) noexcept {
  return checked<thread_attr>(handle);
}

std::size_t size_of(const thread_attr& a) noexcept {
  return a.stack_size != 0 || a.of_thread ? a.stack_size : current().default_stack_size;
}

} // namespace

extern "C" {

int ABT_thread_attr_create(ABT_thread_attr* newattr) {
  const weft::door::runtime_section in_runtime;
  *newattr = ABT_THREAD_ATTR_NULL;
  return guarded([&] {
    *newattr = handle_of<ABT_thread_attr>(make<thread_attr>());
    return ABT_SUCCESS;
  });
}

int ABT_thread_attr_free(ABT_thread_attr* handle) {
  const weft::door::runtime_section in_runtime;
  thread_attr* a = attr_of(*handle);
  if (a == nullptr)
    return ABT_ERR_INV_THREAD_ATTR;
  destroy(a);
  *handle = ABT_THREAD_ATTR_NULL;
  return ABT_SUCCESS;
}

int ABT_thread_attr_set_stack(ABT_thread_attr handle, void* stack, size_t size) {
  const weft::door::runtime_section in_runtime;
  thread_attr* a = attr_of(handle);
  if (a == nullptr)
    return ABT_ERR_INV_THREAD_ATTR;
  if (stack != nullptr &&
      (reinterpret_cast<std::uintptr_t>(stack) % 8 != 0 || size < weft::door::smallest_supplied_stack))
    return ABT_ERR_INV_ARG;
  a->stack = stack;
  a->stack_size = size;
  return ABT_SUCCESS;
}

int ABT_thread_attr_get_stack(ABT_thread_attr handle, void** stack, size_t* size) {
  const weft::door::runtime_section in_runtime;
  const thread_attr* a = attr_of(handle);
  if (a == nullptr)
    return ABT_ERR_INV_THREAD_ATTR;
  if (stack != nullptr)
    *stack = a->stack;
  if (size != nullptr)
    *size = size_of(*a);
  return ABT_SUCCESS;
}

int ABT_thread_attr_set_stacksize(ABT_thread_attr handle, size_t size) {
  const weft::door::runtime_section in_runtime;
  thread_attr* a = attr_of(handle);
  if (a == nullptr)
    return ABT_ERR_INV_THREAD_ATTR;
  a->stack = nullptr;
  a->stack_size = size;
  return ABT_SUCCESS;
}

int ABT_thread_attr_get_stacksize(ABT_thread_attr handle, size_t* size) {
  const weft::door::runtime_section in_runtime;
  const thread_attr* a = attr_of(handle);
  if (a == nullptr)
    return ABT_ERR_INV_THREAD_ATTR;
  *size = size_of(*a);
  return ABT_SUCCESS;
}

int ABT_thread_attr_set_callback(ABT_thread_attr handle, void (*callback)(ABT_thread, void*),
                                 void* argument) {
  const weft::door::runtime_section in_runtime;
  thread_attr* a = attr_of(handle);
  if (a == nullptr)
    return ABT_ERR_INV_THREAD_ATTR;
  a->callback = callback;
  a->callback_argument = argument;
  return ABT_SUCCESS;
}

int ABT_thread_attr_set_migratable(ABT_thread_attr handle, ABT_bool migratable) {
  const weft::door::runtime_section in_runtime;
  thread_attr* a = attr_of(handle);
  if (a == nullptr)
    return ABT_ERR_INV_THREAD_ATTR;
  a->migratable = migratable != ABT_FALSE;
  return ABT_SUCCESS;
}

// Callers in C may pass any number for an enumeration; to load one is the refusal of it, not a mistake of
// ours.
__attribute__((no_sanitize("undefined"))) int ABTX_thread_attr_set_technique(ABT_thread_attr handle,
                                                                             ABTX_technique technique) {
  const weft::door::runtime_section in_runtime;
  thread_attr* a = attr_of(handle);
  if (a == nullptr)
    return ABT_ERR_INV_THREAD_ATTR;
  if (technique != ABTX_TECHNIQUE_RUN_TO_COMPLETION && !core_technique(technique))
    return ABT_ERR_INV_ARG;
  a->technique = technique;
  return ABT_SUCCESS;
}

int ABTX_thread_attr_get_technique(ABT_thread_attr handle, ABTX_technique* technique) {
  const weft::door::runtime_section in_runtime;
  const thread_attr* a = attr_of(handle);
  if (a == nullptr)
    return ABT_ERR_INV_THREAD_ATTR;
  *technique = a->technique;
  return ABT_SUCCESS;
}

__attribute__((no_sanitize("undefined"))) int ABTX_thread_attr_set_preemption(ABT_thread_attr handle,
                                                                              ABTX_preemption preemption) {
  const weft::door::runtime_section in_runtime;
  thread_attr* a = attr_of(handle);
  if (a == nullptr)
    return ABT_ERR_INV_THREAD_ATTR;
  if (static_cast<unsigned>(preemption) >= weft::door::preemption_kinds)
    return ABT_ERR_INV_ARG;
  a->preemption = preemption;
  return ABT_SUCCESS;
}

int ABTX_thread_attr_get_preemption(ABT_thread_attr handle, ABTX_preemption* preemption) {
  const weft::door::runtime_section in_runtime;
  const thread_attr* a = attr_of(handle);
  if (a == nullptr)
    return ABT_ERR_INV_THREAD_ATTR;
  *preemption = a->preemption;
  return ABT_SUCCESS;
}

int ABTX_preemption_set_interval(double seconds) {
  if (!(seconds >= 0 && seconds <= 1))
    return ABT_ERR_INV_ARG;
  return guarded(
      [seconds] {
        const auto nanoseconds = static_cast<std::int64_t>(seconds * 1e9);
        weft::door::set_preemption_interval(std::chrono::nanoseconds(nanoseconds));
        return ABT_SUCCESS;
      },
      ABT_ERR_INV_ARG);
}

int ABTX_preemption_get_interval(double* seconds) {
  if (seconds == nullptr)
    return ABT_ERR_INV_ARG;
  *seconds = static_cast<double>(weft::door::preemption_interval().count()) * 1e-9;
  return ABT_SUCCESS;
}

} // extern "C"
