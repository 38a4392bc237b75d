// SPDX-License-Identifier: MIT
#include "weft/runtime/guest.hpp"

#include "weft/carrier/leaving.hpp"
#include "weft/io/source.hpp"
#include "weft/os/timespec.hpp"
#include "weft/sched/default_group.hpp"
#include "weft/sync/waiter.hpp"
#include "weft/workers/group.hpp"

#include <cerrno>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace weft::runtime {
namespace {

// The worker of main(), which the caller must run on.
sched::worker& host() {
  sched::default_group();
  sched::come_back_if_away();
  if (!sched::on_worker() || !sched::here().on_primary_thread ||
      sched::here().current != &sched::group::primary_unit()) {
    throw std::system_error(std::make_error_code(std::errc::operation_not_permitted),
                            "weft: a guest of an event loop lives on the thread of main()");
  }
  return sched::here();
}

// Resumes the waiting thread when its worker has nothing else to do, or the time is over. The timer is this
// worker's business alone, which looks at it while it runs others: no sleeper is called for it, and it is
// gone before the worker leaves its search. A call would ring the event source's bell, for which the loop
// waits.
class until_idle final : public sched::idle_observer, private sched::timer {
 public:
  explicit until_idle(sched::worker& w) noexcept : worker_(w) {}
  until_idle(const until_idle&) = delete;

  void wait(sched::deadline until) {
    worker_.timing.queue.arm(*this, until);
    worker_.on_idle = this;
    waiter_.wait(); // SWITCH: comes back to the same worker
    worker_.on_idle = nullptr;
    sched::timer_queue::disarm(*this);
  }
  void on_idle() noexcept override {
    worker_.on_idle = nullptr;
    sched::timer_queue::disarm(*this);
    waiter_.notify();
  }

 private:
  void on_expiry() noexcept override { waiter_.notify(); }

  sched::worker& worker_;
  sync::waiter waiter_;
};

int checked(int made) {
  if (made < 0)
    throw std::system_error(errno, std::system_category(),
                            "weft: no descriptor for an event loop to wait for");
  return made;
}

void add_to(int epoll, int descriptor, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  checked(::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event));
}

void set_timer(int timer, sched::deadline at) noexcept {
  itimerspec when{};
  if (at != sched::no_deadline)
    when.it_value = os::timespec_of(at);
  ::timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, nullptr);
}

} // namespace

guest::guest() {
  sched::worker& w = host();
  const int source = io::source_of(w.owner_group).descriptor();
  bell_ = os::doorbell::take();
  try {
    descriptor_ = checked(::epoll_create1(EPOLL_CLOEXEC));
    timer_ = checked(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    add_to(descriptor_, source, EPOLLIN);
    add_to(descriptor_, timer_, EPOLLIN);
    add_to(descriptor_, bell_->descriptor(), EPOLLIN | EPOLLET);
  } catch (...) {
    ::close(timer_);
    ::close(descriptor_);
    throw;
  }
}

guest::~guest() {
  come_back();
  ::close(timer_);
  ::close(descriptor_);
}

void guest::come_back() noexcept {
  if (!std::exchange(is_away_, false))
    return;
  sched::come_back_if_away(); // SWITCH: to the worker of main(), where another call has left it
  sched::here().end_visit(watches_);
  epoll_event events[3]; // hears the bell
  static_cast<void>(::epoll_wait(descriptor_, events, 3, 0));
}

bool guest::run(std::chrono::nanoseconds most) {
  sched::worker& w = host();
  come_back();
  until_idle(w).wait(sync::deadline_of(most)); // SWITCH: comes back to the same worker
  const sched::deadline until = w.begin_visit(*bell_, watches_);
  is_away_ = until != 0;
  if (is_away_)
    set_timer(timer_, until);
  return !is_away_;
}

} // namespace weft::runtime
