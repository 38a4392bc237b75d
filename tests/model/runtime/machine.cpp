// SPDX-License-Identifier: MIT
#include "tests/model/runtime/machine.hpp"

#include "weft/carrier/leaving.hpp"
#include "weft/carrier/user_mode_rooms.hpp"
#include "weft/events/timer_queue.hpp"
#include "weft/workers/group.hpp"
#include "weft/workers/scheduler.hpp"

#include <cstring>
#include <mutex>
#include <new>
#include <sched.h>
#include <utility>

namespace weft::model::runtime {
namespace {

constexpr std::size_t stack_bytes = 64 << 10;

// Stacks are kept from one execution to the next.
std::vector<std::byte*>& free_stacks() {
  static auto& all = *new std::vector<std::byte*>;
  return all;
}

std::byte* take_stack() {
  auto& all = free_stacks();
  if (all.empty())
    return static_cast<std::byte*>(std::aligned_alloc(64, stack_bytes));
  std::byte* const top = all.back();
  all.pop_back();
  return top;
}

cpu_set_t affinity_of_process() {
  static const cpu_set_t found = [] {
    cpu_set_t set;
    ::sched_getaffinity(0, sizeof set, &set);
    return set;
  }();
  return found;
}

// A group and timers without anything in them: references of workers.
alignas(64) std::byte no_group[sizeof(sched::group)];

sched::timer_queue& no_timers() {
  static auto& queue = *new sched::timer_queue;
  return queue;
}

template <class T>
void refer(sched::worker& w, std::size_t offset, T& object) {
  *reinterpret_cast<T**>(reinterpret_cast<std::byte*>(&w) + offset) = &object;
}

job& job_of(unit::descriptor& u) {
  return *reinterpret_cast<job*>(&u); // its first member
}

void run_job(unit::descriptor& u) {
  job_of(u).body();
}

// Asked only where a thread goes that must stay on its worker: to the worker's own list.
class no_scheduler final : public sched::scheduler {
 public:
  using scheduler::scheduler;
  sched::descriptor* next(sched::worker&) override { return nullptr; }
};

constexpr unit::operations operations_of_jobs{&run_job, nullptr, nullptr};

} // namespace

bare_worker::bare_worker(unsigned number) {
  void* const room = ::operator new(sizeof(sched::worker), std::align_val_t{alignof(sched::worker)});
  std::memset(room, 0, sizeof(sched::worker));
  worker_ = static_cast<sched::worker*>(room);
  sched::worker& w = *worker_;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
  refer(w, offsetof(sched::worker, timing) + sizeof w.timing.lease, no_timers());
  refer(w, offsetof(sched::worker, number) - sizeof(void*), *reinterpret_cast<sched::group*>(no_group));
#pragma GCC diagnostic pop
  check(&w.timing.queue == &no_timers() && static_cast<void*>(&w.owner_group) == no_group,
        "references of a worker stand elsewhere");
  const_cast<unsigned&>(w.number) = number;
  ::new (static_cast<void*>(&w.local)) sched::owned_fifo;
  w.local.attach(w);
  w.attention.store_relaxed(0);
  unit::initialise(w.loop_unit, operations_of_jobs, nullptr, unit::kind_loop | unit::not_cancellable);
  w.current = &w.loop_unit;
  w.loop = &w.base;
  w.budget = sched::decision_budget;
  w.carried.affinity = affinity_of_process();
  w.carried.home = std::make_unique<sched::carrier>();
  w.carried.home->prepare_home();
}

bare_worker::~bare_worker() {
  worker_->carried.home.reset();
  worker_->main_scheduler.reset();
  worker_->local.~owned_fifo();
  ::operator delete(worker_, std::align_val_t{alignof(sched::worker)});
}

machine::machine(unsigned workers, unsigned spares, list where) {
  thread_word(&sched::weft_current_worker, &sched::face_of_others());
  thread_word(&sched::weft_worker_here, static_cast<sched::worker*>(nullptr));
  primary = self();
  for (unsigned i = 0; i < workers; ++i)
    workers_.push_back(std::make_unique<bare_worker>(i));
  if (where == list::shared) {
    pool_ = sched::make_pool(sched::order::fifo, sched::access::mpmc);
  } else {
    pool_ = sched::make_pool(sched::order::fifo, sched::access::mpsc);
    sched::worker& owner = worker(0);
    pool_->attach(owner);
    owner.attention.store_relaxed(0);
    owner.hot = owner.listed = pool_.get();
    owner.fifo = pool_->lend_list(owner);
  }
  for (const auto& w : workers_)
    (*w)->main_scheduler = std::make_shared<no_scheduler>(std::vector{pool_});
  for (unsigned i = 0; i < spares; ++i) {
    spares_.push_back(std::make_unique<sched::carrier>());
    spares_.back()->prepare_spare();
    spares_.back()->next = std::exchange(free_, spares_.back().get());
  }
  sched::lender_of_carriers.store(this);
}

machine::~machine() {
  for (const auto& j : jobs_)
    free_stacks().push_back(j->stack);
}

sched::carrier* machine::lend() noexcept {
  const std::scoped_lock held(lock_);
  sched::carrier* const c = free_;
  if (c != nullptr)
    free_ = std::exchange(c->next, nullptr);
  return c;
}

void machine::take_back(sched::carrier* first) noexcept {
  const std::scoped_lock held(lock_);
  while (first != nullptr) {
    sched::carrier* const next = std::exchange(first->next, free_);
    free_ = first;
    first = next;
  }
}

void machine::add(sched::preemption kind, std::function<void()> body) {
  auto made = std::make_unique<job>();
  made->body = std::move(body);
  made->stack = take_stack();
  unit::initialise(made->unit, operations_of_jobs, pool_.get(), unit::kind_thread);
  if (kind != sched::preemption::none)
    sched::user_mode::attach(made->unit, kind);
  left_.fetch_add_relaxed(1);
  pool_->push(made->unit);
  jobs_.push_back(std::move(made));
}

void machine::run() {
  std::vector<std::unique_ptr<thread>> kernel_threads;
  for (const auto& c : spares_)
    kernel_threads.push_back(std::make_unique<thread>([&c] { c->live(); }));
  std::vector<std::unique_ptr<thread>> homes;
  for (std::size_t i = 1; i < workers_.size(); ++i)
    homes.push_back(std::make_unique<thread>([this, i] { live_at_home(**workers_[i]); }));
  live_at_home(**workers_[0]);
  homes.clear();
  for (const auto& c : spares_)
    c->end();
}

// As set_here() and group::kernel_thread_main().
void machine::live_at_home(sched::worker& w) {
  w.carried.home->describe_this_kernel_thread();
  w.carried.home->take_aboard(w);
  loop(w);
  sched::go_home(w);
  sched::carrier::put_ashore();
}

void machine::loop(sched::worker& w) {
  while (left_.load_relaxed() != 0) {
    unit::descriptor* u = std::exchange(w.handed, nullptr);
    if (u == nullptr)
      u = pick(w);
    if (u == nullptr) {
      relax();
    } else {
      continue_or_start(w, *u);
    }
  }
}

// As worker::pick(): in turn.
unit::descriptor* machine::pick(sched::worker& w) {
  if (!w.local.empty() && !std::exchange(w.local_had_turn, true))
    return w.local.pop(w);
  w.local_had_turn = false;
  if (unit::descriptor* const u = pool_->pop(w))
    return u;
  return w.local.empty() ? nullptr : w.local.pop(w);
}

void machine::continue_or_start(sched::worker& w, unit::descriptor& u) {
  u.state.start_running();
  w.current = &u;
  if (u.has_started()) {
    arch::swap(w.base, u.context);
    return;
  }
  job& j = job_of(u);
  // Not null: it has started. Nobody looks there.
  u.stack = reinterpret_cast<weft::memory::stack_record*>(j.stack);
  struct start {
    machine* self;
    job* which;
  };
  auto* const s = reinterpret_cast<start*>(j.stack);
  *s = {this, &j};
  arch::save(w.base, u.context, j.stack + stack_bytes, stack_bytes, &enter, s);
}

void machine::enter(void* argument) {
  struct start {
    machine* self;
    job* which;
  };
  const start s = *static_cast<start*>(argument);
  s.which->unit.operations->run(s.which->unit);
  sched::come_back_if_away();
  sched::worker& w = sched::here();
  s.which->unit.state.finish();
  s.self->left_.fetch_sub_relaxed(1);
  w.current = &w.loop_unit;
  arch::restore(*w.loop);
}

bool leave_here() {
  sched::worker_face& face = sched::here();
  return (face.attention.load_relaxed() & (sched::not_a_worker | sched::user_code)) == 0 &&
         sched::leave_worker(static_cast<sched::worker&>(face));
}

void on_tick(bool in_call) {
  sched::worker_face& face = sched::here();
  const std::uint32_t attention = face.attention.load_relaxed();
  if ((attention & sched::user_code) == 0) {
    if ((attention & sched::not_a_worker) == 0)
      sched::user_mode::remember_tick_in_runtime(static_cast<sched::worker&>(face));
    return;
  }
  sched::user_mode& thread = sched::user_mode::behind(face);
  if (thread.is_away()) {
    if (!in_call && thread.wait_for_worker() != nullptr)
      thread.return_to_user_mode();
    return;
  }
  if (in_call && thread.let_worker_go())
    return;
  do { // one more is sent where somebody came while the thread went back
    if (thread.preempt() == nullptr)
      return;
    thread.return_to_user_mode();
  } while (thread.has_remembered());
}

} // namespace weft::model::runtime

namespace weft::sched {

void* take_user_mode_room() noexcept {
  void* const room = ::operator new(sizeof(user_mode), std::nothrow);
  return room != nullptr ? std::memset(room, 0, sizeof(user_mode)) : nullptr;
}
void give_user_mode_room(void* room) noexcept {
  ::operator delete(room);
}

} // namespace weft::sched
