// SPDX-License-Identifier: MIT
// What may stand in the queue of a delegator: who wants the lock, functions that somebody waits for, those
// that nobody waits for, and what the consumer is to execute.
#pragma once

#include "weft/base/assert.hpp"
#include "weft/sched/switch.hpp"
#include "weft/sync/brief_waiter.hpp"
#include "weft/sync/offer_word.hpp"
#include "weft/sync/request.hpp"
#include "weft/sync/suspended_thread.hpp"

#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

namespace weft::sync {

/// What executes delegated functions, by its owner's rules. `execute(f)` does what `f` stands for: true if it
/// has, false to be given it again later; and a thread to be resumed, or an empty place. `progress()` is
/// called again and again while `is_active()`, by the consumer's thread. All are called by whoever owns the
/// delegator, one at a time; they may not wait, and an exception that leaves one of them ends the process.
/// Source: the composable-threads paper.
template <class C>
concept consumer = std::default_initializable<typename C::delegated_func_type> &&
                   std::movable<typename C::delegated_func_type> &&
                   requires(C& c, const C& k, typename C::delegated_func_type& f) {
                     { c.execute(f) } -> std::same_as<std::tuple<bool, suspended_thread>>;
                     { c.progress() } -> std::same_as<suspended_thread>;
                     { k.is_active() } -> std::same_as<bool>;
                   };

/// Fills in what is to be delegated; returns the place where the caller waits for it, or null.
template <class F, class Consumer>
concept delegating = std::is_invocable_r_v<suspended_thread*, F&, typename Consumer::delegated_func_type&>;

/// What runs at once under the lock; may return a place in which the caller waits, the lock released.
template <class F>
concept immediate = std::is_invocable_r_v<suspended_thread*, F&> || std::is_void_v<std::invoke_result_t<F&>>;

/// A request whose requester sleeps until it is done.
struct waited_request : request {
  using request::request;
  brief_waiter sleep;
};

/// Who serves requests. *Ownership*: in the frame of a delegator's owner. Whose request has been executed is
/// told only when the delegator has been given back: else those that run again find it taken, and queue
/// again.
struct server {
  explicit server(void* c) noexcept : consumer(c) {}
  server(const server&) = delete;

  /// Has `r` told later. It stays where it is until then.
  void finished(waited_request& r) noexcept {
    if (r.next != nullptr) { // a line that is only read need not be fetched once more
      r.next = nullptr;
    }
    (oldest_ != nullptr ? static_cast<request*>(youngest_)->next : oldest_) = &r;
    youngest_ = &r;
  }
  /// Tells those that are finished, in their order. *Contexts*: all but signal handlers. *Switches*: never.
  void tell() noexcept {
    request* r = oldest_;
    oldest_ = nullptr;
    while (r != nullptr) {
      request* const next = r->next;
      static_cast<waited_request*>(r)->sleep.notify(); // GONE: *r
      r = next;
    }
  }

  void* consumer; // null: there is none

 private:
  base::plain<request*> oldest_ = nullptr;
  base::plain<request*> youngest_ = nullptr;
};

/// Wants the delegator, which is offered to it when its turn has come.
struct lock_request : waited_request {
  lock_request() noexcept : waited_request(nullptr) {}

  call_word calls;
};

/// A function whose caller waits, in whose frame all of it lies: on one cache line, if its result fits, which
/// moves to who serves it and back.
template <class F>
class alignas(64) waiting_call : public waited_request {
  using value = std::decay_t<std::invoke_result_t<F&>>;
  static constexpr bool gives_nothing = std::is_void_v<value>;

 public:
  explicit waiting_call(F& f) noexcept : waited_request(&execute), call_(&f) {}
  waiting_call(const waiting_call&) = delete;
  ~waiting_call() {
    if (state_ == content::value) {
      std::destroy_at(&result_);
    } else if (state_ == content::failure) {
      std::destroy_at(&failure_);
    }
  }

  /// Once it is done. *Errors*: what the function threw.
  value result() {
    if (state_ == content::failure) [[unlikely]] {
      std::rethrow_exception(std::move(failure_));
    }
    if constexpr (!gives_nothing) {
      return std::move(result_);
    }
  }

 private:
  using held = std::conditional_t<gives_nothing, char, value>;
  enum class content : std::uint8_t { nothing, value, failure };

  static outcome execute(request& r, server& s) noexcept {
    auto& self = static_cast<waiting_call&>(r);
    try {
      if constexpr (gives_nothing) {
        (*self.call_)();
      } else {
        ::new (static_cast<void*>(&self.result_)) held((*self.call_)());
        self.state_ = content::value;
      }
    } catch (...) {
      ::new (static_cast<void*>(&self.failure_)) std::exception_ptr(std::current_exception());
      self.state_ = content::failure;
    }
    s.finished(self);
    return outcome::done;
  }

  F* call_;
  union {
    char nothing_ = 0;
    held result_;
    std::exception_ptr failure_;
  };
  content state_ = content::nothing;
};

/// A function that nobody waits for, for posted::fill().
template <class F>
struct posted_function {
  F call;
  request::outcome operator()(server&) noexcept {
    static_cast<void>(call());
    return request::outcome::done;
  }
};
template <class F>
posted_function<F> call_of(F f) {
  return {std::move(f)};
}

template <class F>
void call_or_terminate(F& f) noexcept {
  static_cast<void>(f());
}

/// Has the consumer execute what was filled in for it. GONE: `what`, if it says that it has.
template <class Consumer>
request::outcome execute_by(server& s, typename Consumer::delegated_func_type& what) noexcept {
  if (s.consumer == nullptr) [[unlikely]] {
    base::panic("something was delegated to the consumer of a delegator that has none");
  }
  auto [is_done, resumable] = static_cast<Consumer*>(s.consumer)->execute(what);
  if (resumable) {
    resumable.notify();
  }
  return is_done ? request::outcome::done : request::outcome::put_off;
}

/// For one who waits in a place of his own.
template <class Consumer>
struct consumer_request : request {
  consumer_request() : request(&execute) {}
  static outcome execute(request& r, server& s) noexcept {
    return execute_by<Consumer>(s, static_cast<consumer_request&>(r).what);
  }

  typename Consumer::delegated_func_type what{};
};

/// For one who does not wait, for posted::fill().
template <class Consumer>
struct consumer_call {
  typename Consumer::delegated_func_type what;
  request::outcome operator()(server& s) noexcept { return execute_by<Consumer>(s, what); }
};

/// Between two looks for a request whose requester has drawn its ticket and not yet filled its slot: a dozen
/// instructions of it are missing, unless its kernel thread has lost the CPU. `looks` counts from 1.
/// *Contexts*: any. *Switches*: never.
WEFT_API void pause_for_arrival(std::size_t looks) noexcept;

} // namespace weft::sync
