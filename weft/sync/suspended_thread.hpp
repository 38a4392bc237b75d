// SPDX-License-Identifier: MIT
// A place that holds one suspended thread: the primitive of the composable-threads paper (its Fig. 6) under
// which mutexes, delegators and everything that waits can be written without knowing a scheduler. Kernel
// threads that are no worker block in the kernel and are held the same way.
//
// Ownership: the object belongs to the user and must outlive the wait, and an f that says no. One thread at a
// time is in it, until it is notified or gives up. The word: 0 empty; `coming` while a thread is under way to
// its switch; `given_up` if the time of one passed when it was not there; `held` while one is taken out to
// look at it, `late` if a time passed meanwhile; else a unit, or the frame of its wait (| 2) if that may give
// up, or a parked kernel thread (| 1). notify(), the timer and a stop request race for it by
// compare-and-swap. A notification that finds no word leaves 0, whatever stood there: who has left or left
// behind a mark goes on from there. Ordering. (S1) the word is set once the thread has left its stack; pairs
// with (S2), whoever takes it out. (S3), who gives up against who puts a word there, (S4), whose wait it is,
// and (S5), the end of f against the end of a timed wait: in the .cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/base/atomic.hpp"
#include "weft/base/export.hpp"
#include "weft/events/timer_queue.hpp"
#include "weft/sync/waiter.hpp"
#include "weft/unit/descriptor.hpp"
#include "weft/unit/wait_record.hpp"

namespace weft::sync {

class WEFT_API suspended_thread {
 public:
  suspended_thread() noexcept = default;
  // The thread moves to the new place. Not while somebody may notify the old one, or its wait may end by time
  // or by a stop request, or an f that has published the thread has not returned.
  suspended_thread(suspended_thread&& other) noexcept : word_(other.word_.exchange_acq_rel(empty)) {}
  suspended_thread& operator=(suspended_thread&& other) noexcept {
    word_.store_release(other.word_.exchange_acq_rel(empty));
    return *this;
  }

  // Whether a thread is in it. RACY while others may notify.
  explicit operator bool() const noexcept { return word_.load_relaxed() > late; }

  // Suspends the caller and keeps it here, then calls `f()` on the stack of whatever runs next: the caller
  // can be published by it, and resumed at once, before f has returned: what f touches after that must be its
  // own. If f returns false the wait is cancelled and the caller goes on, unless somebody has resumed it:
  // then that was its end, and a next wait here is not touched. `f` must neither throw nor switch. Contexts:
  // thread, foreign kernel thread (f runs on its own stack). Switches: may. Errors:
  // std::system_error(operation_not_permitted) from a tasklet.
  template <class F>
  void wait_with(F&& f) {
    static_cast<void>(wait(call<std::remove_reference_t<F>>, address_of(f), sched::no_deadline, {}));
  }
  // The same; `why` is what debuggers and `weft ps` say that the thread waits for. What it names outlives the
  // wait.
  template <class F>
  void wait_with(F&& f, const unit::wait_record& why) {
    static_cast<void>(wait_for(call<std::remove_reference_t<F>>, address_of(f), sched::no_deadline, {}, why));
  }
  // The same as the first with a time limit and a stop token; f is not called if the time has passed or a
  // stop was requested before the switch, and has returned when the caller goes on. Errors: also
  // std::system_error if no timer can be had.
  template <class F>
  wait_result wait_with_until(F&& f, sched::deadline until, const std::stop_token& stop = {}) {
    return wait(call<std::remove_reference_t<F>>, address_of(f), until, stop);
  }

  // Makes the thread ready; false if there was none. Contexts: all but signal handlers. Switches: never.
  bool notify() noexcept;

  // As notify, but the thread runs at once in the caller's place where that can be; the caller becomes ready.
  // Contexts: all but signal handlers. Switches: may.
  void enter();

  // Suspends the caller here and continues the thread in `next`, which must hold one that nobody else
  // notifies. If its time passes before, or a stop is requested, so that there is none, the caller is not
  // suspended. Contexts: thread (a foreign kernel thread notifies and blocks). Switches: always, but for
  // that.
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
  // Marks of words, and what is none: up to `late`.
  enum : std::uintptr_t { kernel_thread_mark = 1, timed_mark = 2 };
  enum : std::uintptr_t { empty = 0, coming = 2, given_up = 3, held = 4, late = 5 };
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
  wait_result wait_for(condition f, void* argument, sched::deadline until, const std::stop_token& stop,
                       const unit::wait_record& why);
  wait_result wait_on_kernel_thread(condition f, void* argument, sched::deadline until,
                                    const std::stop_token& stop);
  void do_swap(suspended_thread& next, condition f, void* argument);
  bool settle(timed_wait& t) noexcept;
  bool take_back(std::uintptr_t word) noexcept;
  void put_back(std::uintptr_t word) noexcept;
  unit::descriptor* take_timed(std::uintptr_t word) noexcept;
  void return_timed(std::uintptr_t word) noexcept;
  static timed_wait& timed_of(std::uintptr_t word) noexcept;
  static unit::descriptor& unit_of(std::uintptr_t word) noexcept;
  static void resume(std::uintptr_t word) noexcept;

  base::atomic<std::uintptr_t> word_{empty};
};

} // namespace weft::sync
