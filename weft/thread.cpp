// SPDX-License-Identifier: MIT
// The part of threads that need not be inlined.
#include "weft/thread.hpp"

#include <ostream>

#include "weft/base/assert.hpp"
#include "weft/base/refuse.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/memory/overflow.hpp"
#include "weft/memory/stack_options.hpp"
#include "weft/os/signal.hpp"
#include "weft/preempt/preparation.hpp"
#include "weft/runtime/runtime.hpp"
#include "weft/sched/default_group.hpp"
#include "weft/unit/extension.hpp"

namespace weft {
namespace {

using base::refuse;

constexpr std::size_t largest_stack = std::size_t{1} << 30;

// One that may be preempted needs room for the kernel's signal frame and for what its handler calls. The
// default size has it.
std::size_t stack_size_of(const thread_attributes& a) {
  constexpr std::size_t handler = 4096;
  const bool adds = a.preemption != preemption::none && a.stack_size != 0;
  return adds ? a.stack_size + os::signal_stack_bytes(handler) : a.stack_size;
}

void make_preemptible(unit::descriptor& u, preemption kind) {
  if (kind == preemption::none)
    return;
  if (const preempt::preparation made{kind, sched::default_group().size()})
    sched::user_mode::attach(u, kind);
}

} // namespace

namespace detail {

std::uint64_t traits_of(const thread_attributes& a, std::uint64_t kind) {
  if (a.stack_size > largest_stack)
    refuse(std::errc::invalid_argument, "weft: a stack of more than 1 GiB");
  if (a.level < unit::first_level || a.level > unit::last_level)
    refuse(std::errc::invalid_argument, "weft: level not in -32 .. 31");
  if (a.technique != technique_id::automatic && kind != unit::kind_thread)
    refuse(std::errc::invalid_argument, "weft: a tasklet has no threading technique: it is RtC");
  if (static_cast<unsigned>(a.technique) >= unit::technique_count)
    refuse(std::errc::invalid_argument, "weft: no such threading technique");
  if (a.technique == technique_id::sc && a.stack_size != 0)
    refuse(std::errc::invalid_argument,
           "weft: an SC thread has the stack size of who starts it, the default");
  if (static_cast<unsigned>(a.preemption) >= sched::preemption_kinds)
    refuse(std::errc::invalid_argument, "weft: no such kind of preemption");
  if (static_cast<unsigned>(a.priority) >= sched::priorities)
    refuse(std::errc::invalid_argument, "weft: no such priority");
  if (a.preemption != preemption::none && kind != unit::kind_thread)
    refuse(std::errc::invalid_argument, "weft: a tasklet is never preempted");
  return kind | unit::stack_size_trait(static_cast<std::uint32_t>(stack_size_of(a))) |
         unit::technique_trait(a.technique);
}

void submit_with(unit::descriptor& u, const unit::operations& o, std::uint64_t traits,
                 const thread_attributes& a, bool now) {
  const sched::runtime_section in;
  pool* own_pool = a.pool;
  if (own_pool == nullptr) {
    own_pool = sched::pool_of_new(u);
  } else {
    sched::note_here(trace::event::create, &u);
  }
  own_pool = &sched::pool_of_priority(*own_pool, a.priority);
  technique_id t = a.technique;
  if (t == technique_id::automatic && (traits & unit::kind_mask) == unit::kind_thread) {
    t = own_pool->default_technique(a.stack_size != 0);
    traits |= unit::technique_trait(t);
  }
  unit::initialise(u, o, own_pool, traits);
  u.level = static_cast<std::int8_t>(a.level);
  if (a.name != nullptr)
    unit::set_name(u, a.name);
  make_preemptible(u, a.preemption);
  try {
    if (!now)
      return t == technique_id::automatic ? own_pool->push_inside(u) : sched::submit_as(u, t);
    if (unit::has_stack_at_creation(t))
      sched::reserve_stack(u);
    sched::start_now(u);
  } catch (...) { // it could not be pushed
    sched::user_mode::detach(u);
    throw;
  }
}

namespace {

// A join that may be given up.
class waiting_joiner final : public unit::joiner {
 public:
  void on_end() noexcept override {
    waiter.notify();
    done_.store_release(1); // (J5) release: pairs with (J6). GONE: *this
  }
  // After a withdrawal that came too late: until the unit has let go of this object.
  void wait_until_done() noexcept {
    constexpr int looks_before_yield = 64;
    for (int looks = 0;
         done_.load_acquire() == 0;) { // (J6) acquire: pairs with (J5); a few instructions away
      if (++looks < looks_before_yield) {
        arch::relax();
      } else {
        base::backend::yield_kernel_thread();
      }
    }
  }

  sync::waiter waiter;

 private:
  base::atomic<std::uint32_t> done_{0};
};

} // namespace

bool join_until(unit::descriptor& u, sched::deadline until, const std::stop_token& stop) {
  if (u.join.has_ended())
    return true;
  if (sched::on_worker() && sched::here().current == &u) {
    refuse(std::errc::resource_deadlock_would_occur, "weft: a thread joins itself");
  }
  waiting_joiner j;
  j.waiter.why = {unit::wait_kind::join, 0, &u};
  if (!u.join.wait_object(j))
    return true;
  try {
    if (j.waiter.wait(until, stop) != sync::wait_result::notified && u.join.withdraw(j))
      return false;
  } catch (...) {
    if (!u.join.withdraw(j))
      j.wait_until_done();
    throw;
  }
  j.wait_until_done();
  return true;
}

void detach(unit::descriptor& u) noexcept {
  if (!u.join.detach()) {
    sched::release_kept_stack(u);
    sched::free_unit(sched::here(), u);
  }
}

void throw_not_joinable() {
  refuse(std::errc::invalid_argument, "weft: this handle holds no thread");
}

void terminate_forgotten(unit::descriptor& u) noexcept {
  char who[512];
  memory::describe_thread(&u, who, sizeof who);
  base::warn("the handle of thread %s was destroyed or assigned to before join() or detach()", who);
  std::terminate();
}

} // namespace detail

void thread::migrate_to_and_wait(weft::pool& target) {
  unit::descriptor& u = checked();
  sched::request_migration(u, target);
  // The extension, where moves are counted, goes when the unit ends: only its descriptor may be looked at.
  while (u.has(unit::migration_requested) && !u.join.has_ended())
    sched::yield();
}

unsigned thread::hardware_concurrency() noexcept {
  try {
    return runtime::running() ? runtime::worker_count() : sched::default_worker_count();
  } catch (const std::bad_alloc&) { // the list of CPUs is not known yet
    return 1;
  }
}

std::ostream& operator<<(std::ostream& out, thread::id id) {
  return out << "weft::thread " << id.address();
}

namespace this_thread {

void exit() {
  unit::descriptor& self = *sched::here().current;
  if (!sched::on_worker() || self.kind() > unit::kind_tasklet || self.has(unit::not_cancellable)) {
    refuse(std::errc::operation_not_permitted,
           "weft: exit() from a kernel thread, the primary thread or a scheduler");
  }
  throw unit::exit_request{};
}

void set_name(const char* name) {
  const sched::runtime_section in;
  if (!sched::on_worker())
    refuse(std::errc::operation_not_permitted, "weft: the caller is not a Weft thread");
  unit::set_name(*sched::here().current, name);
}

const char* name() noexcept {
  return sched::on_worker() ? unit::name_of(*sched::here().current) : "";
}

std::size_t stack_left() noexcept {
  const memory::stack_record* stack = sched::here().current->stack;
  if (stack == nullptr)
    return 0;
  return static_cast<std::size_t>(static_cast<std::byte*>(__builtin_frame_address(0)) - stack->low);
}

void migrate_to(weft::pool& target) {
  sched::require_thread("migrate_to"); // what is thrown needs the user's heap, so not in the runtime
  sched::request_migration(*sched::here().current, target);
  const sched::runtime_section in;
  sched::act_on_requests();
}

} // namespace this_thread
} // namespace weft
