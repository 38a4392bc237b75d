// SPDX-License-Identifier: MIT
// Cancel, migrate, suspend, resume: bits of descriptor::traits and what becomes of them.
#include "weft/sched/requests.hpp"

#include <mutex>
#include <system_error>
#include <typeinfo>

#include "weft/arch/unwinding.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/sched/switch.hpp"
#include "weft/unit/exit.hpp"

namespace weft::sched {

void request_cancel(descriptor& u) {
  if (u.has(unit::not_cancellable)) {
    throw std::system_error(std::make_error_code(std::errc::operation_not_permitted),
                            "weft: the primary thread cannot be cancelled");
  }
  // release: pairs with the acquire in act_on_requests(): the reason for the cancellation is seen by what
  // unwinds.
  u.traits.fetch_or_acq_rel(unit::cancel_requested);
}

void request_migration(descriptor& u, pool& target, unit::migration_callback callback, void* argument) {
  if (u.state.load() == unit::state::finished ||
      (u.traits.load_relaxed() & (unit::not_cancellable | unit::embedded)) != 0) {
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "weft: this unit has ended or may not migrate");
  }
  const auto request = [&] {
    const runtime_section in;
    return unit::request_migration(u, {&target, callback, argument});
  };
  if (!request()) {
    throw std::system_error(std::make_error_code(std::errc::invalid_argument), "weft: this unit has ended");
  }
  const runtime_section in;
  // A unit that waits in a pool need not wait for its turn there.
  worker* w = on_worker() ? &here() : nullptr;
  if (pool* from = u.own_pool; from != nullptr && !u.has(unit::pinned) && from->remove(u, w))
    put_back(u);
}

void apply_migration(descriptor& u) noexcept {
  unit::extension& e = *unit::extension_of(u); // there is one: the request made it
  unit::migration m;
  {
    std::lock_guard held(e.lock);
    if ((u.traits.load_relaxed() & unit::migration_requested) == 0)
      return;
    m = e.pending;
    e.migrations_done.fetch_add_relaxed(1);
    // In no container of the new own pool yet, whatever it was before: its do_remove() reads `own_pool`, then
    // the state.
    u.state.post();
    e.left = u.own_pool;
    u.own_pool.publish(m.target);
    u.traits.fetch_and_acq_rel(
        ~std::uint64_t{unit::migration_requested}); // last: migrate_to_and_wait() looks at it alone
  }
  if (on_worker()) {
    ++here().recording.counters.migrations;
    here().note(trace::event::migrate, &u);
  }
  if (m.callback != nullptr)
    m.callback(u, m.argument);
}

namespace {

// Whether a cancelled thread can be unwound from here: not through a destructor or another function that lets
// no exception out. It goes on then, and is asked again at its next scheduling point.
bool may_end(const descriptor& self) {
  const user_code_section out; // to look is to take the loader's lock
  return self.operations->end != nullptr || arch::would_be_caught(typeid(unit::exit_request));
}

} // namespace

void act_on_requests() {
  const runtime_section in;
  descriptor& self = *here().current;
  const std::uint64_t asked = self.traits.load_acquire();
  if ((asked & unit::cancel_requested) != 0 && (asked & unit::unwinding) == 0 && may_end(self)) {
    self.traits.fetch_or_relaxed(
        unit::unwinding); // relaxed: only this thread looks; destructors that wait must not throw
    if (self.operations->end != nullptr)
      self.operations->end(self); // does not return
    const user_code_section out;  // to throw is to allocate
    throw unit::exit_request{true};
  }
  if ((asked & unit::migration_requested) != 0) {
    // make_ready() carries it out once the thread has left its stack.
    leave([](void* u) { make_ready(*static_cast<descriptor*>(u)); }, &self);
  }
}

void suspend() {
  const runtime_section in;
  require_thread("suspend");
  act_on_requests();
  leave(
      [](void* p) {
        auto& u = *static_cast<descriptor*>(p);
        std::uint64_t seen = u.traits.load_relaxed();
        for (;;) {
          const bool resumed = (seen & unit::resume_permit) != 0;
          const std::uint64_t next =
              resumed ? seen & ~std::uint64_t{unit::resume_permit} : seen | unit::suspended;
          // acq_rel: publishes the left context to resume(), or sees what resume() published
          if (!u.traits.cas_weak_acq_rel(seen, next))
            continue;
          if (resumed)
            make_ready(u);
          return;
        }
      },
      here().current);
  act_on_requests();
}

void resume(descriptor& u) {
  std::uint64_t seen = u.traits.load_relaxed();
  for (;;) {
    const bool waits = (seen & unit::suspended) != 0;
    const std::uint64_t next = waits ? seen & ~std::uint64_t{unit::suspended} : seen | unit::resume_permit;
    if (!u.traits.cas_weak_acq_rel(seen, next))
      continue; // pairs with the same in suspend()
    if (waits)
      make_ready(u);
    return;
  }
}

} // namespace weft::sched
