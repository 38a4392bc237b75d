// SPDX-License-Identifier: MIT
// Waiting in a composed runtime: the suspended thread of the composable-threads paper (its Fig. 6), and the
// cell that its locks wait in. Made of the worker part's suspend() and resume() alone.
#pragma once

#include <cstdint>
#include <system_error>

#include "weft/compose/unit.hpp"

namespace weft::compose {

// A place that holds one suspended thread. Names and meaning as sync::suspended_thread, without time limits.
// Ownership: the place is the user's and outlives the wait; one thread at a time is in it. Ordering: (CS1)
// the thread is in it once it has left its stack; pairs with (CS2), whoever takes it out. Undefined: a place
// that is notified while its thread is on its way in, before f has been called.
template <class P>
class suspended_thread {
 public:
  suspended_thread() noexcept = default;
  suspended_thread(suspended_thread&& other) noexcept : thread_(other.take()) {}
  suspended_thread& operator=(suspended_thread&& other) noexcept {
    thread_.store_release(other.take()); // (CS1)
    return *this;
  }

  // RACY while others may notify.
  explicit operator bool() const noexcept { return thread_.load_relaxed() != nullptr; }

  // Suspends the caller, keeps it here, then calls f() off its stack, which may publish it; that is the last
  // that f does. If f returns false the caller goes on. `f` must neither throw nor switch. Contexts: threads
  // of this runtime. Switches: may. Errors: operation_not_permitted elsewhere; what the worker part says.
  template <class F>
  void wait_with(F&& f) {
    try {
      worker<P>::suspend([this, &f](unit<P>& self) { return keep(self, f); });
    } catch (...) { // the wait could never end
      static_cast<void>(take());
      throw;
    }
  }
  // Makes the thread ready; false if there was none. Contexts: any kernel thread, while the run is under way.
  // Switches: never.
  bool notify() noexcept {
    unit<P>* u = take();
    if (u != nullptr)
      worker<P>::resume(*u);
    return u != nullptr;
  }
  // The same, and the thread runs at once in the caller's place, who becomes ready. Switches: may.
  void enter() {
    if (unit<P>* u = take())
      worker<P>::resume_now(*u);
  }
  // Suspends the caller here and continues the thread in `next`, which must hold one. Switches: may.
  void swap(suspended_thread& next) {
    swap_with(next, [] { return true; });
  }
  // The same; f() as in wait_with(). If it returns false the thread in `next` stays there.
  template <class F>
  void swap_with(suspended_thread& next, F&& f) {
    unit<P>* u = next.take();
    if (u == nullptr)
      throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                              "weft: swap() with a place that holds no thread");
    bool left = false;
    try {
      left = worker<P>::suspend_for(*u, [this, &f](unit<P>& self) { return keep(self, f); });
    } catch (...) {
      next.thread_.store_release(u); // (CS1)
      throw;
    }
    if (!left)
      next.thread_.store_release(u); // (CS1)
  }

 private:
  template <class Q>
  using worker = typename Q::template worker<Q>;

  template <class F>
  bool keep(unit<P>& self, F& f) noexcept {
    thread_.store_release(&self); // (CS1) pairs with (CS2)
    if (f())
      return true;
    thread_.store_relaxed(nullptr); // relaxed: f has told nobody
    return false;
  }
  unit<P>* take() noexcept { return thread_.exchange_acq_rel(nullptr); } // (CS2) pairs with (CS1)

  typename P::template atomic<unit<P>*> thread_{nullptr};
};

// One wait of one thread, which may be notified before it begins. Ordering: (CW1) the context of who waits,
// and what the notifier did before; each exchange pairs with the other's.
template <class P>
class wait_cell {
 public:
  // The next in whatever list the cell stands; that list's.
  wait_cell* next = nullptr;

  // Contexts: threads of the runtime, after worker::require_can_wait(). Switches: may.
  void wait() {
    worker::suspend([this](unit<P>& self) {
      std::uintptr_t none = empty;
      return word_.cas_strong_acq_rel(none, reinterpret_cast<std::uintptr_t>(&self)); // (CW1)
    });
  }
  // Once, unless it is renewed. Contexts: any kernel thread, while the run is under way. Switches: never.
  // GONE: the cell.
  void notify() noexcept {
    const std::uintptr_t before = word_.exchange_acq_rel(notified); // (CW1)
    if (before != empty)
      worker::resume(*reinterpret_cast<unit<P>*>(before));
  }
  // After wait(), for one more, while nobody may notify. Relaxed: who notifies next learns that he may by the
  // lock that the cell's list has.
  void renew() noexcept { word_.store_relaxed(empty); }

 private:
  using worker = typename P::template worker<P>;
  enum : std::uintptr_t { empty = 0, notified = 1 };
  typename P::template atomic<std::uintptr_t> word_{empty};
};

// Cells in order of arrival. Ownership: whoever holds the lock that belongs to it.
template <class P>
class cell_list {
 public:
  void push(wait_cell<P>& c) noexcept {
    *(first_ == nullptr ? &first_ : &last_->next) = &c;
    last_ = &c;
  }
  wait_cell<P>* pop() noexcept {
    wait_cell<P>* c = first_;
    if (c != nullptr)
      first_ = c->next;
    return c;
  }
  [[nodiscard]] wait_cell<P>* front() const noexcept { return first_; }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  // Of one that is in it, by a walk.
  void remove(wait_cell<P>& c) noexcept {
    wait_cell<P>* before = nullptr;
    for (wait_cell<P>* each = first_; each != &c; each = each->next)
      before = each;
    (before == nullptr ? first_ : before->next) = c.next;
    if (last_ == &c)
      last_ = before;
  }
  // All of them, oldest first, linked by `next`.
  wait_cell<P>* take_all() noexcept {
    wait_cell<P>* all = first_;
    first_ = nullptr;
    return all;
  }

 private:
  wait_cell<P>* first_ = nullptr;
  wait_cell<P>* last_ = nullptr;
};

} // namespace weft::compose
