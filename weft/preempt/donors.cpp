// SPDX-License-Identifier: MIT
// TLS blocks to lend, and the kernel threads that they belong to.
#include "weft/preempt/donors.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include "weft/arch/user_mode.hpp"
#include "weft/base/immortal.hpp"
#include "weft/base/knob.hpp"
#include "weft/base/spin_lock.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/futex.hpp"
#include "weft/os/guarded_stack.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/os/own_heap.hpp"
#include "weft/preempt/creator.hpp"
#include "weft/preempt/made_blocks.hpp"
#include "weft/preempt/spares.hpp"
#include "weft/workers/group.hpp"

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
const base::knob_list donors_knobs{donors_knob};

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

struct donor : os::on_own_heap {
  sched::tls_block block; // first: a block's donor stands where it does
  os::kernel_thread thread;
  os::guarded_stack
      stack; // with the block, which a thread that it is bound to has in a child of fork() still
  base::atomic<std::uint32_t> state{starting};
  base::atomic<std::uint32_t> ended{0}; // of a bound one: a futex
  const unsigned generation;            // of the process: forks before it was made
  donor* next = nullptr;                // in the list of all, or of those that leave
  donor* before = nullptr;

  explicit donor(unsigned g) noexcept : generation(g) {}
  static donor& of(sched::tls_block& block) noexcept { return reinterpret_cast<donor&>(block); }
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
  // Destructors of thread-locals that run now find the face of a kernel thread that is no worker.
  *self.block.here = nullptr;
  sched::set_here(nullptr);
  return nullptr;
}

// Kernel threads are made and joined by the creator alone, for both may wait for a lock of libc's: whose
// owner may have been preempted, and goes on only if no worker waits for the creator. Ownership: all lists,
// `lock_`, a leaf that is held for a few instructions.
class donors final : public sched::tls_lender {
 public:
  sched::tls_block* lend() noexcept override {
    bool last = true;
    sched::tls_block* block = take_first(free_, last);
    if (last && more_may_come())
      ask_creator(donors_wanted); // before the next one finds none
    return block;
  }
  bool more_may_come() noexcept override {
    return ready_.load_relaxed() && !failed_.load_relaxed() && // not ready: in the child of fork()
           has_room();
  }
  // What was asked for: a batch to lend, and one to bind for each who waits for one.
  void make_more() noexcept {
    constexpr std::size_t batch = 4;
    const int error = make(free_, batch);
    failed_.store_relaxed(error != 0); // those without one go on without until there is
  }
  void make_fresh() noexcept {
    int error = 0;
    while (error == 0 && is_short_of_fresh() && has_room())
      error = make(fresh_, 1);
    if (error != 0)
      fresh_error_.store_relaxed(error);
    fresh_asked_.store_release(false); // pairs with the exchange in bind(), which then finds the error
    fresh_calls_.fetch_add_release(1); // pairs with the acquire in await_bound()
    os::futex_wake(&fresh_calls_, INT_MAX);
  }
  void take_back(sched::tls_block* first) noexcept override {
    if (first->is_made)
      return take_back_made(first);
    const std::scoped_lock held(lock_);
    while (first != nullptr) {
      sched::tls_block* next = std::exchange(first->next, free_);
      free_ = first;
      first = next;
    }
  }

  sched::tls_block* bind(bool first) override {
    if (blocks_are_made())
      return bind_made(first);
    bool full = false;
    if (sched::tls_block* const block = take_fresh(first, full))
      return block;
    if (!full && fresh_error_.load_relaxed() == 0) {
      // Once a turn of the creator's, and not after one that has failed: one more that succeeds would leave
      // the error to whoever asks next. Who is counted too late for a turn asks after its end.
      const bool asks = !fresh_asked_.exchange_acq_rel(true); // pairs with the release in make_fresh()
      if (!asks || fresh_error_.load_relaxed() == 0) {
        fresh_wanted_.fetch_add_relaxed(first ? 1 : 0);
        if (asks)
          ask_creator(bound_donors_wanted);
        return nullptr;
      }
      fresh_asked_.store_relaxed(false);
    }
    if (!first)
      fresh_wanted_.fetch_sub_relaxed(1);
    if (const int error = fresh_error_.exchange_relaxed(0))
      throw std::system_error(error, std::generic_category(),
                              "weft: no kernel thread to lend its thread-local storage");
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                            "weft: WEFT_PREEMPTION_DONORS kernel threads lend their storage already");
  }
  void await_bound() noexcept override {
    if (blocks_are_made())
      return await_made();
    constexpr std::int64_t look_again = 10'000'000; // whoever was faster may have taken what was made
    const std::uint32_t calls = fresh_calls_.load_acquire();
    if (fresh_count() == 0 && fresh_error_.load_relaxed() == 0)
      os::futex_wait_until(&fresh_calls_, calls, os::now_ns() + look_again);
  }
  void unbind(sched::tls_block& block) noexcept override {
    if (block.is_made) {
      block.next = nullptr;
      return take_back_made(&block);
    }
    donor& d = donor::of(block);
    if (d.generation != sched::group::forks())
      return d.ended.store_relaxed(1); // the parent's, before a fork
    {
      const std::scoped_lock held(lock_);
      unlink(d);
      d.next = std::exchange(leaving_, &d);
    }
    d.end();
    ask_creator(donors_leave);
  }
  // GONE, if it has: `block`.
  bool has_ended(sched::tls_block& block) noexcept override {
    if (block.is_made)
      return true;
    donor& d = donor::of(block);
    if (d.ended.load_acquire() == 0) // acquire: pairs with the release in join_leaving()
      return false;
    if (d.generation == sched::group::forks())
      delete &d;
    return true;
  }
  void await_end(sched::tls_block& block) noexcept override {
    donor& d = donor::of(block);
    if (d.ended.load_acquire() == 0)
      os::futex_wait(&d.ended, 0);
  }
  bool renew(sched::tls_block& block) noexcept override { return renew_made(block); }
  void begin(sched::tls_block& block) noexcept override { begin_on_made(block); }
  void end(sched::tls_block& block) noexcept override { end_on_made(block); }
  // Joins those that have ended of those that leave; false: some have not yet. Never waits for one: its
  // destructors are the user's code, and may wait for a thread that waits for the creator.
  bool join_leaving() noexcept {
    donor* list = nullptr;
    {
      const std::scoped_lock held(lock_);
      list = std::exchange(leaving_, nullptr);
    }
    donor* left = nullptr;
    while (list != nullptr) {
      donor& d = *list;
      list = d.next;
      if (d.thread.try_join() == EBUSY) {
        d.next = std::exchange(left, &d);
        continue;
      }
      count_.fetch_sub_relaxed(1);
      unreserve_spare();
      d.ended.store_release(1); // GONE: d. Pairs with the acquire in has_ended()
      os::futex_wake(&d.ended, INT_MAX);
    }
    if (left == nullptr)
      return true;
    donor* last = left;
    while (last->next != nullptr)
      last = last->next;
    const std::scoped_lock held(lock_);
    last->next = std::exchange(leaving_, left);
    return false;
  }

  void provide(std::size_t count) {
    if (ready_.load_acquire() && count_.load_relaxed() >= count) // acquire: pairs with the release below
      return;
    const std::scoped_lock held(providing_);
    start_creator();
    sched::lender_of_tls.store(this, std::memory_order_release);
    const std::size_t there = count_.load_relaxed();
    if (const int error = there < count ? make(free_, count - there) : 0)
      throw std::system_error(error, std::generic_category(),
                              "weft: no kernel thread to lend its thread-local storage");
    ready_.store_release(true);
  }
  // Contexts: the creator has ended, no thread is preemptible.
  void end_all() noexcept {
    const std::scoped_lock held(providing_);
    for (donor* d = all_; d != nullptr; d = d->next)
      d->end();
    while (all_ != nullptr) {
      donor* const d = std::exchange(all_, all_->next);
      d->thread.join();
      delete d;
    }
    count_.store_relaxed(0);
    free_ = nullptr;
    fresh_ = nullptr;
    ready_.store_relaxed(false);
    failed_.store_relaxed(false);
    fresh_error_.store_relaxed(0);
    fresh_asked_.store_relaxed(false);
  }
  // The parent's are leaked: their kernel threads are not here.
  void forget_after_fork() noexcept { ::new (static_cast<void*>(this)) donors; }
  std::size_t count() noexcept { return count_.load_relaxed(); }

 private:
  bool has_room() noexcept { return count_.load_relaxed() < static_cast<std::size_t>(donors_knob.get()); }
  std::uint32_t fresh_count() noexcept {
    const std::scoped_lock held(lock_);
    return fresh_count_locked();
  }
  // Both under the lock with which one is taken and no longer waited for: or one more would be made for who
  // has one, and what comes of that be told to whoever asks next.
  bool is_short_of_fresh() noexcept {
    const std::scoped_lock held(lock_);
    return fresh_count_locked() < fresh_wanted_.load_relaxed();
  }
  std::uint32_t fresh_count_locked() const noexcept {
    std::uint32_t count = 0;
    for (const sched::tls_block* b = fresh_; b != nullptr; b = b->next)
      ++count;
    return count;
  }
  // Null and `full`: there is none, nor room for more. `first`: the caller has not waited for one.
  sched::tls_block* take_fresh(bool first, bool& full) noexcept {
    const std::scoped_lock held(lock_); // with which one is counted when it is listed
    sched::tls_block* const block = fresh_;
    if (block != nullptr) {
      fresh_ = std::exchange(block->next, nullptr);
      fresh_wanted_.fetch_sub_relaxed(first ? 0 : 1);
    }
    full = !has_room();
    return block;
  }
  sched::tls_block* take_first(sched::tls_block*& list, bool& last) noexcept {
    const std::scoped_lock held(lock_);
    sched::tls_block* block = list;
    if (block != nullptr)
      list = std::exchange(block->next, nullptr);
    last = list == nullptr;
    return block;
  }
  void unlink(donor& d) noexcept {
    (d.before != nullptr ? d.before->next : all_) = d.next;
    if (d.next != nullptr)
      d.next->before = d.before;
    d.before = nullptr;
  }
  // As many as there is room for. Returns 0 or an errno.
  int make(sched::tls_block*& list, std::size_t count) noexcept {
    constexpr std::size_t stack_bytes = 16 << 10;
    for (; count != 0 && has_room(); --count) {
      if (const int error = reserve_spare())
        return error;
      auto* fresh = new (std::nothrow) donor(sched::group::forks());
      if (fresh == nullptr) {
        unreserve_spare();
        return ENOMEM;
      }
      int error = fresh->stack.allocate(std::max(stack_bytes, os::kernel_thread::least_stack_bytes()));
      if (error == 0) // it has all signals blocked for good
        error = os::start_with_signals_blocked(fresh->thread, &live_as_donor, fresh, fresh->stack);
      if (error != 0) {
        delete fresh;
        unreserve_spare();
        return error;
      }
      while (fresh->state.load_acquire() == starting)
        os::futex_wait(&fresh->state, starting);
      const std::scoped_lock held(lock_);
      count_.fetch_add_relaxed(1);
      fresh->next = all_;
      if (all_ != nullptr)
        all_->before = fresh;
      all_ = fresh;
      fresh->block.next = std::exchange(list, &fresh->block);
    }
    return 0;
  }

  std::mutex providing_; // the first ones, and the end
  base::atomic<bool> ready_{false};
  base::atomic<bool> failed_{false};            // the last time that more were wanted
  base::atomic<int> fresh_error_{0};            // for whoever asks next
  base::atomic<std::uint32_t> fresh_wanted_{0}; // who asked and waits
  base::atomic<bool> fresh_asked_{false};       // the creator has a turn for them before it, or under way
  base::atomic<std::uint32_t> fresh_calls_{0};  // a futex: how often some were made to bind
  base::atomic<std::size_t> count_{0};
  base::spin_lock lock_;
  sched::tls_block* free_ = nullptr;
  sched::tls_block* fresh_ = nullptr; // nobody had them before
  donor* all_ = nullptr;              // but those that leave
  donor* leaving_ = nullptr;          // by `next`
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

void make_bound_donors() noexcept {
  process_donors().make_fresh();
}

bool join_leaving_donors() noexcept {
  return process_donors().join_leaving();
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
