// SPDX-License-Identifier: MIT
// What is left of a transfer of which a part is through: the blocking calls go on with it where a call that
// does not wait returns. write(2) and send(2) do until all is written, recv(2) does with MSG_WAITALL, and
// whoever reads or writes a file does.
#pragma once

#include "weft/io/limit.hpp"
#include "weft/io/request.hpp"

#include <cerrno>

namespace weft::io {

/// *Invariant*: the bytes before `within_` of buffer `index_` are through.
class rest_of {
 public:
  rest_of(const request& whole, int done) noexcept;
  [[nodiscard]] bool is_empty() const noexcept { return done_ >= size_; }
  [[nodiscard]] int done() const noexcept { return static_cast<int>(done_); }
  void take(int bytes) noexcept;
  /// A request for the rest, or for a part of it. Refers to *this.
  [[nodiscard]] request next() noexcept;

 private:
  const request& whole_;
  iovec part_{};
  int index_ = 0;
  std::size_t within_ = 0;
  std::size_t done_ = 0;
  const std::size_t size_;
};

/// How a request is done by which a thread may have to wait for an event: the result, or -errno.
using way_of_waiting = int (*)(const request& r, const limit& how_long) noexcept;

/// Goes on with `r`, of which `done` bytes are through, on a stream: to the end; or until the limit ends a
/// wait, or there is an error or an end of the stream, which the next call will tell. The number of bytes in
/// all. *Switches*: as `perform`.
[[nodiscard]] int finish_on_stream(const request& r, int done, const limit& how_long,
                                   way_of_waiting perform) noexcept;

/// The same of a file, where `wait_for(request)` waits for the disk.
template <class WaitFor>
[[nodiscard]] int finish_in_file(const request& r, int done, WaitFor wait_for) noexcept {
  rest_of rest(r, done);
  hints known;
  known.no_socket = true;
  while (!rest.is_empty()) {
    int now = attempt(rest.next(), known);
    if (now == -EAGAIN)
      now = wait_for(rest.next()); // SWITCH: as it says
    if (now <= 0)
      break;
    rest.take(now);
  }
  return rest.done();
}

/// Whether the blocking call would go on after `done` bytes (more than 0) on something that is no file.
[[nodiscard]] bool has_rest(const request& r, int done) noexcept;

/// How long a read of a terminal waits for the next byte (hints::look_again_ns): begins again with each.
class terminal_patience {
 public:
  /// After an attempt that found too little.
  [[nodiscard]] bool is_over(const hints& h) noexcept;
  /// `whole`, or what is left of the patience if that is less. Refers to *this or to `whole`.
  [[nodiscard]] const limit& bounded(const hints& h, const limit& whole) noexcept;

 private:
  int there_ = -1;
  sched::deadline until_ = sched::no_deadline;
  limit shorter_;
};

/// Waits for a moment, for what no event tells of: 0, or an errno (ETIMEDOUT, ECANCELED: the limit).
/// *Contexts*: thread, foreign kernel thread. *Switches*: may.
[[nodiscard]] int pause_before_retry(const limit& how_long) noexcept;

} // namespace weft::io
