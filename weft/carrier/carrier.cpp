// SPDX-License-Identifier: MIT
// Kernel threads that workers run on, and how a worker goes from one to another: see carrier.hpp.
#include "weft/carrier/carrier.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "weft/arch/user_mode.hpp"
#include "weft/base/assert.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/futex.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/os/signal.hpp"
#include "weft/workers/exceptions_kept.hpp"
#include "weft/workers/group.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched {

constinit std::atomic<carrier_lender*> lender_of_carriers{nullptr};
constinit base::atomic<hand_off> how_to_hand_off{hand_off::direct};

// --- side stacks ---

namespace {

// For what a kernel thread does beside its own stack; handlers of the user's signals may run on it.
void allocate_side_stack(os::guarded_stack& stack) {
  constexpr std::size_t handler_room = 16 << 10;
  if (stack.allocate(os::signal_stack_bytes(handler_room)) != 0)
    throw std::bad_alloc();
}

} // namespace

// --- waiting and calling ---

namespace {

sigset_t only(int number) noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  return set;
}

// The paper's "naive" way: the wake-up is a signal, which is blocked but while the kernel thread waits.
void wait_for_signal(const base::atomic<std::uint32_t>& called) noexcept {
  const sigset_t wake_up = only(signal_of_hand_off());
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &wake_up, &before);
  sigset_t waiting = before;
  sigdelset(&waiting, signal_of_hand_off());
  while (called.load_acquire() == 0) // acquire: pairs with the release in carrier::call()
    ::sigsuspend(&waiting);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

} // namespace

int signal_of_hand_off() noexcept {
  return SIGRTMIN + 3;
}

worker* carrier::wait() noexcept {
  if (how_to_hand_off.load_relaxed() == hand_off::sigsuspend)
    wait_for_signal(called_);
  while (called_.load_acquire() == 0) // acquire: pairs with the release in call()
    os::futex_wait(&called_, 0);
  called_.store_relaxed(0); // nobody calls again before this worker has left
  return comes_;
}

void carrier::call(worker* w) noexcept {
  const int id = kernel_id_;
  comes_ = w;
  called_.store_release(1); // GONE: *this. Pairs with the acquire in wait()
  if (how_to_hand_off.load_relaxed() == hand_off::sigsuspend)
    ::syscall(SYS_tgkill, ::getpid(), id, signal_of_hand_off());
  os::futex_wake(&called_, 1);
}

void carrier::describe_this_kernel_thread() noexcept {
  kernel_id_ = os::this_kernel_thread_id();
  thread_pointer_ = arch::thread_pointer();
  exceptions_ = arch::globals_of_this_kernel_thread();
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_);
  if (::sched_getaffinity(0, sizeof bound_, &bound_) != 0)
    bound_ = {};
}

[[gnu::noinline]] void carrier::take_aboard(worker& w) noexcept {
  w.carried.on = this;
  w.exceptions = exceptions_;
  w.carried.own_thread_pointer.store_relaxed(thread_pointer_); // relaxed: for this kernel thread
  w.carried.kernel_thread_id.store_relaxed(kernel_id_);
  weft_worker_here = &w;
  weft_current_worker = &w;
  // A worker that is bound to a CPU is so wherever it goes.
  if (!CPU_EQUAL(&bound_, &w.carried.affinity) &&
      ::sched_setaffinity(0, sizeof w.carried.affinity, &w.carried.affinity) == 0)
    bound_ = w.carried.affinity;
}

[[gnu::noinline]] void carrier::put_ashore() noexcept {
  weft_worker_here = nullptr;
  weft_current_worker = &face_of_others();
}

[[gnu::noinline]] void set_here(worker* w) noexcept {
  if (w == nullptr && weft_worker_here != nullptr)
    weft_worker_here->carried.kernel_thread_id.store_relaxed(0);
  carrier::put_ashore();
  if (w == nullptr)
    return;
  w->carried.home->describe_this_kernel_thread();
  w->carried.home->take_aboard(*w);
}

// --- going from one to another ---

void return_spare(worker& w, carrier& c) noexcept {
  constexpr unsigned kept = 4;
  const hand_off how = how_to_hand_off.load_relaxed();
  if (w.carried.spare_count < kept && (how == hand_off::direct || how == hand_off::local)) {
    c.next = std::exchange(w.carried.spares, &c);
    ++w.carried.spare_count;
    return;
  }
  c.next = nullptr;
  lender_of_carriers.load(std::memory_order_acquire)->take_back(&c);
}

namespace {

// The worker has left: nothing of it is in use on the kernel thread that it stood on, whose own stack this
// runs on.
void depart(void* leaving) noexcept {
  worker& w = *static_cast<worker*>(leaving);
  carrier& left = *w.carried.on;
  carrier& to = *w.carried.passing.to;
  carrier::put_ashore();
  if (!left.is_home())
    return_spare(w, left);
  to.call(&w); // GONE: w
}

} // namespace

namespace {

carrier* take_spare(worker& w, carrier* (carrier_lender::*ask)() noexcept) noexcept {
  if (carrier* c = w.carried.spares; c != nullptr) {
    w.carried.spares = std::exchange(c->next, nullptr);
    --w.carried.spare_count;
    return c;
  }
  carrier_lender* lender = lender_of_carriers.load(std::memory_order_acquire);
  return lender != nullptr ? (lender->*ask)() : nullptr;
}

} // namespace

carrier* take_spare(worker& w) noexcept {
  return take_spare(w, &carrier_lender::lend);
}

carrier* take_spare_for_alone(worker& w) noexcept {
  return take_spare(w, &carrier_lender::lend_to_alone);
}

carrier* where_to_go_on(worker& w) noexcept {
  if (carrier* const spare = take_spare(w))
    return spare;
  return w.carried.on != w.carried.home.get() && w.carried.home->is_free_home() ? w.carried.home.get()
                                                                                : nullptr;
}

void go_home(worker& w) noexcept {
  constexpr std::int64_t pause = 50'000;
  if (w.carried.on == w.carried.home.get())
    return;
  while (!w.carried.home->is_free_home())
    os::sleep_ns(pause);
  move_worker(w, *w.carried.home);
}

void count_leaver(bool more) noexcept {
  if (carrier_lender* const lender = lender_of_carriers.load(std::memory_order_acquire))
    lender->count_leaver(more);
}

[[gnu::noinline]] void move_worker(worker& w, carrier& to) noexcept {
  const exceptions_kept kept(w);
  arch::context here_stands;
  w.carried.passing = {&to, &here_stands, nullptr, nullptr};
  if (w.carried.on->is_home())
    group::primary_stays(w);
  arch::swap_with(here_stands, w.carried.on->idle, &depart, &w); // SWITCH: resumes on another kernel thread
}

void carrier::carry() noexcept {
  for (;;) {
    worker* w = wait();
    if (w == nullptr)
      return;
    take_aboard(*w);
    const auto passing = w->carried.passing;
    if (passing.then != nullptr) {
      arch::swap_with(idle, *passing.resumes, passing.then, passing.argument);
    } else {
      arch::swap(idle, *passing.resumes);
    }
  }
}

void carrier::live() noexcept {
  describe_this_kernel_thread();
  carry();
}

void carrier::carry_from_home(void* self) {
  static_cast<carrier*>(self)->carry();
  base::panic("a worker's home was told to end");
}

void carrier::make_room_for_nobody() {
  constexpr std::size_t both = 2; // the second is what a cooperative thread finds that is away
  nobody_ = std::make_unique<std::byte[]>(both * sizeof(worker) + alignof(worker));
}

void carrier::prepare_spare() {
  make_room_for_nobody();
  allocate_side_stack(gate_);
}

worker& carrier::nobody() noexcept {
  void* room = nobody_.get();
  std::size_t bytes = sizeof(worker) + alignof(worker);
  auto& w = *static_cast<worker*>(std::align(alignof(worker), sizeof(worker), room, bytes));
  w.carried.own_thread_pointer.store_relaxed(thread_pointer_);
  w.carried.on = this;
  return w;
}

// As large as a worker, for inlined code takes it for one; what is read behind the face is zero.
worker_face& carrier::begin_away(descriptor& unit, group& left) noexcept {
  left.expect_outsider(); // the group outlives it
  left_group_ = &left;
  away.store_relaxed(away_here::cooperative); // relaxed: for its worker, which is called after this
  worker& w = *(&nobody() + 1);
  std::memset(static_cast<void*>(&w), 0, sizeof w);
  ::new (static_cast<void*>(static_cast<worker_face*>(&w))) worker_face{};
  w.current = &unit;
  w.attention.store_relaxed(user_code | without_worker);
  w.budget = 0;
  w.carried.on = this;
  return w;
}

group& carrier::end_away() noexcept {
  group& left = *std::exchange(left_group_, nullptr);
  away.store_relaxed(away_here::nobody);
  return left;
}

void carrier::prepare_home() {
  is_home_ = true;
  if constexpr (arch::can_preempt) {
    make_room_for_nobody();
    allocate_side_stack(rest_);
    allocate_side_stack(gate_);
    arch::make(idle, rest_.top(), rest_.size(), &carry_from_home, this);
  }
}

void carrier::begin_anew_after_fork() noexcept {
  called_.store_relaxed(0);
  away.store_relaxed(away_here::nobody);
  describe_this_kernel_thread();
  if constexpr (arch::can_preempt)
    arch::make(idle, rest_.top(), rest_.size(), &carry_from_home, this);
}

// --- gates ---

void carrier::make_gate(arch::context& gate, arch::context* resident) noexcept {
  resident_ = resident;
  arch::make(gate, gate_.top(), gate_.size(), &pass_through_gate, this);
}

bool carrier::is_gate(const arch::context& c) const noexcept {
  // As numbers: a port without preemption has no gates, and their stacks no address.
  const auto sp = reinterpret_cast<std::uintptr_t>(arch::stack_pointer_of(c));
  return reinterpret_cast<std::uintptr_t>(gate_.top()) - sp < gate_.size();
}

void carrier::pass_through_gate(void* argument) {
  worker& w = here();
  auto& self = *static_cast<carrier*>(argument);
  // A thread that waits in the kernel has the home: who lives there goes on where its worker is.
  if (self.is_home_ && !self.is_free_home()) [[unlikely]]
    arch::restore(*self.resident_);
  w.carried.passing = {&self, self.resident_, nullptr, nullptr};
  arch::restore_with(w.carried.on->idle, &depart, &w);
}

} // namespace weft::sched
