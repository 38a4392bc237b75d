// SPDX-License-Identifier: MIT
// What weft/sync calls of the scheduler: a thread that leaves is parked once its context is complete, one
// that is made ready is unparked.
#include "tests/model/runtime/seat.hpp"
#include "weft/sched/group.hpp"
#include "weft/sched/switch.hpp"
#include "weft/sched/timer_queue.hpp"
#include "weft/sched/user_mode.hpp"
#include "weft/sync/owner_record.hpp"

namespace weft::model::runtime {

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

alignas(64) constinit sched::worker_front others{};

} // namespace
} // namespace weft::model::runtime

namespace weft::sched {

using model::runtime::not_modelled;
using model::runtime::seat;

extern "C" {
__thread worker_front* weft_current_worker __attribute__((tls_model("initial-exec"))) =
    &model::runtime::others;
}

worker_front& front_of_others() noexcept {
  return model::runtime::others;
}

void require_thread(const char*) {}

void leave(arch::arrival_function then, void* argument) {
  seat& mine = seat::mine();
  mine.context = mine.context + 1; // complete, before anybody may resume it
  then(argument);
  model::park();
  model::check(mine.context > 0, "resumed without a context");
}

void make_ready(unit::descriptor& u) {
  seat& resumed = seat::of(u);
  resumed.context = resumed.context + 1; // who resumes it sees it complete: else this is a race
  model::unpark(resumed.thread);
}

// Nothing is recorded.
void worker::note_slowly(trace::event, const void*, std::uint32_t) noexcept {
  not_modelled("a recorder");
}
// Nobody is preempted here.
user_mode* runtime_section::enter(worker_front&) noexcept {
  not_modelled("a preemptible thread");
}
void runtime_section::leave(user_mode&) noexcept {
  not_modelled("a preemptible thread");
}
void timer_queue::arm(timer&, deadline) {
  not_modelled("a timer");
}
bool timer_queue::disarm(timer&) noexcept {
  not_modelled("a timer");
}
void group::wake_before(deadline) noexcept {
  not_modelled("a group");
}
worker& user_mode::enter_runtime() noexcept {
  not_modelled("user mode");
}
void user_mode::leave_runtime() noexcept {
  not_modelled("user mode");
}

} // namespace weft::sched

namespace weft::sync {

const void* caller_identity() noexcept {
  return nullptr; // for who records
}

} // namespace weft::sync
