// SPDX-License-Identifier: MIT
// Spare kernel threads, and who makes them.
#include "weft/preempt/spares.hpp"

#include <signal.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "weft/base/atomic.hpp"
#include "weft/base/immortal.hpp"
#include "weft/base/knob.hpp"
#include "weft/base/spin_lock.hpp"
#include "weft/memory/overflow.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/preempt/creator.hpp"
#include "weft/sched/carrier.hpp"

namespace weft::preempt {
namespace {

constinit base::integer_knob spares_knob{"WEFT_PREEMPTION_SPARES",
                                         256,
                                         {1, 32'768},
                                         base::knob_scale::count,
                                         "kernel threads at most on which workers go on whose own one a "
                                         "preempted thread keeps; beyond, ticks wait"};
const base::knob_list spares_knobs{spares_knob};

struct spare {
  sched::carrier carrier;
  os::kernel_thread thread;
  sigset_t mask;
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

// Ownership: `all_`, `ready_` and the making of spares are guarded by `making_`, which is never held in
// user mode; `free_` by `lock_`, a leaf that is held for a few instructions.
class spares final : public sched::carrier_lender {
 public:
  sched::carrier* lend() noexcept override {
    bool last = true;
    sched::carrier* c = take_free(last);
    if (last)
      ask_creator(spares_wanted); // before the next one finds none
    return c;
  }
  bool more_may_come() noexcept override {
    return ready_.load_relaxed() && !failed_.load_relaxed() && // not ready: in the child of fork()
           count_.load_relaxed() < static_cast<std::size_t>(spares_knob.get());
  }
  void take_back(sched::carrier* first) noexcept override {
    const std::scoped_lock held(lock_);
    while (first != nullptr) {
      sched::carrier* next = std::exchange(first->next, free_);
      free_ = first;
      first = next;
    }
  }

  void provide(std::size_t count) {
    if (ready_.load_acquire() && count_.load_relaxed() >= count) // acquire: pairs with the release below
      return;
    const std::scoped_lock held(making_);
    if (!ready_.load_relaxed())
      prepare();
    sched::lender_of_carriers.store(this, std::memory_order_release);
    make_until(count);
    ready_.store_release(true);
  }
  // A batch, for who found none.
  void make_more() noexcept {
    constexpr std::size_t batch = 4;
    const std::scoped_lock held(making_);
    try {
      make_until(all_.size() + batch);
      failed_.store_relaxed(false);
    } catch (const std::exception&) { // the next tick asks again
      failed_.store_relaxed(true);
    }
  }
  void end_all() noexcept {
    const std::scoped_lock held(making_);
    for (auto& s : all_)
      s->carrier.end();
    for (auto& s : all_)
      s->thread.join();
    all_.clear();
    count_.store_relaxed(0);
    free_ = nullptr;
    ready_.store_relaxed(false);
    failed_.store_relaxed(false);
  }
  void forget_after_fork() noexcept {
    static_cast<void>(new (std::nothrow) std::vector<std::unique_ptr<spare>>(std::move(all_))); // leaked
    ::new (static_cast<void*>(this)) spares;
  }
  // Not while some are made: the maker may wait for a lock of libc's whose owner waits for who calls here.
  void for_each(void (*action)(sched::carrier&, void*), void* argument) {
    const std::unique_lock held(making_, std::try_to_lock);
    if (!held)
      return;
    for (auto& s : all_)
      action(s->carrier, argument);
  }
  std::size_t count() noexcept {
    const std::scoped_lock held(making_);
    return all_.size();
  }

 private:
  sched::carrier* take_free(bool& last) noexcept {
    const std::scoped_lock held(lock_);
    sched::carrier* c = free_;
    if (c != nullptr)
      free_ = std::exchange(c->next, nullptr);
    last = free_ == nullptr;
    return c;
  }
  void prepare() {
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_of_spares_);
    handle_hand_off_signal();
    start_creator();
  }
  void make_until(std::size_t count) {
    const std::size_t most = std::min(count, static_cast<std::size_t>(spares_knob.get()));
    while (all_.size() < most) {
      all_.reserve(all_.size() + 1);
      auto fresh = std::make_unique<spare>();
      fresh->carrier.prepare_spare();
      fresh->mask = mask_of_spares_;
      if (const int error =
              os::start_with_signals_blocked(fresh->thread, &live_as_spare, fresh.get(), 64 << 10))
        throw std::system_error(error, std::generic_category(), "weft: no spare kernel thread");
      take_back(&fresh->carrier);
      all_.push_back(std::move(fresh));
      count_.store_relaxed(all_.size());
    }
  }
  std::mutex making_;
  std::vector<std::unique_ptr<spare>> all_;
  sigset_t mask_of_spares_{};
  base::atomic<bool> ready_{false};
  base::atomic<bool> failed_{false};   // the last time that more were wanted
  base::atomic<std::size_t> count_{0}; // of `all_`
  base::spin_lock lock_;
  sched::carrier* free_ = nullptr;
};

spares& process_spares() noexcept {
  return base::immortal<spares>();
}

} // namespace

void provide_spares(std::size_t wanted) {
  process_spares().provide(wanted);
}

void choose_hand_off(hand_off how) noexcept {
  sched::how_to_hand_off.store_relaxed(how);
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
