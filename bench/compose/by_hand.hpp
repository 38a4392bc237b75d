// SPDX-License-Identifier: MIT
// What weft/compose makes of the default parts, written by hand: the same algorithm, one class a thing, no
// policy, no template over one. For one worker, with all that the composed one asks on these paths for the
// sake of more: that is what the comparison is about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "weft/arch/arch.hpp"
#include "weft/arch/exception_state.hpp"
#include "weft/base/spin_lock.hpp"
#include "weft/memory/object_cache.hpp"
#include "weft/memory/stack_cache.hpp"
#include "weft/park/parking.hpp"
#include "weft/queue/chase_lev_deque.hpp"
#include "weft/queue/locked_fifo.hpp"

namespace weft::bench::by_hand {

enum : std::uintptr_t { running = 0, ended = 1, detached = 2 };

struct alignas(64) unit {
  arch::context context;
  queue::link link;
  const std::byte* floor;
  memory::stack_record* stack;
  void (*run)(unit&);
  base::atomic<std::uintptr_t> end;
  alignas(8) std::byte closure[24];
};

struct worker;
struct run_state {
  std::vector<std::unique_ptr<worker>> workers;
  queue::locked_fifo injected;
  park::sleepers waiting;
  bool over = false;

  void announce() {
    if (waiting.any()) [[unlikely]]
      std::terminate(); // one worker: nobody sleeps
  }
};

inline char page = 0;
struct front {
  const void* page = nullptr;
};
inline constinit front nobody{};
extern "C" {
[[gnu::used, gnu::tls_model("initial-exec")]] inline constinit thread_local front* weft_bench_by_hand =
    &nobody;
}

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_outside() {
  throw std::system_error(std::make_error_code(std::errc::operation_not_permitted));
}

struct alignas(128) worker : front {
  explicit worker(run_state& s) : shared(s) {}

  [[gnu::always_inline]] static worker& unsafe_here() {
    front* f;
    WEFT_READ_TLS(f, weft_bench_by_hand);
    return *static_cast<worker*>(f);
  }
  [[gnu::always_inline]] static worker& here() {
    front* f;
    WEFT_READ_TLS(f, weft_bench_by_hand);
    if (f->page != &by_hand::page) [[unlikely]]
      throw_outside();
    return *static_cast<worker*>(f);
  }

  unit* current = nullptr;
  run_state& shared;
  queue::chase_lev_deque<unit> deque;
  arch::exception_globals* exceptions = nullptr;
  std::int32_t budget = 251;
  unit* handed = nullptr;
  memory::object_cache<unit> units;
  memory::stack_cache stacks;
  arch::context loop_context{};

  [[gnu::noinline]] void look_around() {
    budget = 251;
    if (queue::link* l = shared.injected.pop_front())
      make_ready(*reinterpret_cast<unit*>(reinterpret_cast<char*>(l) - offsetof(unit, link)));
  }
  [[gnu::always_inline]] void make_ready(unit& u) {
    if (deque.try_push_bottom(&u)) [[likely]] {
      shared.announce();
    } else {
      shared.injected.push_back(&u.link);
    }
  }
  static void republish(void* u) { unsafe_here().make_ready(*static_cast<unit*>(u)); }
  [[gnu::noinline]] unit* steal() {
    for (auto& other : shared.workers) {
      unit* u = other.get() != this ? other->deque.steal().item : nullptr;
      if (u != nullptr)
        return u;
    }
    return nullptr;
  }
  unit* next() {
    unit* u = deque.pop_bottom();
    return u != nullptr ? u : steal();
  }
  [[gnu::always_inline]] arch::context& leave_for(unit* u) {
    if (u != nullptr && u->floor != nullptr) [[likely]] {
      current = u;
      return u->context;
    }
    handed = u;
    current = nullptr;
    return loop_context;
  }

  [[noreturn]] static void entry(void* argument) {
    arch::sanitizer::first_arrival();
    unit& u = *static_cast<unit*>(argument);
    u.run(u);
    unsafe_here().end(u);
  }
  [[noreturn]] void end(unit& u) {
    stacks.free(u.stack);
    unit* after = nullptr;
    const std::uintptr_t before = u.end.exchange_acq_rel(ended);
    if (before == detached) {
      units.free(&u);
      shared.over = true;
    } else if (before != running) {
      after = reinterpret_cast<unit*>(before);
    }
    arch::restore(leave_for(after != nullptr ? after : next()));
  }
  void loop() {
    page = &by_hand::page;
    weft_bench_by_hand = this;
    exceptions = arch::globals_of_this_kernel_thread();
    arch::sanitizer::adopt_native(loop_context.fiber);
    while (!shared.over) {
      unit* u = std::exchange(handed, nullptr);
      if (u == nullptr) {
        look_around();
        u = next();
      }
      if (u == nullptr)
        continue;
      current = u;
      if (u->floor != nullptr) {
        arch::swap(loop_context, u->context);
        continue;
      }
      u->stack = stacks.allocate();
      if (u->stack == nullptr)
        std::terminate();
      u->floor = u->stack->inline_floor;
      arch::save(loop_context, u->context, u->stack->initial_stack_pointer(), u->stack->usable(), &entry, u);
    }
    weft_bench_by_hand = &nobody;
  }
};

// Only for a thread that waits with nothing caught; the other way is never taken here.
[[gnu::noinline, gnu::cold]] inline void caught() {
  std::terminate();
}

[[gnu::noinline]] inline worker& join_slowly(unit& u) {
  worker& w = worker::here();
  if (&u == w.current)
    throw std::system_error(std::make_error_code(std::errc::resource_deadlock_would_occur));
  if (u.end.load_acquire() == ended)
    return w;
  if (arch::any(*w.exceptions))
    caught();
  if (arch::count_down(w.budget)) [[unlikely]]
    w.look_around();
  struct both {
    unit& joined;
    unit& self;
  } b{u, *w.current};
  unit* after = w.next();
  const bool left = arch::cond_swap(
      b.self.context, w.leave_for(after),
      [](void* a) {
        const both& c = *static_cast<both*>(a);
        std::uintptr_t none = running;
        return c.joined.end.cas_strong_acq_rel(none, reinterpret_cast<std::uintptr_t>(&c.self));
      },
      &b);
  if (!left) {
    w.handed = nullptr;
    w.current = &b.self;
    if (after != nullptr)
      w.make_ready(*after);
  }
  return worker::unsafe_here();
}

[[gnu::always_inline]] inline void yield() {
  worker& w = worker::here();
  if (arch::count_down(w.budget)) [[unlikely]]
    w.look_around();
  unit& self = *w.current;
  unit* next = w.deque.steal_top_by_owner();
  if (next == nullptr) [[unlikely]]
    return w.look_around();
  if (arch::any(*w.exceptions)) [[unlikely]]
    caught();
  arch::swap_with(self.context, w.leave_for(next), &worker::republish, &self);
}

class thread {
 public:
  thread() noexcept = default;
  // `F` is small and trivially copied, as those of the workload are.
  template <class F>
  [[gnu::always_inline]] explicit thread(F f) {
    static_assert(sizeof(F) <= sizeof(unit::closure) && std::is_trivially_copyable_v<F>);
    worker& w = worker::here();
    unit* u = w.units.allocate();
    if (u == nullptr) [[unlikely]]
      throw std::bad_alloc();
    ::new (static_cast<void*>(u->closure)) F(f);
    u->floor = nullptr;
    u->run = [](unit& me) noexcept { (*std::launder(reinterpret_cast<F*>(me.closure)))(); };
    u->end.store_relaxed(running);
    if (!w.deque.try_push_bottom(u)) [[unlikely]] {
      w.units.free(u);
      throw std::bad_alloc();
    }
    w.shared.announce();
    unit_ = u;
  }
  thread(thread&& other) noexcept : unit_(std::exchange(other.unit_, nullptr)) {}
  thread& operator=(thread&& other) noexcept {
    if (unit_ != nullptr)
      std::terminate();
    unit_ = std::exchange(other.unit_, nullptr);
    return *this;
  }
  ~thread() {
    if (unit_ != nullptr)
      std::terminate();
  }

  [[gnu::always_inline]] void join() {
    if (unit_ == nullptr) [[unlikely]]
      throw_outside();
    unit& u = *unit_;
    worker* w = &worker::here();
    if (!arch::any(*w->exceptions) && arch::stack_is_above(w->current->floor) &&
        !arch::count_down(w->budget) && w->deque.pop_bottom_if(&u)) [[likely]] {
      unit& self = *w->current;
      if (u.floor != nullptr) [[unlikely]] {
        w = &go_on_with(*w, u);
      } else {
        u.floor = self.floor;
        arch::sanitizer::share_fiber(u.context.fiber, self.context.fiber);
        w->current = &u;
        u.run(u);
        w = &worker::unsafe_here();
        w->current = &self;
      }
    } else {
      w = &join_slowly(u);
    }
    w->units.free(&u);
    unit_ = nullptr;
  }

 private:
  [[gnu::noinline]] static worker& go_on_with(worker& w, unit& u) {
    unit& self = *w.current;
    u.end.store_relaxed(reinterpret_cast<std::uintptr_t>(&self));
    arch::swap(self.context, w.leave_for(&u));
    return worker::unsafe_here();
  }
  unit* unit_ = nullptr;
};

// The uncontended half; the workload never waits.
class mutex {
 public:
  [[gnu::always_inline]] void lock() {
    std::uintptr_t none = 0;
    if (!word_.cas_strong_acquire(none, 1)) [[unlikely]]
      contended();
  }
  [[gnu::always_inline]] void unlock() {
    std::uintptr_t alone = 1;
    if (!word_.cas_strong_release(alone, 0)) [[unlikely]]
      contended();
  }

 private:
  [[gnu::noinline, gnu::cold]] static void contended() { std::terminate(); }
  base::atomic<std::uintptr_t> word_{0};
};

struct runtime {
  using thread = by_hand::thread;
  using mutex = by_hand::mutex;
  [[gnu::always_inline]] static void yield() { by_hand::yield(); }
  template <class Main>
  static void run(Main&& main) {
    run_state s;
    s.workers.push_back(std::make_unique<worker>(s));
    worker& w = *s.workers.front();
    unit& u = *w.units.allocate();
    auto* body = &main;
    ::new (static_cast<void*>(u.closure)) decltype(body)(body);
    u.floor = nullptr;
    u.run = [](unit& me) noexcept { (**std::launder(reinterpret_cast<decltype(body)*>(me.closure)))(); };
    u.end.store_relaxed(detached);
    s.injected.push_back(&u.link);
    w.loop();
  }
};

} // namespace weft::bench::by_hand
