// SPDX-License-Identifier: MIT
// The patterns with a kernel thread a unit, on as many CPUs as workers were asked for (as far as there are
// that many).
#include <pthread.h>
#include <sched.h>

#include <cstdio>
#include <cstdlib>

#include "bench/patterns/units.hpp"

namespace bench = weft::bench;
namespace patterns = weft::bench::patterns;

namespace {

struct library {
  using outer = pthread_t;
  using leaf = pthread_t;
  static constexpr bool newest_first = false;

  static void* start(void* piece) {
    patterns::units<library>::call(piece);
    return nullptr;
  }
  template <class Piece>
  void create(pthread_t& h, unsigned, Piece& p) {
    create_here(h, p);
  }
  template <class Piece>
  void create_here(pthread_t& h, Piece& p) {
    if (pthread_create(&h, nullptr, &start, &p) != 0) {
      std::fputs("pthread_create failed\n", stderr);
      std::exit(2);
    }
  }
  void join(pthread_t h) { pthread_join(h, nullptr); }
};

void use_cpus(unsigned count) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed))
      continue;
    if (count == 0) {
      CPU_CLR(cpu, &allowed);
    } else {
      --count;
    }
  }
  sched_setaffinity(0, sizeof allowed, &allowed);
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, patterns::defaults(), patterns::forms({"thread"}));
  use_cpus(rec.opt().workers);
  library lib;
  return patterns::run(rec, patterns::units<library>(lib, rec.opt()));
}
