// SPDX-License-Identifier: MIT
#include "weft/sched/simulation_report.hpp"

#include <cstdio>
#include <cstring>

#include "weft/base/assert.hpp"
#include "weft/memory/inspection.hpp"
#include "weft/memory/overflow.hpp"
#include "weft/sched/inspection.hpp"
#include "weft/sched/worker.hpp"
#include "weft/unit/wait_record.hpp"

namespace weft::sched {
namespace {

constexpr const char* places[] = {"entry", "exit", "decision", "yield", "wait", "sleep", "end", "user"};

unsigned long long number(std::uint64_t n) noexcept {
  return n;
}

// "worker 3", or who has none.
struct who {
  explicit who(const worker* w) noexcept {
    if (w != nullptr) {
      std::snprintf(text, sizeof text, "worker %u", w->number);
    } else {
      std::snprintf(text, sizeof text, "outside");
    }
  }
  char text[24];
};

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

} // namespace

void simulation_report::choice(std::uint64_t decision, deadline now, simulation::at where, const worker* from,
                               const worker* to) noexcept {
  std::fprintf(stderr, "weft: choice %llu at %lld ns: %s -> %s (%s)\n", number(decision),
               static_cast<long long>(now), who(from).text, who(to).text,
               places[static_cast<unsigned>(where)]);
}

void simulation_report::deadlock(std::uint64_t seed, std::uint64_t decisions, deadline now) noexcept {
  base::warn("WEFT_SIM=%llu: nobody can go on after %llu choices, %lld ns:", number(seed), number(decisions),
             static_cast<long long>(now));
}

void simulation_report::waiting(const worker* w, bool is_host) noexcept {
  if (w == nullptr && !is_host)
    return; // it has ended
  const bool on_loop = w == nullptr || w->current->kind() == unit::kind_loop;
  base::warn("  %s %s", who(w).text, on_loop ? "waits" : "waits in a call of the unit that it runs");
}

namespace {

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

void simulation_report::threads(unsigned most) noexcept {
  for_each_waiting([&most](descriptor& u) {
    if (most != 0) {
      --most;
      describe(u);
    }
  });
}

unsigned simulation_report::waiting_threads() noexcept {
  unsigned count = 0;
  for_each_waiting([&count](descriptor&) { ++count; });
  return count;
}

void simulation_report::summary(const simulation::counts& c) noexcept {
  base::warn("WEFT_SIM=%llu: %llu choices, %llu switches, %lld ns of virtual time, schedule %016llx",
             number(c.seed), number(c.decisions), number(c.switches), static_cast<long long>(c.now),
             number(c.schedule));
}

} // namespace weft::sched
