// SPDX-License-Identifier: MIT
// A queue between threads that blocks who finds it full or empty, and can be closed.
#pragma once

#include "weft/carrier/runtime_section.hpp"
#include "weft/sync/wait_queue.hpp"

#include <chrono>
#include <cstddef>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace weft::sync {

enum class channel_status { ok, closed, full, empty, timed_out, stopped };

/// What a receive brings: a value if and only if the status is ok.
template <class T>
struct [[nodiscard]] received {
  channel_status status;
  std::optional<T> value;

  explicit operator bool() const noexcept { return value.has_value(); }
  T& operator*() & noexcept { return *value; }
  T&& operator*() && noexcept { return *std::move(value); }
  T* operator->() noexcept { return &*value; }
};

/// First in, first out, for any number of senders and receivers.
/// `capacity` values wait in it at most; unbounded by default; with 0 a send returns once its value has been
/// received. After close() nothing more is accepted, what is in it can still be received, and all who wait
/// return. Values are moved outside all locks; each lies in a cell of its own from the heap, so a send may
/// throw std::bad_alloc (or what the move of T throws), before it has changed anything. Waiting: *Contexts*:
/// thread, foreign kernel thread; a tasklet as long as it need not wait. *Switches*: may. *Errors*:
/// std::system_error (operation_not_permitted from a tasklet; no timer could be had). A send that ends
/// otherwise than ok or by an exception gives the value back, by move assignment, if it was passed as an
/// rvalue and T allows it. Requests to cancel a thread are not acted on. *Ownership*: `lock_` guards all but
/// the cells' values. *Invariants*: receivers wait only while nothing is queued and no sender waits; senders
/// wait only while `size_ == capacity_`; nobody waits once it is closed.
template <class T>
class channel {
  struct cell {
    template <class Value>
    explicit cell(Value&& v) : value(std::forward<Value>(v)) {}
    T value;
    cell* next = nullptr;
  };

 public:
  static constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();

  explicit channel(std::size_t capacity = unbounded) noexcept : capacity_(capacity) {}
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  ~channel() {
    const sched::runtime_section in;
    senders_.drain(lock_);
    receivers_.drain(lock_);
    while (cell* const c = pop()) {
      delete c;
    }
  }

  /// ok, closed; with a token: stopped; with a time: timed_out.
  channel_status send(T&& value, const std::stop_token& stop = {}) {
    return give(value, sched::no_deadline, stop);
  }
  channel_status send(const T& value, const std::stop_token& stop = {})
    requires std::is_copy_constructible_v<T>
  {
    return give(value, sched::no_deadline, stop);
  }
  template <class Value, class Rep, class Period>
  channel_status send_for(Value&& value, const std::chrono::duration<Rep, Period>& length,
                          const std::stop_token& stop = {}) {
    return give_forwarded(std::forward<Value>(value), deadline_of(length), stop);
  }
  template <class Value, class Clock, class Duration>
  channel_status send_until(Value&& value, const std::chrono::time_point<Clock, Duration>& at,
                            const std::stop_token& stop = {}) {
    return give_forwarded(std::forward<Value>(value), deadline_of(at), stop);
  }
  /// ok, closed, full. *Contexts*: all but signal handlers. *Switches*: never.
  template <class Value>
  channel_status try_send(Value&& value) {
    return give_forwarded(std::forward<Value>(value), at_once, {});
  }

  /// ok, closed (and empty); with a token: stopped; with a time: timed_out.
  received<T> receive(const std::stop_token& stop = {}) { return take(sched::no_deadline, stop); }
  template <class Rep, class Period>
  received<T> receive_for(const std::chrono::duration<Rep, Period>& length,
                          const std::stop_token& stop = {}) {
    return take(deadline_of(length), stop);
  }
  template <class Clock, class Duration>
  received<T> receive_until(const std::chrono::time_point<Clock, Duration>& at,
                            const std::stop_token& stop = {}) {
    return take(deadline_of(at), stop);
  }
  /// ok, closed (and empty), empty. *Contexts*: all but signal handlers. *Switches*: never.
  received<T> try_receive() { return take(at_once, {}); }

  /// Nothing more is accepted. Again: no effect. *Contexts*: all but signal handlers. *Switches*: never.
  void close() noexcept {
    const sched::runtime_section in;
    const std::scoped_lock held(lock_);
    closed_ = true;
    senders_.notify_all();
    receivers_.notify_all();
  }
  /// RACY while others use it. *Contexts*: all but signal handlers.
  [[nodiscard]] bool closed() const noexcept {
    const sched::runtime_section in;
    const std::scoped_lock held(lock_);
    return closed_;
  }
  [[nodiscard]] std::size_t size() const noexcept {
    const sched::runtime_section in;
    const std::scoped_lock held(lock_);
    return size_;
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  /// for (T& value : channel): receives until it is closed and empty. The reference is good until the next
  /// step.
  class iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;

    explicit iterator(channel& from) : from_(&from) { ++*this; }
    T& operator*() const noexcept { return *current_; }
    iterator& operator++() {
      current_ = std::move(from_->receive().value);
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const noexcept { return !current_.has_value(); }

   private:
    channel* from_;
    mutable std::optional<T> current_;
  };
  iterator begin() { return iterator(*this); }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  static constexpr sched::deadline at_once = std::numeric_limits<sched::deadline>::min();

  // What a waiter is there for, by waiter::tag. Receivers get a cell; from senders theirs is taken. Null when
  // woken: closed.
  struct exchange {
    cell* value = nullptr;
    bool accepted = false;
  };
  static exchange& exchange_of(waiter& w) noexcept { return *static_cast<exchange*>(w.tag); }

  static channel_status status_of(wait_result how) noexcept {
    return how == wait_result::timed_out ? channel_status::timed_out : channel_status::stopped;
  }

  template <class Value>
  channel_status give_forwarded(Value&& value, sched::deadline until, const std::stop_token& stop) {
    if constexpr (std::is_same_v<Value, T>) {
      return give(value, until, stop);
    } else if constexpr (std::is_same_v<std::remove_cvref_t<Value>, T>) {
      return give(std::as_const(value), until, stop);
    } else {
      T converted(std::forward<Value>(value));
      return give(converted, until, stop);
    }
  }

  // A non-const value is moved from, and back unless it was accepted.
  template <class Value>
  channel_status give(Value& value, sched::deadline until, const std::stop_token& stop) {
    std::unique_ptr<cell> c;
    if constexpr (std::is_const_v<Value>) {
      c = std::make_unique<cell>(value);
    } else {
      c = std::make_unique<cell>(std::move(value));
    }
    const auto give_back = [&] {
      if constexpr (!std::is_const_v<Value> && std::is_move_assignable_v<T>) {
        if (c != nullptr) {
          value = std::move(c->value);
        }
      }
    };
    try {
      const channel_status outcome = give_cell(c, until, stop);
      give_back();
      return outcome;
    } catch (...) {
      give_back();
      throw;
    }
  }

  // Takes the cell from `c` if and only if it returns ok.
  channel_status give_cell(std::unique_ptr<cell>& c, sched::deadline until, const std::stop_token& stop) {
    const sched::runtime_section in;
    held_lock held(lock_);
    if (closed_) {
      return channel_status::closed;
    }
    if (receivers_.notify_one([&](waiter& w) { exchange_of(w).value = c.get(); })) {
      c.release();
      return channel_status::ok;
    }
    if (size_ < capacity_) {
      push(c.release());
      return channel_status::ok;
    }
    if (until == at_once) {
      return channel_status::full;
    }
    exchange mine{c.get()};
    waiter w({unit::wait_kind::full_channel, 0, this});
    w.tag = &mine;
    const wait_result how = senders_.wait(held, w, until, stop); // SWITCH: may resume on another worker
    if (how != wait_result::notified) {
      return status_of(how);
    }
    if (!mine.accepted) {
      return channel_status::closed;
    }
    c.release();
    return channel_status::ok;
  }

  received<T> take(sched::deadline until, const std::stop_token& stop) {
    channel_status status = channel_status::ok;
    const std::unique_ptr<cell> c(take_cell(until, stop, status));
    if (c == nullptr) {
      return {status, std::nullopt};
    }
    return {channel_status::ok, std::move(c->value)};
  }

  cell* take_cell(sched::deadline until, const std::stop_token& stop, channel_status& status) {
    const sched::runtime_section in;
    held_lock held(lock_);
    cell* const oldest = pop();
    if (cell* const next = take_from_sender()) {
      if (oldest == nullptr) {
        return next; // capacity 0
      }
      push(next);
    }
    if (oldest != nullptr) {
      return oldest;
    }
    if (closed_ || until == at_once) {
      status = closed_ ? channel_status::closed : channel_status::empty;
      return nullptr;
    }
    exchange mine;
    waiter w({unit::wait_kind::empty_channel, 0, this});
    w.tag = &mine;
    const wait_result how = receivers_.wait(held, w, until, stop); // SWITCH: may resume on another worker
    if (how != wait_result::notified) {
      status = status_of(how);
      return nullptr;
    }
    status = channel_status::closed; // if there is no value
    return mine.value;
  }

  cell* take_from_sender() noexcept {
    cell* taken = nullptr;
    const bool notified = !closed_ && senders_.notify_one([&](waiter& w) {
      taken = exchange_of(w).value;
      exchange_of(w).accepted = true;
    });
    return notified ? taken : nullptr;
  }

  void push(cell* c) noexcept {
    (last_ != nullptr ? last_->next : first_) = c;
    last_ = c;
    ++size_;
  }

  cell* pop() noexcept {
    cell* const c = first_;
    if (c != nullptr) {
      first_ = c->next;
      last_ = first_ != nullptr ? last_ : nullptr;
      --size_;
    }
    return c;
  }

  const std::size_t capacity_;
  mutable base::spin_lock lock_;
  bool closed_ = false;
  cell* first_ = nullptr;
  cell* last_ = nullptr;
  std::size_t size_ = 0;
  wait_queue senders_;
  wait_queue receivers_;
};

} // namespace weft::sync
