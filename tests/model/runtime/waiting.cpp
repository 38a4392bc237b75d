// SPDX-License-Identifier: MIT
// What weft/sync calls of the scheduler: a thread that leaves is parked once its context is complete, one
// that is made ready is unparked.
#include "tests/model/runtime/seat.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/events/timer_queue.hpp"
#include "weft/sched/switch.hpp"
#include "weft/sync/owner_record.hpp"
#include "weft/workers/group.hpp"

#include <cstring>
#include <new>
#include <optional>

namespace weft::model::runtime {

namespace {

bool apart = false;

// What a timer's lock does: who disarms one that fires waits until it has. Each call is one operation of the
// checker, as those of seam/stop_token.
class armed_timers {
 public:
  void arm(sched::timer* t) {
    operation();
    armed_.push_back(t);
  }
  bool disarm(sched::timer* t) {
    operation();
    if (std::erase(armed_, t) != 0)
      return true;
    while (fires_ == t)
      relax();
    operation();
    return false;
  }
  void expire() {
    operation();
    while (!armed_.empty()) {
      fires_ = armed_.back();
      armed_.pop_back();
      fires_->on_expiry();
      operation();
      fires_ = nullptr;
    }
  }

 private:
  void operation() { operations_.fetch_add_acq_rel(1); }

  base::atomic<unsigned> operations_{0};
  sched::timer* fires_ = nullptr;
  std::vector<sched::timer*> armed_;
};

std::optional<armed_timers> timers;

// References of workers; nobody looks there.
alignas(64) std::byte no_timers[sizeof(sched::timer_queue)];
alignas(64) std::byte no_group[sizeof(sched::group)];

void refer(std::byte* worker, std::size_t offset, void* object) {
  std::memcpy(worker + offset, &object, sizeof object);
}

} // namespace

void begin(arrivals where) {
  thread_word(&sched::weft_current_worker, &sched::face_of_others());
  apart = where == arrivals::apart;
  timers.emplace();
}

void expire_timers() {
  timers->expire();
}

void seat::take_worker() {
  workers_.push_back(std::make_unique<room>());
  std::byte* const bytes = workers_.back()->bytes;
  std::memset(bytes, 0, sizeof(sched::worker));
  auto* const face = ::new (static_cast<void*>(bytes)) sched::worker_face;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
  refer(bytes, offsetof(sched::worker, timing) + sizeof(sched::timer_queue::lease), no_timers);
  refer(bytes, offsetof(sched::worker, number) - sizeof(void*), no_group);
#pragma GCC diagnostic pop
  face->attention.store_relaxed(0);
  face->current = &unit_;
  sched::weft_current_worker = face;
}

seat::seat(sched::worker_face* left) {
  left->current = &unit_;
  sched::weft_current_worker = left;
}

std::size_t seat::offset_of_unit() {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
  return offsetof(seat, unit_);
#pragma GCC diagnostic pop
}

namespace {

[[noreturn]] void not_modelled(const char* what) {
  fail(std::string("not modelled here: ") + what);
}

alignas(64) constinit sched::worker_face others{};

} // namespace
} // namespace weft::model::runtime

namespace weft::sync {
void let_others_run() {
  model::runtime::not_modelled("let_others_run");
}
} // namespace weft::sync

namespace weft::sched {

using model::runtime::not_modelled;
using model::runtime::seat;

extern "C" {
__thread worker_face* weft_current_worker __attribute__((tls_model("initial-exec"))) =
    &model::runtime::others;
}

worker_face& face_of_others() noexcept {
  return model::runtime::others;
}

void require_thread(const char*) {}

namespace {

template <class Then>
void leave_and(Then then) {
  seat& mine = seat::mine();
  mine.context = mine.context + 1; // complete, before anybody may resume it
  mine.away = true;
  if (model::runtime::apart) {
    mine.left.push_back(std::make_unique<model::thread>([then, worker = weft_current_worker] {
      const seat of_the_worker_left(worker);
      then();
    }));
    model::park();
    mine.take_worker();
  } else {
    then();
    model::park();
  }
  model::check(mine.context > 0, "resumed without a context");
}

} // namespace

void leave(arch::arrival_function then, void* argument) {
  leave_and([=] { then(argument); });
}

bool can_leave_to(const unit::descriptor&) noexcept {
  return on_worker();
}

// On the stack of `next`, which so must not run: else this is a race.
template <class Then>
auto on_stack_of(unit::descriptor& next, Then then) {
  model::var<int>& context = seat::of(next).context;
  context = context + 1;
  const auto result = then();
  context = context + 1;
  return result;
}

bool leave_to_if(unit::descriptor& next, arch::conditional_function then, void* argument) {
  seat& mine = seat::mine();
  bool left = true; // of this frame, which is gone if it was
  leave_and([&next, &mine, &left, then, argument] {
    if (on_stack_of(next, [=] { return then(argument); }))
      return make_ready(next);
    left = false;
    make_ready(mine.unit());
  });
  return left;
}

void leave_to(unit::descriptor& next, arch::arrival_function then, void* argument) {
  leave_and([&next, then, argument] {
    on_stack_of(next, [=] { return then(argument), true; });
    make_ready(next);
  });
}

void make_ready(unit::descriptor& u) {
  seat& resumed = seat::of(u);
  model::check(resumed.away, "a thread is made ready that has not left");
  resumed.away = false;
  resumed.context = resumed.context + 1; // who resumes it sees it complete: else this is a race
  model::unpark(resumed.thread);
}

// Nothing is recorded.
void worker::note_slowly(trace::event, const void*, std::uint32_t) noexcept {
  not_modelled("a recorder");
}
// Nobody is preempted here.
user_mode* runtime_section::enter(worker_face&) noexcept {
  not_modelled("a preemptible thread");
}
void runtime_section::leave(user_mode&) noexcept {
  not_modelled("a preemptible thread");
}
void timer_queue::arm(timer& t, deadline) {
  model::runtime::timers->arm(&t);
}
bool timer_queue::disarm(timer& t) noexcept {
  return model::runtime::timers->disarm(&t);
}
void group::wake_before(deadline) noexcept {} // nobody sleeps
worker& user_mode::enter_runtime() noexcept {
  not_modelled("user mode");
}
void user_mode::leave_runtime() noexcept {
  not_modelled("user mode");
}

} // namespace weft::sched

namespace weft::sync {

const void* caller_identity() noexcept {
  return reinterpret_cast<const void*>(std::uintptr_t{model::self()} + 1);
}

} // namespace weft::sync
