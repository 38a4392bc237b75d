// SPDX-License-Identifier: MIT
// A set of threads that are waited for together, where their number is not known beforehand.
#pragma once

#include <exception>
#include <utility>

#include "weft/base/export.hpp"
#include "weft/base/spin_lock.hpp"
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

  // Starts a thread that calls f(). Contexts: thread, tasklet, foreign kernel thread. Switches: never.
  // Errors: std::bad_alloc, std::system_error; the group is unchanged then.
  template <class F>
  void run(F&& f) {
    struct member {
      task_group* group;
      std::decay_t<F> call;
      void operator()() {
        try {
          call();
        } catch (const unit::exit_request&) {
        } catch (...) {
          group->keep(std::current_exception());
        }
        group->one_ended();
      }
    };
    pending_.fetch_add_relaxed(1); // relaxed: the caller itself keeps the group from being finished
    try {
      thread(member{this, std::forward<F>(f)}).detach();
    } catch (...) {
      one_ended();
      throw;
    }
  }

  // Until all that was run has ended; then the first exception, if there was one, is thrown. The group can be
  // used again. Contexts: thread, foreign kernel thread. Switches: may. Errors: what the members throw;
  // operation_not_permitted (tasklet).
  void wait();
  // No longer than told, or until a stop is requested; false: not all have ended.
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& length, const std::stop_token& stop = {}) {
    return wait_until(sync::deadline_of(length), stop);
  }
  bool wait(const std::stop_token& stop) { return wait_until(sched::no_deadline, stop); }

 private:
  void keep(std::exception_ptr error) noexcept;
  void one_ended() noexcept;
  bool wait_until(sched::deadline until, const std::stop_token& stop);

  // Members that have not ended, plus one for the group itself: only who brings it to that one looks for
  // waiters, under the lock, so that a waiter that destroys the group cannot do so under the last member's
  // hands.
  base::atomic<std::int64_t> pending_{0};
  base::spin_lock lock_;
  sync::wait_queue waiters_;
  std::exception_ptr error_;
};

} // namespace weft
