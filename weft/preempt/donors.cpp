// SPDX-License-Identifier: MIT
// TLS blocks to lend, and the kernel threads that they belong to.
#include "weft/preempt/donors.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "weft/arch/user_mode.hpp"
#include "weft/base/immortal.hpp"
#include "weft/base/knob.hpp"
#include "weft/base/spin_lock.hpp"
#include "weft/os/futex.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/preempt/creator.hpp"
#include "weft/sched/user_mode.hpp"

extern "C" {
// glibc 2.35: where a kernel thread's area for restartable sequences stands, from the thread pointer.
extern const std::ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));
}

namespace weft::preempt {
namespace {

constinit base::integer_knob donors_knob{"WEFT_PREEMPTION_DONORS",
                                         256,
                                         {1, 32'768},
                                         base::knob_scale::count,
                                         "kernel threads at most that lend thread-local storage to threads "
                                         "that are preempted; beyond, ticks wait"};
const base::knob_list listed{donors_knob};

// sched_getcpu() and malloc read the CPU from this area, which the kernel keeps for the donor's own CPU; once
// it is unregistered they ask the kernel.
void unregister_restartable_sequences() noexcept {
  if (&__rseq_size == nullptr || __rseq_size == 0)
    return;
  constexpr unsigned registered_bytes = 32; // what glibc registers, whatever the kernel uses of it
  constexpr int unregister = 1;
  constexpr unsigned signature = 0x53053053;
  auto* area = static_cast<std::byte*>(arch::thread_pointer()) + __rseq_offset;
  static_cast<void>(::syscall(SYS_rseq, area, registered_bytes, unregister, signature));
}

enum : std::uint32_t { starting, lending, ending };

struct donor {
  sched::tls_block block;
  os::kernel_thread thread;
  base::atomic<std::uint32_t> state{starting};

  void end() noexcept {
    state.store_release(ending); // pairs with the acquire in live_as_donor()
    os::futex_wake(&state, 1);
  }
};

void* live_as_donor(void* argument) {
  donor& self = *static_cast<donor*>(argument);
  os::name_this_kernel_thread("weft-donor");
  unregister_restartable_sequences();
  sched::describe_tls_block(self.block);
  self.state.store_release(lending); // pairs with the acquire in start_one(): the block is described
  os::futex_wake(&self.state, 1);
  while (self.state.load_acquire() != ending)
    os::futex_wait(&self.state, lending);
  // Destructors of thread-locals that run now find the front of a kernel thread that is no worker.
  *self.block.here = nullptr;
  sched::set_here(nullptr);
  return nullptr;
}

// Ownership: `all_` and the making of donors are guarded by `making_`, which is never held in user mode;
// `free_` by `lock_`, a leaf that is held for a few instructions.
class donors final : public sched::tls_lender {
 public:
  sched::tls_block* lend() noexcept override {
    bool last = true;
    sched::tls_block* block = take_free(last);
    if (last && more_may_come())
      ask_creator(donors_wanted); // before the next one finds none
    return block;
  }
  bool more_may_come() noexcept override {
    return ready_.load_relaxed() && !failed_.load_relaxed() && // not ready: in the child of fork()
           count_.load_relaxed() < static_cast<std::size_t>(donors_knob.get());
  }
  // A batch, for who found none.
  void make_more() noexcept {
    constexpr std::size_t batch = 4;
    const std::scoped_lock held(making_);
    try {
      make_until(all_.size() + batch);
      failed_.store_relaxed(false);
    } catch (const std::exception&) { // those without one go on without until there is
      failed_.store_relaxed(true);
    }
  }
  void take_back(sched::tls_block* first) noexcept override {
    const std::scoped_lock held(lock_);
    while (first != nullptr) {
      sched::tls_block* next = std::exchange(first->next, free_);
      free_ = first;
      first = next;
    }
  }

  sched::tls_block& bind() override {
    const std::scoped_lock held(making_);
    if (all_.size() >= static_cast<std::size_t>(donors_knob.get()))
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                              "weft: WEFT_PREEMPTION_DONORS kernel threads lend their storage already");
    return start_one();
  }
  void unbind(sched::tls_block& block) noexcept override {
    std::unique_ptr<donor> leaves;
    {
      const std::scoped_lock held(making_);
      const auto place =
          std::find_if(all_.begin(), all_.end(), [&block](auto& d) { return &d->block == &block; });
      if (place == all_.end())
        return; // the parent's, before a fork
      leaves = std::move(*place);
      all_.erase(place);
      count_.store_relaxed(all_.size());
    }
    leaves->end();
    leaves->thread.join();
  }

  void provide(std::size_t count) {
    if (ready_.load_acquire() && count_.load_relaxed() >= count) // acquire: pairs with the release below
      return;
    const std::scoped_lock held(making_);
    start_creator();
    sched::lender_of_tls.store(this, std::memory_order_release);
    make_until(count);
    ready_.store_release(true);
  }
  void end_all() noexcept {
    const std::scoped_lock held(making_);
    for (auto& d : all_)
      d->end();
    for (auto& d : all_)
      d->thread.join();
    all_.clear();
    count_.store_relaxed(0);
    free_ = nullptr;
    ready_.store_relaxed(false);
    failed_.store_relaxed(false);
  }
  void forget_after_fork() noexcept {
    static_cast<void>(new (std::nothrow) std::vector<std::unique_ptr<donor>>(std::move(all_))); // leaked
    ::new (static_cast<void*>(this)) donors;
  }
  std::size_t count() noexcept {
    const std::scoped_lock held(making_);
    return all_.size();
  }

 private:
  sched::tls_block* take_free(bool& last) noexcept {
    const std::scoped_lock held(lock_);
    sched::tls_block* block = free_;
    if (block != nullptr)
      free_ = std::exchange(block->next, nullptr);
    last = free_ == nullptr;
    return block;
  }
  void make_until(std::size_t count) {
    const auto most = static_cast<std::size_t>(donors_knob.get());
    while (all_.size() < std::min(count, most))
      take_back(&start_one());
  }
  sched::tls_block& start_one() {
    auto fresh = std::make_unique<donor>();
    all_.reserve(all_.size() + 1);
    const int error = // it has all signals blocked for good
        os::start_with_signals_blocked(fresh->thread, &live_as_donor, fresh.get(), 16 << 10);
    if (error != 0) {
      throw std::system_error(error, std::generic_category(),
                              "weft: no kernel thread to lend its thread-local storage");
    }
    while (fresh->state.load_acquire() == starting)
      os::futex_wait(&fresh->state, starting);
    all_.push_back(std::move(fresh));
    count_.store_relaxed(all_.size());
    return all_.back()->block;
  }

  std::mutex making_;
  base::atomic<bool> ready_{false};
  base::atomic<bool> failed_{false}; // the last time that more were wanted
  base::atomic<std::size_t> count_{0};
  std::vector<std::unique_ptr<donor>> all_;
  base::spin_lock lock_;
  sched::tls_block* free_ = nullptr;
};

donors& process_donors() noexcept {
  return base::immortal<donors>();
}

} // namespace

void provide_donors(std::size_t wanted) {
  process_donors().provide(wanted);
}

void make_donors() noexcept {
  process_donors().make_more();
}

void end_donors() noexcept {
  process_donors().end_all();
}

void forget_donors_after_fork() noexcept {
  process_donors().forget_after_fork();
}

std::size_t donor_count() noexcept {
  return process_donors().count();
}

} // namespace weft::preempt
