// SPDX-License-Identifier: MIT
// Units made of a function of C and its argument: how they are made, launched, joined, ended and freed. The
// descriptor is the core's (weft::unit_handle), and its address is what a front gives out as a handle. What
// decides the cost of it is in unit_fast.hpp.
//
// The life of one: new_unit(), the closure is put into it, then launch(); the function returns, or the unit
// ends by end_now(); it is published as ended; who has joined it calls release_stack() and, when no handle is
// left, free_unit(). Between, the front keeps its accounts, by the operations that it gave.
#pragma once

#include "weft/pool.hpp"
#include "weft/sched/direct.hpp"
#include "weft/thread.hpp"
#include "weft/unit/descriptor.hpp"
#include "weft/unit/extension.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>

namespace weft::door {

using descriptor = unit_handle;

/// What the runtime calls for a unit: static objects of the front's, one for each sort of unit, which tell it
/// what it has before it.
using operations = unit::operations;

/// What lies in descriptor::closure. `more` is what the front has of the unit beside, made for the few that
/// need it; who makes it publishes it with release, and sets mark_fronted() before.
template <class More>
struct closure {
  void (*function)(void*);
  void* argument;
  std::atomic<More*> more;

  /// *Contexts*: any. *Switches*: never. *Errors*: none.
  static closure& of(descriptor& u) noexcept {
    static_assert(sizeof(closure) <= sizeof(descriptor::closure));
    return *reinterpret_cast<closure*>(u.closure);
  }
  static const closure& of(const descriptor& u) noexcept {
    return *reinterpret_cast<const closure*>(u.closure);
  }
  static void make_in(descriptor& u, void (*function)(void*), void* argument) noexcept {
    ::new (static_cast<void*>(u.closure)) closure{function, argument, nullptr};
  }
};
/// Where the function of a closure stands in a descriptor: operations::name_at, so that it names the unit.
inline constexpr std::size_t closure_function_at = offsetof(descriptor, closure);

// --- the caller's ---

/// The worker that runs the caller; on a kernel thread that is none, and in user mode of a preemptible
/// thread, one that has no list and nothing else to be fast with. Nothing of it is kept across a switch.
/// *Contexts*: all but signal handlers. *Switches*: never. *Errors*: none.
[[gnu::always_inline]] inline worker& here() noexcept {
  return sched::here();
}
/// The same, for those that are in the runtime; null: the kernel thread is no worker.
[[nodiscard]] inline worker* worker_here() noexcept {
  return sched::on_worker() ? &sched::here() : nullptr;
}
/// Whether `u` is the unit that calls. *Contexts*: in the runtime. *Switches*: never. *Errors*: none.
[[nodiscard]] inline bool is_caller(const descriptor& u) noexcept {
  return sched::on_worker() && sched::here().current == &u;
}

// --- what can be asked of a unit. Contexts: any; who holds no handle: RACY. Switches: never. Errors: none
// ---

[[nodiscard]] inline bool is_tasklet(const descriptor& u) noexcept {
  return u.kind() == unit::kind_tasklet;
}
[[nodiscard]] inline bool has_ended(const descriptor& u) noexcept {
  return u.join.has_ended();
}
[[nodiscard]] inline bool is_thread(const descriptor& u) noexcept {
  return u.kind() == unit::kind_thread;
}
enum class stage : std::uint8_t { ready, running, blocked, ended };
[[nodiscard]] inline stage stage_of(const descriptor& u) noexcept {
  if (has_ended(u))
    return stage::ended;
  if (is_caller(u))
    return stage::running; // a tasklet that its joiner runs has no other mark
  switch (u.state.load()) {
  case unit::state::fresh:
  case unit::state::posted:
  case unit::state::ready:
    return stage::ready;
  case unit::state::blocked:
  case unit::state::suspended:
    return stage::blocked;
  default: // one that is finished and not ended yet is on its last instructions
    return stage::running;
  }
}

/// Says that a front has more of the unit than its closure: its end is not a plain one. Before that is
/// published: who finds no mark need not look for more.
inline void mark_fronted(descriptor& u) noexcept {
  u.traits.fetch_or_acq_rel(unit::fronted);
}
[[nodiscard]] inline bool is_fronted(const descriptor& u) noexcept {
  return u.has(unit::fronted);
}

/// A mark for the front's pools, which put such a unit before the others when it is next pushed. Relaxed: it
/// is read where its worker pushes it, and the push publishes it. *Contexts*: who holds the unit. *Switches*:
/// never. *Errors*: none.
inline void let_go_first(descriptor& u, bool first) noexcept {
  first ? u.traits.fetch_or_relaxed(unit::goes_first)
        : u.traits.fetch_and_relaxed(~std::uint64_t{unit::goes_first});
}
[[nodiscard]] inline bool goes_first(const descriptor& u) noexcept {
  return u.has(unit::goes_first);
}

/// The joiner on whose stack `u` runs; null: it has its own, or none. Then the address down to which that
/// joiner's stack is in use.
[[nodiscard]] inline const void* stack_of_host(const descriptor& u) noexcept {
  const descriptor* host = sched::host_of(u);
  return host != nullptr ? arch::stack_pointer_of(host->context) : nullptr;
}

// --- making ---

/// What a thread is made like. `stack_size`: bytes; 0: the default one. `supplied`: the stack will be the
/// user's (supply_stack() in stack.hpp), and its size is told.
struct thread_form {
  std::size_t stack_size = 0;
  bool supplied = false;
  technique_id technique = technique_id::automatic;

  [[nodiscard]] static constexpr bool fits(std::size_t stack_size) noexcept {
    return stack_size <= std::numeric_limits<std::uint32_t>::max();
  }
  [[nodiscard, gnu::always_inline]] constexpr std::uint64_t traits() const noexcept {
    return unit::kind_thread | unit::stack_size_trait(static_cast<std::uint32_t>(stack_size)) |
           (supplied ? std::uint64_t{unit::supplied_stack} : 0) | unit::technique_trait(technique);
  }
};
/// How many techniques there are.
inline constexpr unsigned technique_count = unit::technique_count;

inline constexpr std::uint64_t plain_thread = unit::kind_thread;
inline constexpr std::uint64_t plain_tasklet = unit::kind_tasklet;

/// Memory for a unit. *Contexts*: in the runtime; all but signal handlers. *Switches*: never. *Errors*:
/// std::bad_alloc.
[[gnu::always_inline]] inline descriptor& allocate_unit() {
  return sched::allocate_unit_anywhere();
}
/// Makes it a unit that is in no pool and lives in `own_pool`: it becomes ready there. Starts with the
/// caller's modes of floating point. The closure is the caller's to make, and the accounts of `own_pool` are
/// to be kept: count(). *Contexts*, *Switches*: as allocate_unit(). *Errors*: none.
[[gnu::always_inline]] inline void begin_unit(descriptor& u, const operations& o, weft::pool& own_pool,
                                              std::uint64_t traits) noexcept {
  unit::initialise(u, o, &own_pool, traits);
  if (unit::has_stack_at_creation(u.technique()))
    arch::idle_word(u.context) = nullptr; // it has none yet: see launch()
}
/// Both.
inline descriptor& new_unit(const operations& o, weft::pool& own_pool, std::uint64_t traits) {
  descriptor& u = allocate_unit();
  begin_unit(u, o, own_pool, traits);
  return u;
}
/// Takes a new unit to where it runs, as its technique wants it: it may have its stack from then on, or run
/// at once in place of the caller. `push()` puts it into its pool; `by_address`: that pool knows units by
/// their descriptors, so that others may put them there. GONE: u, if it is detached. *Contexts*: in the
/// runtime; all but signal handlers. *Switches*: may. *Errors*: what `push` throws.
template <class Push>
[[gnu::always_inline]] inline void launch(descriptor& u, bool by_address, Push push) {
  if (unit::has_stack_at_creation(u.technique()))
    sched::reserve_stack(u);
  if (unit::is_child_first(u.technique()) && by_address)
    return sched::start_child(u);
  push();
}

/// A new life, in `own_pool`, for a unit that has ended: it is as one that new_unit() has made, with the same
/// operations, size of stack and technique, and what the front has of it. `prepare()` makes it what it has to
/// be besides. *Contexts*: in the runtime; who holds the only handle. *Switches*: as `prepare`. *Errors*:
/// what `prepare` throws; the unit has ended then, as before.
template <class Prepare>
void renew_unit(descriptor& u, weft::pool& own_pool, Prepare prepare) {
  const std::uint64_t kept =
      u.traits.load_relaxed() & (unit::kind_mask | unit::supplied_stack | unit::technique_mask |
                                 unit::extended | unit::fronted | ~std::uint64_t{0xffffffff});
  const operations& same = *u.operations;
  sched::release_kept_stack(u);
  unit::initialise(u, same, &own_pool, kept);
  try {
    prepare();
    if (unit::has_stack_at_creation(u.technique()))
      sched::reserve_stack(u);
  } catch (...) {
    static_cast<void>(u.join.finish());
    throw;
  }
}

/// Adds to the units that live in a pool: those that have not ended, wherever they are. *Contexts*: in the
/// runtime. *Switches*: never. *Errors*: none.
[[gnu::always_inline]] inline void count(weft::pool& own_pool, int more) noexcept {
  own_pool.count_unit(sched::here(), more);
}

// --- ending ---

/// Ends the running thread at once, without unwinding: no destructor of its frames runs. Its accounts are
/// settled. *Contexts*: thread, in the runtime for good (section.hpp). *Switches*: always. *Errors*: none.
[[noreturn]] inline void end_now() noexcept {
  sched::end_now();
}

/// Waits for the end of a unit that the caller may not run on its own stack. *Contexts*: in the runtime; who
/// may_wait(). *Switches*: may. *Errors*: std::system_error: somebody joins it already, it is the caller, or
/// detached.
inline void await_end(descriptor& u) {
  sched::join_elsewhere(u);
}

/// The same until a deadline; false: it has passed, and nothing has changed. *Errors*: also std::bad_alloc
/// and std::system_error: no timer could be had.
[[nodiscard]] inline bool await_end_until(descriptor& u, std::int64_t until) {
  return weft::detail::join_until(u, until, {});
}

/// What a unit has kept for its joiner. *Contexts*: in the runtime; once its end is known. *Switches*: never.
/// *Errors*: none.
[[gnu::always_inline]] inline void release_stack(descriptor& u) noexcept {
  if (u.stack != nullptr) [[unlikely]]
    sched::release_kept_stack(u);
}
/// The descriptor, when nobody has a handle any more; stale ones find `gone`. GONE: u. *Contexts*,
/// *Switches*, *Errors*: as release_stack().
[[gnu::always_inline]] inline void free_unit(descriptor& u, const operations& gone) noexcept {
  u.operations = &gone;
  sched::free_unit(sched::here(), u);
}

/// The same for one that new_unit() has made and nobody has launched.
inline void forget_new_unit(descriptor& u, const operations& gone) noexcept {
  unit::drop_extension(u);
  free_unit(u, gone);
}

} // namespace weft::door
