// SPDX-License-Identifier: MIT
// The constructs, for any OpenMP runtime.
#include <omp.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/constructs/workload.hpp"
#include "bench/peer/openmp.hpp"

namespace bench = weft::bench;
namespace constructs = weft::bench::constructs;

namespace {

using bench::now_ns;

int workers() {
  return omp_get_max_threads();
}

void nothing() {
  asm volatile("" ::: "memory");
}

// Of the whole team, by its master's clock, for one of `rounds`.
template <class Act>
double in_a_region(std::size_t rounds, int threads, Act&& act) {
  std::int64_t begin = 0, end = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp barrier
#pragma omp master
    begin = now_ns();
    for (std::size_t i = 0; i < rounds; ++i)
      act();
#pragma omp barrier
#pragma omp master
    end = now_ns();
  }
  return static_cast<double>(end - begin) / static_cast<double>(rounds);
}

double regions(std::size_t rounds) {
  const std::int64_t begin = now_ns();
  for (std::size_t i = 0; i < rounds; ++i) {
#pragma omp parallel
    nothing();
  }
  return static_cast<double>(now_ns() - begin) / static_cast<double>(rounds);
}

double barriers(std::size_t rounds) {
  return in_a_region(rounds, workers(), [] {
#pragma omp barrier
  });
}

double inner_regions(std::size_t rounds) {
  return in_a_region(rounds, 2, [] {
#pragma omp parallel
    nothing();
  });
}

double locks(bench::recorder& rec, std::size_t rounds) {
  omp_lock_t lock;
  omp_init_lock(&lock);
  volatile std::size_t count = 0;
  const double ns = in_a_region(rounds, workers(), [&] {
    omp_set_lock(&lock);
    count = count + 1;
    omp_unset_lock(&lock);
  });
  omp_destroy_lock(&lock);
  rec.check(count == rounds * rec.opt().workers, "every thread increments the number each time");
  return ns / rec.opt().workers;
}

long fib(long n) {
  if (n < 2)
    return n;
  long a = 0, b = 0;
#pragma omp task shared(a) firstprivate(n)
  a = fib(n - 1);
#pragma omp task shared(b) firstprivate(n)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

double tree(bench::recorder& rec) {
  long answer = 0;
  const auto n = static_cast<long>(rec.opt().n);
  const std::int64_t begin = now_ns();
#pragma omp parallel
#pragma omp single
  answer = fib(n);
  const std::int64_t end = now_ns();
  rec.check(answer == constructs::fib_by_calls(n), "fib(n)");
  return static_cast<double>(end - begin);
}

// Of the whole process.
double cpu_ms() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e3 +
         static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e3;
}

void idle(bench::recorder& rec) {
  constexpr useconds_t for_so_long = 500'000;
  rec.unit("ms CPU in 0.5 s");
  for (int i = 0; i < 2; ++i) {
    regions(100);
    const double before = cpu_ms();
    usleep(for_so_long);
    rec.add_sample(cpu_ms() - before);
    rec.add_ops(1);
  }
}

void measure(bench::recorder& rec, const std::string& construct) {
  const std::size_t rounds = rec.opt().rounds;
  if (construct == "region")
    constructs::take_samples(rec, rounds, [&] { return regions(rounds); });
  else if (construct == "barrier")
    constructs::take_samples(rec, rounds, [&] { return barriers(rounds); });
  else if (construct == "inner")
    constructs::take_samples(rec, rounds, [&] { return inner_regions(rounds); });
  else if (construct == "lock")
    constructs::take_samples(rec, rounds, [&] { return locks(rec, rounds); });
  else if (construct == "fib")
    constructs::take_samples(rec, 1, [&] { return tree(rec); });
  else
    idle(rec);
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, constructs::defaults(), constructs::forms());
  const std::string& form = rec.opt().form;
  const std::size_t dot = form.find('.');
  bench::openmp::wait_with_policy(form.substr(dot + 1), argv);
  bench::openmp::check_runtime(rec);
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  omp_set_num_threads(static_cast<int>(rec.opt().workers));
  int team = 0;
#pragma omp parallel
#pragma omp single
  team = omp_get_num_threads();
  rec.check(team == static_cast<int>(rec.opt().workers), "a team has as many threads as it should");
  measure(rec, form.substr(0, dot));
  return rec.finish();
}
