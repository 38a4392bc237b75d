// SPDX-License-Identifier: MIT
// What each part of a page has to offer. The name of each requirement says it in words, so that a compiler's
// message does: "a_ready_queue<my_queue> was not satisfied: pushes_a_unit ... was not satisfied".
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "weft/compose/run_options.hpp"
#include "weft/compose/unit.hpp"
#include "weft/trace/event.hpp"

namespace weft::compose {

// --- context: type, entry, arrival, condition; see native_context.hpp ---

template <class C>
concept has_a_context_type = requires {
  typename C::type;
  requires std::is_trivially_destructible_v<typename C::type>;
  requires std::same_as<std::remove_cv_t<decltype(C::keeps_kernel_thread)>, bool>;
};
template <class C>
concept swaps_contexts = requires(typename C::type& c, void (*arrive)(void*), bool (*if_so)(void*), void* a) {
  C::swap(c, c);
  C::swap_with(c, c, arrive, a);
  { C::cond_swap(c, c, if_so, a) } -> std::same_as<bool>;
  C::restore(c);
  C::restore_with(c, arrive, a);
};
template <class C, class Stack>
concept starts_on_stacks_of_the_source =
    requires(typename C::type& c, Stack& s, void (*entry)(void*), void* a) {
      C::save(c, c, s, entry, a);
      C::adopt(c);
      C::share(c, c);
      C::arrived();
    };
template <class C, class Stack>
concept a_context = has_a_context_type<C> && swaps_contexts<C> && starts_on_stacks_of_the_source<C, Stack>;

// --- stack source: see stacks.hpp ---

template <class S>
concept says_whether_a_thread_may_free_its_own_stack =
    std::same_as<std::remove_cv_t<decltype(S::may_free_running)>, bool>;
template <class S>
concept allocates_and_frees_stacks =
    std::default_initializable<S> && requires(S& source, typename S::stack& stack) {
      { source.allocate(0u) } -> std::same_as<typename S::stack*>;
      source.free(stack);
      { S::floor(stack) } -> std::same_as<const std::byte*>;
    };
template <class S>
concept a_stack_source = allocates_and_frees_stacks<S> && says_whether_a_thread_may_free_its_own_stack<S>;

// --- ready queue: see ready_queues.hpp ---

template <class Q, class Unit>
concept pushes_a_unit = requires(Q& q, Unit& u) {
  { q.push(u) } -> std::same_as<bool>;
};
template <class Q, class Unit>
concept pops_the_next_unit = requires(Q& q) {
  { q.pop() } -> std::same_as<Unit*>;
};
template <class Q, class Unit>
concept pops_the_oldest_unit = requires(Q& q) {
  { q.pop_oldest() } -> std::same_as<Unit*>;
};
template <class Q, class Unit>
concept pops_a_unit_that_is_asked_for = requires(Q& q, Unit& u) {
  { q.pop_if(u) } -> std::same_as<bool>;
};
template <class Q, class Unit>
concept lets_thieves_steal = std::same_as<std::remove_cv_t<decltype(Q::shared)>, bool> && requires(Q& q) {
  { q.steal() } -> std::same_as<Unit*>;
};
template <class Q>
concept says_whether_it_is_empty = requires(const Q& q) {
  { q.empty() } -> std::same_as<bool>;
};
template <class Q, class Unit>
concept a_ready_queue =
    std::default_initializable<Q> && pushes_a_unit<Q, Unit> && pops_the_next_unit<Q, Unit> &&
    pops_the_oldest_unit<Q, Unit> && pops_a_unit_that_is_asked_for<Q, Unit> && lets_thieves_steal<Q, Unit> &&
    says_whether_it_is_empty<Q>;

// --- scheduler: see schedulers.hpp ---

template <class S, class Worker, class Unit>
concept adds_a_ready_unit = requires(S& s, Worker& w, Unit& u) {
  { s.add(w, u) } -> std::same_as<bool>;
};
template <class S, class Worker, class Unit>
concept picks_the_next_unit = requires(S& s, Worker& w) {
  { s.next(w) } -> std::same_as<Unit*>;
};
template <class S, class Worker, class Unit>
concept picks_the_next_unit_after_a_yield = requires(S& s, Worker& w) {
  { s.next_after_yield(w) } -> std::same_as<Unit*>;
};
template <class S, class Worker, class Unit>
concept takes_a_unit_for_its_joiner = requires(S& s, Worker& w, Unit& u) {
  { s.take(w, u) } -> std::same_as<bool>;
};
template <class S, class Worker>
concept says_whether_there_is_work = requires(S& s, Worker& w) {
  { s.has_work(w) } -> std::same_as<bool>;
};
template <class S, class Worker, class Unit>
concept a_scheduler =
    std::default_initializable<S> && adds_a_ready_unit<S, Worker, Unit> &&
    picks_the_next_unit<S, Worker, Unit> && picks_the_next_unit_after_a_yield<S, Worker, Unit> &&
    takes_a_unit_for_its_joiner<S, Worker, Unit> && says_whether_there_is_work<S, Worker>;

// --- worker: see worker.hpp ---

template <class W, class P>
concept runs_a_main_function = requires(void (&main)(), const run_options& o) { W::run(main, o); };
template <class W, class P>
concept joins_and_detaches = requires(unit<P>& u) {
  W::join_and_free(u);
  W::detach(u);
  W::yield();
};
template <class W, class P>
concept suspends_and_resumes = requires(unit<P>& u, bool (&off_stack)(unit<P>&)) {
  { W::suspend(off_stack) } -> std::same_as<bool>;
  { W::suspend_for(u, off_stack) } -> std::same_as<bool>;
  W::require_can_wait();
  W::resume(u);
  W::resume_now(u);
};
template <class W>
concept says_whether_it_schedules = std::same_as<std::remove_cv_t<decltype(W::schedules)>, bool>;
template <class W, class P>
concept a_worker = joins_and_detaches<W, P> && suspends_and_resumes<W, P> && runs_a_main_function<W, P>;

// --- the rest ---

template <class T>
concept a_technique = requires {
  requires std::same_as<std::remove_cv_t<decltype(T::starts_at_once)>, bool>;
  requires std::same_as<std::remove_cv_t<decltype(T::own_stack)>, bool>;
};
template <class S>
concept a_technique_set = a_technique<typename S::first> && S::template has<typename S::first>;

template <class M>
concept locks_and_unlocks = requires(M& m) {
  m.lock();
  { m.try_lock() } -> std::same_as<bool>;
  m.unlock();
};
template <class M>
concept a_mutex = std::default_initializable<M> && locks_and_unlocks<M>;

template <class I>
concept wakes_idle_workers = requires(I& idle) {
  idle.announce();
  idle.wake_all();
};
template <class I, class Worker, class Unit>
concept waits_for_work = requires(I& idle, Worker& w) {
  { idle.wait(w) } -> std::same_as<Unit*>;
};
template <class I, class Worker, class Unit>
concept an_idle_strategy =
    std::constructible_from<I, unsigned> && wakes_idle_workers<I> && waits_for_work<I, Worker, Unit>;

template <class E>
concept polls_and_says_whether_it_is_active = requires(E& sources) {
  sources.poll();
  { sources.active() } -> std::same_as<bool>;
};
template <class E>
concept event_sources_part = std::default_initializable<E> && polls_and_says_whether_it_is_active<E>;

template <class R>
concept notes_events = requires(R& r, trace::event what, const void* u) { r.note(what, u); };
template <class R>
concept a_recorder = std::default_initializable<R> && notes_events<R>;

template <class A, class T>
concept loads_and_stores = requires(A& a, const A& c, T value) {
  { c.load_relaxed() } -> std::same_as<T>;
  { c.load_acquire() } -> std::same_as<T>;
  a.store_relaxed(value);
  a.store_release(value);
};
template <class A, class T>
concept exchanges = requires(A& a, T& expected, T value) {
  { a.exchange_acq_rel(value) } -> std::same_as<T>;
  { a.cas_strong_relaxed(expected, value) } -> std::same_as<bool>;
  { a.cas_strong_acquire(expected, value) } -> std::same_as<bool>;
  { a.cas_strong_release(expected, value) } -> std::same_as<bool>;
  { a.cas_strong_acq_rel(expected, value) } -> std::same_as<bool>;
};
template <class A, class T>
concept an_atomic = std::constructible_from<A, T> && std::is_trivially_destructible_v<A> &&
                    loads_and_stores<A, T> && exchanges<A, T>;

// Stops the compilation at the first part that a page has wrong, with a sentence. From what needs nothing to
// what is made of others.
template <class P>
struct checked_page {
  using word = typename P::template atomic<std::uintptr_t>;
  static_assert(an_atomic<word, std::uintptr_t>,
                "the page's `atomic` has to offer what weft::base::atomic offers: loads, stores, exchanges, "
                "each with its order in its name");
  static_assert(a_technique_set<typename P::techniques>,
                "the page's `techniques` have to be a technique_set of techniques, such as inline_join");
  static_assert(a_stack_source<typename P::stack_source>,
                "the page's `stack_source` has to have a type `stack`, and allocate and free such stacks");
  static_assert(a_context<typename P::context, typename P::stack_source::stack>,
                "the page's `context` has to swap contexts, and to start threads on the stacks of its "
                "`stack_source`");
  static_assert(std::is_trivially_destructible_v<attributes<P>> &&
                    std::is_nothrow_copy_assignable_v<attributes<P>>,
                "the `attributes` of the page's scheduler have to be plain values: threads are recycled");
  static_assert(a_recorder<typename P::recorder>, "the page's `recorder` has to note(event, unit)");
  static_assert(event_sources_part<typename P::event_sources>,
                "the page's `event_sources` have to poll(), and to say whether they are active()");
  using unit = compose::unit<P>;
  static_assert(a_ready_queue<typename P::template ready_queue<unit>, unit>,
                "the page's `ready_queue` has to push a unit, to pop the next, the oldest, and one that is "
                "asked for, and to let thieves steal");
  static_assert(wakes_idle_workers<typename P::idle_strategy>,
                "the page's `idle_strategy` has to announce() work, and to wake_all()");
  using worker = typename P::template worker<P>;
  static_assert(
      says_whether_it_schedules<worker>,
      "the page's `worker` has to say whether it `schedules`: whether it asks the scheduler and the "
      "idle strategy");
  static_assert(
      a_scheduler<typename P::template scheduler<P>, worker, unit>,
      "the page's `scheduler` has to add a ready unit, to pick the next one, also after a yield, to "
      "take one for its joiner, and to say whether there is work");
  static_assert(!worker::schedules || an_idle_strategy<typename P::idle_strategy, worker, unit>,
                "the page's `idle_strategy` has to wait(worker) until there is something to run");
  static_assert(a_worker<worker, P>,
                "the page's `worker` has to run a main function, to join and detach threads, and to suspend "
                "and resume them");
  static_assert(a_mutex<typename P::template mutex<P>>,
                "the page's `mutex` has to lock(), try_lock() and unlock()");
  static constexpr bool good = true;
};

} // namespace weft::compose
