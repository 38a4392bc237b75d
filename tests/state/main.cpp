// SPDX-License-Identifier: MIT
// thread_state KIND [MIGRATIONS]: whether threads of that kind keep what docs/guide/thread-state.md promises.
// WEFT_STATE_MIGRATIONS stands for the number. Exit status 77: not on this machine, or not in a
// simulation.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/state/checks.hpp"
#include "weft/preempt/ticks.hpp"
#include "weft/runtime.hpp"

namespace weft::thread_state {

void move(course& c, unsigned round) {
  this_thread::migrate_to(*c.there[round % 2]);
  c.migrations.fetch_add(1, std::memory_order_relaxed);
}

namespace {

constexpr const char* kinds[] = {"none", "signal_yield", "own_tls", "own_kernel_thread", "bound_tls"};
constexpr unsigned threads = 12;

preemption kind_of(const char* name) {
  for (unsigned k = 0; k < std::size(kinds); ++k) {
    if (std::strcmp(kinds[k], name) == 0)
      return static_cast<preemption>(k);
  }
  std::fprintf(stderr, "no such kind: %s\n", name);
  std::exit(2);
}

void one_round(course& c, unsigned who, unsigned round) {
  check_registers(c, who, round);
  check_floating_point(c, who, round + 1);
  check_thread_locals(c, who, round);
  check_errno(c, who, round + 1);
  if (!c.kept.runtime_of_the_language)
    return;
  check_memory(c, who, round);
  check_exceptions(c, who, round);
  check_unwinding(c, who, round);
}

// Until all have moved often enough, and somebody was preempted if that can be.
void run(course& c, preemption kind, std::int64_t enough) {
  const std::size_t before = preempt::counts().preemptions;
  thread_attributes a;
  a.preemption = kind;
  std::vector<thread> all;
  for (unsigned who = 0; who < threads; ++who) {
    a.pool = c.there[who % 2];
    all.emplace_back(a, [&c, who, kind, enough, before] {
      for (unsigned round = 0; c.broken == nullptr; ++round) {
        const bool preempted = kind == preemption::none || preempt::counts().preemptions != before;
        if (preempted && c.migrations.load(std::memory_order_relaxed) >= enough)
          break;
        one_round(c, who, round);
      }
    });
  }
  for (thread& t : all)
    t.join();
}

int test(const char* name, std::int64_t enough) {
  const preemption kind = kind_of(name);
  if (!can_preempt(kind)) {
    std::printf("skipped: no threads of kind %s on this machine\n", name);
    return 77;
  }
  if (kind != preemption::none && std::getenv("WEFT_SIM") != nullptr) {
    std::printf("skipped: in a simulation threads of kind %s are cooperative, none would be preempted\n",
                name);
    return 77;
  }
  runtime::start({.workers = 2, .pools = sched::arrangement::pool_per_worker});
  if (kind != preemption::none)
    preempt::set_interval(std::chrono::microseconds(100));
  course c;
  c.kept = promises_of(kind);
  // The others run on blocks that they borrow, or on kernel threads that are no worker's.
  c.changes_kernel_thread = kind == preemption::none || kind == preemption::signal_yield;
  for (unsigned w = 0; w < 2; ++w) { // each names its own once it runs
    while ((c.there[w] = runtime::default_group().member(w).main_pool.load_acquire()) == nullptr)
      this_thread::yield();
  }
  run(c, kind, enough);
  std::printf("%s: %lld migrations, %zu preemptions: %s\n", name, static_cast<long long>(c.migrations.load()),
              preempt::counts().preemptions, c.broken != nullptr ? c.broken.load() : "all kept");
  const bool stopped = runtime::stop();
  return c.broken == nullptr && stopped ? 0 : 1;
}

} // namespace
} // namespace weft::thread_state

int main(int argc, char** argv) {
  const char* const given = std::getenv("WEFT_STATE_MIGRATIONS");
  const char* const number = argc > 2 ? argv[2] : given;
  return weft::thread_state::test(argc > 1 ? argv[1] : "none",
                                  number != nullptr ? std::atoll(number) : 100'000);
}
