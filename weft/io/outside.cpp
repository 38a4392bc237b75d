// SPDX-License-Identifier: MIT
#include "weft/io/outside.hpp"

#include "weft/io/rest.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/doorbell.hpp"
#include "weft/os/interruptible.hpp"
#include "weft/os/timespec.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <optional>
#include <poll.h>
#include <system_error>

namespace weft::io {
namespace {

struct ring {
  os::doorbell* bell;
  void operator()() const noexcept { bell->ring(); }
};

// 0: ready, else an errno. A bell that was rung for somebody else ends a round without cause.
int block(int descriptor, short events, const os::doorbell* bell, const limit& how_long) noexcept {
  pollfd asked[] = {{descriptor, events, 0}, {bell != nullptr ? bell->descriptor() : -1, POLLIN, 0}};
  for (;;) {
    if (how_long.stop().stop_requested())
      return ECANCELED;
    const std::int64_t left = how_long.until() - os::now_ns();
    if (left <= 0)
      return ETIMEDOUT;
    const timespec longest = os::timespec_of(left);
    const bool for_ever = how_long.until() == sched::no_deadline;
    const int ready = os::interruptible(
        [&] { return ::ppoll(asked, bell != nullptr ? 2 : 1, for_ever ? nullptr : &longest, nullptr); });
    if (ready < 0 && errno != EINTR)
      return errno;
    if (ready > 0 && asked[0].revents != 0)
      return 0;
  }
}

// The first try, and what `result` says of it, are made.
int perform_with_bell(const request& r, const os::doorbell* bell, const limit& how_long, int result,
                      hints& known) noexcept {
  bool is_connecting = false;
  terminal_patience patience;
  for (bool was_ready = false;;) {
    is_connecting = is_connecting || result == -EINPROGRESS;
    if (result != -EAGAIN && result != -EINPROGRESS)
      return known.is_file ? finish_in_file(r, result, perform_blocking) : result;
    if (patience.is_over(known))
      return take_what_is_there(r);
    // Ready, says poll(2), and still the call must wait: no event tells how long.
    const bool has_no_event = r.what == operation::connect && !is_connecting;
    const limit& this_time = patience.bounded(known, how_long);
    int error = was_ready || has_no_event ? pause_before_retry(how_long) : 0;
    if (error == 0 && !has_no_event)
      error = block(r.descriptor, events_of(r), bell, this_time);
    was_ready = error == 0;
    if (error != 0 && (error != ETIMEDOUT || this_time.until() == how_long.until()))
      return -error;
    known.look_again_ns = 0;
    result = is_connecting ? finish_connect(r) : attempt(r, known);
  }
}

} // namespace

int perform_outside(const request& r, const limit& how_long) noexcept {
  hints known;
  const int result = attempt(r, known);
  if (result != -EAGAIN && result != -EINPROGRESS)
    return known.is_file ? finish_in_file(r, result, perform_blocking) : result;
  if (r.what == operation::open || r.what == operation::sync || r.what == operation::sync_data ||
      is_file(r.descriptor))
    return perform_blocking(r);
  if (!how_long.stop().stop_possible())
    return perform_with_bell(r, nullptr, how_long, result, known);
  try {
    const os::doorbell::lease bell = os::doorbell::take();
    const std::stop_callback<ring> on_stop(how_long.stop(), ring{bell.get()});
    return perform_with_bell(r, bell.get(), how_long, result, known);
  } catch (const std::system_error& e) {
    return -e.code().value();
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

} // namespace weft::io
