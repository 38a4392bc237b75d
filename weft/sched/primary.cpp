// SPDX-License-Identifier: MIT
// The primary thread: the code that started the runtime goes on as a thread of worker 0, and stays on the
// kernel thread whose stack it has, wherever that worker goes.
#include <algorithm>
#include <mutex>
#include <system_error>
#include <type_traits>

#include "weft/base/assert.hpp"
#include "weft/base/knob.hpp"
#include "weft/base/spin_lock.hpp"
#include "weft/carrier/carrier.hpp"
#include "weft/carrier/leaving.hpp"
#include "weft/memory/overflow.hpp"
#include "weft/sched/switch.hpp"
#include "weft/simulator/simulation.hpp"
#include "weft/unit/extension.hpp"
#include "weft/view/inspection.hpp"
#include "weft/workers/group.hpp"

namespace weft::sched {
namespace {

enum : unsigned { home, anywhere };
constexpr const char* places[] = {"home", "anywhere"};
constinit base::choice_knob primary_knob{
    "WEFT_PRIMARY", home, places,
    "where main() goes on when another worker takes it out of a pool that "
    "they share: on its own kernel thread, or there, as with Argobots"};
const base::knob_list primary_knobs{primary_knob};

// The code that called us goes on as this thread. It has the kernel thread's own stack, so it stays where
// it is: its pool is one that only worker 0 serves.
struct primary_thread {
  descriptor unit;
  memory::stack_record stack;
  worker* host = nullptr;
  arch::context stays{}; // its own, while its worker is on another kernel thread
  // Between `host` and a worker to which a unit that the primary thread had called took its frames along.
  base::spin_lock lock;
  // It runs on such a worker, or comes back from where it was without one, and leaves at once: the context
  // is its own until it has.
  bool is_elsewhere = false;
  bool needs_gate = false; // `host` has left its home, or may have
};

primary_thread& primary() noexcept {
  static primary_thread p{};
  return p;
}

[[noreturn]] void loop_of_primary(void* w) {
  arch::sanitizer::first_arrival();
  static_cast<worker*>(w)->run_loop();
  base::panic("the loop of worker 0 was told to stop");
}

// The portable port's contexts stay where they are; nothing is preempted there.
template <class Context>
void put_aside(Context& to, const Context& from) noexcept {
  if constexpr (std::is_copy_assignable_v<Context>)
    to = from;
}

// Whoever continues it from now on comes to the home of `host` first.
void make_gate(primary_thread& p, const worker& host) noexcept {
  put_aside(p.stays, p.unit.context);
  host.carried.home->make_gate(p.unit.context, &p.stays);
}

} // namespace

void group::adopt_primary(worker& w) {
  constexpr std::size_t loop_stack = 256
                                     << 10; // user-written schedulers, tasklets and event sources run on it
  memory::stack_record* below = w.caches.stacks.allocate(loop_stack);
  void* low = nullptr;
  std::size_t size = 0;
  if (below == nullptr || os::this_kernel_thread_stack(&low, &size) != 0) {
    throw std::system_error(std::make_error_code(std::errc::not_enough_memory),
                            "weft: no memory for the loop of worker 0");
  }
  primary_thread& p = primary();
  pool& main = w.main_scheduler->main_pool();
  static constexpr unit::operations none{nullptr, nullptr, nullptr};
  unit::initialise(p.unit, none, main.fast() == fast_path::owned_fifo ? &main : &w.local,
                   unit::kind_thread | unit::not_cancellable);
  p.stack.low = static_cast<std::byte*>(low);
  p.stack.size = size;
  p.stack.owner = &p.unit;
  p.stack.inline_floor =
      memory::stack_options::inline_floor(p.stack.low, w.caches.stacks.depot().options().inline_need());
  p.unit.stack = &p.stack;
  p.host = &w;
  arch::sanitizer::adopt_native(p.unit.context.fiber);
  arch::make(w.base, below->initial_stack_pointer(), below->usable(), &loop_of_primary, &w);
  w.loop_stack = below;
  w.on_primary_thread = true;
  memory::install_alternate_stack();
  settle_here(w);
  inspection::primary.store_release(&p.unit); // for debuggers
  w.refresh_hot();
  p.unit.state.start_running();
  w.current = &p.unit;
  simulation::adopt(&w);
  workers_running.fetch_add(1, std::memory_order_relaxed);
}

// Other units stay in the pools of the old scheduler until somebody serves those. Nobody but this worker
// can run the primary thread, so it would wait for ever.
void group::primary_follows(worker& w, scheduler& next) noexcept {
  descriptor& unit = primary().unit;
  pool* from = unit.own_pool;
  if (!w.on_primary_thread || from == nullptr || from == &w.local || w.front != nullptr)
    return; // a front sees to it itself
  const auto& pools = next.pools();
  if (std::any_of(pools.begin(), pools.end(), [from](const auto& p) { return p.get() == from; }))
    return;
  try {
    unit::request_migration(unit, {&w.local, nullptr, nullptr});
  } catch (const std::bad_alloc&) {
    base::warn("no memory: the primary thread stays in a pool that its worker leaves");
    return;
  }
  if (from->remove(unit, &w))
    put_back(unit); // it was waiting there; else it goes when it becomes ready
}

descriptor& group::primary_unit() noexcept {
  return primary().unit;
}

bool group::send_primary_home(worker& w, descriptor& u) noexcept {
  primary_thread& p = primary();
  // It had come to a spare by the end of a call, or since a thread that waits in the kernel has its home.
  if (&u == &p.unit && w.on_primary_thread && w.carried.on != w.carried.home.get() &&
      w.carried.home->is_free_home())
    move_worker(w, *w.carried.home);
  if (&u != &p.unit || w.on_primary_thread || p.host->threads_schedule.load(std::memory_order_relaxed) ||
      primary_knob.get() == anywhere)
    return false;
  p.host->local.push(u);
  p.host->tell_time_passed(); // nobody else can run it: at the next decision
  return true;
}

// Its worker leaves the kernel thread whose stack it has: whoever continues it comes back there first. (Not
// who ends a call that it made: that needs its context as it is. Then it goes on on the spare until the
// loop continues it.)
void group::primary_stays(worker& w) noexcept {
  if (!w.on_primary_thread)
    return;
  primary_thread& p = primary();
  const std::scoped_lock held(p.lock);
  if (p.is_elsewhere) {
    p.needs_gate = true;
    return;
  }
  if (!w.carried.home->is_gate(p.unit.context) && !arch::is_mark(p.unit.context))
    make_gate(p, w);
}

void primary_comes_back() noexcept {
  primary_thread& p = primary();
  const std::scoped_lock held(p.lock);
  p.is_elsewhere = true;
}

// It was away on the kernel thread whose stack it has, or on a spare, and waits for its worker.
void group::primary_has_left() noexcept {
  primary_thread& p = primary();
  const std::scoped_lock held(p.lock);
  p.is_elsewhere = false;
  make_gate(p, *p.host);
}

// Its own worker may leave home at any moment of this, and would take a context that is half saved for one
// that stays. So this one makes the gate, once it is whole: if the other left meanwhile, or made one
// before, which is overwritten here.
void group::primary_goes_back() noexcept {
  primary_thread& p = primary();
  {
    const std::scoped_lock held(p.lock);
    p.is_elsewhere = true;
    p.needs_gate = p.host->carried.home->is_gate(p.unit.context);
  }
  leave(
      [](void*) {
        primary_thread& left = primary();
        {
          const std::scoped_lock held(left.lock);
          left.is_elsewhere = false;
          if (left.needs_gate)
            make_gate(left, *left.host);
        }
        make_ready(left.unit);
      },
      nullptr);
}

void group::free_primary(worker& w) noexcept {
  if (w.on_primary_thread && w.carried.home->is_gate(primary().unit.context))
    put_aside(primary().unit.context, primary().stays);
}

void group::forget_waiting_primary() noexcept {
  primary_thread& p = primary();
  static_cast<void>(p.lock.try_lock()); // it may be held by a kernel thread that is not there any more
  p.is_elsewhere = false;
  p.lock.unlock();
  descriptor& unit = p.unit;
  if (unit.state.is(unit::state::ready) || unit.state.is(unit::state::posted))
    unit.own_pool = nullptr;
}

// The primary thread becomes a plain kernel thread again.
void group::release_primary(worker& w) noexcept {
  go_home(w);
  descriptor& unit = primary().unit;
  unit::drop_extension(unit);
  w.end_lending();
  w.dismiss_lodgers();
  w.main_scheduler->stop(w); // its pools may outlive this group
  if (w.loop_stack != nullptr)
    w.caches.stacks.free(w.loop_stack);
  memory::remove_alternate_stack();
  set_here(nullptr);
  simulation::adopt(nullptr);
  workers_running.fetch_sub(1, std::memory_order_relaxed);
}

} // namespace weft::sched
