// SPDX-License-Identifier: MIT
// A place that holds one suspended thread: the primitive of the composable-threads paper (its Fig. 6) under
// which mutexes, delegators and everything that waits can be written without knowing a scheduler. Kernel
// threads that are no worker block in the kernel and are held the same way.
//
// Ownership: the object belongs to the user and must outlive the wait. One thread at a time is in it.
// The word: 0 empty, `coming` while a timed wait is under way to its switch, `given_up` if its time passed
// before, else a unit, a parked kernel thread (| 1), or the arrival of a unit that waits with a time limit or
// a stop token (| 4). notify(), the timer and a stop request race for it by compare-and-swap. A notification
// that finds nobody leaves 0, also in place of `coming` or `given_up`: the arrival and the timer go on from
// there. Ordering. (S1) the word is set once the thread has left its stack; pairs with (S2), whoever takes it
// out. (S3) a timer or a stop request waits for nobody to publish the place: who is let go by one goes on
// only after f.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/base/atomic.hpp"
#include "weft/base/export.hpp"
#include "weft/sched/timer_queue.hpp"
#include "weft/sync/waiter.hpp"
#include "weft/unit/descriptor.hpp"

namespace weft::sync {

class WEFT_API suspended_thread {
 public:
  suspended_thread() noexcept = default;
  // The thread moves to the new place. Not while somebody may notify the old one.
  suspended_thread(suspended_thread&& other) noexcept : word_(other.word_.exchange_acq_rel(empty)) {}
  suspended_thread& operator=(suspended_thread&& other) noexcept {
    word_.store_release(other.word_.exchange_acq_rel(empty));
    return *this;
  }

  // Whether a thread is in it. RACY while others may notify.
  explicit operator bool() const noexcept { return word_.load_relaxed() > given_up; }

  // Suspends the caller and keeps it here, then calls `f()` on the stack of whatever runs next: the caller
  // can be published by it, and resumed at once, before f has returned: what f touches after that must be its
  // own. If f returns false the wait is cancelled and the caller goes on. `f` must neither throw nor switch.
  // Contexts: thread, foreign kernel thread (f runs on its own stack). Switches: may. Errors:
  // std::system_error(operation_not_permitted) from a tasklet.
  template <class F>
  void wait_with(F&& f) {
    static_cast<void>(wait(call<std::remove_reference_t<F>>, address_of(f), sched::no_deadline, {}));
  }
  // The same with a time limit and a stop token; f is not called if the time has passed or a stop was
  // requested before the switch, and has returned when the caller goes on. Errors: also std::system_error if
  // no timer can be had.
  template <class F>
  wait_result wait_with_until(F&& f, sched::deadline until, const std::stop_token& stop = {}) {
    return wait(call<std::remove_reference_t<F>>, address_of(f), until, stop);
  }

  // Makes the thread ready; false if there was none. Contexts: all but signal handlers. Switches: never.
  bool notify() noexcept;

  // As notify, but the thread runs at once in the caller's place where that can be; the caller becomes ready.
  // Contexts: all but signal handlers. Switches: may.
  void enter();

  // Suspends the caller here and continues the thread in `next`, which must hold one, and not one that waits
  // with a time limit or a stop token: these may take it out meanwhile. Contexts: thread (a foreign kernel
  // thread notifies and blocks). Switches: always.
  void swap(suspended_thread& next) {
    swap_with(next, [] { return true; });
  }
  // The same; `f()` is called once the caller has left its stack. If it returns false, the caller goes on and
  // the thread in `next` stays there.
  template <class F>
  void swap_with(suspended_thread& next, F&& f) {
    do_swap(next, call<std::remove_reference_t<F>>, address_of(f));
  }

 private:
  enum : std::uintptr_t { empty = 0, kernel_thread_mark = 1, coming = 2, given_up = 3, timed_mark = 4 };
  using condition = bool (*)(void*);

  template <class F>
  static bool call(void* f) {
    return (*static_cast<F*>(f))();
  }

  // What call() turns back; const if f is.
  template <class F>
  static void* address_of(F& f) noexcept {
    return const_cast<std::remove_const_t<F>*>(std::addressof(f));
  }

  struct timed_wait;
  struct arrival;
  struct stopper;
  wait_result wait(condition f, void* argument, sched::deadline until, const std::stop_token& stop);
  wait_result wait_on_kernel_thread(condition f, void* argument, sched::deadline until,
                                    const std::stop_token& stop);
  void do_swap(suspended_thread& next, condition f, void* argument);
  void forget_mark() noexcept;
  static void resume(std::uintptr_t word) noexcept;

  base::atomic<std::uintptr_t> word_{empty};
};

} // namespace weft::sync
