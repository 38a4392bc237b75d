// SPDX-License-Identifier: MIT
// The spare kernel threads. A queue under one lock: each call costs two switches of kernel threads anyway.
#include "weft/io/blocking.hpp"

#include "weft/base/atomic.hpp"
#include "weft/base/knob.hpp"
#include "weft/carrier/runtime_section.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/futex.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/sched/switch.hpp"
#include "weft/simulator/simulation.hpp"
#include "weft/workers/group.hpp"

#include <cerrno>
#include <climits>
#include <csignal>
#include <mutex>
#include <new>
#include <system_error>

namespace weft::io {
namespace {

constinit base::integer_knob most_knob{
    "WEFT_BLOCKING_THREADS",
    64,
    {1, 32768},
    base::knob_scale::count,
    "most spare kernel threads for calls that block, see weft::blocking()"};
const base::knob_list blocking_knobs{most_knob};

} // namespace

/// *Ownership*: `lock_` guards all. *Invariant*: while calls wait, there is a thread to take them.
class spare_threads {
 public:
  void add(spare_call& c) {
    std::unique_lock held(lock_);
    (last_ != nullptr ? last_->next_ : first_) = &c;
    last_ = &c;
    ++waiting_;
    if (waiting_ <= idle_ || count_ >= most()) {
      call_locked(1);
      return;
    }
    ++count_;
    held.unlock();
    const int error = start();
    if (error == 0)
      return;
    held.lock();
    --count_;
    if (count_ == 0 && remove(c))
      throw std::system_error(error, std::system_category(), "weft: no kernel thread for a call that blocks");
  }

  void limit(unsigned most, std::chrono::milliseconds idle) {
    const std::scoped_lock held(lock_);
    most_ = most;
    patience_ = idle;
    call_locked(INT_MAX);
  }
  unsigned count() {
    const std::scoped_lock held(lock_);
    return count_;
  }

 private:
  [[nodiscard]] unsigned most() const noexcept {
    return most_ != 0 ? most_ : static_cast<unsigned>(most_knob.get());
  }

  // Signals go to kernel threads of the program's own.
  int start() noexcept {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    os::kernel_thread thread;
    int error = thread.start(
        [](void* self) -> void* {
          static_cast<spare_threads*>(self)->work();
          return nullptr;
        },
        this);
    if (error == 0)
      thread.detach();
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return error;
  }

  void call_locked(int count) noexcept {
    calls_.fetch_add_relaxed(1); // relaxed: the lock orders it
    os::futex_wake(&calls_, count);
  }
  // False: none came for as long as an idle thread stays.
  bool wait_for_work(std::unique_lock<std::mutex>& held) noexcept {
    const sched::deadline until = os::now_ns() + std::chrono::nanoseconds(patience_).count();
    ++idle_;
    while (first_ == nullptr && count_ <= most() && os::now_ns() < until) {
      const std::uint32_t seen = calls_.load_relaxed();
      held.unlock();
      os::futex_wait_until(&calls_, seen, until);
      held.lock();
    }
    --idle_;
    return first_ != nullptr;
  }

  bool remove(spare_call& c) noexcept {
    spare_call* before = nullptr;
    for (spare_call* at = first_; at != nullptr; before = at, at = at->next_) {
      if (at != &c)
        continue;
      (before != nullptr ? before->next_ : first_) = c.next_;
      if (last_ == &c)
        last_ = before;
      --waiting_;
      return true;
    }
    return false;
  }

  void work() {
    os::name_this_kernel_thread("weft-spare");
    std::unique_lock held(lock_);
    while (count_ <= most()) {
      if (first_ == nullptr) {
        if (!wait_for_work(held))
          break;
        continue;
      }
      spare_call& c = *first_;
      remove(c);
      held.unlock();
      c.function_(c);
      sched::group& group = *c.group_;
      c.done_.notify();         // GONE: c
      group.outsider_is_done(); // GONE: group
      held.lock();
    }
    --count_;
  }

  std::mutex lock_;
  base::atomic<std::uint32_t> calls_{0}; // those without work wait for it to change
  spare_call* first_ = nullptr;
  spare_call* last_ = nullptr;
  unsigned waiting_ = 0;
  unsigned idle_ = 0;
  unsigned count_ = 0;
  unsigned most_ = 0;
  std::chrono::milliseconds patience_{5'000};
};

namespace {

// Its destructor does nothing: threads may still run while statics are destroyed.
constinit spare_threads pool;
static_assert(std::is_trivially_destructible_v<spare_threads>);

class request_call final : public spare_call {
 public:
  explicit request_call(const request& r) noexcept
      : spare_call([](spare_call& c) noexcept {
          auto& self = static_cast<request_call&>(c);
          self.result = perform_blocking(self.asked);
        }),
        asked(r) {}
  const request& asked;
  int result = 0;
};

} // namespace

void spare_call::perform() {
  const sched::runtime_section in;
  if (!sched::on_worker() || sched::simulation::is_active()) // a simulation has no other kernel thread
    return function_(*this);
  sched::require_thread("a call that blocks");
  group_ = &sched::here().owner_group;
  group_->expect_outsider();
  try {
    pool.add(*this);
  } catch (...) {
    group_->outsider_is_done();
    throw;
  }
  static_cast<void>(done_.wait()); // SWITCH: may resume on another worker
}

void limit_spare_threads(unsigned most, std::chrono::milliseconds idle) {
  pool.limit(most, idle);
}

unsigned spare_thread_count() noexcept {
  return pool.count();
}

void forget_spare_threads() noexcept {
  ::new (static_cast<void*>(&pool)) spare_threads;
}

int perform_on_spare_thread(const request& r) noexcept {
  request_call call(r);
  try {
    call.perform(); // SWITCH: may resume on another worker
  } catch (const std::system_error& e) {
    return -e.code().value();
  }
  return call.result;
}

} // namespace weft::io
