// SPDX-License-Identifier: MIT
// delegation with boost::fibers::mutex; the fibers of all kernel threads are shared (shared_work).
#include <boost/fiber/all.hpp>

#include <memory>
#include <thread>

#include "bench/delegation/workload.hpp"

namespace bench = weft::bench;
namespace fibers = boost::fibers;

namespace {

/// Kernel threads that run fibers until the end.
class workers {
 public:
  explicit workers(unsigned count) {
    for (unsigned i = 1; i < count; ++i) {
      others_.emplace_back([this] {
        fibers::use_scheduling_algorithm<fibers::algo::shared_work>();
        std::unique_lock<fibers::mutex> held(lock_);
        ended_.wait(held, [this] { return end_; });
      });
    }
    fibers::use_scheduling_algorithm<fibers::algo::shared_work>();
  }
  workers(const workers&) = delete;
  ~workers() {
    {
      const std::unique_lock<fibers::mutex> held(lock_);
      end_ = true;
    }
    ended_.notify_all();
    for (std::thread& t : others_) {
      t.join();
    }
  }

 private:
  fibers::mutex lock_;
  fibers::condition_variable ended_;
  bool end_ = false;
  std::vector<std::thread> others_;
};

struct library {
  template <class Body>
  void threads(std::size_t n, Body body) {
    std::vector<fibers::fiber> all;
    for (std::size_t i = 0; i < n; ++i) {
      all.emplace_back([&body] { body(); });
    }
    for (fibers::fiber& f : all) {
      f.join();
    }
  }
  static void yield() { boost::this_fiber::yield(); }
};

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::delegation::defaults(), bench::delegation::forms({"mutex"}));
  const workers all(rec.opt().workers);
  return bench::delegation::run(rec, bench::delegation::by_mutex<library, fibers::mutex>{});
}
