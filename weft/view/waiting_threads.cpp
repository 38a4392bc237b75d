// SPDX-License-Identifier: MIT
#include "weft/view/waiting_threads.hpp"

#include <cstdio>
#include <cstring>

#include "weft/base/assert.hpp"
#include "weft/memory/inspection.hpp"
#include "weft/memory/overflow.hpp"
#include "weft/unit/wait_record.hpp"
#include "weft/view/inspection.hpp"

namespace weft::sched {
using unit::descriptor;

namespace {

const char* name_of(unit::wait_kind kind) noexcept {
  constexpr char prefix[] = "wait:";
  for (const weft_debug_entry* e = weft_debug_layout; e->name[0] != '\0'; ++e) {
    if (std::strncmp(e->name, prefix, sizeof prefix - 1) == 0 &&
        e->number == static_cast<std::uint64_t>(kind))
      return e->name + sizeof prefix - 1;
  }
  return "something";
}

// As debuggers find it: unit/wait_record.hpp.
const unit::wait_record* record_of(const descriptor& u) noexcept {
  const auto next = reinterpret_cast<std::uintptr_t>(u.link.next);
  if (next == 0 || ~next != reinterpret_cast<std::uintptr_t>(u.link.prev))
    return nullptr;
  return reinterpret_cast<const unit::wait_record*>(next);
}

bool is_waiting(const descriptor& u) noexcept {
  const unit::state s = u.state.load();
  return u.kind() == unit::kind_thread && (s == unit::state::blocked || s == unit::state::suspended);
}

void describe(descriptor& u) noexcept {
  const unit::state s = u.state.load();
  char name[400];
  if (&u == inspection::primary.load_acquire()) {
    std::snprintf(name, sizeof name, "of main()");
  } else {
    memory::describe_thread(&u, name, sizeof name);
  }
  const unit::wait_record* const why = record_of(u);
  if (why != nullptr && why->kind == unit::wait_kind::sleep) {
    base::warn("  thread %s waits for the end of its sleep, at %lld ns", name,
               static_cast<long long>(reinterpret_cast<std::intptr_t>(why->object)));
  } else if (why != nullptr && why->kind == unit::wait_kind::messages) {
    base::warn("  thread %s waits in %s", name, static_cast<const unit::message_wait*>(why->object)->call);
  } else if (why != nullptr) {
    base::warn("  thread %s waits for %s %p", name, name_of(why->kind), why->object);
  } else {
    base::warn("  thread %s %s", name,
               s == unit::state::suspended ? "is suspended" : "waits for a unit or a resume()");
  }
}

template <class T>
T& at(const void* object, std::size_t offset) noexcept {
  return *reinterpret_cast<T*>(const_cast<std::byte*>(static_cast<const std::byte*>(object)) + offset);
}

// Calls action(u) for every thread that waits; forked calls are in no slab.
template <class Action>
void for_each_waiting(Action action) noexcept {
  using layout = memory::inspection;
  const auto consider = [&action](descriptor& u) {
    if (is_waiting(u))
      action(u);
  };
  if (descriptor* const primary = inspection::primary.load_acquire())
    consider(*primary);
  const void* const depot = &memory::object_cache<descriptor>::process_depot();
  const std::size_t first = at<std::size_t>(depot, layout::depot_first);
  for (const memory::object_estate* estate = at<memory::object_estate*>(depot, layout::depot_estates);
       estate != nullptr; estate = estate->next_all) {
    for (memory::object_slab* slab = estate->slabs; slab != nullptr; slab = slab->next) {
      for (std::size_t i = 0; i < slab->carved; ++i)
        consider(at<descriptor>(slab, first + i * sizeof(descriptor)));
    }
  }
}

} // namespace

void name_waiting_threads(unsigned most) noexcept {
  for_each_waiting([&most](descriptor& u) {
    if (most != 0) {
      --most;
      describe(u);
    }
  });
}

unsigned count_waiting_threads() noexcept {
  unsigned count = 0;
  for_each_waiting([&count](descriptor&) { ++count; });
  return count;
}

} // namespace weft::sched
