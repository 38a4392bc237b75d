// SPDX-License-Identifier: MIT
// Joins that run a unit on the joiner's stack (technique/inline_join.hpp): when a join may do so, and what
// the scheduler has to keep in step.
//
// A join runs the unit so if the unit has not started, is in no way special (default stack size, nothing
// asked of it), is in a pool that this worker may take it from, and the default stack size is left below the
// joiner, who catches no exception at this moment. Else the unit gets a stack of its own (start_by_join and
// what follows it).
#pragma once

#include <cstddef>

#include "weft/technique/inline_join.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched {

// After a call on the joiner's stack: looks around if that is due, and goes back to the joiner's own pool if
// this worker does not serve it. Contexts: thread. Switches: may. A request to cancel waits for the next
// scheduling point.
WEFT_API void settle_after_inline_call() noexcept;
// The rare part of the end of a forked call or tasklet that ran on its joiner's stack: local storage, and in
// the child of fork() the joiner inherits what the unit was told. Switches: may (destructors).
WEFT_API void end_inlined(descriptor& u, descriptor& joiner) noexcept;
// The same for a thread: if it is all that fork() left, the process ends with it, wherever its frames are.
WEFT_API void end_hosted(descriptor& u) noexcept;

// The joiner on whose stack `u`, which has started, was called by call_by_joiner::run_marked(). Null: it has
// its own.
[[nodiscard]] WEFT_API const descriptor* host_of(const descriptor& u) noexcept;

// What a long computation of Weft's own does from time to time: nothing, unless a timer is due; then whoever
// waits for it runs first. Contexts: all but signal handlers. Switches: may, where the caller is a
// cooperative thread.
WEFT_API void let_due_ones_run();
[[gnu::always_inline]] inline void pause_if_time_passed() {
  if (here().attention.any_relaxed(time_passed)) [[unlikely]]
    let_due_ones_run();
}

class call_by_joiner {
 public:
  // The thread that a worker runs, and its stack: read once for a whole join. Made for nobody at first: a
  // kernel thread that is no worker runs nothing.
  struct host {
    host() noexcept = default;
    explicit host(const worker& w) noexcept : self(w.current), stack(self->stack) {}
    descriptor* self = nullptr;
    memory::stack_record* stack = nullptr;
  };

  // Whether a unit may be called on the stack of the running one.
  [[gnu::always_inline]] static bool may_host(const worker& w, const host& h) noexcept {
    return !h.self->has(unit::kind_mask) && !arch::any(*w.exceptions) &&
           technique::inline_join::has_room(*h.stack);
  }
  [[gnu::always_inline]] static bool may_host(const worker& w) noexcept { return may_host(w, host(w)); }

  // Takes `u` out of the worker's own list for a call by `h`, who is whom it runs then. False: nothing has
  // changed but the budget of decisions.
  [[gnu::always_inline]] static bool take_listed(worker& w, descriptor& u, host& h,
                                                 std::uint64_t traits = unit::kind_thread) noexcept {
    return u.own_pool.is(w.listed) && take_from_list(w, u, h, traits);
  }
  // The same for `u` that is known to live in the pool whose list that is.
  [[gnu::always_inline]] static bool take_from_list(worker& w, descriptor& u, host& h,
                                                    std::uint64_t traits = unit::kind_thread) noexcept {
    if (!u.is_fresh_and(traits)) [[unlikely]]
      return false;
    h = host(w);
    if (!may_host(w, h) || w.budget.count_down()) [[unlikely]]
      return false;
    queue::intrusive_fifo::unlink(&u.link);
    return true;
  }
  // The same from the owner's end of the worker's deque.
  static bool take_from_deque(worker& w, descriptor& u) noexcept {
    return w.deque != nullptr && w.attention.load_relaxed() == 0 && u.is_fresh_and(unit::kind_thread) &&
           !w.budget.count_down() && may_host(w) && w.deque->pop_bottom_if(&u);
  }

  // `w` runs the caller, `h`, who has taken `u`. `plain`: its traits, if nothing is special about it. Returns
  // the worker that runs the caller now. Switches: may.
  [[gnu::always_inline]] static worker& run(worker& w, const host& h, descriptor& u,
                                            std::uint64_t plain = unit::kind_thread) noexcept {
    descriptor& joiner = *h.self;
    begin(w, h, u);
    technique::inline_join::call(u);
    if (!u.traits.equals_relaxed(plain)) [[unlikely]]
      end_hosted(u);
    u.join.finish_for_committed(); // for who waits until it has moved or ended
    return end(w, here(), u, joiner);
  }
  // The same for units that end by leaving their frames: end_now() comes back to here. Calls
  // `function(argument)`, and does not publish the end; if it returns, Settle::plain(worker, unit) where
  // nothing is special about the unit, else Settle::special(unit). Neither may switch. Not where
  // arch::has_marks is false. Leaves `u` in a register.
  struct ended {
    worker& now; // runs the caller
    bool plain;  // it was Settle::plain()
  };
  template <class Settle>
  [[gnu::always_inline]] static ended run_marked(worker& w, const host& h, descriptor*& u,
                                                 arch::entry_function function, void* argument) {
    static_assert(offsetof(descriptor, context) == 0);
    descriptor& self = *h.self;
    begin(w, h, *u);
    u->join.wait_before_start(self); // for end_now()
    // The mark must keep the joiner's FP control, so the unit's is loaded behind it.
    starting with_own;
    if (arch::fp_control::differs_from(u->context)) [[unlikely]] {
      with_own = {argument, function, u};
      function = &starting::run;
      argument = &with_own;
    }
    arch::context* mark = &self.context;
    void* kept = u;
    const bool returned = arch::call_marked(mark, kept, function, argument);
    auto& joiner = *reinterpret_cast<descriptor*>(mark);
    u = static_cast<descriptor*>(kept);
    worker& now = here();
    if (returned && u->traits.equals_relaxed(unit::kind_thread)) [[likely]] {
      Settle::plain(now, *u);
      return {end(w, now, *u, joiner), true};
    }
    if (returned)
      Settle::special(*u);
    end_hosted(*u);
    return {end(w, here(), *u, joiner), false};
  }

  // The same for a tasklet, which cannot move to another worker; the caller does the rest. On the joiner's
  // stack only where that is large, else on the worker's: tasklets may rely on more than the default size.
  // False: nothing has changed.
  template <class Here, class OnWorkersStack>
  [[gnu::always_inline]] static bool run_tasklet(worker& w, descriptor& u, Here here,
                                                 OnWorkersStack on_workers_stack) {
    descriptor& joiner = *w.current;
    if (!u.own_pool.is(w.listed) || !u.is_fresh_and(unit::kind_tasklet) || joiner.has(unit::kind_mask))
        [[unlikely]]
      return false;
    queue::intrusive_fifo::unlink(&u.link);
    w.current = &u;
    if (technique::inline_join::has_room_for_tasklet(*joiner.stack)) {
      here();
    } else {
      on_workers_stack();
    }
    w.current = &joiner;
    return true;
  }

  // For those who keep `u`: published as ended.
  [[gnu::always_inline]] static void publish_end(descriptor& u) noexcept {
    u.state.finish();
    u.join.finish_for_committed();
  }

 private:
  // A call whose unit was created under another FP control than its joiner's.
  struct starting {
    void* argument; // not beside `u`: where both are one, a compiler prepares the pair for all calls
    arch::entry_function function;
    const descriptor* u;
    static void run(void* p) {
      const starting& s = *static_cast<const starting*>(p);
      arch::fp_control().become_that_of(s.u->context);
      s.function(s.argument);
    }
  };

  [[gnu::always_inline]] static void begin(worker& w, const host& h, descriptor& u) noexcept {
    u.stack = h.stack; // so that it counts as started where it deviates
    arch::sanitizer::share_fiber(u.context.fiber, h.self->context.fiber);
    h.self->state.block();
    u.state.start_running();
    w.current = &u;
  }
  // SWITCH: the unit may have moved to another worker, and the joiner's stack with it: `now`. Returns who
  // runs the joiner then.
  [[gnu::always_inline]] static worker& end(worker& before, worker& now, descriptor& u, descriptor& joiner) {
    u.stack = nullptr;
    now.current = &joiner;
    joiner.state.go_on();
    if (&now == &before) [[likely]]
      return now;
    settle_after_inline_call();
    return here();
  }
};

} // namespace weft::sched
