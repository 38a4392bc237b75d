// SPDX-License-Identifier: MIT
// leanmd with Weft, by work stealing.
#include <atomic>
#include <functional>

#include "bench/leanmd/workload.hpp"
#include "bench/peer/weft.hpp"
#include "weft/semaphore.hpp"
#include "weft/thread.hpp"

namespace bench = weft::bench;
namespace leanmd = weft::bench::leanmd;

namespace {

struct peer {
  class future {
   public:
    future(unsigned compartments, std::function<void()> when_full)
        : compartments_(compartments), empty_(compartments), when_full_(std::move(when_full)) {}

    void set() {
      // acq_rel: the last one sees what all have filled in.
      if (empty_.fetch_sub(1, std::memory_order_acq_rel) != 1)
        return;
      when_full_();
      // Nobody fills a compartment again before the waiter has gone on.
      empty_.store(compartments_, std::memory_order_relaxed);
      full_.release();
    }
    void wait() { full_.acquire(); }

   private:
    const unsigned compartments_;
    std::atomic<unsigned> empty_;
    const std::function<void()> when_full_;
    weft::counting_semaphore<1> full_{0};
  };

  using tasklet = weft::tasklet;

  template <class F>
  static void for_each(std::size_t n, F f) {
    std::vector<weft::thread> threads;
    for (std::size_t k = 0; k < n; ++k)
      threads.emplace_back(f, k);
    for (weft::thread& t : threads)
      t.join();
  }
};

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, leanmd::defaults(), leanmd::forms({"cells", "serial"}));
  if (leanmd::how(rec) == "serial")
    return leanmd::run(rec, leanmd::run_serially);
  const weft::runtime::scope runtime(bench::weft_options(rec.opt().workers));
  return leanmd::run(
      rec, [](leanmd::cells& all, std::size_t steps) { leanmd::threads_of_cells<peer>(all, steps).run(); });
}
