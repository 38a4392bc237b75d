// SPDX-License-Identifier: MIT
// An epoll instance and the bell with which its sleeper is called: what every event source sleeps in.
#pragma once

#include "weft/events/timer_queue.hpp"
#include "weft/os/doorbell.hpp"

#include <cstdint>
#include <sys/epoll.h>

namespace weft::io {

class epoll_set {
 public:
  /// *Errors*: std::system_error (EMFILE, ENFILE, ENOMEM); std::bad_alloc. Fault sites: descriptor,
  /// registration.
  epoll_set();
  ~epoll_set();
  epoll_set(const epoll_set&) = delete;
  epoll_set& operator=(const epoll_set&) = delete;

  [[nodiscard]] os::doorbell& bell() const noexcept { return *bell_; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// The data of the bell's events.
  static constexpr std::uint64_t bell_mark = ~std::uint64_t{0};

  /// As epoll_ctl(2); 0 or an errno.
  [[nodiscard]] int add(int descriptor, std::uint32_t events, std::uint64_t data) noexcept;
  [[nodiscard]] int modify(int descriptor, std::uint32_t events, std::uint64_t data) noexcept;

  /// The number of events, 0 also after a signal. Blocks the kernel thread until there is one or the time is
  /// over; `until` 0: looks only.
  int wait(epoll_event* events, int most, sched::deadline until) noexcept;

  /// In the child of fork().
  void abandon() noexcept;

 private:
  int control(int action, int descriptor, std::uint32_t events, std::uint64_t data) noexcept;

  os::doorbell::lease bell_;
  int descriptor_;
};

} // namespace weft::io
