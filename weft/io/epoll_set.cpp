// SPDX-License-Identifier: MIT
#include "weft/io/epoll_set.hpp"

#include "weft/os/clock.hpp"
#include "weft/os/fault.hpp"
#include "weft/os/interruptible.hpp"
#include "weft/os/timespec.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <unistd.h>

namespace weft::io {
namespace {

[[noreturn]] void fail(int error, const char* what) {
  throw std::system_error(error, std::system_category(), what);
}

int make_epoll() {
  const int error = os::fault(os::fault_site::descriptor);
  const int made = error == 0 ? ::epoll_create1(EPOLL_CLOEXEC) : -1;
  if (made < 0)
    fail(error != 0 ? error : errno, "weft: no epoll instance for idle workers to sleep in");
  return made;
}

} // namespace

epoll_set::epoll_set() : bell_(os::doorbell::take()), descriptor_(make_epoll()) {
  if (const int error = add(bell_->descriptor(), EPOLLIN | EPOLLET, bell_mark); error != 0) {
    ::close(descriptor_);
    fail(error, "weft: idle workers cannot be called through epoll");
  }
}

epoll_set::~epoll_set() {
  ::close(descriptor_);
}

void epoll_set::abandon() noexcept {
  ::close(descriptor_);
}

int epoll_set::control(int action, int descriptor, std::uint32_t events, std::uint64_t data) noexcept {
  if (const int error = os::fault(os::fault_site::registration); error != 0)
    return error;
  epoll_event event{};
  event.events = events;
  event.data.u64 = data;
  return ::epoll_ctl(descriptor_, action, descriptor, &event) == 0 ? 0 : errno;
}

int epoll_set::add(int descriptor, std::uint32_t events, std::uint64_t data) noexcept {
  return control(EPOLL_CTL_ADD, descriptor, events, data);
}

int epoll_set::modify(int descriptor, std::uint32_t events, std::uint64_t data) noexcept {
  return control(EPOLL_CTL_MOD, descriptor, events, data);
}

// A signal ends it early, as an event that is nobody's would. It cannot where there is no time to wait.
int epoll_set::wait(epoll_event* events, int most, sched::deadline until) noexcept {
  if (until == 0)
    return std::max(::epoll_wait(descriptor_, events, most, 0), 0);
  if (until == sched::no_deadline)
    return std::max(os::interruptible([&] { return ::epoll_wait(descriptor_, events, most, -1); }), 0);
  const std::int64_t left = std::max<std::int64_t>(until - os::now_ns(), 0);
  const timespec longest = os::timespec_of(left);
  const int count =
      os::interruptible([&] { return ::epoll_pwait2(descriptor_, events, most, &longest, nullptr); });
  if (count >= 0 || errno != ENOSYS)
    return std::max(count, 0);
  // Linux before 5.11: milliseconds, rounded up.
  const auto ms = std::min<std::int64_t>((left + 999'999) / 1'000'000, 1 << 30);
  return std::max(::epoll_wait(descriptor_, events, most, static_cast<int>(ms)), 0);
}

} // namespace weft::io
