// SPDX-License-Identifier: MIT
// Spare kernel threads, and who makes them.
#include "weft/preempt/spares.hpp"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include "weft/base/assert.hpp"
#include "weft/base/atomic.hpp"
#include "weft/base/immortal.hpp"
#include "weft/base/knob.hpp"
#include "weft/base/spin_lock.hpp"
#include "weft/carrier/carrier.hpp"
#include "weft/memory/overflow.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/os/own_heap.hpp"
#include "weft/preempt/creator.hpp"

namespace weft::preempt {
namespace {

constinit base::integer_knob spares_knob{"WEFT_PREEMPTION_SPARES",
                                         256,
                                         {1, 32'768},
                                         base::knob_scale::count,
                                         "kernel threads at most on which workers go on whose own one a "
                                         "preempted thread keeps; beyond, ticks wait"};
const base::knob_list spares_knobs{spares_knob};

struct spare : os::on_own_heap {
  sched::carrier carrier;
  os::kernel_thread thread;
  sigset_t mask{};
  spare* next = nullptr; // in the list of all
};

void* live_as_spare(void* argument) {
  spare& self = *static_cast<spare*>(argument);
  os::name_this_kernel_thread("weft-spare");
  memory::install_alternate_stack();
  ::pthread_sigmask(SIG_SETMASK, &self.mask, nullptr);
  self.carrier.live();
  memory::remove_alternate_stack();
  return nullptr;
}

// For hand_off::sigsuspend: the signal need only end a sigsuspend(2).
void handle_hand_off_signal() noexcept {
  struct sigaction nothing = {};
  nothing.sa_handler = [](int) {};
  nothing.sa_flags = SA_RESTART;
  ::sigaction(sched::signal_of_hand_off(), &nothing, nullptr);
}

// Ownership: `ready_` and the making of spares are guarded by `making_`, which is never held in user mode;
// `free_` by `lock_`, a leaf that is held for a few instructions. `all_` grows until all end together, so it
// is walked without a lock: who makes spares may wait for a lock of libc's, and who looks must not.
class spares final : public sched::carrier_lender {
 public:
  sched::carrier* lend() noexcept override { return take_free(reserved_.load_relaxed()); }
  sched::carrier* lend_to_alone() noexcept override { return take_free(0); }
  bool more_may_come() noexcept override {
    return ready_.load_relaxed() && !failed_.load_relaxed() && // not ready: in the child of fork()
           count_.load_relaxed() < most_ordinary() + reserved_.load_relaxed();
  }
  void count_leaver(bool more) noexcept override { leavers_.fetch_add_relaxed(more ? 1 : std::size_t(-1)); }
  void take_back(sched::carrier* first) noexcept override {
    const std::scoped_lock held(lock_);
    while (first != nullptr) {
      sched::carrier* next = std::exchange(first->next, free_);
      free_ = first;
      ++free_count_;
      first = next;
    }
  }

  void provide(std::size_t count) {
    // acquire: pairs with the release below
    if (ready_.load_acquire() && count_.load_relaxed() >= count + reserved_.load_relaxed())
      return;
    const std::scoped_lock held(making_);
    if (!ready_.load_relaxed())
      prepare();
    sched::lender_of_carriers.store(this, std::memory_order_release);
    ordinary_ = std::max(ordinary_, std::min(count, most_ordinary()));
    if (const int error = make_all())
      throw std::system_error(error, std::generic_category(), "weft: no spare kernel thread");
    ready_.store_release(true);
  }
  int reserve_one() noexcept {
    const std::scoped_lock held(making_);
    if (!mask_is_known_)
      learn_mask();
    reserved_.fetch_add_relaxed(1);
    const int error = make_all();
    if (error != 0)
      reserved_.fetch_sub_relaxed(1);
    return error;
  }
  void unreserve_one() noexcept { reserved_.fetch_sub_relaxed(1); }
  // A batch, for who found none.
  void make_more() noexcept {
    constexpr std::size_t batch = 4;
    const std::scoped_lock held(making_);
    ordinary_ = std::min(ordinary_ + batch, most_ordinary());
    const int error = make_all();
    failed_.store_relaxed(error != 0); // the next tick asks again
    if (error != 0 && !std::exchange(said_, true))
      base::warn("no spare kernel thread for a worker (%s); what waits in the kernel keeps its worker "
                 "meanwhile",
                 std::strerror(error));
  }
  void end_all() noexcept {
    const std::scoped_lock held(making_);
    for (spare* s = all_.load_relaxed(); s != nullptr; s = s->next)
      s->carrier.end();
    for (spare* s = all_.load_relaxed(); s != nullptr;) {
      spare* const gone = std::exchange(s, s->next);
      gone->thread.join();
      delete gone;
    }
    all_.store_relaxed(nullptr);
    count_.store_relaxed(0);
    reserved_.store_relaxed(0);
    ordinary_ = 0;
    free_ = nullptr;
    free_count_ = 0;
    mask_is_known_ = false;
    ready_.store_relaxed(false);
    failed_.store_relaxed(false);
  }
  void forget_after_fork() noexcept { ::new (static_cast<void*>(this)) spares; } // the parent's are leaked
  void for_each(void (*action)(sched::carrier&, void*), void* argument) {
    for (spare* s = all_.load_acquire(); s != nullptr; s = s->next) // acquire: pairs with the release below
      action(s->carrier, argument);
  }
  std::size_t count() noexcept { return count_.load_relaxed(); }

 private:
  // Whoever left a worker keeps a kernel thread for as long as its call takes, and may leave a lock to nobody
  // else: no limit but the kernel's.
  [[nodiscard]] std::size_t most_ordinary() const noexcept {
    return static_cast<std::size_t>(spares_knob.get()) + leavers_.load_relaxed();
  }
  // Null: there are no more than the caller must leave to others.
  sched::carrier* take_free(std::size_t left) noexcept {
    sched::carrier* c = nullptr;
    bool few = true;
    {
      const std::scoped_lock held(lock_);
      if (free_count_ > left) {
        c = free_;
        free_ = std::exchange(c->next, nullptr);
        --free_count_;
      }
      few = free_count_ <= reserved_.load_relaxed();
    }
    if (few)
      ask_creator(spares_wanted); // before the next one finds none
    return c;
  }
  void learn_mask() noexcept {
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_of_spares_);
    mask_is_known_ = true;
  }
  void prepare() {
    learn_mask();
    start_creator();
  }
  // Returns 0 or an errno.
  int make_all() noexcept {
    while (count_.load_relaxed() < ordinary_ + reserved_.load_relaxed()) {
      if (const int error = make_one())
        return error;
    }
    return 0;
  }
  int make_one() noexcept {
    std::unique_ptr<spare> fresh(new (std::nothrow) spare);
    if (fresh == nullptr)
      return ENOMEM;
    try {
      fresh->carrier.prepare_spare();
    } catch (const std::bad_alloc&) {
      return ENOMEM;
    }
    fresh->mask = mask_of_spares_;
    if (const int error =
            os::start_with_signals_blocked(fresh->thread, &live_as_spare, fresh.get(), 64 << 10))
      return error;
    spare* const made = fresh.release();
    made->next = all_.load_relaxed();
    all_.store_release(made);
    count_.fetch_add_relaxed(1);
    take_back(&made->carrier);
    return 0;
  }
  std::mutex making_;
  base::atomic<spare*> all_{nullptr};
  sigset_t mask_of_spares_{};
  bool mask_is_known_ = false;
  std::size_t ordinary_ = 0; // how many there shall be beside those that are reserved
  base::atomic<bool> ready_{false};
  base::atomic<bool> failed_{false};      // the last time that more were wanted
  base::atomic<std::size_t> count_{0};    // of `all_`
  base::atomic<std::size_t> reserved_{0}; // of them, for threads that go on alone
  base::atomic<std::size_t> leavers_{0};  // cooperative threads that keep a kernel thread
  bool said_ = false;
  base::spin_lock lock_;
  sched::carrier* free_ = nullptr;
  std::size_t free_count_ = 0;
};

spares& process_spares() noexcept {
  return base::immortal<spares>();
}

} // namespace

void provide_spares(std::size_t wanted) {
  process_spares().provide(wanted);
}

void choose_hand_off(hand_off how) noexcept {
  if (how == hand_off::sigsuspend)
    handle_hand_off_signal();
  sched::how_to_hand_off.store_relaxed(how);
}

int reserve_spare() noexcept {
  return process_spares().reserve_one();
}

void unreserve_spare() noexcept {
  process_spares().unreserve_one();
}

void make_spares() noexcept {
  process_spares().make_more();
}

void end_spares() noexcept {
  process_spares().end_all();
}

void forget_spares_after_fork() noexcept {
  process_spares().forget_after_fork();
}

void for_each_spare(void (*action)(sched::carrier&, void*), void* argument) {
  process_spares().for_each(action, argument);
}

std::size_t spare_count() noexcept {
  return process_spares().count();
}

} // namespace weft::preempt
