// SPDX-License-Identifier: MIT
// leanmd against abt.h, for Argobots and for Weft's front: ULTs, tasklets and futures with compartments, a
// pool a stream, under random work stealing.
#include <functional>

#include "bench/leanmd/workload.hpp"
#include "bench/peer/argobots.hpp"

namespace bench = weft::bench;
namespace leanmd = weft::bench::leanmd;

namespace {

bench::argobots* streams = nullptr; // while main is in its body

struct peer {
  class future {
   public:
    future(unsigned compartments, std::function<void()> when_full) : when_full_(std::move(when_full)) {
      ABT_future_create(compartments, &call, &handle_);
    }
    ~future() { ABT_future_free(&handle_); }
    future(const future&) = delete;
    future& operator=(const future&) = delete;

    void set() { ABT_future_set(handle_, this); }
    void wait() {
      ABT_future_wait(handle_);
      // Nobody fills a compartment again before this cell has told the others that it has gone on.
      ABT_future_reset(handle_);
    }

   private:
    static void call(void** values) { static_cast<future*>(values[0])->when_full_(); }

    const std::function<void()> when_full_;
    ABT_future handle_ = ABT_FUTURE_NULL;
  };

  class tasklet {
   public:
    template <class F>
    explicit tasklet(F f) : work_(std::make_unique<std::function<void()>>(std::move(f))) {
      ABT_task_create(
          streams->my_pool(), [](void* work) { (*static_cast<std::function<void()>*>(work))(); }, work_.get(),
          &handle_);
    }
    void join() { ABT_task_free(&handle_); }

   private:
    std::unique_ptr<std::function<void()>> work_;
    ABT_task handle_ = ABT_TASK_NULL;
  };

  template <class F>
  static void for_each(std::size_t n, F f) {
    struct unit {
      F* f;
      std::size_t k;
      ABT_thread handle;
    };
    std::vector<unit> units(n);
    for (std::size_t k = 0; k < n; ++k) {
      units[k] = {&f, k, ABT_THREAD_NULL};
      ABT_thread_create(
          streams->my_pool(),
          [](void* argument) {
            const unit& u = *static_cast<unit*>(argument);
            (*u.f)(u.k);
          },
          &units[k], ABT_THREAD_ATTR_NULL, &units[k].handle);
    }
    for (unit& u : units)
      ABT_thread_free(&u.handle);
  }
};

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, leanmd::defaults(), leanmd::forms({"cells"}));
  bench::argobots runtime(rec.opt().workers);
  streams = &runtime;
  return leanmd::run(
      rec, [](leanmd::cells& all, std::size_t steps) { leanmd::threads_of_cells<peer>(all, steps).run(); });
}
