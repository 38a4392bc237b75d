// SPDX-License-Identifier: MIT
// Threads that run without a worker: those that are in the kernel, and those that go on alone, since a
// cooperative thread that waits in the kernel keeps the worker. docs/design/preemption.md has the argument.
#include <algorithm>
#include <memory>

#include "weft/carrier/loop.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/workers/group.hpp"
#include "weft/workers/pool.hpp"
#include "weft/workers/scheduler.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched {
namespace {

[[gnu::noinline]] void set_worker_here(worker& w) noexcept {
  weft_worker_here = &w;
}

} // namespace

bool user_mode::let_worker_go() noexcept {
  worker& w = enter_as_it_is();
  if (is_away()) [[unlikely]] { // a later tick has sent it on alone
    show_face_away();
    return true;
  }
  carrier& mine = *w.carried.on;
  keeps_away_from_homes_ = keeps_away_from_homes_ || mine.is_home();
  carrier* const to = mine.is_home() ? nullptr : where_to_go_on(w);
  if (to == nullptr) {
    go_to_user_mode(w);
    return false;
  }
  w.owner_group.expect_outsider(); // the group outlives the call
  left_group_ = &w.owner_group;
  w.note(trace::event::stop_wait, &unit_);
  w.timing.running.stop();
  w.current = &w.loop_unit;
  w.pick_oldest = true;
  w.budget = -1;
  w.carried.passing = {to, w.loop, nullptr, nullptr};
  carrier::put_ashore();
  away_on_ = &mine;
  to->call(&w); // GONE: w. Before the face is seen: a tick there waits for a worker, perhaps the only one
  mine.who_is_away.store_relaxed(this);
  // Pairs with the acquire of who ticks: kernel_id() is known.
  mine.away.store_release(away_here::preemptible);
  show_face_away();
  return true;
}

void user_mode::show_face_away() noexcept {
  worker& nobody = away_on_->nobody();
  if (block_ == nullptr)
    set_worker_here(nobody);
  show_face(nobody);
}

// Ready, and nowhere else than here: a captive of its own choice.
worker& user_mode::come_back() noexcept {
  carrier& mine = *std::exchange(away_on_, nullptr);
  group& left = *std::exchange(left_group_, nullptr);
  mine.away.store_relaxed(away_here::nobody);
  carrier::put_ashore();
  captive_on_ = &mine;
  pending_.store_relaxed(0); // heeded
  mine.make_gate(unit_.context, nullptr);
  unit_.state.block();
  put_back(unit_);
  left.outsider_is_done();
  return wait_as_captive(mine);
}

// With a worker, or away again: let_one_go_alone() has seen to the rest then.
worker& user_mode::wait_as_captive(carrier& mine) noexcept {
  worker* const now = mine.wait();
  may_go_alone_ = alone::no;
  if (now == nullptr)
    return begin_alone();
  mine.take_aboard(*now);
  captive_on_ = nullptr;
  return *now;
}

worker* user_mode::wait_for_worker() noexcept {
  if (block_ == nullptr && !is_ours(*unit_.own_pool))
    return nullptr;
  worker& w = enter_as_it_is();
  if (!is_away()) // another tick came before this one's handler had got here, and it has a worker
    return &w;
  return &wait_after_all();
}

// Also for a tick whose handler found it with a worker: a later tick may have come in between, and the thread
// have been sent on alone from there. It still stands where the first tick struck, with a lock of libc's
// perhaps, so it may be sent on again.
worker& user_mode::wait_after_all() noexcept {
  may_go_alone_ = alone::where_it_waits;
  return come_back();
}

// --- alone ---

// On the kernel thread that it goes on on.
worker& user_mode::begin_alone() noexcept {
  carrier::put_ashore();
  away_on_->who_is_away.store_relaxed(this);
  // Pairs with the acquire of who ticks: kernel_id() is known.
  away_on_->away.store_release(away_here::preemptible);
  return away_on_->nobody();
}

// Nobody else knows of it: it was ready on `w`, and taken out. False: no kernel thread is to be had.
bool user_mode::go_alone(worker& w) noexcept {
  carrier* const on = captive_on_ != nullptr ? captive_on_ : take_spare_for_alone(w);
  if (on == nullptr)
    return false;
  worker* comes = nullptr;
  if (captive_on_ == nullptr) {
    comes = &on->nobody();
    comes->current = &unit_;
    comes->carried.affinity = w.carried.affinity;
    comes->carried.passing = {on, &unit_.context, nullptr, nullptr};
  }
  captive_on_ = nullptr;
  away_on_ = on;
  w.owner_group.expect_outsider(); // the group outlives it
  left_group_ = &w.owner_group;
  unit_.state.start_running();
  on->call(comes); // GONE: *this
  return true;
}

// Whoever was looked at and does not go stands behind the others then: who waits longest is looked at first.
bool user_mode::let_one_go_alone(worker& w) noexcept {
  for (const auto& p : w.main_scheduler->pools()) {
    if (!is_ours(*p) || (p->single_consumer() && !p->owned_by(w)))
      continue;
    if (p->owned_by(w))
      p->drain(w); // who came back from elsewhere waits in the inbox, and a pool looks there last
    for (std::size_t left = p->size(); left != 0; --left) {
      descriptor* const u = p->pop_oldest(w);
      if (u == nullptr)
        break;
      user_mode* const mode = of(*u);
      if (mode != nullptr && mode->may_go_alone_ != alone::no && mode->go_alone(w))
        return true;
      p->push(*u);
    }
  }
  return false;
}

} // namespace weft::sched
