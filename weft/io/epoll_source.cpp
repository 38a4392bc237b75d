// SPDX-License-Identifier: MIT
#include "weft/io/epoll_source.hpp"

#include "weft/io/blocking.hpp"
#include "weft/io/descriptor_table.hpp"
#include "weft/io/rest.hpp"
#include "weft/os/clock.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <optional>
#include <utility>

namespace weft::io {
namespace {

std::uint64_t data_of(int descriptor, std::uint32_t generation) noexcept {
  return std::uint64_t{generation} << 32 | static_cast<std::uint32_t>(descriptor);
}

std::uint32_t next_number() noexcept {
  static constinit std::atomic<std::uint32_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

bool reads_plainly(const request& r) noexcept {
  return r.what == operation::read || (r.what == operation::receive && r.flags == 0);
}

void deliver_event(const epoll_event& event) noexcept {
  if (event.data.u64 == epoll_set::bell_mark)
    return;
  const auto descriptor = static_cast<int>(event.data.u64 & 0xffffffffU);
  constexpr std::uint32_t over = EPOLLHUP | EPOLLERR;
  if (descriptor_record* record = known_record_of(descriptor)) {
    record->edge((event.events & (EPOLLIN | EPOLLRDHUP | EPOLLPRI | over)) != 0,
                 (event.events & (EPOLLOUT | over)) != 0,
                 (event.events & (EPOLLRDHUP | EPOLLPRI | over)) != 0,
                 static_cast<std::uint32_t>(event.data.u64 >> 32));
  }
}

} // namespace

epoll_source::epoll_source() : number_(next_number()), events_{} {}

int epoll_source::poll() {
  std::array<epoll_event, batch> events;
  const int count = set_.wait(events.data(), batch, 0);
  for (int i = 0; i < count; ++i)
    deliver_event(events[static_cast<std::size_t>(i)]);
  return count;
}

bool epoll_source::has_waiters() const noexcept {
  return anybody_waits();
}

void epoll_source::wait(sched::deadline until) {
  event_count_ = set_.wait(events_.data(), batch, until);
}

int epoll_source::deliver() {
  const int count = std::exchange(event_count_, 0);
  for (int i = 0; i < count; ++i)
    deliver_event(events_[static_cast<std::size_t>(i)]);
  return count;
}

// One that was closed behind our back and whose number is in use again is not registered, whatever the record
// says: only for those that are closed here is the system call spared.
int epoll_source::see_to_registration(int descriptor, descriptor_record& record,
                                      std::uint32_t generation) noexcept {
  const bool on_record = record.registered() == number_;
  if (on_record && record.is_ours())
    return 0;
  constexpr std::uint32_t all = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET;
  const std::uint64_t data = data_of(descriptor, generation);
  int error = set_.add(descriptor, all, data);
  if (error == EEXIST) // of an earlier generation, by way of dup(2), if it is not on record
    error = on_record ? 0 : set_.modify(descriptor, all, data);
  if (error == 0 && !on_record)
    record.set_registered(number_, generation);
  return error;
}

int epoll_source::perform_on_disk(const request& r) noexcept {
  return perform_on_spare_thread(r);
}

int epoll_source::add(int descriptor) noexcept {
  return set_.add(descriptor, EPOLLIN, epoll_set::bell_mark);
}

int epoll_source::await(edge_wait& wait, const limit& how_long) noexcept {
  const int error = see_to_registration(wait.descriptor, wait.record, wait.generation);
  return error != 0 ? error
                    : wait.record.wait(wait.way, wait.seen, wait.generation, how_long, wait.was_woken,
                                       wait.shown); // SWITCH: may resume on another worker
}

int epoll_source::perform(const request& r, const limit& how_long) noexcept {
  if (r.what == operation::open || r.what == operation::sync || r.what == operation::sync_data)
    return perform_on_disk(r);
  descriptor_record* const record = record_of(r.descriptor);
  if (record == nullptr)
    return r.descriptor < 0 ? -EBADF : -ENOMEM;
  const std::uint32_t generation = record->generation();
  const direction way = direction_of(r);
  bool was_woken = false;
  bool is_connecting = false;
  terminal_patience patience;
  std::optional<shown_wait> shown;
  for (;;) {
    const std::uint32_t seen = record->edges(way);
    hints known = record->known();
    const int result = is_connecting                                  ? finish_connect(r)
                       : reads_plainly(r) && record->is_drained(seen) ? -EAGAIN
                                                                      : attempt(r, known);
    if (record->is_ours())
      record->learn(known);
    is_connecting = is_connecting || result == -EINPROGRESS;
    if (result != -EAGAIN && result != -EINPROGRESS) {
      if (result > 0 && reads_plainly(r) && static_cast<std::size_t>(result) < size_of(r))
        record->found_drained(r.descriptor, seen);
      if (was_woken)
        record->pass_on(way);
      if (!known.is_file)
        return result;
      return finish_in_file(r, result, [this](const request& rest) { return perform_on_disk(rest); });
    }
    if (how_long.until() == 0 && !is_file(r.descriptor))
      return -ETIMEDOUT;
    if (r.what == operation::connect && !is_connecting) {
      if (const int error = pause_before_retry(how_long); error != 0)
        return -error;
      continue;
    }
    int error = see_to_registration(r.descriptor, *record, generation);
    if (error == EPERM)
      return perform_on_disk(r);
    if (patience.is_over(known))
      return take_what_is_there(r);
    const limit& this_time = patience.bounded(known, how_long);
    if (!shown)
      shown.emplace(r);
    if (error == 0) // SWITCH: may resume on another worker
      error = record->wait(way, seen, generation, this_time, was_woken, shown->record());
    if (error == ETIMEDOUT && this_time.until() != how_long.until())
      continue;
    if (error != 0)
      return -error;
  }
}

} // namespace weft::io
