// SPDX-License-Identifier: MIT
// Whose threads leave their worker in the kernel.
#include "weft/carrier/leaving.hpp"

#include "weft/base/knob.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/workers/group.hpp"

namespace weft::sched {

constinit std::atomic<leaving_watcher*> watcher_of_leaving{nullptr};
constinit base::atomic<bool> leaving_is_watched{false};
constinit base::atomic<const descriptor*> forking_unit{nullptr};
constinit park::watcher_rest rest_of_monitor;

namespace {

constexpr const char* leave_words[] = {"auto", "never", "always"};
constinit base::choice_knob leave_knob{
    "WEFT_LEAVE", 0, leave_words,
    "whether cooperative threads that wait in the kernel leave their worker to others; auto: where two "
    "workers or more steal, and where preemptible threads live"};
const base::knob_list leaving_knobs{leave_knob};

} // namespace

leave_when leaves_when() noexcept {
  return static_cast<leave_when>(leave_knob.get());
}

void set_leaving(leave_when when) noexcept {
  leave_knob.set(static_cast<unsigned>(when));
}

bool threads_leave(const group& g) noexcept {
  switch (leaves_when()) {
  case leave_when::automatic:
    return g.has_thieves() && !g.has_front();
  case leave_when::never:
    return false;
  case leave_when::always:
    return !g.has_front();
  }
  return false;
}

bool may_leave(const worker& w) noexcept {
  if (!leaving_is_watched.load_relaxed() || w.attention.any_relaxed(simulated)) // relaxed: of long ago
    return false;
  if (threads_leave(w.owner_group))
    return true;
  return leaves_when() == leave_when::automatic && !w.owner_group.has_front() &&
         user_mode::live().load_relaxed() != 0;
}

} // namespace weft::sched
