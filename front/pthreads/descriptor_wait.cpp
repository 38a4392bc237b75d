// SPDX-License-Identifier: MIT
#include "front/pthreads/descriptor_wait.hpp"

#include "front/pthreads/libc_cancellation.hpp"
#include "front/pthreads/requests.hpp"
#include "weft/door/section.hpp"
#include "weft/io.hpp"

#include <chrono>
#include <new>
#include <utility>

namespace weft::pthreads {
namespace {

// In scope: others may end the caller's wait. As (T2): it says so, full fence, and then looks at `call_off`;
// who calls it off sets that, full fence, and then looks whether it waits.
class may_be_ended {
 public:
  // Errors: std::bad_alloc; nothing has changed.
  explicit may_be_ended(thread& t) : thread_(t) {
    std::stop_source next{std::nostopstate};
    if (!t.descriptor_wait.stop_possible() || t.descriptor_wait.stop_requested())
      next = std::stop_source(); // in user mode: malloc's lock may be a preempted thread's
    say(true, next);
    door::full_fence();
  }
  ~may_be_ended() {
    std::stop_source none{std::nostopstate};
    say(false, none);
  }
  may_be_ended(const may_be_ended&) = delete;
  may_be_ended& operator=(const may_be_ended&) = delete;
  [[nodiscard]] bool is_ended() const noexcept { return thread_.call_off.load_relaxed() != 0; } // (T2)
  [[nodiscard]] io::limit limit(door::deadline until) const {
    std::stop_token token = thread_.descriptor_wait.get_token();
    if (until == door::no_deadline)
      return token;
    return {std::chrono::steady_clock::time_point(std::chrono::nanoseconds(until)), std::move(token)};
  }

 private:
  void say(bool waits, std::stop_source& next) noexcept {
    const door::runtime_section in;
    const std::scoped_lock held(thread_.lock);
    thread_.waits_for_descriptor = waits;
    if (next.stop_possible())
      std::swap(thread_.descriptor_wait, next);
  }
  thread& thread_;
};

// `wait(limit, error)`
template <class Wait>
wait_end wait_until_ended(door::deadline until, Wait wait) {
  std::error_code error;
  try {
    const not_by_libc alone; // it would unwind the runtime
    const may_be_ended here(*self);
    if (here.is_ended()) {
      error = std::make_error_code(std::errc::operation_canceled);
    } else {
      wait(here.limit(until), error); // SWITCH: may resume on another worker
    }
  } catch (const std::bad_alloc&) {
    return wait_end::unknown;
  }
  if (error == std::errc::operation_canceled)
    return act_on_requests() && self->handler_ends_calls ? wait_end::interrupted : wait_end::ready;
  if (!error)
    return wait_end::ready;
  if (error == std::errc::timed_out && door::passed(until))
    return wait_end::too_late;
  return error == std::errc::bad_file_descriptor ? wait_end::closed : wait_end::unknown;
}

} // namespace

bool waits_in_weft() noexcept {
  return self != nullptr && door::is_in_program();
}

wait_end wait_for(int descriptor, short events, door::deadline until) {
  return wait_until_ended(until, [&](const io::limit& how_long, std::error_code& error) {
    io::poll(descriptor, events, error, how_long);
  });
}

wait_end wait_for_connection(int descriptor, const sockaddr* to, socklen_t bytes, door::deadline until,
                             int& error) {
  error = 0;
  const wait_end end = wait_until_ended(until, [&](const io::limit& how_long, std::error_code& told) {
    io::connect(descriptor, to, bytes, told, how_long);
    error = told.value();
  });
  const bool is_its_own = end == wait_end::unknown && error != 0; // what the call says
  return is_its_own ? wait_end::ready : end;
}

void end_descriptor_wait(thread& t) noexcept {
  std::stop_source its_wait{std::nostopstate};
  {
    const door::runtime_section in;
    const std::scoped_lock held(t.lock);
    if (t.waits_for_descriptor)
      its_wait = t.descriptor_wait;
  }
  if (its_wait.stop_possible())
    its_wait.request_stop();
}

} // namespace weft::pthreads
