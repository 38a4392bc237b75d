// SPDX-License-Identifier: MIT
// A cooperative thread goes on without a worker, and comes back to one: leaving.hpp.
#include "weft/carrier/carrier.hpp"
#include "weft/carrier/leaving.hpp"
#include "weft/carrier/loop.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/workers/group.hpp"

namespace weft::sched {
namespace {

// What stands for a worker on this kernel thread, for inlined code and for the way into the runtime.
[[gnu::noinline]] void show(worker_face& face) noexcept {
  weft_worker_here = nullptr;
  weft_current_worker = &face;
}

carrier& carrier_of(worker_face& face) noexcept {
  return *static_cast<worker&>(face).carried.on;
}

} // namespace

bool leave_worker(worker& w) noexcept {
  carrier& mine = *w.carried.on;
  carrier* const to = where_to_go_on(w);
  if (to == nullptr)
    return false;
  descriptor& self = *w.current;
  if (mine.is_home() && &self != &group::primary_unit())
    group::primary_stays(w); // whoever continues it comes back to its kernel thread
  count_leaver(true);
  self.traits.fetch_or_relaxed(unit::away); // relaxed: for the end of the unit, on this kernel thread
  w.note(trace::event::stop_wait, &self);
  w.timing.running.stop();
  w.current = &w.loop_unit;
  w.pick_oldest = true;
  w.budget = -1; // timers may be due
  w.carried.passing = {to, w.loop, nullptr, nullptr};
  show(mine.begin_away(self, w.owner_group));
  to->call(&w); // GONE: w
  return true;
}

namespace {

struct coming_back {
  descriptor& unit;
  carrier& from;
};

// The thread has left its stack, and the kernel thread waits for another worker.
void wait_like_others(void* argument) noexcept {
  const coming_back back = *static_cast<coming_back*>(argument); // on the thread's stack: read before it goes
  back.unit.traits.fetch_and_relaxed(~std::uint64_t{unit::away});
  group& left = back.from.end_away();
  if (&back.unit == &group::primary_unit())
    group::primary_has_left();
  count_leaver(false);
  if (!back.from.is_home()) { // whoever is lent it calls before it waits, perhaps, and is found when it does
    back.from.next = nullptr;
    lender_of_carriers.load(std::memory_order_acquire)->take_back(&back.from);
  }
  put_back(back.unit);
  left.outsider_is_done(); // GONE: the group, perhaps
}

} // namespace

// Like a thread that yields, but from a kernel thread without a worker: that one waits where it waits when
// its worker has gone elsewhere.
worker& come_back(worker_face& face) noexcept {
  descriptor& self = *face.current;
  coming_back back{self, carrier_of(face)};
  arch::exception_globals& mine = back.from.exceptions();
  const bool any = arch::any(mine);
  arch::exception_state kept;
  if (any) [[unlikely]]
    kept = arch::save_and_clear(mine);
  carrier::put_ashore();
  if (&self == &group::primary_unit())
    primary_comes_back();
  self.state.block();
  arch::swap_with(self.context, back.from.idle, &wait_like_others, &back); // SWITCH: resumes on a worker
  worker& w = here();
  if (any) [[unlikely]]
    arch::restore(*w.exceptions, kept);
  return w;
}

void stay_away(worker_face& face) noexcept {
  face.current->traits.fetch_and_relaxed(~std::uint64_t{unit::away});
  carrier& mine = carrier_of(face);
  group& left = mine.end_away();
  mine.away.store_relaxed(away_here::cooperative); // nobody comes here any more
  count_leaver(false);
  left.outsider_is_done();
  carrier::put_ashore();
}

} // namespace weft::sched
