// SPDX-License-Identifier: MIT
// What one operation costs on W = 1, 2, 4, ..., 256 simulated workers: atomic operations, cache lines that
// move, steals. Counts, not times: whatever else the machine does does not matter, only addresses do a
// little. One JSON object on stdout; bench/scaling/report.py makes the table.
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <mutex>
#include <vector>

#include "bench/scaling/lines.hpp"
#include "weft/trace/session.hpp"
#include "weft/weft.hpp"

namespace {

using namespace weft;

long fib(int n) {
  if (n < 2)
    return n;
  auto other = fork([n] { return fib(n - 1); });
  const long mine = fib(n - 2);
  return other.join() + mine;
}

template <class F>
void on_threads(unsigned count, F f) {
  std::vector<thread> threads;
  for (unsigned i = 0; i < count; ++i)
    threads.emplace_back(f);
  for (auto& t : threads)
    t.join();
}

// --- workloads: each does some operations and says how many ---

std::size_t fork_join(unsigned) {
  constexpr int n = 16;
  constexpr std::size_t forks = 1596; // fib(n + 1) - 1
  if (fib(n) != 987)
    std::abort();
  return forks;
}

std::size_t create_and_join(unsigned workers) {
  constexpr unsigned each = 64;
  on_threads(workers, [] {
    for (unsigned i = 0; i < each; ++i)
      thread([] {}).join();
  });
  return std::size_t{workers} * each;
}

std::size_t yields(unsigned workers) {
  constexpr unsigned each = 64;
  on_threads(4 * workers, [] {
    for (unsigned i = 0; i < each; ++i)
      this_thread::yield();
  });
  return std::size_t{4} * workers * each;
}

std::size_t one_mutex(unsigned workers) {
  constexpr unsigned each = 64;
  mutex lock;
  long sum = 0;
  on_threads(workers, [&] {
    for (unsigned i = 0; i < each; ++i) {
      const std::scoped_lock held(lock);
      ++sum;
    }
  });
  return static_cast<std::size_t>(sum);
}

// A token goes round among as many threads as there are workers.
std::size_t ring(unsigned workers) {
  const unsigned count = workers + 1;
  constexpr unsigned rounds = 32;
  std::vector<std::unique_ptr<binary_semaphore>> gates;
  for (unsigned i = 0; i < count; ++i)
    gates.push_back(std::make_unique<binary_semaphore>(0));
  std::vector<thread> threads;
  for (unsigned i = 0; i < count; ++i) {
    threads.emplace_back([&gates, i, count] {
      for (unsigned round = 0; round < rounds; ++round) {
        gates[i]->acquire();
        gates[(i + 1) % count]->release();
      }
    });
  }
  gates[0]->release();
  for (auto& t : threads)
    t.join();
  return std::size_t{count} * rounds;
}

struct workload {
  const char* name;
  std::size_t (*run)(unsigned workers);
};
constexpr workload workloads[] = {{"fork_join", &fork_join},
                                  {"create_join", &create_and_join},
                                  {"yield", &yields},
                                  {"mutex", &one_mutex},
                                  {"ring", &ring}};

struct result {
  scaling::totals lines;
  std::uint64_t steals = 0;
  std::uint64_t steal_attempts = 0;
  std::uint64_t parks = 0;
  simulation::counts schedule;
  std::size_t operations = 0;
};

result measure(const workload& w, unsigned workers, std::uint64_t seed) {
  result r;
  const simulation::scope simulated(seed);
  const runtime::scope runtime({.workers = workers});
  w.run(workers); // memory is there, workers know each other
  const trace::counters before = trace::session::of_process().total();
  scaling::start();
  r.operations = w.run(workers);
  r.lines = scaling::stop();
  const trace::counters after = trace::session::of_process().total();
  r.steals = after.steals - before.steals;
  r.steal_attempts = after.steal_attempts - before.steal_attempts;
  r.parks = after.parks - before.parks;
  r.schedule = simulation::count();
  return r;
}

void print(const workload& w, unsigned workers, std::uint64_t seed, bool last) {
  const result r = measure(w, workers, seed);
  const auto each = [&r](std::uint64_t n) {
    return static_cast<double>(n) / static_cast<double>(r.operations);
  };
  std::printf(
      "  {\"workload\": \"%s\", \"workers\": %u, \"seed\": %llu, \"operations\": %zu, \"loads\": %.3f, "
      "\"stores\": %.3f, \"changes\": %.3f, \"moved\": %.3f, \"upgraded\": %.3f, \"steals\": %.4f, "
      "\"steal_attempts\": %.4f, \"parks\": %.4f, \"schedule\": \"%016llx\"}%s\n",
      w.name, workers, static_cast<unsigned long long>(seed), r.operations, each(r.lines.loads),
      each(r.lines.stores), each(r.lines.changes), each(r.lines.moved), each(r.lines.upgraded),
      each(r.steals), each(r.steal_attempts), each(r.parks),
      static_cast<unsigned long long>(r.schedule.schedule), last ? "" : ",");
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
  const unsigned most = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 256;
  constexpr std::uint64_t seeds = 5;
  std::printf("[\n");
  for (const workload& w : workloads) {
    for (unsigned workers = 1; workers <= most; workers *= 2) {
      for (std::uint64_t seed = 1; seed <= seeds; ++seed)
        print(w, workers, seed, &w == std::end(workloads) - 1 && workers * 2 > most && seed == seeds);
    }
  }
  std::printf("]\n");
  return 0;
}
