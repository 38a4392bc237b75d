// SPDX-License-Identifier: MIT
// How long a call may wait, and what may end it before: the last parameter of all calls that wait for I/O.
#pragma once

#include "weft/sync/waiter.hpp"

#include <chrono>
#include <stop_token>
#include <utility>

namespace weft::io {

/// A length of time, a point of any clock, a stop token, or the last with one of the others; nothing: for
/// ever. `io::read(fd, buffer, size, 100ms)`, `io::read(fd, buffer, size, {100ms, token})`. A length of 0 or
/// less: the call does what it can at once and waits for nothing.
class limit {
 public:
  limit() noexcept = default;
  explicit(false) limit(std::stop_token stop) noexcept : stop_(std::move(stop)) {}
  template <class Rep, class Period>
  explicit(false) limit(const std::chrono::duration<Rep, Period>& length, std::stop_token stop = {})
      : until_(length <= length.zero() ? 0 : sync::deadline_of(length)), stop_(std::move(stop)) {}
  template <class Clock, class Duration>
  explicit(false) limit(const std::chrono::time_point<Clock, Duration>& at, std::stop_token stop = {})
      : until_(sync::deadline_of(at)), stop_(std::move(stop)) {}

  /// Nanoseconds of the monotonic clock; sched::no_deadline: none.
  [[nodiscard]] sched::deadline until() const noexcept { return until_; }
  [[nodiscard]] const std::stop_token& stop() const noexcept { return stop_; }

  /// The same with another end.
  [[nodiscard]] limit by(sched::deadline until) const noexcept {
    limit other = *this;
    other.until_ = until;
    return other;
  }

 private:
  sched::deadline until_ = sched::no_deadline;
  std::stop_token stop_;
};

} // namespace weft::io
