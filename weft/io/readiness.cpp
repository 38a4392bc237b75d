// SPDX-License-Identifier: MIT
#include "weft/io/readiness.hpp"

#include "weft/carrier/runtime_section.hpp"
#include "weft/io/descriptor_table.hpp"
#include "weft/io/outside.hpp"
#include "weft/io/request.hpp"
#include "weft/io/source.hpp"
#include "weft/workers/group.hpp"

#include <cerrno>
#include <new>
#include <poll.h>

namespace weft::io {
namespace {

direction way_of(short events) noexcept {
  constexpr int out = POLLOUT | POLLWRNORM | POLLWRBAND;
  if ((events & out) == 0)
    return events != 0 ? direction::in : direction::any;
  return (events & ~out) == 0 ? direction::out : direction::any;
}

// What debuggers are told.
operation shown_of(direction way) noexcept {
  return way == direction::in ? operation::read : way == direction::out ? operation::write : operation::poll;
}

} // namespace

readiness::readiness(int descriptor, short events) noexcept
    : descriptor_(descriptor), events_(events), record_(record_of(descriptor)) {
  if (record_ == nullptr)
    return;
  generation_ = record_->generation();
  seen_ = record_->edges(way_of(events)); // (D1)
}

readiness::~readiness() {
  if (!was_woken_)
    return;
  const sched::runtime_section in;
  const int before = errno; // of the call, which its caller looks at
  record_->pass_on(way_of(events_));
  errno = before;
}

int readiness::wait_for_edge(const limit& how_long) noexcept {
  if (record_ == nullptr)
    return descriptor_ < 0 ? EBADF : ENOMEM;
  const direction way = way_of(events_);
  const shown_wait shown(shown_of(way), descriptor_);
  try {
    edge_wait wait{descriptor_, *record_, way, seen_, generation_, shown.record()};
    const int error =
        source_of(sched::here().owner_group).await(wait, how_long); // SWITCH: may resume on another worker
    was_woken_ = was_woken_ || wait.was_woken;
    seen_ = record_->edges(way); // (D1) of the next try
    return error;
  } catch (const std::system_error& e) {
    return e.code().value();
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

void readiness::wait(std::error_code& error, const limit& how_long) noexcept {
  const sched::runtime_section in;
  int result = 0;
  if (sched::on_worker()) {
    result = wait_for_edge(how_long);
  } else if (const int found = perform_outside(request_to_poll(descriptor_, events_), how_long); found < 0) {
    result = -found;
  }
  if (result != 0) {
    error.assign(result, std::system_category());
  } else {
    error.clear();
  }
}

void readiness::wait(const limit& how_long) {
  std::error_code error;
  wait(error, how_long);
  if (error)
    throw std::system_error(error, "weft::io::readiness");
}

void wake_waiters(int descriptor) noexcept {
  const sched::runtime_section in;
  if (descriptor_record* record = known_record_of(descriptor))
    record->wake_all();
}

} // namespace weft::io
