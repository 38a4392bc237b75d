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

io::limit limit_of(door::deadline until, std::stop_token stop = {}) {
  if (until == door::no_deadline)
    return stop;
  return {std::chrono::steady_clock::time_point(std::chrono::nanoseconds(until)), std::move(stop)};
}

// In scope: others may end the caller's wait. (T2) It says so, full fence, and then looks at `call_off`; who
// calls it off sets that, full fence, and then looks whether it waits.
class may_be_ended {
 public:
  may_be_ended(thread& t, int descriptor) noexcept : thread_(t) {
    t.waits_for_descriptor.store_relaxed(descriptor);
    door::full_fence();
  }
  ~may_be_ended() { thread_.waits_for_descriptor.store_relaxed(-1); }
  may_be_ended(const may_be_ended&) = delete;
  may_be_ended& operator=(const may_be_ended&) = delete;
  [[nodiscard]] bool is_ended() const noexcept { return thread_.call_off.load_relaxed() != 0; }

 private:
  thread& thread_;
};

// A connect(2) that others may end. *Ownership*: in the frame of the thread; `thread::connects` leads there
// meanwhile, under the thread's lock.
class may_be_stopped {
 public:
  // Errors: std::bad_alloc. In user mode: malloc's lock may be a preempted thread's.
  explicit may_be_stopped(thread& t) : thread_(t) { say(&stop_); }
  ~may_be_stopped() { say(nullptr); }
  may_be_stopped(const may_be_stopped&) = delete;
  may_be_stopped& operator=(const may_be_stopped&) = delete;
  [[nodiscard]] std::stop_token token() const noexcept { return stop_.get_token(); }

 private:
  void say(std::stop_source* stop) noexcept {
    const door::runtime_section in;
    const std::scoped_lock held(thread_.lock);
    thread_.connects = stop;
  }
  thread& thread_;
  std::stop_source stop_;
};

// Of a wait with that result.
wait_end end_of(const std::error_code& error, door::deadline until) {
  const bool handled =
      self->call_off.load_relaxed() != 0 && act_on_requests(); // asked before it was closed, perhaps
  if (!error || error == std::errc::operation_canceled)
    return handled && self->handler_ends_calls ? wait_end::interrupted : wait_end::ready;
  if (error == std::errc::timed_out && door::passed(until))
    return wait_end::too_late;
  return error == std::errc::bad_file_descriptor ? wait_end::closed : wait_end::unknown;
}

} // namespace

bool waits_in_weft() noexcept {
  return self != nullptr && !self->has_own_descriptors && door::is_in_program();
}

void pass_on_what_woke(thread& self) noexcept {
  const int descriptor = std::exchange(self.woken_for, -1);
  if (descriptor >= 0)
    io::wake_waiters(descriptor);
}

wait_end descriptor_wait::wait(door::deadline until) {
  std::error_code error;
  if (!ready_.was_woken())
    pass_on_what_woke(*self); // of a call that a handler has left by a longjmp
  {
    const not_by_libc alone; // it would unwind the runtime
    const may_be_ended here(*self, descriptor_);
    if (!here.is_ended())
      ready_.wait(error, limit_of(until)); // SWITCH: may resume on another worker
    if (ready_.was_woken())
      self->woken_for = descriptor_;
  }
  return end_of(error, until);
}

wait_end wait_for_connection(int descriptor, const sockaddr* to, socklen_t bytes, door::deadline until,
                             int& error) {
  std::error_code told = std::make_error_code(std::errc::operation_canceled);
  error = 0;
  try {
    const not_by_libc alone;
    const may_be_stopped stop(*self);
    const may_be_ended here(*self, descriptor);
    if (!here.is_ended())
      io::connect(descriptor, to, bytes, told, limit_of(until, stop.token())); // SWITCH: may resume elsewhere
  } catch (const std::bad_alloc&) {
    return wait_end::unknown;
  }
  error = told.value();
  const wait_end end = end_of(told, until);
  const bool is_its_own = end == wait_end::unknown && error != 0; // what the call says
  return is_its_own ? wait_end::ready : end;
}

void end_descriptor_wait(thread& t) noexcept {
  const int descriptor = t.waits_for_descriptor.load_relaxed(); // relaxed: the caller's fence orders it
  if (descriptor < 0)
    return;
  std::stop_source connects{std::nostopstate};
  {
    const door::runtime_section in;
    const std::scoped_lock held(t.lock);
    if (t.connects != nullptr)
      connects = *t.connects;
  }
  if (connects.stop_possible()) {
    connects.request_stop();
  } else {
    io::wake_waiters(descriptor);
  }
}

} // namespace weft::pthreads
