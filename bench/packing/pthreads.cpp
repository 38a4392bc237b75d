// SPDX-License-Identifier: MIT
// packing with POSIX threads that live as long as the program, on n CPUs, as taskset would put them there; a
// region begins and ends at a barrier of the C library's, which sleeps.
#include <pthread.h>

#include <atomic>
#include <thread>

#include "bench/packing/workload.hpp"

namespace bench = weft::bench;

namespace {

class team {
 public:
  explicit team(unsigned threads) {
    pthread_barrier_init(&barrier_, nullptr, threads + 1);
    for (unsigned i = 0; i < threads; ++i)
      threads_.emplace_back([this, i] { work(i); });
  }
  ~team() {
    over_ = true;
    pthread_barrier_wait(&barrier_);
    for (std::thread& t : threads_)
      t.join();
    pthread_barrier_destroy(&barrier_);
  }
  void run(std::function<void(unsigned)> f) {
    f_ = std::move(f);
    pthread_barrier_wait(&barrier_);
    pthread_barrier_wait(&barrier_);
  }

 private:
  void work(unsigned i) {
    for (;;) {
      pthread_barrier_wait(&barrier_);
      if (over_)
        return;
      f_(i);
      pthread_barrier_wait(&barrier_);
    }
  }

  pthread_barrier_t barrier_;
  std::function<void(unsigned)> f_;
  bool over_ = false;
  std::vector<std::thread> threads_;
};

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::packing::defaults(), bench::packing::forms({"affinity"}));
  bench::keep_to_cpus(rec.opt().workers);
  team all(static_cast<unsigned>(rec.opt().n));
  return bench::packing::run(rec, [&](unsigned, auto&& f) { all.run(f); });
}
