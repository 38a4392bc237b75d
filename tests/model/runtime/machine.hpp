// SPDX-License-Identifier: MIT
// Workers, their kernel threads and preemptible threads under the checker: each kernel thread is a model
// thread, and the shipped weft/carrier/carrier.cpp and user_mode.cpp switch the stacks that run on them.
// Doubled are the loop of a worker (pick, run, until nothing is left), who lends spare kernel threads, and
// the handler of ticks, which has no ucontext here.
#pragma once

#include "tests/model/checker/model.hpp"
#include "weft/base/spin_lock.hpp"
#include "weft/carrier/carrier.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/unit/descriptor.hpp"
#include "weft/workers/pool.hpp"
#include "weft/workers/worker.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace weft::model::runtime {

/// A preemptible thread, or a cooperative one.
struct job {
  unit::descriptor unit{};
  std::function<void()> body;
  std::byte* stack = nullptr;
};

/// What of a worker these protocols touch: the rest of its memory is zero.
class bare_worker {
 public:
  explicit bare_worker(unsigned number);
  ~bare_worker();
  bare_worker(const bare_worker&) = delete;
  bare_worker& operator=(const bare_worker&) = delete;
  sched::worker& operator*() const noexcept { return *worker_; }
  sched::worker* operator->() const noexcept { return worker_; }

 private:
  sched::worker* worker_;
};

class machine final : public sched::carrier_lender {
 public:
  /// Where threads stand when they are ready.
  enum class list { shared, own_fifo };

  machine(unsigned workers, unsigned spares, list where);
  ~machine();

  /// Before run(). Errors: as user_mode::attach().
  void add(sched::preemption kind, std::function<void()> body);
  /// Runs all threads to their end; worker 0 on the calling model thread, the others and the spare kernel
  /// threads on their own.
  void run();

  sched::worker& worker(unsigned index) { return **workers_.at(index); }
  sched::pool& pool() { return *pool_; }
  /// The model thread of worker 0's home.
  unsigned primary = 0;

  sched::carrier* lend() noexcept override;
  bool more_may_come() noexcept override { return false; }
  void take_back(sched::carrier* first) noexcept override;

 private:
  void live_at_home(sched::worker& w);
  void loop(sched::worker& w);
  unit::descriptor* pick(sched::worker& w);
  void continue_or_start(sched::worker& w, unit::descriptor& u);
  static void enter(void* u);

  std::shared_ptr<sched::pool> pool_;
  std::vector<std::unique_ptr<bare_worker>> workers_;
  std::vector<std::unique_ptr<sched::carrier>> spares_;
  base::spin_lock lock_; // of `free_`, as of the shipped list of spares: who gives one back need be no worker
  sched::carrier* free_ = nullptr;
  std::vector<std::unique_ptr<job>> jobs_;
  base::atomic<unsigned> left_{0}; // threads that have not ended: who waits for work looks again when one has
};

/// The handler of ticks (on_tick() in weft/preempt/ticks.cpp), on the kernel thread that it has interrupted.
/// `in_call`: the thread was in a system call.
void on_tick(bool in_call = false);

/// The same of a cooperative thread that waits in the kernel: it leaves its worker, if that has a kernel
/// thread to go to.
bool leave_here();

/// In user mode: the worker below, null where the thread is away.
inline sched::worker* worker_below() noexcept {
  return sched::weft_worker_here;
}

} // namespace weft::model::runtime
