// SPDX-License-Identifier: MIT
// The paths that decide what a unit costs: one made in the caller's own list, joined and freed by the same
// worker. All of it is inlined into the front's functions and none of it needs a runtime_section: where the
// caller's worker has no list, since the caller is preemptible or somebody observes what units do, they find
// nothing to be fast with. What says no has changed nothing, and the slow way is to follow.
#pragma once

#include "weft/door/unit.hpp"
#include "weft/sched/call_by_joiner.hpp"

namespace weft::door {

/// What the paths ask of a front:
///
///   more                       the type of closure<more>::more
///   thread, tasklet, gone      its operations for plain units, and for what is freed
///   settle_end(u)              the accounts of a unit whose function has returned, in the general case
///   free_ended(u)              frees a unit that has ended and is more than its descriptor
template <class Front>
concept fast_front = requires(descriptor& u) {
  typename Front::more;
  { Front::thread } -> std::convertible_to<const operations&>;
  { Front::tasklet } -> std::convertible_to<const operations&>;
  { Front::gone } -> std::convertible_to<const operations&>;
  Front::settle_end(u);
  Front::free_ended(u);
};

template <class Front>
class fast_units {
  static_assert(fast_front<Front>);

 public:
  using closure = door::closure<typename Front::more>;

  /// A plain unit in the list of the caller's worker `w`, if `own_pool` is that and a descriptor is at hand;
  /// else null. Calls nothing. *Contexts*: all but signal handlers. *Switches*: never. *Errors*: none.
  [[gnu::always_inline]] static descriptor* make_thread(worker& w, weft::pool* own_pool,
                                                        void (*function)(void*), void* argument) {
    return make(w, own_pool, Front::thread, plain_thread, function, argument);
  }
  [[gnu::always_inline]] static descriptor* make_tasklet(worker& w, weft::pool* own_pool,
                                                         void (*function)(void*), void* argument) {
    return make(w, own_pool, Front::tasklet, plain_tasklet, function, argument);
  }
  /// A new life in the list of the caller's worker `w`, if `own_pool` is that, for a unit with the operations
  /// of a thread or a tasklet that has ended and is no more than its descriptor. False: the slow way.
  /// *Contexts*: who holds the only handle; all but signal handlers. *Switches*: never. *Errors*: none.
  [[gnu::always_inline]] static bool renew(worker& w, weft::pool* own_pool, descriptor& u, bool is_thread,
                                           void (*function)(void*), void* argument) {
    queue::intrusive_fifo* const fifo = w.births;
    const std::uint64_t traits = is_thread ? plain_thread : plain_tasklet;
    if (fifo == nullptr || w.listed != own_pool || !u.traits.equals_relaxed(traits) || !u.join.has_ended())
        [[unlikely]]
      return false;
    fill(u, is_thread ? Front::thread : Front::tasklet, *own_pool, traits, function, argument);
    enter(*fifo, *own_pool, u);
    return true;
  }
  /// Takes one of those out of the list again: it is ended and freed. *Contexts*: the caller has just made
  /// it. *Switches*: never. *Errors*: none.
  static void take_back(descriptor& u) noexcept {
    queue::intrusive_fifo::unlink(&u.link);
    Front::settle_end(u);
    Front::free_ended(u);
  }
  /// A plain unit for a pool that is not the caller's own list, and in no pool yet; null: the slow way. Who
  /// observes units is the caller's to tell. *Contexts*: in the runtime. *Switches*: never. *Errors*: none.
  static descriptor* make_thread_for(weft::pool& own_pool, void (*function)(void*), void* argument) {
    return make_for(own_pool, Front::thread, plain_thread, function, argument);
  }
  static descriptor* make_tasklet_for(weft::pool& own_pool, void (*function)(void*), void* argument) {
    return make_for(own_pool, Front::tasklet, plain_tasklet, function, argument);
  }

  /// Joins a unit that is, perhaps, a thread of the front's: runs it to its end on the caller's stack, or
  /// starts it, or finds that it has ended. Its end is published: there are other handles. True: it is
  /// joined. *Contexts*: all but signal handlers. *Switches*: may. *Errors*: none; what ends the caller
  /// passes.
  [[gnu::always_inline]] static bool join_thread(descriptor& named) {
    descriptor* u = &named;
    worker& w = sched::here();
    if (!is_listed(w, named) || run_on_callers_stack(w, u).now == nullptr) [[unlikely]]
      return named.operations == &Front::thread && join_elsewhere(w, named);
    sched::call_by_joiner::publish_end(*u);
    return true;
  }
  /// The same and frees it. The operations are known to be Front::thread, and the unit to live where the list
  /// of the caller's worker `before` comes from.
  [[gnu::always_inline]] static bool free_listed_thread(worker& before, descriptor* u) {
    const ended e = run_on_callers_stack(before, u);
    if (e.now == nullptr) [[unlikely]]
      return free_thread_elsewhere(before, *u);
    if (e.plain) [[likely]] { // as it is still: nobody else knows it
      free_plain(*e.now, *u);
      return true;
    }
    if (free_if_plain(*e.now, *u))
      return true;
    sched::call_by_joiner::publish_end(*u);
    return false;
  }
  /// The same, wherever it lives, but for units that run on the caller's stack from its worker's list. What
  /// switches is called: a caller that does nothing else saves no registers.
  [[gnu::always_inline]] static bool free_thread_elsewhere(worker& w, descriptor& u) {
    if (!join_elsewhere(w, u))
      return false;
    if (!free_if_plain(sched::here(), u)) [[unlikely]]
      Front::free_ended(u);
    return true;
  }
  /// Which of the two it is.
  [[gnu::always_inline]] static bool is_listed(const worker& w, const descriptor& u) noexcept {
    return u.own_pool.is(w.listed);
  }
  [[gnu::always_inline]] static bool free_thread(descriptor& u) {
    worker& w = sched::here();
    if (is_listed(w, u)) [[likely]]
      return free_listed_thread(w, &u);
    return free_thread_elsewhere(w, u);
  }

  /// The same for tasklets, which run on the caller's stack or on the worker's. Nothing may leave one by an
  /// exception. *Switches*: never, unless the front's accounts do.
  [[gnu::always_inline]] static bool join_tasklet(descriptor& u) {
    worker& w = sched::here();
    return run_tasklet(w, u, [&u](bool) { publish_end_of_tasklet(u); }) || has_run_elsewhere(w, u);
  }
  [[gnu::always_inline]] static bool free_tasklet(descriptor& u) {
    worker& w = sched::here();
    if (run_tasklet(w, u, [&](bool plain) {
          if (plain) [[likely]]
            return free_plain(w, u);
          publish_end_of_tasklet(u);
          Front::free_ended(u);
        })) [[likely]]
      return true;
    if (!has_run_elsewhere(w, u) || !u.traits.equals_relaxed(plain_tasklet))
      return false;
    free_plain(sched::here(), u);
    return true;
  }

 private:
  // Whether the caller is in no user mode, on a worker that tells nobody what units do: then a join has done
  // all that there is to do when the unit has ended.
  [[gnu::always_inline]] static bool tells_nobody(const worker& w) noexcept {
    return !w.attention.any_relaxed(sched::not_a_worker | sched::user_code | sched::simulated |
                                    sched::observed);
  }
  // A thread that has ended, or does here, or somewhere while the caller waits.
  [[gnu::always_inline]] static bool join_elsewhere(worker& w, descriptor& u) {
    return tells_nobody(w) && (u.join.has_ended() || run_or_await(w, u));
  }
  // Under a scheduler of the user's, which stands for the loop, nothing can be run past it.
  [[gnu::always_inline]] static bool run_or_await(worker& w, descriptor& u) {
    return w.nesting == 0 ? sched::start_by_join(w, u) : sched::wait_under_users_loop(w, u);
  }
  // The same for a tasklet that somebody may join.
  static bool has_run_elsewhere(worker& w, descriptor& u) {
    return tells_nobody(w) && u.operations == &Front::tasklet && // not one that was freed
           (u.join.has_ended() || (!u.join.is_detached() && run_or_await(w, u)));
  }
  static descriptor* make_for(weft::pool& own_pool, const operations& o, std::uint64_t traits,
                              void (*function)(void*), void* argument) {
    worker& w = sched::here();
    if ((w.attention.load_relaxed() & (sched::not_a_worker | sched::tracing)) != 0)
      return nullptr;
    descriptor* const u = w.caches.descriptors.allocate_cached();
    if (u == nullptr)
      return nullptr;
    fill(*u, o, own_pool, traits, function, argument);
    own_pool.count_unit(w, 1);
    return u;
  }
  [[gnu::always_inline]] static descriptor* make(worker& w, weft::pool* own_pool, const operations& o,
                                                 std::uint64_t traits, void (*function)(void*),
                                                 void* argument) {
    queue::intrusive_fifo* const fifo = w.births;
    if (fifo == nullptr || w.listed != own_pool) [[unlikely]]
      return nullptr;
    descriptor* const u = w.caches.descriptors.allocate_cached();
    if (u == nullptr) [[unlikely]]
      return nullptr;
    fill(*u, o, *own_pool, traits, function, argument);
    enter(*fifo, *own_pool, *u);
    return u;
  }
  [[gnu::always_inline]] static void fill(descriptor& u, const operations& o, weft::pool& own_pool,
                                          std::uint64_t traits, void (*function)(void*), void* argument) {
    unit::initialise(u, o, &own_pool, traits);
    closure::make_in(u, function, argument);
  }
  // The list is the caller's own, and that of the pool.
  [[gnu::always_inline]] static void enter(queue::intrusive_fifo& fifo, weft::pool& own_pool, descriptor& u) {
    own_pool.count_unit_here(1);
    fifo.push_back(&u.link);
  }

  // A unit that has ended and of which there is no more than its descriptor. `w` is the caller's.
  [[gnu::always_inline]] static void free_plain(worker& w, descriptor& u) noexcept {
    u.operations = &Front::gone;
    sched::free_unit(w, u);
  }
  [[gnu::always_inline]] static bool free_if_plain(worker& w, descriptor& u) noexcept {
    if (!u.traits.equals_relaxed(plain_thread)) [[unlikely]]
      return false;
    free_plain(w, u);
    return true;
  }

  // The end of the accounts of a thread that has returned.
  struct settle_returned {
    [[gnu::always_inline]] static void plain(worker& w, descriptor& u) noexcept {
      weft::pool* const listed = w.listed;
      if (u.own_pool.is(listed)) [[likely]] {
        listed->count_unit_here(-1);
      } else {
        Front::settle_end(u);
      }
    }
    static void special(descriptor& u) noexcept { Front::settle_end(u); }
  };

  struct ended {
    worker* now; // the caller's, afterwards
    bool plain;  // there is no more of the unit than its descriptor
  };
  // A thread of the pool whose list is the worker's that has not started runs to its end on the caller's
  // stack, which is not published. No worker: it may not; nothing has changed.
  [[gnu::always_inline]] static ended run_on_callers_stack(worker& w, descriptor*& u) {
    if constexpr (arch::has_marks) {
      sched::call_by_joiner::host h;
      if (sched::call_by_joiner::take_from_list(w, *u, h)) [[likely]] {
        const closure& c = closure::of(*u);
        const auto e = sched::call_by_joiner::run_marked<settle_returned>(w, h, u, c.function, c.argument);
        return {&e.now, e.plain};
      }
    }
    return {nullptr, false};
  }

  // A tasklet that has not started runs, which is not published. `finish(plain)` does the rest, where `plain`
  // says that there is no more of it than its descriptor. False: it may not run; nothing has changed.
  template <class Finish>
  [[gnu::always_inline]] static bool run_tasklet(worker& w, descriptor& u, Finish finish) {
    const closure& c = closure::of(u);
    if (!sched::call_by_joiner::run_tasklet(
            w, u, [&c] { c.function(c.argument); },
            [&w, &c] { arch::call_on(w.base, c.function, c.argument); })) [[unlikely]]
      return false;
    if (u.traits.equals_relaxed(plain_tasklet)) [[likely]] {
      w.listed->count_unit_here(-1);
      finish(true);
    } else {
      Front::settle_end(u);
      sched::end_inlined(u, *w.current);
      finish(false);
    }
    return true;
  }
  [[gnu::always_inline]] static void publish_end_of_tasklet(descriptor& u) noexcept {
    u.state.start_running();
    sched::call_by_joiner::publish_end(u);
  }
};

} // namespace weft::door
