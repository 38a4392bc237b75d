// SPDX-License-Identifier: MIT
// A set of threads that are waited for together, where their number is not known beforehand.
#pragma once

#include <exception>
#include <utility>

#include "weft/base/export.hpp"
#include "weft/base/spin_lock.hpp"
#include "weft/carrier/inherited.hpp"
#include "weft/sync/wait_queue.hpp"
#include "weft/thread.hpp"

namespace weft {

// Ownership: whoever waits. Any thread may run() into it while somebody has not finished waiting.
// Ordering. (G1) the last end publishes all ends to (G2), wait().
class WEFT_API task_group {
 public:
  task_group() = default;
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;
  // Waits; an exception that nobody asked for is dropped.
  ~task_group();

  // Starts a thread, preemptible in the same way as its creator, that calls f(), a decayed copy. The copy is
  // destroyed before the thread counts as ended: what it has captured may refer to what the waiter takes down
  // after wait(). Contexts: thread, tasklet, foreign kernel thread. Switches: never. Errors: std::bad_alloc,
  // std::system_error, what the copy throws; the group is unchanged then.
  template <class F>
  void run(F&& f) {
    thread_attributes a;
    a.preemption = sched::inherited_preemption();
    pending_.fetch_add_relaxed(1); // relaxed: the caller itself keeps the group from being finished
    membership place(*this);
    member<std::decay_t<F>> call{std::move(place), std::forward<F>(f)};
    if (a.preemption == preemption::none) [[likely]]
      thread(std::move(call)).detach();
    else
      thread(a, std::move(call)).detach();
  }

  // Until all that was run has ended; then the first exception, if there was one, is thrown; of several who
  // wait, by one. The group can be used again; or destroyed by one of those who waited, at once. Contexts:
  // thread, foreign kernel thread. Switches: may. Errors: what the members throw; operation_not_permitted
  // (tasklet).
  void wait();
  // No longer than told, or until a stop is requested; false: not all have ended.
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& length, const std::stop_token& stop = {}) {
    return wait_until(sync::deadline_of(length), stop);
  }
  bool wait(const std::stop_token& stop) { return wait_until(sched::no_deadline, stop); }

 private:
  // Counts as one member as long as it lives, wherever it moves.
  class membership {
   public:
    explicit membership(task_group& g) noexcept : group_(&g) {}
    membership(membership&& other) noexcept : group_(std::exchange(other.group_, nullptr)) {}
    ~membership() {
      if (group_ != nullptr)
        group_->one_ended(); // GONE: the group
    }
    task_group& group() const noexcept { return *group_; }

   private:
    task_group* group_;
  };

  template <class F>
  struct member {
    membership place; // first, so destroyed last
    F call;
    void operator()() {
      try {
        call();
      } catch (const unit::exit_request&) {
      } catch (...) {
        place.group().keep(std::current_exception());
      }
    }
  };

  void keep(std::exception_ptr error) noexcept;
  void one_ended() noexcept;
  // `error`: where the one that was kept goes, if it is asked for.
  bool wait_until(sched::deadline until, const std::stop_token& stop, std::exception_ptr* error = nullptr);
  void let_all_go() noexcept;

  // Members that have not ended. The last of them looks for waiters under the lock, so that a waiter that
  // destroys the group cannot do so under its hands.
  base::atomic<std::int64_t> pending_{0};
  base::spin_lock lock_;
  sync::wait_queue waiters_;
  std::exception_ptr error_;
};

} // namespace weft
