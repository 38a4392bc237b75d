// SPDX-License-Identifier: MIT
// Groups of workers: start, grow, shrink, stop.
#include "weft/workers/group.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>
#include <system_error>
#include <type_traits>

#include "weft/base/assert.hpp"
#include "weft/base/refuse.hpp"
#include "weft/carrier/carrier.hpp"
#include "weft/carrier/leaving.hpp"
#include "weft/carrier/runtime_section.hpp"
#include "weft/memory/overflow.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/futex.hpp"
#include "weft/sched/switch.hpp"
#include "weft/sched/timekeeper.hpp"
#include "weft/simulator/simulation.hpp"
#include "weft/topology/machine.hpp"
#include "weft/unit/extension.hpp"
#include "weft/view/inspection.hpp"

namespace weft::sched {
namespace {

using base::refuse;

} // namespace

unsigned default_worker_count() {
  return static_cast<unsigned>(topology::default_worker_count());
}

group::group(group_options options)
    : options_(std::move(options)), forks_seen_(forks()), numbers_(options_.first_number) {
  refuse_shadow_stack();
  simulation::begin_if_asked();
  simulation::refuse_others("start workers");
  if (options_.pools == arrangement::custom && !options_.make_scheduler) {
    refuse(std::errc::invalid_argument, "weft: a custom arrangement needs make_scheduler");
  }
  learn_cpus_allowed();
  const unsigned wanted = options_.workers != 0 ? options_.workers : default_worker_count();
  make_shared_state();
  board_ = board_for(options_.pools);
  publish_view(); // empty: the first worker may look for the others' timers before it is a member
  if (options_.pools == arrangement::one_pool)
    mains_.push_back(make_main_pool());
  timekeeper::enter_group();
  try {
    for (unsigned i = 0; i < wanted; ++i)
      add_one();
  } catch (...) {
    for (auto& w : members_)
      stop_and_join(*w);
    timekeeper::leave_group();
    end_watching();
    throw;
  }
  watch_leaving();
}

// Threads of its workers leave them in the kernel, if somebody sees to it: once it has its kernel threads.
void group::watch_leaving() const noexcept {
  leaving_watcher* const watcher = watcher_of_leaving.load(std::memory_order_acquire);
  if (watcher != nullptr && !simulation::is_active() && threads_leave(*this))
    watcher->begin(*this);
}

namespace {

void await(const std::atomic<unsigned>& outsiders) noexcept {
  while (outsiders.load(std::memory_order_acquire) != 0) // acquire: pairs with outsider_is_done()
    os::sleep_ns(50'000);
}

} // namespace

// Whoever watches looks whether the process has workers still.
void group::end_watching() noexcept {
  members_.clear();
  former_.clear();
  if (leaving_watcher* const watcher = watcher_of_leaving.load(std::memory_order_acquire))
    watcher->end();
}

group::~group() {
  if (forks_seen_ != forks()) {
    forget_members(); // their kernel threads are the parent's
    return;
  }
  await(outsiders_);
  for (auto& w : members_) {
    if (!w->on_primary_thread)
      w->call(stop_requested);
  }
  for (auto it = members_.rbegin(); it != members_.rend(); ++it)
    stop_and_join(**it);
  await(outsiders_); // a thread may have left its worker before that saw that it shall stop
  for (auto& w : members_)
    w->timing.queue.move_to(timers_left_behind());
  // The timekeeper may have found a timer here and be about to tell the group, under the lock of the list.
  for_each_worker([](worker&, void*) {}, nullptr);
  timekeeper::leave_group();
  delete waiting_source_.load(std::memory_order_acquire);
  end_watching();
}

namespace {

using boxed_scheduler = std::unique_ptr<std::shared_ptr<scheduler>>;

void hand_scheduler(worker& w, boxed_scheduler next) noexcept {
  // acq_rel: publishes the scheduler; pairs with the exchange in serve_attention(). One that was never
  // taken goes.
  delete w.incoming.exchange(next.release(), std::memory_order_acq_rel);
  w.call(scheduler_waiting);
}

} // namespace

struct group::change {
  std::unique_ptr<const view> workers;
  std::vector<boxed_scheduler> schedulers; // of the first workers: who learns of a change among the deques
};

worker& group::add_worker(std::shared_ptr<scheduler> with) {
  worker& added = add_one(std::move(with));
  watch_leaving();
  return added;
}

worker& group::add_one(std::shared_ptr<scheduler> with) {
  std::lock_guard held(lock_);
  auto fresh = std::make_unique<worker>(*this, numbers_);
  fresh->front = options_.front;
  fresh->activity.rank = static_cast<unsigned>(members_.size());
  auto mains = mains_;
  if (with == nullptr) {
    const bool own_pool = options_.pools != arrangement::one_pool && options_.pools != arrangement::custom;
    if (own_pool)
      mains.push_back(make_main_pool());
    with = scheduler_for(own_pool ? mains.size() - 1 : members_.size(), mains);
    if (with == nullptr)
      refuse(std::errc::invalid_argument, "weft: make_scheduler returned null");
  } else if (all_know_all()) {
    refuse(std::errc::invalid_argument, "weft: workers of this group share schedulers; use one of your own");
  }
  fresh->use_scheduler(std::move(with));
  const bool is_simulated = simulation::is_active();
  if (is_simulated) {
    simulation::refuse_others("add a worker");
    fresh->ask(simulated);
    fresh->budget = -1; // each decision is a choice
  } else if (options_.bind) {
    fresh->cpu = static_cast<int>(members_.size());
  }
  members_.reserve(members_.size() + 1);
  former_.reserve(former_.size() + 1);
  auto grown = member_list();
  grown.push_back(fresh.get());
  change next = prepare(std::move(grown), members_.size(), mains);
  bool started = false;
  try {
    fresh->main_scheduler->start(*fresh);
    started = true;
    fresh->local.attach(*fresh);
    if (options_.primary_joins && members_.empty()) {
      adopt_primary(*fresh);
    } else if (is_simulated) {
      simulation::start(*fresh, &live_simulated);
    } else {
      start_kernel_thread(*fresh);
    }
  } catch (...) {
    if (started)
      fresh->main_scheduler->stop(*fresh);
    former_.push_back(std::move(fresh)); // a push may still look whether it sleeps
    throw;
  }
  ++numbers_;
  mains_ = std::move(mains);
  members_.push_back(std::move(fresh));
  publish(std::move(next));
  announce_active_locked(all);
  return *members_.back();
}

group::change group::prepare(std::vector<worker*> members, std::size_t told,
                             const std::vector<std::shared_ptr<pool>>& mains) {
  change next;
  next.workers = std::make_unique<const view>(std::move(members));
  for (std::size_t i = 0; all_know_all() && i < told; ++i)
    next.schedulers.push_back(std::make_unique<std::shared_ptr<scheduler>>(scheduler_for(i, mains)));
  views_.reserve(views_.size() + 1);
  return next;
}

void group::publish(change next) noexcept {
  const view& workers = *next.workers;
  view_.store(&workers, std::memory_order_release); // release: pairs with the acquire loads below
  views_.push_back(std::move(next.workers));
  count_.store(static_cast<unsigned>(members_.size()), std::memory_order_release);
  for (std::size_t i = 0; i < next.schedulers.size(); ++i)
    hand_scheduler(*workers[i], std::move(next.schedulers[i]));
}

void group::set_scheduler(worker& w, std::shared_ptr<scheduler> next) {
  if (next == nullptr)
    refuse(std::errc::invalid_argument, "weft: a null scheduler");
  for (const auto& p : next->pools()) {
    if (p->single_consumer() && p->owner() != nullptr && p->owner() != &w) {
      refuse(std::errc::operation_not_permitted,
             "weft: a pool of this scheduler has a single consumer and serves another worker");
    }
  }
  hand_scheduler(w, std::make_unique<std::shared_ptr<scheduler>>(std::move(next)));
}

void group::remove_worker() {
  worker* leaving = nullptr;
  {
    std::lock_guard held(lock_);
    if (members_.size() <= 1)
      refuse(std::errc::operation_not_permitted, "weft: the last worker of a group cannot leave");
    if (lends_schedulers() || options_.pools == arrangement::packing ||
        options_.pools == arrangement::priorities) {
      refuse(std::errc::operation_not_permitted,
             "weft: a worker whose pool is its own cannot leave: nobody would serve the pool");
    }
    if (&here() == members_.back().get()) {
      refuse(std::errc::resource_deadlock_would_occur,
             "weft: the newest worker cannot remove itself; call from another one");
    }
    former_.reserve(former_.size() + 1);
    leaving = members_.back().get();
    auto shrunk = member_list();
    shrunk.pop_back();
    auto mains = mains_;
    if (steals())
      mains.pop_back();
    change next = prepare(std::move(shrunk), members_.size() - 1, mains);
    former_.push_back(std::move(members_.back()));
    members_.pop_back();
    mains_ = std::move(mains);
    announce_active_locked(all);
    publish(std::move(next));
  }
  stop_and_join(*leaving);
  // What was armed there and what stood in its pool goes to those who stay.
  worker& heir = *view_.load(std::memory_order_acquire)->front();
  leaving->timing.queue.move_to(heir.timing.queue);
  wake_before(heir.timing.queue.earliest());
  pool& left = leaving->main_scheduler->main_pool();
  if (steals()) {
    auto& deque = static_cast<deque_pool&>(left);
    base::heavy_fence();     // after the pool lost its owner; pairs with the light fence in
                             // deque_pool::do_push()
    while (!deque.empty()) { // a steal may also fail because another one was faster
      if (descriptor* u = deque.steal(*leaving))
        adopt(*u);
    }
  }
}

void group::resize(unsigned workers) {
  if (workers == 0)
    refuse(std::errc::invalid_argument, "weft: a group needs a worker");
  while (size() < workers)
    add_one();
  watch_leaving();
  while (size() > workers)
    remove_worker();
}

std::vector<worker*> group::member_list() const {
  std::vector<worker*> list;
  list.reserve(members_.size() + 1);
  for (const auto& w : members_)
    list.push_back(w.get());
  return list;
}

void group::publish_view() {
  publish(prepare(member_list(), 0, mains_));
}

pool& group::next_pool() const noexcept {
  const view& workers = *view_.load(std::memory_order_acquire);
  const unsigned turn = turn_.fetch_add(1, std::memory_order_relaxed);
  // What is pushed to the deque of a worker that sleeps comes back here.
  const std::size_t of = steals() ? std::min<std::size_t>(active_workers(), workers.size()) : workers.size();
  return *workers[turn % of]->main_pool.load_acquire();
}

void group::adopt(descriptor& u) const noexcept {
  u.own_pool = &next_pool();
  u.own_pool->push(u);
}

// --- kernel threads ---

namespace {

// Binds the calling kernel thread where its worker is to run.
void bind_here(worker& w) noexcept {
  if (w.cpu >= 0) {
    int error = ENOMEM;
    try {
      const auto& machine = topology::machine::here();
      error = machine.bind(machine.spread(static_cast<unsigned>(w.cpu) + 1).back());
    } catch (const std::bad_alloc&) { // a worker runs unbound as well
    }
    if (error != 0)
      base::warn("worker %u stays unbound: error %d", w.number, error);
  }
  if (::sched_getaffinity(0, sizeof w.carried.affinity, &w.carried.affinity) != 0)
    w.carried.affinity = {};
}

} // namespace

// The calling kernel thread is the worker's home.
void group::settle_here(worker& w) noexcept {
  bind_here(w);
  set_here(&w);
}

void* group::kernel_thread_main(void* argument) {
  worker& w = *static_cast<worker*>(argument);
  settle_here(w);
  workers_running.fetch_add(1, std::memory_order_relaxed);
  arch::sanitizer::adopt_native(w.base.fiber);
  memory::install_alternate_stack();
  char name[16];
  std::snprintf(name, sizeof name, "weft-%u", w.number);
  os::name_this_kernel_thread(name);
  w.refresh_hot();
  w.run_loop();
  go_home(w);
  w.end_lending();
  w.main_scheduler->stop(w);
  memory::remove_alternate_stack();
  set_here(nullptr);
  workers_running.fetch_sub(1, std::memory_order_relaxed);
  w.ended.store(true, std::memory_order_release);
  return nullptr;
}

// The same on a kernel thread that others have too.
void group::live_simulated(worker& w) {
  set_here(&w);
  workers_running.fetch_add(1, std::memory_order_relaxed);
  w.refresh_hot();
  w.run_loop();
  w.end_lending();
  w.main_scheduler->stop(w);
  set_here(nullptr);
  workers_running.fetch_sub(1, std::memory_order_relaxed);
  w.ended.store(true, std::memory_order_release);
}

void group::start_kernel_thread(worker& w) {
  int error = w.own_stack.allocate(os::kernel_thread::default_stack_bytes());
  if (error == 0)
    error = w.kernel_thread.start(&kernel_thread_main, &w, w.own_stack);
  if (error != 0) {
    w.own_stack.free();
    throw std::system_error(error, std::system_category(), "weft: no kernel thread for a worker");
  }
}

void group::stop_and_join(worker& w) noexcept {
  if (w.on_primary_thread)
    return release_primary(w);
  w.call(stop_requested);
  if (w.simulation.runs_on != nullptr)
    return simulation::join(w);
  w.kernel_thread.join();
  w.own_stack.free();
}

bool group::freeze_others(int patience_ms) noexcept {
  const view* workers = view_.load(std::memory_order_acquire);
  if (workers == nullptr || simulation::is_active())
    return true; // nobody else runs, unless the caller waits
  const runtime_section in;
  worker* self = &here();
  for (worker* w : *workers) {
    if (w != self)
      w->call(freeze_requested);
  }
  const deadline give_up = os::now_ns() + std::int64_t{patience_ms} * 1'000'000;
  for (;;) {
    const bool all = std::all_of(workers->begin(), workers->end(), [self](worker* w) {
      return w == self || w->frozen.load(std::memory_order_acquire) != 0 ||
             w->ended.load(std::memory_order_acquire);
    });
    if (all || os::now_ns() > give_up)
      return all;
    os::sleep_ns(50'000);
  }
}

} // namespace weft::sched
