// SPDX-License-Identifier: MIT
// The default worker: runs threads on one kernel thread, one after the other, and takes the next when one
// waits, yields or ends. After the worker of the composable-threads paper (its 3.5, 4.2, 4.3): everything is
// made of the higher-order switches of the page's context.
//
// How a thread moves: it leaves by a switch that names who runs next and a function that publishes it, which
// runs on the other's stack (`// SWITCH`). What has not started starts from the worker's loop, which runs on
// the kernel thread's own stack.
#pragma once

#include <sched.h>

#include <cstdint>
#include <new>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/arch/arch.hpp"
#include "weft/arch/exception_state.hpp"
#include "weft/compose/closure.hpp"
#include "weft/compose/here.hpp"
#include "weft/compose/shared_state.hpp"
#include "weft/compose/unit.hpp"
#include "weft/memory/object_cache.hpp"
#include "weft/trace/event.hpp"

namespace weft::compose {

// Ownership: the kernel thread that runs on it; others only call queue.steal() and queue.empty().
template <class P>
class cooperative_worker : public face {
 public:
  using unit = compose::unit<P>;
  using context = typename P::context;
  using techniques = typename P::techniques;
  using stack_source = typename P::stack_source;
  static constexpr bool schedules = true; // asks the page's scheduler and idle strategy

  cooperative_worker(shared_state<P>& s, unsigned n) : shared(s), number(n), seed_(n * 2654435761u + 1) {}

  // --- what threads are made of. Contexts of all: threads of this runtime, unless said. Errors of all:
  // std::system_error(operation_not_permitted) elsewhere. ---

  // Makes a thread that calls c(). Switches: if child-first. Errors: std::bad_alloc.
  template <class Technique, class Callable>
  [[gnu::always_inline]] static unit& fork(const attributes<P>& a, Callable&& c) {
    static_assert(techniques::template has<Technique>, "this technique is not in the page's technique_set");
    using closure = closure_of<unit, std::remove_cvref_t<Callable>>;
    cooperative_worker& w = here();
    unit& u = w.allocate();
    if constexpr (closure::trivial) {
      closure::fill(u, std::move(c));
    } else {
      fill_or_free<closure>(u, std::move(c)); // may switch
    }
    prepare(u, &closure::run, unit::running, a);
    if constexpr (techniques::mixed)
      u.own_stack = Technique::own_stack;
    cooperative_worker& now = closure::trivial ? w : unsafe_here();
    if constexpr (Technique::starts_at_once) {
      if (now.start_child(u)) [[likely]]
        return u;
    }
    if (!now.shared.scheduler.add(now, u)) [[unlikely]] {
      closure::drop(u);
      now.units_.free(&u);
      throw std::bad_alloc();
    }
    now.shared.idle.announce();
    return u;
  }

  // Waits until `u` has ended, and frees it. One caller a thread. Switches: may. Errors:
  // resource_deadlock_would_occur for the caller itself.
  [[gnu::always_inline]] static void join_and_free(unit& u) {
    cooperative_worker* w = &here();
    if (w->take_to_call(u)) [[likely]] {
      w = &w->run_taken(u);
    } else {
      w = &w->join_slowly(u);
    }
    w->units_.free(&u);
  }

  // Nobody will join `u`; it frees itself.
  static void detach(unit& u) {
    cooperative_worker& w = here();
    w.shared.one_more();
    std::uintptr_t none = unit::running;
    // acquire (CE2): as the joiner, if it has ended
    if (!u.end.cas_strong_acq_rel(none, unit::detached)) {
      w.units_.free(&u);
      w.shared.one_less();
    }
  }

  // Lets others run. Switches: may.
  [[gnu::always_inline]] static void yield() {
    cooperative_worker& w = here();
    if (w.handles_exception()) [[unlikely]]
      return keeping_exceptions([] { yield(); });
    w.count_decision();
    unit& self = *w.current;
    unit* next = w.shared.scheduler.next_after_yield(w);
    if (next == nullptr) [[unlikely]]
      return w.look_around();
    w.recorder.note(trace::event::stop_yield, &self);
    // SWITCH: may resume on another worker
    context::swap_with(self.context, w.leave_for(next), &republish, &self);
    note_here(trace::event::run, &self);
  }

  // Leaves the caller and calls `f(caller)` off its stack, which may publish it: it may be resumed at once,
  // so that is the last that f does with what belongs to the caller. If f returns false, it has not published
  // it, and the caller goes on at once. `f` must neither throw nor switch. Returns what f returned. Switches:
  // may.
  template <class F>
  [[gnu::always_inline]] static bool suspend(F&& f) {
    cooperative_worker& w = here();
    if (w.handles_exception()) [[unlikely]]
      return keeping_exceptions([&f] { return suspend(f); });
    w.count_decision();
    unit& self = *w.current;
    w.recorder.note(trace::event::stop_wait, &self);
    unit* const next = w.shared.scheduler.next(w);
    call<F> c{&f, &self};
    // SWITCH: may resume on another worker
    const bool left = context::cond_swap(self.context, w.leave_for(next), &call<F>::make, &c);
    if (!left)
      w.take_back(self, next);
    note_here(trace::event::run, &self);
    return left;
  }

  // Makes a suspended thread ready. Contexts: any kernel thread, while the run is under way. Switches: never.
  // Errors: none.
  static void resume(unit& u) noexcept {
    face& f = current_face();
    if (f.page == &page_mark<P>) [[likely]] {
      static_cast<cooperative_worker&>(f).make_ready(u);
    } else {
      run_registration<P>::inject(u);
    }
  }
  // The same, and it runs at once in the caller's place, who becomes ready. Elsewhere: resume(). Switches:
  // may.
  static void resume_now(unit& u) {
    if (current_face().page != &page_mark<P>)
      return resume(u);
    cooperative_worker& w = unsafe_here();
    if (w.handles_exception()) [[unlikely]]
      return keeping_exceptions([&u] { resume_now(u); });
    unit& self = *w.current;
    w.recorder.note(trace::event::stop_yield, &self);
    // SWITCH: may resume on another worker
    context::swap_with(self.context, w.leave_for(&u), &republish, &self);
    note_here(trace::event::run, &self);
  }
  // Leaves the caller for `u`, which is suspended; else as suspend(). If f returns false, `u` is as it was.
  template <class F>
  static bool suspend_for(unit& u, F&& f) {
    cooperative_worker& w = here();
    if (w.handles_exception()) [[unlikely]]
      return keeping_exceptions([&u, &f] { return suspend_for(u, f); });
    unit& self = *w.current;
    w.recorder.note(trace::event::stop_wait, &self);
    call<F> c{&f, &self};
    // SWITCH: may resume on another worker
    const bool left = context::cond_swap(self.context, w.leave_for(&u), &call<F>::make, &c);
    if (!left)
      w.current = &self;
    note_here(trace::event::run, &self);
    return left;
  }
  // To be called before a wait that others have to be told of. Errors: the wait could not end, or not be.
  static void require_can_wait() { static_cast<void>(here()); }

  // Runs main() as a thread, on options.workers workers of which the caller's kernel thread is one. Returns
  // when main and all detached threads have ended, with main's result or exception. Contexts: a kernel thread
  // that runs no thread of Weft. Errors: device_or_resource_busy if this runtime runs already; memory; kernel
  // threads. Undefined: returning from main with threads that are neither joined nor detached.
  template <class Main>
  static auto run(Main&& main, const run_options& o) {
    outcome<std::invoke_result_t<Main&>> result;
    shared_state<P> s(o.workers != 0 ? o.workers : usable_cpus());
    const run_registration<P> registered(s);
    cooperative_worker& first = *s.workers.front();
    auto body = [&main, &result] { result.make(main); };
    using closure = closure_of<unit, decltype(body)>;
    unit& u = first.allocate();
    closure::fill(u, std::move(body));
    prepare(u, &closure::run, unit::detached, attributes<P>{});
    s.main = &u;
    s.main_stack = o.main_stack;
    run_all(s, u);
    return result.take();
  }

  // --- for schedulers, idle strategies and the sources ---

  [[gnu::always_inline]] static cooperative_worker& here() { return checked_worker<P, cooperative_worker>(); }
  // The caller is known to run on a worker of this page, here and below.
  [[gnu::always_inline]] static cooperative_worker& unsafe_here() noexcept {
    return static_cast<cooperative_worker&>(current_face());
  }
  // For the recorder of that worker. One without state is not looked up.
  [[gnu::always_inline]] static void note_here(trace::event what, const unit* u) {
    if constexpr (std::is_empty_v<typename P::recorder> && std::is_trivial_v<typename P::recorder>) {
      typename P::recorder().note(what, u);
    } else {
      unsafe_here().recorder.note(what, u);
    }
  }
  // What this worker may run; null: nothing.
  unit* find() noexcept {
    look_around();
    return shared.scheduler.next(*this);
  }
  // RACY.
  [[nodiscard]] bool has_work() noexcept {
    return shared.stopped() || !shared.injected.empty() || shared.scheduler.has_work(*this);
  }
  [[nodiscard]] bool may_sleep() const noexcept { return !shared.sources.active(); }
  [[nodiscard]] bool stopped() const noexcept { return shared.stopped(); }
  // Xorshift (Marsaglia 2003): for choices that must be spread, not be good.
  std::uint32_t random() noexcept {
    seed_ ^= seed_ << 13;
    seed_ ^= seed_ >> 17;
    return seed_ ^= seed_ << 5;
  }

  alignas(64) unit* current = nullptr; // what runs; null: the loop
  shared_state<P>& shared;
  typename P::template ready_queue<unit> queue;
  const unsigned number;
  [[no_unique_address]] typename P::recorder recorder;

 private:
  // Decisions between two looks at what comes from outside; as libweft's.
  static constexpr std::int32_t decision_budget = 251;

  template <class F>
  struct call {
    std::remove_reference_t<F>* f;
    unit* self;
    static bool make(void* a) {
      const call c = *static_cast<call*>(a);
      return (*c.f)(*c.self);
    }
  };

  // Where threads share their kernel thread, what is caught and thrown goes with the thread: who handles an
  // exception puts it aside before it leaves, out of line, and finds it again where it goes on.
  [[gnu::always_inline]] [[nodiscard]] bool handles_exception() const noexcept {
    if constexpr (context::keeps_kernel_thread) {
      return arch::any(*exceptions_);
    } else {
      return false;
    }
  }
  struct kept_exceptions {
    arch::exception_state kept = arch::save_and_clear(*unsafe_here().exceptions_);
    ~kept_exceptions() { arch::restore(*unsafe_here().exceptions_, kept); } // fetched again: another worker
  };
  template <class F>
  [[gnu::noinline]] static auto keeping_exceptions(F f) {
    const kept_exceptions guard;
    return f();
  }

  [[gnu::always_inline]] unit& allocate() {
    unit* u = units_.allocate();
    if (u == nullptr) [[unlikely]]
      throw std::bad_alloc();
    return *u;
  }
  template <class Closure, class Callable>
  static void fill_or_free(unit& u, Callable&& c) {
    try {
      Closure::fill(u, std::move(c));
    } catch (...) {
      unsafe_here().units_.free(&u);
      throw;
    }
  }
  [[gnu::always_inline]] static void prepare(unit& u, void (*run)(unit&), std::uintptr_t end,
                                             const attributes<P>& a) noexcept {
    u.floor = nullptr;
    u.run = run;
    u.end.store_relaxed(end); // relaxed: nobody else knows the unit
    u.attributes = a;
  }

  [[gnu::always_inline]] void count_decision() noexcept {
    if (arch::count_down(budget_)) [[unlikely]]
      look_around();
  }
  // What comes from outside gets its turn. Switches: never.
  [[gnu::noinline]] void look_around() noexcept {
    budget_ = decision_budget;
    if (queue::link* l = shared.injected.pop_front())
      make_ready(unit::from(*l));
    if (shared.polling.try_lock()) {
      shared.sources.poll();
      shared.polling.unlock();
    }
  }
  [[gnu::always_inline]] void make_ready(unit& u) noexcept {
    if (shared.scheduler.add(*this, u)) [[likely]] {
      shared.idle.announce();
    } else {
      shared.inject(u);
    }
  }
  // An arrival: the thread that has just left its stack by a yield.
  static void republish(void* u) { unsafe_here().make_ready(*static_cast<unit*>(u)); }

  // Who is switched to: `next` if it can be continued, else the loop, which starts it.
  [[gnu::always_inline]] typename context::type& leave_for(unit* next) noexcept {
    if (next != nullptr && next->has_started()) [[likely]] {
      current = next;
      return next->context;
    }
    handed_ = next;
    current = nullptr;
    return loop_;
  }
  // `self` goes on after all; `next` was to run.
  void take_back(unit& self, unit* next) noexcept {
    handed_ = nullptr;
    current = &self;
    if (next != nullptr)
      make_ready(*next);
  }

  // --- starts ---

  // Child first: `u` runs now, and the caller is ready. False: no stack.
  [[gnu::always_inline]] bool start_child(unit& u) {
    if (handles_exception()) [[unlikely]]
      return keeping_exceptions([&u] { return unsafe_here().start_child(u); });
    if (!take_stack(u)) [[unlikely]]
      return false;
    unit& self = *current;
    recorder.note(trace::event::stop_yield, &self);
    left_ = &self;
    current = &u;
    context::save(self.context, u.context, *u.stack, &entry_of_child, &u); // SWITCH: may resume elsewhere
    note_here(trace::event::run, &self);
    return true;
  }
  [[gnu::always_inline]] bool take_stack(unit& u) noexcept {
    u.stack = stacks_.allocate(&u == shared.main ? shared.main_stack : 0);
    if (u.stack == nullptr) [[unlikely]]
      return false;
    u.floor = stack_source::floor(*u.stack);
    if (u.floor == nullptr)
      u.floor = reinterpret_cast<const std::byte*>(std::uintptr_t{1}); // null is for what has not started
    return true;
  }
  [[noreturn]] static void entry(void* u) {
    context::arrived();
    run_to_end(*static_cast<unit*>(u));
  }
  [[noreturn]] static void entry_of_child(void* u) {
    context::arrived();
    cooperative_worker& w = unsafe_here();
    w.make_ready(*w.left_);
    run_to_end(*static_cast<unit*>(u));
  }
  [[noreturn, gnu::always_inline]] static void run_to_end(unit& u) {
    note_here(trace::event::run, &u);
    u.run(u); // SWITCH: may resume on another worker
    unsafe_here().end(u);
  }

  // --- ends ---

  // Publishes the end of `u`; who runs next, if that follows from it. GONE: u.
  [[gnu::always_inline]] unit* publish_end(unit& u) noexcept {
    const std::uintptr_t before = u.end.exchange_acq_rel(unit::ended); // (CE1) pairs with (CE2)
    if (before == unit::running)
      return nullptr;
    if (before != unit::detached)
      return reinterpret_cast<unit*>(before);
    units_.free(&u);
    shared.one_less();
    return nullptr;
  }
  [[noreturn]] void end(unit& u) {
    recorder.note(trace::event::stop_end, &u);
    if constexpr (stack_source::may_free_running) {
      stacks_.free(*u.stack);
      unit* next = publish_end(u);
      if (next == nullptr)
        next = shared.scheduler.next(*this);
      context::restore(leave_for(next));
    } else {
      current = nullptr;
      context::restore_with(loop_, &on_end, &u);
    }
  }
  // An arrival, on the loop's stack: that of `u` is free.
  static void on_end(void* argument) {
    cooperative_worker& w = unsafe_here();
    unit& u = *static_cast<unit*>(argument);
    w.stacks_.free(*u.stack);
    w.handed_ = w.publish_end(u);
  }

  // --- joins ---

  // Takes `u` for a call on this stack.
  [[gnu::always_inline]] bool take_to_call(unit& u) noexcept {
    if constexpr (!techniques::any_inline)
      return false;
    if constexpr (techniques::mixed) {
      if (u.own_stack)
        return false;
    }
    return !handles_exception() && arch::stack_is_above(current->floor) && !arch::count_down(budget_) &&
           shared.scheduler.take(*this, u);
  }
  [[gnu::always_inline]] cooperative_worker& run_taken(unit& u) {
    if (u.has_started()) [[unlikely]]
      return continue_taken(u);
    unit& self = *current;
    u.floor = self.floor;
    context::share(u.context, self.context);
    current = &u;
    recorder.note(trace::event::run, &u);
    u.run(u); // SWITCH: may resume on another worker, and the joiner's stack with it
    cooperative_worker& now = unsafe_here();
    now.recorder.note(trace::event::stop_end, &u);
    now.current = &self;
    return now;
  }
  // `u` has run before: it goes on, and its end resumes the caller.
  [[gnu::noinline]] cooperative_worker& continue_taken(unit& u) {
    unit& self = *current;
    u.end.store_relaxed(reinterpret_cast<std::uintptr_t>(&self)); // relaxed: `u` is ours until the switch
    recorder.note(trace::event::stop_wait, &self);
    context::swap(self.context, leave_for(&u)); // SWITCH: may resume on another worker
    note_here(trace::event::run, &self);
    return unsafe_here();
  }
  [[gnu::noinline]] cooperative_worker& join_slowly(unit& u) {
    if (&u == current)
      throw std::system_error(std::make_error_code(std::errc::resource_deadlock_would_occur),
                              "weft: a thread cannot join itself");
    // acquire (CE2): pairs with (CE1)
    if (u.end.load_acquire() != unit::ended) {
      suspend([&u](unit& self) {
        std::uintptr_t none = unit::running;
        // acq_rel: publishes the caller's context to who ends `u`; (CE2) if that has happened
        return u.end.cas_strong_acq_rel(none, reinterpret_cast<std::uintptr_t>(&self));
      });
    }
    return unsafe_here();
  }

  // --- the loop ---

  void loop() {
    page = &page_mark<P>;
    face* const outer = &current_face();
    weft_compose_here = this;
    exceptions_ = arch::globals_of_this_kernel_thread();
    context::adopt(loop_);
    for (;;) {
      unit* u = std::exchange(handed_, nullptr);
      if (u == nullptr)
        u = find();
      if (u == nullptr && (u = shared.idle.wait(*this)) == nullptr)
        break;
      run(*u);
    }
    weft_compose_here = outer;
  }
  void run(unit& u) {
    if (u.has_started()) {
      current = &u;
      context::swap(loop_, u.context);
    } else if (take_stack(u)) {
      current = &u;
      context::save(loop_, u.context, *u.stack, &entry, &u);
    } else {
      shared.inject(u); // later, when others have given theirs back
      ::sched_yield();
    }
  }
  // The kernel threads are started before main is made ready, so that a failure changes nothing.
  static void run_all(shared_state<P>& s, unit& main) {
    cooperative_worker& first = *s.workers.front();
    std::vector<std::thread> kernel_threads;
    try {
      kernel_threads.reserve(s.workers.size());
      for (std::size_t i = 1; i < s.workers.size(); ++i)
        kernel_threads.emplace_back([&w = *s.workers[i]] { w.loop(); });
    } catch (...) {
      s.one_less(); // main will not run
      for (std::thread& t : kernel_threads)
        t.join();
      first.units_.free(&main);
      throw;
    }
    s.inject(main);
    first.loop();
    for (std::thread& t : kernel_threads)
      t.join();
  }

  arch::exception_globals* exceptions_ = nullptr; // of the kernel thread it runs on
  std::int32_t budget_ = decision_budget;
  std::uint32_t seed_;
  unit* handed_ = nullptr; // what the loop runs next
  unit* left_ = nullptr;   // who made the child that starts
  memory::object_cache<unit> units_;
  stack_source stacks_;
  typename context::type loop_{};
};

} // namespace weft::compose
