// SPDX-License-Identifier: MIT
// Where a parked worker sleeps: on its word, or in its group's event source. The protocol is argued in
// README.md, "The watch".
#include <algorithm>

#include "weft/os/clock.hpp"
#include "weft/os/futex.hpp"
#include "weft/sched/group.hpp"
#include "weft/sched/worker.hpp"

namespace weft::sched {
namespace {

// How long the deputy of the watch sleeps: an event that comes just after the one who watched has found work
// waits at most so long while others sleep. At a thousandth of a second the naps take half a percent of a
// CPU, and only while there are events.
constexpr deadline deputy_nap = 1'000'000;

struct parked_sleep {
  parking_spot& spot;
  waiting_source* source;
  deadline until;

  [[nodiscard]] bool may_go_on() const noexcept {
    return spot.load() == idle_state::parked && os::now_ns() < until;
  }
  void on_word(bool nap) noexcept {
    const deadline at = nap ? std::min(until, os::now_ns() + deputy_nap) : until;
    constexpr auto parked = static_cast<std::uint32_t>(idle_state::parked);
    if (at == no_deadline) {
      os::futex_wait(&spot.word(), parked);
    } else {
      os::futex_wait_until(&spot.word(), parked, at);
    }
  }
  void in_source() noexcept {
    if (spot.start_watching(source->bell()))
      source->wait(until);
  }
};

} // namespace

bool worker::sleep_parked(deadline until) noexcept {
  parked_sleep sleep{spot, owner_group.waiting_source(), until};
  if (sleep.source != nullptr)
    return sleep_with_watch(owner_group.watch_, sleep);
  sleep.on_word(false);
  return false;
}

} // namespace weft::sched
