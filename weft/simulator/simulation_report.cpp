// SPDX-License-Identifier: MIT
#include "weft/simulator/simulation_report.hpp"

#include <cstdio>

#include "weft/base/assert.hpp"
#include "weft/workers/worker.hpp"

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

void simulation_report::summary(const simulation::counts& c) noexcept {
  base::warn("WEFT_SIM=%llu: %llu choices, %llu switches, %lld ns of virtual time, schedule %016llx",
             number(c.seed), number(c.decisions), number(c.switches), static_cast<long long>(c.now),
             number(c.schedule));
}

} // namespace weft::sched
