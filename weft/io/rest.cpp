// SPDX-License-Identifier: MIT
#include "weft/io/rest.hpp"

#include "weft/io/left_errors.hpp"
#include "weft/os/clock.hpp"
#include "weft/sync/sleep.hpp"
#include "weft/workers/worker.hpp"

#include <algorithm>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <new>
#include <poll.h>
#include <sys/ioctl.h>
#include <system_error>

namespace weft::io {
namespace {

constexpr std::size_t most = 0x7ffff000; // what Linux transfers in one call

// The first field of what TCP tells about a socket; nothing of others.
int tcp_state(int descriptor) noexcept {
  unsigned char state = 0;
  socklen_t size = sizeof state;
  return ::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &state, &size) == 0 ? state : -1;
}

bool is_stream_socket(int descriptor) noexcept {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

// A blocking read of a part stops before urgent data.
bool is_at_mark(int descriptor) noexcept {
  int at_mark = 0;
  return ::ioctl(descriptor, SIOCATMARK, &at_mark) == 0 && at_mark != 0;
}

// Whether the next try could only take an error that the blocking call leaves to the next one. Only TCP
// leaves it: a Unix socket's error is lost with the part.
bool would_take_error(const request& r) noexcept {
  if (tcp_state(r.descriptor) != TCP_CLOSE)
    return false;
  int there = 0;
  return r.what != operation::receive || ::ioctl(r.descriptor, FIONREAD, &there) != 0 || there == 0;
}

// A Unix socket's, by which a blocked writer is told to end with the part.
void lose_error(int descriptor) noexcept {
  int error = 0;
  socklen_t size = sizeof error;
  static_cast<void>(::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size));
}

// One look does not take what it sees, so there is no rest of it: it looks again until there is enough. No
// event tells of more where something is already. A Unix socket waits for the first part only.
int look_until_all(const request& r, int seen, const limit& how_long) noexcept {
  hints known;
  const auto wanted = static_cast<int>(std::min(size_of(r), most));
  request once = r;
  once.flags &= ~MSG_WAITALL;
  while (seen > 0 && seen < wanted && tcp_state(r.descriptor) >= 0) {
    pollfd state{r.descriptor, POLLRDHUP | POLLPRI, 0};
    int there = 0; // up to the mark, where there is one
    const bool is_over =
        ::poll(&state, 1, 0) != 0 &&
        (state.revents != POLLPRI || (::ioctl(r.descriptor, FIONREAD, &there) == 0 && there <= seen));
    if (!is_over && pause_before_retry(how_long) != 0) // SWITCH: as it says
      break;
    const int now = attempt(once, known);
    seen = now > 0 ? now : seen;
    if (is_over || now <= 0)
      break;
  }
  return seen;
}

} // namespace

rest_of::rest_of(const request& whole, int done) noexcept
    : whole_(whole), size_(std::min(size_of(whole), most)) {
  take(done);
}

void rest_of::take(int bytes) noexcept {
  done_ += static_cast<std::size_t>(bytes);
  within_ += static_cast<std::size_t>(bytes);
  while (index_ < whole_.buffer_count && within_ >= whole_.buffers[index_].iov_len)
    within_ -= whole_.buffers[index_++].iov_len;
}

request rest_of::next() noexcept {
  request r = whole_;
  if (r.offset != -1)
    r.offset += static_cast<std::int64_t>(done_);
  r.buffers += index_;
  r.buffer_count -= index_;
  if (within_ != 0 || r.buffer_count == 1) {
    part_ = *r.buffers;
    part_.iov_base = static_cast<std::byte*>(part_.iov_base) + within_;
    part_.iov_len = std::min(part_.iov_len - within_, size_ - done_);
    r.buffers = &part_;
    r.buffer_count = 1;
  }
  r.flags &= ~(r.what == operation::receive ? MSG_WAITALL : 0);
  return r;
}

bool has_rest(const request& r, int done) noexcept {
  if (static_cast<std::size_t>(done) >= std::min(size_of(r), most))
    return false;
  switch (r.what) {
  case operation::write:
    return r.offset == -1;
  case operation::send:
    return true;
  case operation::receive:
    return (r.flags & MSG_WAITALL) != 0 && is_stream_socket(r.descriptor);
  default:
    return false;
  }
}

int finish_on_stream(const request& r, int done, const limit& how_long, way_of_waiting perform) noexcept {
  const bool in = r.what == operation::receive;
  if (in && (r.flags & MSG_PEEK) != 0)
    return look_until_all(r, done, how_long);
  rest_of rest(r, done);
  request ready;
  ready.what = operation::poll;
  ready.descriptor = r.descriptor;
  ready.flags = in ? POLLIN | POLLPRI : POLLOUT;
  hints known;
  while (!rest.is_empty() && !(in && is_at_mark(r.descriptor))) {
    const int events = perform(ready, how_long); // SWITCH: as it says
    if (events < 0 || (in && is_at_mark(r.descriptor)) || would_take_error(r))
      break;
    const int now = attempt(rest.next(), known);
    // Urgent data are announced, and something before them has not come yet: no event will tell.
    if (now == -EAGAIN && (events & POLLPRI) != 0 && pause_before_retry(how_long) != 0)
      break;
    if (now == -EAGAIN)
      continue;
    if (now <= 0) {
      const bool is_tcp = tcp_state(r.descriptor) >= 0;
      if (is_tcp && now < 0 && now != -EPIPE) // EPIPE is told again
        leave_error(r.descriptor, -now);
      if (!is_tcp && !in)
        lose_error(r.descriptor);
      break;
    }
    rest.take(now);
  }
  return rest.done();
}

bool terminal_patience::is_over(const hints& h) noexcept {
  if (h.look_again_ns == 0)
    return false;
  const sched::deadline now = os::now_ns();
  if (h.there != there_ || !h.is_over_then)
    until_ = now + h.look_again_ns;
  there_ = h.there;
  return now >= until_;
}

const limit& terminal_patience::bounded(const hints& h, const limit& whole) noexcept {
  if (h.look_again_ns == 0 || until_ >= whole.until())
    return whole;
  shorter_ = whole.by(until_);
  return shorter_;
}

int pause_before_retry(const limit& how_long) noexcept {
  constexpr sched::deadline pause = 1'000'000;
  const sched::deadline now = os::now_ns();
  if (how_long.stop().stop_requested())
    return ECANCELED;
  if (how_long.until() <= now)
    return ETIMEDOUT;
  const sched::deadline until = std::min(how_long.until(), now + pause);
  if (!sched::on_worker()) {
    os::sleep_ns(until - now);
    return 0;
  }
  try {
    return sync::sleep_until_deadline(until, how_long.stop()) ? 0 : ECANCELED; // SWITCH: as it says
  } catch (const std::system_error& e) {
    return e.code().value();
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

} // namespace weft::io
