// SPDX-License-Identifier: MIT
#include "weft/preempt/creator.hpp"

#include <mutex>
#include <new>
#include <system_error>

#include "weft/base/atomic.hpp"
#include "weft/base/immortal.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/futex.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/preempt/donors.hpp"
#include "weft/preempt/made_blocks.hpp"
#include "weft/preempt/spares.hpp"

namespace weft::preempt {
namespace {

constexpr std::uint32_t ends = 4;

class creator {
 public:
  void start() {
    const std::scoped_lock held(lock_);
    if (runs_)
      return;
    asked_.store_relaxed(0);
    const int error = os::start_with_signals_blocked(
        thread_,
        [](void* self) -> void* {
          static_cast<creator*>(self)->create();
          return nullptr;
        },
        this, 64 << 10);
    if (error != 0)
      throw std::system_error(error, std::generic_category(), "weft: no kernel thread that makes others");
    runs_ = true;
  }
  void stop() noexcept {
    const std::scoped_lock held(lock_);
    if (!runs_)
      return;
    ask(ends);
    thread_.join();
    runs_ = false;
  }
  void forget_after_fork() noexcept { ::new (static_cast<void*>(this)) creator; }
  void ask(std::uint32_t what) noexcept {
    asked_.fetch_or_acq_rel(what); // pairs with the exchange in create()
    os::futex_wake(&asked_, 1);
  }

 private:
  void look_again_soon() noexcept {
    constexpr std::int64_t soon = 50'000;
    const std::uint32_t asked = asked_.fetch_or_acq_rel(donors_leave) | donors_leave;
    os::futex_wait_until(&asked_, asked, os::now_ns() + soon);
  }
  void create() noexcept {
    os::name_this_kernel_thread("weft-creator");
    for (;;) {
      const std::uint32_t what = asked_.exchange_acq_rel(0);
      if ((what & ends) != 0)
        return;
      if ((what & spares_wanted) != 0)
        make_spares();
      if ((what & donors_wanted) != 0)
        make_donors();
      if ((what & bound_donors_wanted) != 0)
        make_bound_donors();
      if ((what & made_blocks_wanted) != 0)
        make_blocks();
      if ((what & donors_leave) != 0 && !join_leaving_donors())
        look_again_soon(); // at those that end; meanwhile more may be asked for
      if (what == 0)
        os::futex_wait(&asked_, 0);
    }
  }

  std::mutex lock_;
  os::kernel_thread thread_;
  bool runs_ = false;
  base::atomic<std::uint32_t> asked_{0}; // a futex
};

creator& process_creator() noexcept {
  return base::immortal<creator>();
}

} // namespace

void start_creator() {
  process_creator().start();
}

void stop_creator() noexcept {
  process_creator().stop();
}

void forget_creator_after_fork() noexcept {
  process_creator().forget_after_fork();
}

void ask_creator(wanted what) noexcept {
  process_creator().ask(what);
}

} // namespace weft::preempt
