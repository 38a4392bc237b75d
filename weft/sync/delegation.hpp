// SPDX-License-Identifier: MIT
// A lock whose owner does for others what they would have taken it for. What delegators (weft/delegator.hpp)
// are made of, but for the thread that serves.
#pragma once

#include "weft/carrier/runtime_section.hpp"
#include "weft/sync/delegated_call.hpp"
#include "weft/sync/owner_record.hpp"
#include "weft/sync/release_action.hpp"
#include "weft/sync/request_list.hpp"
#include "weft/sync/request_ring.hpp"
#include "weft/sync/suspended_thread.hpp"

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace weft::sync {

/// The lock, its requests, and how they are served.
/// *Ownership*: `queue_` says who owns the delegator (weft/sync/request_list.hpp); all else here, and the
/// consumer, is the owner's. The consumer's thread is the owner, or in `idle_`, or has been called by an
/// owner, and looks whether the delegator is still there for it. *Invariants*: nobody frees the delegator
/// while there are requests, or while the consumer is busy or is to stop: that owner serves, or offers the
/// delegator to the consumer's thread. A request for the lock stays the first until its requester owns the
/// delegator. *Ordering*: offers are ordered by (O1) to (O4). Proof: weft/sync/README.md.
template <consumer Consumer, class Queue>
class delegation : private release_action<delegation<Consumer, Queue>> {
 public:
  delegation() noexcept = default;
  delegation(const delegation&) = delete;
  delegation& operator=(const delegation&) = delete;
  /// Waits for an owner that is still on its way out; it may be a thread of this worker that was preempted
  /// there.
  ~delegation() {
    while (!queue_.try_take()) {
      base::backend::yield_kernel_thread();
      let_others_run();
    }
  }

  /// Takes the delegator, waiting for it if need be, in the order of the requests; only who tries may take it
  /// from one to whom it was offered. *Contexts*: thread,
  /// foreign kernel thread; a tasklet as long as it need not wait. *Switches*: may. *Errors*:
  /// std::system_error(operation_not_permitted) from a tasklet that would have to wait.
  void lock() {
    if (!queue_.try_take()) [[unlikely]] {
      wait_for_lock();
    }
    owner_.set();
  }
  /// Takes the delegator if nobody holds it, also from a waiter, or from the consumer's thread, to which it
  /// was offered and which has not run yet: so maybe before requests that have been left earlier, the
  /// caller's own among them. *Contexts*: any. *Switches*: never. *Errors*: none.
  [[nodiscard]] bool try_lock() noexcept {
    if (!queue_.try_take() && !offer_.try_take()) {
      return false;
    }
    owner_.set();
    return true;
  }
  /// Serves some of the requests that came meanwhile, and gives the delegator back or on. *Contexts*: all but
  /// signal handlers; the owner. *Switches*: never. *Errors*: none. GONE: *this may be destroyed by the next
  /// owner.
  void unlock() noexcept {
    owner_.clear();
    release();
  }
  /// Suspends the caller into `place` and then gives the delegator back: nobody owns it before the thread is
  /// in the place. Returns when somebody has notified the place; the delegator is not held. *Contexts*: the
  /// owner, a thread or foreign kernel thread. *Switches*: may. *Errors*: operation_not_permitted from a
  /// tasklet; the delegator is held then.
  void unlock_and_wait(suspended_thread& place) {
    owner_.expect_self();
    place.wait_with(this->action()); // SWITCH: may resume on another worker
  }

  /// Takes the delegator if it is free: true, and the caller must unlock() it. Else has the consumer execute
  /// what `delegate(delegated_func_type&)` fills in, and returns false: at once if `delegate` returned null,
  /// else when somebody has resumed the thread in the place that it returned. *Contexts*: all but signal
  /// handlers; a tasklet may not wait. *Switches*: if it waits. *Errors*: operation_not_permitted from a
  /// tasklet that would have to wait; std::bad_alloc if nobody waits and there is no memory; what `delegate`
  /// throws. Nothing has been delegated then. *Undefined*: if there is no consumer.
  template <delegating<Consumer> D>
  bool lock_or_delegate(D&& delegate) {
    if (queue_.try_take()) {
      owner_.set();
      return true;
    }
    hand_to_consumer(delegate);
    return false;
  }
  /// As lock_or_delegate(), but true: `run()` was called and the delegator given back, by unlock_and_wait()
  /// if `run` returned a place. *Errors*: also what `run` throws; the delegator is not held then.
  template <immediate R, delegating<Consumer> D>
  bool execute_or_delegate(R&& run, D&& delegate) {
    if (!lock_or_delegate(delegate)) {
      return false;
    }
    if (suspended_thread* const place = run_or_unlock(run)) {
      unlock_and_wait(*place);
    } else {
      unlock();
    }
    return true;
  }
  /// Calls `f()` under the delegator, here if it is free and else wherever it is owned, and returns a copy of
  /// what f returned. Nothing is allocated. `f` may not wait, nor use this delegator but by post().
  /// *Contexts*: thread, foreign kernel thread; a tasklet if the delegator is free. *Switches*: may.
  /// *Errors*: what `f` throws; std::system_error(operation_not_permitted) from a tasklet that would have to
  /// wait.
  template <std::invocable F>
  auto execute_or_delegate(F&& f) {
    if (queue_.try_take()) [[likely]] {
      const releaser at_end(*this);
      return f();
    }
    return delegate_and_wait(f);
  }
  /// The same without waiting for it: a decayed copy of `f` is called. It is allocated if it has more than 24
  /// bytes or its move may throw, and if the queue is a list. An exception that leaves f ends the process.
  /// Posts of one caller are executed in their order. *Contexts*: all but signal handlers. *Switches*: if a
  /// ring is full, so that those who serve it get their turn. *Errors*: std::bad_alloc, what the copy throws;
  /// nothing has been delegated then.
  template <class F>
    requires std::invocable<std::decay_t<F>&>
  void post(F&& f) {
    if (queue_.try_take()) {
      const releaser at_end(*this);
      call_or_terminate(f);
    } else {
      post_call(call_of(std::decay_t<F>(std::forward<F>(f))));
    }
  }

 protected:
  /// Takes the delegator for a consumer whose thread will own it. *Errors*: device_or_resource_busy if it has
  /// one; as lock().
  void adopt(Consumer& c) {
    lock();
    if (running_) {
      unlock();
      throw std::system_error(std::make_error_code(std::errc::device_or_resource_busy), "start_consumer");
    }
    consumer_ = &c;
    running_ = true;
    stopping_ = false;
    consumer_calls_.look(); // it will look, once it runs
    owner_.clear_by_other();
  }
  /// After adopt(), once that thread has been made.
  void admit() noexcept { call_consumer(); }
  /// That thread could not be started.
  void abandon() noexcept {
    running_ = false;
    release();
  }
  /// Has the consumer's thread end, when all has been served. *Errors*: invalid_argument if there is none; as
  /// lock().
  void ask_to_stop() {
    lock();
    if (!running_) {
      unlock();
      throw std::system_error(std::make_error_code(std::errc::invalid_argument), "stop_consumer");
    }
    stopping_ = true;
    owner_.clear_by_other();
    call_consumer();
  }
  /// What the consumer's thread does, to which the delegator is offered at the beginning. *Contexts*: thread.
  /// *Switches*: may.
  void consume() {
    await_offer();
    for (std::size_t looks = 1;; ++looks) {
      server here(consumer_);
      std::size_t left = serve_at_once;
      const served how = serve(here, left);
      here.tell();
      if (how == served::enough) {
        continue;
      }
      if (how == served::wanted) {
        // Offered off this stack: it may be passed back at once.
        leave([this] {
          offer_to_first();
          return true;
        }); // SWITCH: may resume on another worker, owning the delegator again
      } else if (busy()) {
        make_progress();
      } else if (stopping_) {
        running_ = false;
        return release();
      } else {
        leave([this, looks] { // SWITCH: may resume on another worker
          if (queue_.try_free()) {
            return true; // GONE: *this
          }
          pause_for_arrival(looks);
          return false;
        });
      }
    }
  }

 private:
  friend release_action<delegation>;

  enum class served : std::uint8_t { all, enough, wanted }; // wanted: the first wants the lock

  /// What an owner serves before he tells those whose requests were executed, and a releasing thread before
  /// it passes the delegator to the consumer's thread: a bound to what it does for others.
  static constexpr std::size_t serve_at_once = 64;

  class releaser {
   public:
    explicit releaser(delegation& d) noexcept : delegator_(d) {}
    releaser(const releaser&) = delete;
    ~releaser() { delegator_.release(); }

   private:
    delegation& delegator_;
  };

  /// Whether the consumer's thread must go on although there are no requests.
  [[nodiscard]] bool busy() const noexcept {
    return running_ && (put_off_ != nullptr || static_cast<Consumer*>(consumer_)->is_active());
  }
  /// Whether it must be called although there are none.
  [[nodiscard]] bool is_wanted() const noexcept { return running_ && (stopping_ || busy()); }

  void release() noexcept {
    if (is_wanted() || !queue_.try_free()) [[unlikely]] {
      release_slowly();
    } // else GONE: *this
  }

  [[gnu::noinline]] void release_slowly() noexcept {
    server here(consumer_);
    std::size_t left = serve_at_once;
    for (std::size_t looks = 1; !give_back(here, left); ++looks) {
      if (left == 0) { // there is no consumer that could go on
        here.tell();
        left = serve_at_once;
      }
      pause_for_arrival(looks);
    }
    here.tell();
  }

  /// Serves, and gives the delegator back or on. False: somebody has come meanwhile, or is about to. GONE:
  /// *this, if true.
  bool give_back(server& here, std::size_t& left) noexcept {
    const served how = serve(here, left);
    if (how == served::wanted) {
      offer_to_first();
    } else if (running_ && (how == served::enough || is_wanted())) {
      call_consumer();
    } else {
      return how == served::all && queue_.try_free();
    }
    return true;
  }

  /// Off the owner's stack, where little may be done: all is left to the consumer's thread, if there is one.
  void release_for_owner() noexcept {
    owner_.clear_by_other();
    if (!running_) {
      release();
    } else if (is_wanted() || !queue_.try_free()) {
      call_consumer();
    } // GONE: *this
  }

  // --- offers. Nobody is preempted half way: others spin until an offer that was prepared is there. ---

  /// To the requester of the lock that is the first of the queue. GONE: *this.
  void offer_to_first() noexcept {
    const sched::runtime_section in;
    auto& r = static_cast<lock_request&>(*queue_.front());
    const auto publish = [this] { offer_.publish(); }; // GONE: *this and r, unless r sleeps
    offer_.prepare();
    if (r.calls.call()) { // (O3)
      r.sleep.notify(publish);
    } else {
      publish();
    }
  }
  /// By that requester, when it has been woken. False: others have it, and the caller can wait once more.
  bool accept(lock_request& r) noexcept {
    do {
      r.calls.look(); // (O4)
      if (offer_.take()) {
        queue_.pop();
        return true;
      }
      r.sleep.renew();
    } while (!r.calls.stand_by());
    return false;
  }
  /// To the consumer's thread. GONE: *this.
  void call_consumer() noexcept {
    const sched::runtime_section in;
    offer_.prepare();
    if (consumer_calls_.call()) { // (O3)
      idle_.notify();             // it waits for the offer, if it runs at once
    }
    offer_.publish();
  }
  /// By the consumer's thread: until it owns the delegator.
  void await_offer() {
    for (;;) {
      consumer_calls_.look(); // (O4)
      if (offer_.take()) {
        return;
      }
      // It stands by once it is in the place; GONE: the caller's frame, then.
      idle_.wait_with([this] { return consumer_calls_.stand_by(); }); // SWITCH: may resume elsewhere
    }
  }
  /// By the consumer's thread, which owns the delegator: gives it away by `give()`, off its stack, and
  /// returns owning it again. At once, if `give` says no.
  template <class Give>
  void leave(Give give) {
    bool keeps = false;
    idle_.wait_with([this, &keeps, give] {
      consumer_calls_.stand_by_as_owner();
      if (give()) {
        return true; // GONE: *this and the caller's frame
      }
      keeps = true;
      return false;
    }); // SWITCH: may resume on another worker
    if (!keeps) {
      await_offer();
    } else {
      consumer_calls_.look();
    }
  }

  /// Serves up to `left` requests and counts them off.
  served serve(server& here, std::size_t& left) noexcept {
    while (request* const r = queue_.front()) {
      if (left == 0) {
        return served::enough;
      }
      if (r->wants_lock()) {
        return served::wanted;
      }
      --left;
      queue_.pop();
      const bool is_posted = r->is_posted(); // before it is gone
      const request::outcome what = r->run(*r, here);
      if (what == request::outcome::put_off) {
        put_off(queue_.keep(*r));
      } else if (is_posted) {
        queue_.dispose(*r);
      }
    }
    return served::all;
  }

  void put_off(request& r) noexcept {
    r.next = nullptr;
    (put_off_ != nullptr ? static_cast<request*>(last_put_off_)->next : put_off_) = &r;
    last_put_off_ = &r;
  }

  /// Once around: the consumer's own work, what was put off, and whoever else wants to run.
  void make_progress() {
    if (static_cast<Consumer*>(consumer_)->is_active()) {
      static_cast<Consumer*>(consumer_)->progress().notify();
    }
    request* r = put_off_;
    put_off_ = nullptr;
    while (r != nullptr) {
      request* const next = r->next;
      server here(consumer_);
      const bool is_posted = r->is_posted();
      if (r->run(*r, here) == request::outcome::put_off) {
        put_off(*r);
      } else if (is_posted) {
        queue_.dispose(*r);
      }
      r = next;
    }
    sched::yield(); // SWITCH: may resume on another worker
  }

  // Not to be preempted half way: the owner spins until the request has arrived.
  template <class Request>
  bool push(Request& r) noexcept {
    const sched::runtime_section in;
    return queue_.push(r).owner;
  }
  pushed post(posted& p) {
    const sched::runtime_section in;
    return queue_.post(p);
  }

  void wait_for_lock() {
    expect_to_wait("lock");
    lock_request r;
    if (push(r)) {
      release_slowly();
    }
    do {
      r.sleep.wait({unit::wait_kind::delegator, 0, this}); // SWITCH: may resume on another worker
    } while (!accept(r));
  }

  template <class F>
  [[gnu::noinline]] auto delegate_and_wait(F& f) {
    expect_to_wait("execute_or_delegate");
    waiting_call<F> r(f);
    if (push(r)) {
      release_slowly();
    }
    r.sleep.wait({unit::wait_kind::delegator, 0, this}); // SWITCH: may resume on another worker
    return r.result();
  }

  template <class Call>
  void post_call(Call call) {
    posted p;
    p.fill(std::move(call));
    const pushed how = post(p);
    if (how.owner) {
      release_slowly();
    }
    if (how.crowded) [[unlikely]] {
      let_others_run(); // whoever serves the queue may want this worker
    }
  }

  template <class D>
  void hand_to_consumer(D& delegate) {
    owner_.expect_other();
    consumer_request<Consumer> r;
    // Not const: gcc 14 would evaluate a delegate that always says no, and warn of the call below.
    suspended_thread* place = delegate(r.what);
    if (place == nullptr) {
      return post_call(consumer_call<Consumer>{std::move(r.what)});
    }
    // Pushed off this stack: it may be executed, and the caller resumed, at once.
    place->wait_with([this, &r] {
      delegation& self = *this;
      if (self.queue_.push(r).owner) {
        self.release_for_owner();
      }
      return true;
    }); // SWITCH: may resume on another worker
  }

  template <class R>
  suspended_thread* run_or_unlock(R& run) {
    try {
      if constexpr (std::is_void_v<std::invoke_result_t<R&>>) {
        run();
        return nullptr;
      } else {
        return run();
      }
    } catch (...) {
      unlock();
      throw;
    }
  }

  void expect_to_wait(const char* what) const {
    owner_.expect_other();
    if (sched::on_worker()) {
      sched::require_thread(what);
    }
  }

  Queue queue_;
  offer_word offer_;
  call_word consumer_calls_;
  suspended_thread idle_; // the consumer's thread
  base::plain<Consumer*> consumer_ = nullptr;
  base::plain<request*> put_off_ = nullptr; // oldest first
  base::plain<request*> last_put_off_ = nullptr;
  base::plain<bool> running_ = false;  // the consumer's thread has been started, and has not come to its end
  base::plain<bool> stopping_ = false; // it has been asked for it
  [[no_unique_address]] default_owner_record owner_;
};

} // namespace weft::sync
