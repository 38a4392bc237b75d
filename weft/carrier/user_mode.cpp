// SPDX-License-Identifier: MIT
// User mode and the way into the runtime and out of it: see user_mode.hpp.
#include "weft/carrier/user_mode.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "weft/arch/user_mode.hpp"
#include "weft/base/assert.hpp"
#include "weft/carrier/kick.hpp"
#include "weft/carrier/leaving.hpp"
#include "weft/carrier/loop.hpp"
#include "weft/carrier/user_mode_rooms.hpp"
#include "weft/os/futex.hpp"
#include "weft/simulator/simulation.hpp"
#include "weft/unit/exit.hpp"
#include "weft/unit/extension.hpp"
#include "weft/workers/group.hpp"

namespace weft::sched {

namespace {

// Where a thread-local stands, counted from the thread pointer: the same on every kernel thread.
template <class T>
[[gnu::noinline]] std::ptrdiff_t place_of(T& variable) noexcept {
  return reinterpret_cast<std::byte*>(&variable) - static_cast<std::byte*>(arch::thread_pointer());
}

// Written before the first thread becomes preemptible, by all who are first with the same numbers.
constinit std::atomic<std::ptrdiff_t> place_of_worker_here{0}, place_of_current_worker{0};

// relaxed: for who has learned them, or was made by who has
std::ptrdiff_t place_of_here() noexcept {
  return place_of_worker_here.load(std::memory_order_relaxed);
}
std::ptrdiff_t place_of_current() noexcept {
  return place_of_current_worker.load(std::memory_order_relaxed);
}
std::ptrdiff_t place_of_own_block() noexcept {
  static const worker* const none = nullptr;
  return reinterpret_cast<const std::byte*>(&none->carried.own_thread_pointer) -
         reinterpret_cast<const std::byte*>(none);
}

void learn_places() noexcept {
  place_of_worker_here.store(place_of(weft_worker_here), std::memory_order_relaxed);
  place_of_current_worker.store(place_of(weft_current_worker), std::memory_order_relaxed);
}

[[gnu::noinline]] void find(worker_face* face) noexcept {
  weft_current_worker = face;
}

std::uint32_t next_serial() noexcept {
  static base::atomic<std::uint32_t> last{0};
  return (last.fetch_add_relaxed(1) << 1) | 1; // never 0
}

// Where threads come and go the one that starts finds the block that the last one has left, whose memory is
// at hand; blocks that many take at their creation are in no cache when their turns come. Where a worker
// keeps none the creation takes one, and is told if there is no memory; where a kernel thread creates, until
// one has ended.
constinit base::atomic<bool> have_come_back{false}; // relaxed: a hint

bool binds_at_start() noexcept {
  return on_worker() ? here().blocks.to_bind != nullptr : have_come_back.load_relaxed();
}

void give_back(tls_block& block, bool may_yield) noexcept {
  if (block.is_made && !have_come_back.load_relaxed())
    have_come_back.store_relaxed(true);
  unbind_block(block, may_yield);
}

// Without memory it waits until others have ended, whose blocks are used again: its creation has succeeded.
tls_block& bind_whatever_it_takes() noexcept {
  for (;;) {
    try {
      return bind_block(); // SWITCH: may resume on another worker
    } catch (const std::exception&) {
      yield_preempted(false, false); // SWITCH: the same
    }
  }
}

// Whether others would run if the thread of that serial did not. RACY: a hint.
waiting who_waits(worker& w, std::uint32_t serial) noexcept {
  const auto seen = [](bool somebody) { return somebody ? waiting::somebody : waiting::nobody; };
  if (w.attention.any_relaxed(worker_has_classes)) [[unlikely]]
    return seen(others_wait_in_classes(w));
  if (w.attention.any_relaxed(time_passed))
    return waiting::somebody;
  if (!w.local.empty() || !w.timing.queue.looks_empty())
    return waiting::somebody;
  if (w.fifo != nullptr)
    return seen(!w.fifo->empty());
  if (w.deque != nullptr)
    return seen(!w.deque->empty());
  return w.preemption.ticked_alone == serial ? waiting::nobody_known : waiting::somebody;
}

} // namespace

bool user_mode::is_ours(const pool& p) noexcept {
  return p.fast() != fast_path::none || p.pops_quickly();
}

// `room_` is zero (user_mode_rooms.hpp), or was and has had a face.
user_mode::user_mode(descriptor& u, preemption kind) noexcept
    : unit_(u), real_(u.operations), mine_(*u.operations),
      keeps_away_from_homes_(kind == preemption::own_kernel_thread), kind_(kind), serial_(next_serial()) {
  ::new (static_cast<void*>(&face_)) worker_face{};
  face_.current = &u;
  face_.attention.store_relaxed(user_code);
  face_.budget = 0;
  if (mine_.name == nullptr)
    mine_.name = reinterpret_cast<const void*>(real_->run); // what readers of symbols take for its function
  mine_.run = &run;
  mine_.drop = &drop;
  if (real_->end != nullptr)
    mine_.end = &end;
}

void user_mode::attach(descriptor& u, preemption kind) {
  learn_places();
  tls_block* const bound = kind == preemption::bound_tls && !binds_at_start() ? &bind_block() : nullptr;
  void* room = take_user_mode_room();
  asm volatile("" : "+r"(room) : : "memory"); // what is there is read, though a constructor comes after it
  if (room == nullptr) {
    if (bound != nullptr)
      unbind_block(*bound, on_thread());
    throw std::bad_alloc();
  }
  auto* const made = ::new (room) user_mode(u, kind);
  made->bound_ = bound;
  u.operations = &made->mine_;
  u.traits.fetch_or_relaxed(unit::preemptible);
  if (live().fetch_add_relaxed(1) == 0)
    rest_of_monitor.rouse();
}

base::atomic<std::uint32_t>& user_mode::live() noexcept {
  static constinit base::atomic<std::uint32_t> count{0};
  return count;
}

void user_mode::detach(descriptor& u) noexcept {
  user_mode* const m = of(u);
  if (m == nullptr)
    return;
  if (on_thread() && here().current == &u)
    return m->finish_running();
  m->finish();
}

user_mode* user_mode::of(const descriptor& u) noexcept {
  if (!u.has(unit::preemptible))
    return nullptr;
  auto* bytes = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(u.operations));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof" // a reference member; one fixed place all the same
  return reinterpret_cast<user_mode*>(bytes - offsetof(user_mode, mine_));
#pragma GCC diagnostic pop
}

// GONE: *this.
void user_mode::finish() noexcept {
  unit_.traits.fetch_and_relaxed(~std::uint64_t{unit::preemptible});
  unit_.operations = real_;
  if (bound_ != nullptr)
    give_back(*bound_, false);
  live().fetch_sub_relaxed(1);
  this->~user_mode();
  give_user_mode_room(this);
}

[[gnu::noinline]] bool user_mode::is_in_place() const noexcept {
  asm volatile("" ::: "memory"); // compilers keep the address of weft_worker_here across calls
  return block_ != nullptr ? arch::thread_pointer() == block_->thread_pointer : weft_worker_here->is_here();
}

// Destructors of thread-locals are the user's code.
void user_mode::prepare_end(descriptor& self) noexcept {
  user_mode& mode = *of(self);
  if (mode.bound_ == nullptr)
    return;
  if (!mode.has_ended_on_block_) {
    mode.leave_runtime();
    mode.end_on_block();
    mode.enter_runtime();
  }
  give_back(*std::exchange(mode.bound_, nullptr), true);
}

void user_mode::begin_on_block() noexcept {
  if (bound_ == nullptr || !bound_->is_made)
    return;
  lender_of_tls.load(std::memory_order_acquire)->begin(*bound_);
  has_ended_on_block_ = false;
}

void user_mode::end_on_block() noexcept {
  if (bound_ == nullptr || has_ended_on_block_)
    return;
  lender_of_tls.load(std::memory_order_acquire)->end(*bound_);
  has_ended_on_block_ = true;
}

// For the thread itself, at its end.
void user_mode::finish_running() noexcept {
  prepare_end(unit_);
  finish();
}

void user_mode::run(descriptor& u) {
  user_mode& self = *of(u);
  struct in_runtime_again {
    user_mode& self;
    bool returned = false;
    ~in_runtime_again() {
      // That of libc goes by the thread pointer, and must not come to see the kernel thread's own.
      if (!returned && std::uncaught_exceptions() == 0) [[unlikely]]
        unit::refuse_other_unwinding();
      self.end_on_block();
      self.enter_runtime();
      self.finish_running();
    }
  } at_end{self};
  const unit::operations& real = *self.real_;
  if (self.kind_ == preemption::bound_tls && self.bound_ == nullptr)
    self.bound_ = &bind_whatever_it_takes();
  self.leave_runtime();
  self.begin_on_block();
  real.run(u);
  unit::run_local_destructors(u); // the user's code still
  at_end.returned = true;
}

void user_mode::drop(descriptor& u) {
  of(u)->finish();
  if (u.operations->drop != nullptr)
    u.operations->drop(u);
}

void user_mode::end(descriptor& u) {
  enter_runtime_for_good();
  of(u)->finish_running();
  u.operations->end(u);
  base::panic("a thread was continued after its end");
}

// Whoever goes on in the runtime needs a worker, also one that was sent on alone from the wait for it.
worker& user_mode::enter_keeping_block() noexcept {
  worker* w = &enter_as_it_is();
  while (is_away())
    w = &come_back();
  return *w;
}

// The caller may be away still.
worker& user_mode::enter_as_it_is() noexcept {
  entering_.store_relaxed(1); // relaxed: for handlers on this kernel thread
  void* const w = block_ != nullptr
                      ? arch::weft_enter_runtime_from_block(place_of_here(), place_of_own_block())
                      : arch::weft_enter_runtime(place_of_here(), place_of_current());
  entering_.store_relaxed(0);
  auto& entered = *static_cast<worker*>(w);
  WEFT_ASSERT(entered.is_here(), "a thread came into the runtime of another kernel thread's worker");
  entered.preemption.user_mode_serial.store_relaxed(0);
  return entered;
}

worker& user_mode::enter_runtime() noexcept {
  worker& w = enter_keeping_block();
  if (block_ != nullptr)
    give_block_back(w);
  return w;
}

// Exceptions that are caught or fly stay with the thread: in the runtime, where all switches of its own will
// are, on the kernel thread's own block.
void user_mode::give_block_back(worker& w) noexcept {
  tls_block* block = std::exchange(block_, nullptr);
  if (arch::any(*block->exceptions)) [[unlikely]]
    arch::restore(*w.exceptions, arch::save_and_clear(*block->exceptions));
  if (bound_ == nullptr)
    return_block(w, *block);
}

// A worker keeps a few. Threads that are preempted on one worker and end on another bring their blocks along:
// they would all be here in the end, and nobody be preemptible there.
void user_mode::return_block(worker& w, tls_block& block) noexcept {
  constexpr unsigned kept = 4;
  if (w.blocks.lend_count < kept) {
    block.next = std::exchange(w.blocks.to_lend, &block);
    ++w.blocks.lend_count;
    return;
  }
  block.next = nullptr;
  lender_of_tls.load(std::memory_order_acquire)->take_back(&block);
}

// False: there is none now.
bool user_mode::find_block(worker& w) noexcept {
  if (w.blocks.to_lend != nullptr)
    return true;
  tls_lender* const lender = lender_of_tls.load(std::memory_order_acquire);
  if (lender == nullptr || (w.blocks.to_lend = lender->lend()) == nullptr)
    return false;
  w.blocks.lend_count = 1;
  return true;
}

tls_block* user_mode::borrow_block(worker& w) noexcept {
  if (!find_block(w))
    return nullptr; // it can only be told of ticks until there is one
  --w.blocks.lend_count;
  return std::exchange(w.blocks.to_lend, w.blocks.to_lend->next);
}

// Others run until there is one: the owner of a lock that whoever makes more waits for may be among them.
void user_mode::await_block() noexcept {
  if (!has_block() || bound_ != nullptr)
    return;
  while (!find_block(here())) {
    if (!lender_of_tls.load(std::memory_order_acquire)->more_may_come())
      return;
    yield_preempted(false, false);
  }
}

void user_mode::take_block(worker& w) noexcept {
  if (!has_block() || block_ != nullptr)
    return;
  block_ = bound_ != nullptr ? bound_ : borrow_block(w);
  if (block_ != nullptr && arch::any(*w.exceptions)) [[unlikely]]
    arch::restore(*block_->exceptions, arch::save_and_clear(*w.exceptions));
}

// Last what makes the thread preemptible, in one store or one write of the thread pointer.
[[gnu::noinline]] void user_mode::show_face(worker& w) noexcept {
  if (block_ == nullptr)
    return find(&face_);
  *block_->here = &w;
  *block_->current = &face_;
  arch::set_thread_pointer(block_->thread_pointer);
}

void user_mode::return_to_user_mode() noexcept {
  if (is_away())
    return show_face_away();
  worker& w = here();
  take_block(w);
  go_to_user_mode(w);
}

void user_mode::go_to_user_mode(worker& w) noexcept {
  WEFT_ASSERT(w.is_here(), "a thread leaves the runtime on another kernel thread than its worker's");
  w.preemption.others_wait.store_relaxed(who_waits(w, serial_));
  w.preemption.user_mode_serial.store_relaxed(serial_);
  // After the serial: who finds that 0 leaves a flag.
  const std::uint32_t flagged = w.preemption.tick_flag.load_relaxed();
  if (flagged == serial_ || flagged == whichever_thread) [[unlikely]] {
    w.preemption.tick_flag.store_relaxed(0);
    remember_tick();
  }
  if (w.attention.any_relaxed(worker_has_classes) && enters_user_mode(w, unit_)) [[unlikely]]
    remember_tick();
  show_face(w);
}

void user_mode::note_whether_alone(worker& w) const noexcept {
  w.preemption.ticked_alone = 0;
  if (w.fifo != nullptr || w.deque != nullptr || w.activity.lodgers != nullptr ||
      !w.stacked.schedulers.empty())
    return;
  const auto pools = w.main_scheduler->pools();
  if (std::all_of(pools.begin(), pools.end(), [](const auto& p) { return is_ours(*p) && p->empty(); }))
    w.preemption.ticked_alone = serial_;
}

void user_mode::remember_tick_in_runtime(worker& w) noexcept {
  user_mode* const thread = w.preemption.user_mode_serial.load_relaxed() != 0 ? of(*w.current) : nullptr;
  if (thread != nullptr) {
    thread->remember_tick();
  } else {
    w.preemption.tick_flag.store_relaxed(whichever_thread);
  }
}

void user_mode::leave_runtime() noexcept {
  for (;;) {
    wait_away_from_home();
    await_block();
    return_to_user_mode();
    // A tick that came before the face was seen is in `pending_`; a later one preempts by itself.
    const auto has_pending = [this] { return pending_.load_relaxed() != 0 && !is_held(); };
    if (!is_interrupted() && !has_pending()) [[likely]] // pairs with (I1)
      return;
    if (stays_on_signal_stack())
      return;
    if (is_interrupted())
      heed();
    if (!has_pending())
      return;
    enter_runtime();
    pending_.store_relaxed(0);
    note_whether_alone(here());
    yield_preempted(false);
  }
}

[[gnu::noinline]] void user_mode::heed_remembered() noexcept {
  enter_runtime();
  leave_runtime();
}

// Homes are not for keeping. Where no spare is to be had the thread can only be told of ticks.
void user_mode::leave_home() noexcept {
  if (!keeps_away_from_homes_)
    return;
  worker& w = here();
  if (!w.carried.on->is_home())
    return;
  if (carrier* spare = take_spare(w))
    move_worker(w, *spare);
}

// Where one may come soon it is waited for: a thread that computes at home can never be preempted. Others run
// meanwhile: the owner of a lock that whoever makes spares waits for may be among them.
void user_mode::wait_away_from_home() noexcept {
  for (;;) {
    leave_home();
    if (!keeps_away_from_homes_ || !here().carried.on->is_home())
      return;
    if (!lender_of_carriers.load(std::memory_order_acquire)->more_may_come())
      return;
    yield_preempted(false, false);
  }
}

// If this worker's next thread is one that waits on a kernel thread of its own: takes it, and puts this one,
// whose gate is made, in its place. Pools of ours alone, which allocate nothing: whatever the thread was
// interrupted in, malloc perhaps, this runs on the same kernel thread.
descriptor* user_mode::start_direct_hand_off(worker& w) noexcept {
  constexpr std::int32_t costs = 16; // ticks are rare: others look around after tens, not hundreds of them
  if (how_to_hand_off.load_relaxed() != hand_off::direct || w.handed != nullptr ||
      w.attention.load_relaxed() != 0 || !w.timing.queue.looks_empty() || (w.budget -= costs) < 0 ||
      unit_.has(unit::slow_mask))
    return nullptr;
  const auto is_next = [](descriptor& u) {
    user_mode* const mode = u.has(unit::slow_mask) ? nullptr : of(u);
    return mode != nullptr && mode->is_captive();
  };
  if (w.fifo != nullptr && unit_.own_pool.is(w.listed)) {
    queue::link* head = w.fifo->first();
    if (head == w.fifo->end() || !is_next(descriptor::from(*head)))
      return nullptr;
    w.fifo->pop_first(head);
    unit_.state.make_ready();
    w.fifo->push_back(&unit_.link);
    return &descriptor::from(*head);
  }
  if (w.deque == nullptr || !unit_.own_pool.is(w.hot))
    return nullptr;
  descriptor* next = w.deque->steal_top_by_owner();
  if (next == nullptr)
    return nullptr;
  if (!is_next(*next)) {
    w.handed = next;
    return nullptr;
  }
  unit_.state.make_ready();
  if (!w.deque->try_push_bottom(&unit_))
    w.hot->push(unit_);
  w.hot->announce();
  return next;
}

// To the next captive, or to `elsewhere` for the loop. GONE: w.
void user_mode::pass_worker_on(worker& w, carrier& mine, carrier& elsewhere) noexcept {
  captive_on_ = &mine;
  w.timing.running.stop();
  mine.make_gate(unit_.context, nullptr);
  if (descriptor* next = start_direct_hand_off(w)) {
    next->state.start_running();
    w.note(trace::event::run, next);
    w.current = next;
    w.carried.passing = {of(*next)->captive_on_, nullptr, nullptr, nullptr};
    if (!elsewhere.is_home())
      return_spare(w, elsewhere);
  } else {
    w.note(trace::event::stop_yield, &unit_);
    unit_.state.block();
    w.current = &w.loop_unit;
    w.pick_oldest = w.handed == nullptr;
    note_whether_alone(w);
    w.preemption.left_by_tick = true;
    w.budget = -1; // timers may be due
    w.carried.passing = {&elsewhere, w.loop, [](void* u) { put_back(*static_cast<descriptor*>(u)); }, &unit_};
  }
  pending_.store_relaxed(0); // heeded
  ++w.preemption.preempted;
  carrier* const to = w.carried.passing.to;
  carrier::put_ashore();
  to->call(&w);
}

worker* user_mode::preempt_in_place() noexcept {
  worker& w = enter_as_it_is();
  if (is_away()) [[unlikely]]
    return &wait_after_all();
  carrier& mine = *w.carried.on;
  carrier* const elsewhere = mine.is_home() ? nullptr : where_to_go_on(w);
  if (elsewhere == nullptr) {
    remember_tick();
    go_to_user_mode(w);
    return nullptr;
  }
  may_go_alone_ = alone::where_it_waits;
  pass_worker_on(w, mine, *elsewhere);
  return &wait_as_captive(mine);
}

worker* user_mode::preempt() noexcept {
  if (kind_ == preemption::own_kernel_thread)
    return preempt_in_place();
  if (has_block() && block_ == nullptr) {
    remember_tick();
    return nullptr;
  }
  enter_as_it_is();
  if (is_away()) [[unlikely]]
    return &wait_after_all();
  pending_.store_relaxed(0);
  const bool pinned = kind_ == preemption::signal_yield;
  note_whether_alone(here());
  may_go_alone_ = has_block() ? alone::on_a_spare : alone::no;
  yield_preempted(pinned, true);
  may_go_alone_ = alone::no;
  if (is_away())
    return &begin_alone();
  if (pinned)
    unit_.traits.fetch_and_relaxed(~std::uint64_t{unit::pinned});
  leave_home(); // before the handler adapts what it interrupted to this kernel thread
  return &here();
}

void enter_runtime_slowly(worker_face& face) noexcept {
  if (is_away(face)) {
    come_back(face);
  } else {
    user_mode::behind(face).enter_runtime();
  }
}

void keep_for_exit() noexcept {
  worker_face& face = here();
  if (is_away(face)) {
    stay_away(face);
  } else if (is_in_user_mode(face)) {
    user_mode::behind(face).hold_for_good();
  }
}

namespace {

// Stands for the thread in sections of simulated workers; never read.
alignas(user_mode) constinit std::byte nobody[1]{};

} // namespace

user_mode* runtime_section::enter(worker_face& face) noexcept {
  if (face.attention.any_relaxed(simulated)) {
    simulation::point(simulation::at::entry);
    return reinterpret_cast<user_mode*>(nobody);
  }
  if (is_away(face)) { // and cooperative again, with a worker
    come_back(face);
    return nullptr;
  }
  user_mode& thread = user_mode::behind(face);
  thread.enter_runtime();
  return &thread;
}

void runtime_section::leave(user_mode& thread) noexcept {
  if (reinterpret_cast<std::byte*>(&thread) == nobody)
    return simulation::point(simulation::at::exit);
  thread.leave_runtime();
}

} // namespace weft::sched
