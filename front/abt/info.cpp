// SPDX-License-Identifier: MIT
// ABT_info_query_config and ABT_info_print_*: for people.
#include "front/abt/info.hpp"

#include <cinttypes>
#include <cstdio>

#include "front/abt/error.hpp"
#include "front/abt/pool.hpp"
#include "front/abt/print.hpp"
#include "front/abt/runtime.hpp"
#include "front/abt/scheduler.hpp"
#include "front/abt/unit.hpp"
#include "front/abt/xstream.hpp"
#include "weft/door/process.hpp"
#include "weft/door/section.hpp"

namespace weft::abt {
namespace {

const char* name_of(ABT_thread_state s) noexcept {
  constexpr const char* names[] = {"READY", "RUNNING", "BLOCKED", "TERMINATED"};
  return names[s];
}

const char* name_of(const scheduler& s) noexcept {
  if (s.loops())
    return "user-defined";
  switch (s.predefined) {
  case ABT_SCHED_PRIO:
    return "PRIO";
  case ABT_SCHED_RANDWS:
    return "RANDWS";
  case ABT_SCHED_BASIC_WAIT:
    return "BASIC_WAIT";
  default:
    return "BASIC";
  }
}

const char* access_name(ABT_pool_access a) noexcept {
  constexpr const char* names[] = {"PRIV", "SPSC", "MPSC", "SPMC", "MPMC"};
  return names[a];
}

// Sixteen bytes a line, as many as stand between the stack pointer and the top; zeros are left out.
void print_bytes(std::FILE* out, const unsigned char* from, const unsigned char* to) {
  for (const unsigned char* line = from; line < to; line += 16) {
    std::fprintf(out, "%p:", static_cast<const void*>(line));
    for (int i = 0; i < 16 && line + i < to; ++i)
      std::fprintf(out, "%s%02x", i % 8 == 0 ? " " : "", line[i]);
    std::fputc('\n', out);
  }
}

} // namespace

void print_unit(std::FILE* out, const descriptor& u) {
  char function[512] = "";
  if (closure_of(u).function != nullptr)
    door::describe_address(reinterpret_cast<const void*>(closure_of(u).function), function, sizeof function);
  const pool* p = pool_of(u);
  std::fprintf(out, "%s %p: %s, %s, function %s, pool %d\n", is_tasklet(u) ? "tasklet" : "ULT",
               static_cast<const void*>(&u), name_of(state_of(u)),
               is_primary(u)          ? "primary"
               : u.join.is_detached() ? "unnamed"
                                      : "named",
               function, p != nullptr ? p->id : -1);
}

void print_stack(std::FILE* out, const descriptor& u) {
  print_unit(out, u);
  if (u.stack == nullptr || is_tasklet(u) || is_primary(u)) {
    std::fprintf(out, "  no stack of its own\n");
    return;
  }
  const void* sp = door::stack_pointer_of(u);
  std::fprintf(out, "  stack %p, %zu bytes, stack pointer %p\n", static_cast<const void*>(u.stack->low),
               u.stack->size, sp);
  const auto* from = static_cast<const unsigned char*>(sp);
  const auto* top = reinterpret_cast<const unsigned char*>(u.stack);
  if (current().print_raw_stack && from >= reinterpret_cast<const unsigned char*>(u.stack->low) && from < top)
    print_bytes(out, from, top);
}

void print_pool(std::FILE* out, pool& p) {
  std::fprintf(out, "pool %d (%p): %s, %s%s", p.id, static_cast<void*>(&p), p.kind_name(),
               access_name(p.access), p.automatic ? ", automatic" : "");
  if (p.has_size())
    std::fprintf(out, ", %zu ready, %zu in all", p.exact_size(), total_size(p));
  std::fputc('\n', out);
}

void print_scheduler(std::FILE* out, const scheduler& s) {
  std::fprintf(out, "scheduler %p: %s%s, %zu pools\n", static_cast<const void*>(&s), name_of(s),
               s.automatic ? ", automatic" : "", s.pools.size());
  for (const auto& p : s.pools)
    print_pool(out, *p);
}

void print_stream(std::FILE* out, const xstream& es) {
  std::fprintf(out, "stream %d (%p): %s%s\n", es.rank.load(), static_cast<const void*>(&es),
               es.condition.load() == ABT_XSTREAM_STATE_RUNNING ? "RUNNING" : "TERMINATED",
               es.primary ? ", primary" : "");
  print_scheduler(out, *es.main.load());
}

namespace {

template <class T>
int answer(void* value, T what) noexcept {
  *static_cast<T*>(value) = what;
  return ABT_SUCCESS;
}

bool is_enabled(ABT_info_query_kind kind) noexcept {
  switch (kind) {
  case ABT_INFO_QUERY_KIND_ENABLED_DEBUG:
  case ABT_INFO_QUERY_KIND_ENABLED_CHECK_POOL_PRODUCER:
  case ABT_INFO_QUERY_KIND_ENABLED_CHECK_POOL_CONSUMER:
  case ABT_INFO_QUERY_KIND_ENABLED_LOG:
  case ABT_INFO_QUERY_KIND_ENABLED_PRINT_ERRNO:
  case ABT_INFO_QUERY_KIND_DYNAMIC_PROMOTION:
  case ABT_INFO_QUERY_KIND_ENABLED_STACK_UNWIND:
    return false;
  case ABT_INFO_QUERY_KIND_ENABLED_PRINT_CONFIG:
    return current().print_config;
  default: // what Weft has in every build
    return true;
  }
}

int query(ABT_info_query_kind kind, void* value) noexcept {
  switch (kind) {
  case ABT_INFO_QUERY_KIND_MAX_NUM_XSTREAMS:
    return answer(value, current().expected_streams);
  case ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE:
    return answer(value, current().default_stack_size);
  case ABT_INFO_QUERY_KIND_DEFAULT_SCHED_STACKSIZE:
    return answer(value, current().loop_stack_size);
  case ABT_INFO_QUERY_KIND_DEFAULT_SCHED_EVENT_FREQ:
    return answer(value, current().event_frequency);
  case ABT_INFO_QUERY_KIND_DEFAULT_SCHED_SLEEP_NSEC:
    return answer(value, current().sleep_ns);
  case ABT_INFO_QUERY_KIND_ENABLED_STACK_OVERFLOW_CHECK:
    return answer(value, current().overflow_check);
  case ABT_INFO_QUERY_KIND_WAIT_POLICY:
    return answer(value, 0); // passive: who waits sleeps
  default:
    return answer<ABT_bool>(value, is_enabled(kind) ? ABT_TRUE : ABT_FALSE);
  }
}

} // namespace

void print_settings(std::FILE* out) {
  const settings& s = current();
  std::fprintf(out,
               "Weft as Argobots %s\n"
               "  stack of a ULT        %zu bytes\n"
               "  stack of a scheduler  %zu bytes\n"
               "  event frequency       %" PRIu64 "\n"
               "  streams expected      %u\n"
               "  affinity              %s, %zu sets\n"
               "  overflow check        %s\n",
               ABT_VERSION, s.default_stack_size, s.loop_stack_size, s.event_frequency, s.expected_streams,
               s.set_affinity ? "on" : "off", s.affinity.size(),
               s.overflow_check == 0   ? "none"
               : s.overflow_check == 1 ? "canary"
                                       : "guard");
}

} // namespace weft::abt

using namespace weft::abt;

extern "C" {

int ABT_info_query_config(ABT_info_query_kind kind, void* value) {
  const weft::door::runtime_section in_runtime;
  if (!initialised())
    return ABT_ERR_UNINITIALIZED;
  if (kind < ABT_INFO_QUERY_KIND_ENABLED_DEBUG || kind > ABT_INFO_QUERY_KIND_ENABLED_LAZY_STACK_ALLOC)
    return ABT_ERR_INV_QUERY_KIND;
  return query(kind, value);
}

int ABT_info_print_config(FILE* out) {
  const weft::door::runtime_section in_runtime;
  if (!initialised())
    return ABT_ERR_UNINITIALIZED;
  print_settings(out);
  return ABT_SUCCESS;
}

int ABT_info_print_all_xstreams(FILE* out) {
  const weft::door::runtime_section in_runtime;
  if (!initialised())
    return ABT_ERR_UNINITIALIZED;
  const std::scoped_lock held(state().lock);
  std::fprintf(out, "%zu streams\n", state().streams.size());
  for (const xstream* es : state().streams)
    print_stream(out, *es);
  return ABT_SUCCESS;
}

int ABT_info_print_xstream(FILE* out, ABT_xstream handle) {
  const weft::door::runtime_section in_runtime;
  const xstream* es = checked<xstream>(handle);
  if (es == nullptr)
    return ABT_ERR_INV_XSTREAM;
  print_stream(out, *es);
  return ABT_SUCCESS;
}

int ABT_info_print_sched(FILE* out, ABT_sched handle) {
  const weft::door::runtime_section in_runtime;
  const scheduler* s = checked<scheduler>(handle);
  if (s == nullptr)
    return ABT_ERR_INV_SCHED;
  print_scheduler(out, *s);
  return ABT_SUCCESS;
}

int ABT_info_print_pool(FILE* out, ABT_pool handle) {
  const weft::door::runtime_section in_runtime;
  pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  print_pool(out, *p);
  return ABT_SUCCESS;
}

int ABT_info_print_thread(FILE* out, ABT_thread thread) {
  const weft::door::runtime_section in_runtime;
  const descriptor* u = checked_unit(thread);
  if (u == nullptr)
    return ABT_ERR_INV_THREAD;
  print_unit(out, *u);
  return ABT_SUCCESS;
}

int ABT_info_print_task(FILE* out, ABT_task task) {
  const weft::door::runtime_section in_runtime;
  const int code = ABT_info_print_thread(out, task);
  return code == ABT_ERR_INV_THREAD ? ABT_ERR_INV_TASK : code;
}

int ABT_info_print_thread_attr(FILE* out, ABT_thread_attr handle) {
  const weft::door::runtime_section in_runtime;
  const thread_attr* a = checked<thread_attr>(handle);
  if (a == nullptr)
    return ABT_ERR_INV_THREAD_ATTR;
  std::fprintf(out, "attributes: stack %p, %zu bytes%s%s\n", a->stack, a->stack_size,
               a->migratable ? ", migratable" : "", a->callback != nullptr ? ", with a callback" : "");
  return ABT_SUCCESS;
}

int ABT_info_print_thread_stack(FILE* out, ABT_thread thread) {
  const weft::door::runtime_section in_runtime;
  const descriptor* u = checked_unit(thread);
  if (u == nullptr)
    return ABT_ERR_INV_THREAD;
  print_stack(out, *u);
  return ABT_SUCCESS;
}

int ABT_info_print_thread_stacks_in_pool(FILE* out, ABT_pool handle) {
  const weft::door::runtime_section in_runtime;
  pool* p = checked_pool(handle);
  if (p == nullptr)
    return ABT_ERR_INV_POOL;
  if (!p->has_print())
    return ABT_ERR_POOL;
  print_stacks(out, *p);
  return ABT_SUCCESS;
}

} // extern "C"
