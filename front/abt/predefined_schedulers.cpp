// SPDX-License-Identifier: MIT
// The predefined schedulers, and how a scheduler of the C API stands before the core.
#include <algorithm>
#include <utility>

#include "front/abt/context.hpp"
#include "front/abt/info.hpp"
#include "front/abt/runtime.hpp"
#include "front/abt/scheduler.hpp"
#include "front/abt/tool.hpp"
#include "front/abt/xstream.hpp"
#include "weft/door/deadline.hpp"
#include "weft/door/pool.hpp"
#include "weft/door/stream.hpp"
#include "weft/door/switch.hpp"

namespace weft::abt {
namespace {

std::vector<std::shared_ptr<weft::pool>> core_pools(const scheduler& s) {
  return {s.pools.begin(), s.pools.end()};
}

// A predefined scheduler as the main one of a stream.
class picking final : public weft::scheduler {
 public:
  picking(abt::scheduler& s, xstream& es) : weft::scheduler(core_pools(s)), scheduler_(s), stream_(es) {}

  descriptor* next(worker& here) override {
    if (stream_.stopping.load(std::memory_order_relaxed)) [[unlikely]]
      return nullptr;
    serve_stack_dump();
    if (withheld_ && hot_pool() != nullptr) [[unlikely]]
      door::look_again_soon(here);
    const std::uint32_t asked = scheduler_.requests.load(std::memory_order_acquire);
    if ((asked & exit_requested) == 0) [[likely]] {
      if (descriptor* u = scheduler_.pick(here))
        return u;
    }
    if (asked != 0 && scheduler_.has_to_stop()) [[unlikely]]
      stream_.stop_running();
    return nullptr;
  }
  // None while the stream is asked for something: every decision asks next() then.
  [[nodiscard]] weft::pool* hot_pool() const noexcept override {
    const bool asked = dump_is_wanted() || scheduler_.requests.load(std::memory_order_relaxed) != 0;
    if (withheld_ != asked) // else not written: its line may hold something of another stream's
      withheld_ = asked;
    return asked ? nullptr : pools().front().get();
  }

 protected:
  void on_start(worker& w) override {
    stream_.worker.store(&w, std::memory_order_release);
    join_tool(w);
    stream_.starts.fetch_add(1, std::memory_order_release);
  }

 private:
  abt::scheduler& scheduler_;
  xstream& stream_;
  mutable bool withheld_ = false; // hot_pool() was, for a reason that may have passed
};

// Nobody can be told that there is no memory: it is tried again, as by the core where a scheduler starts.
template <class F>
void insist(F until_done) noexcept {
  for (;;) {
    try {
      if (until_done())
        return;
    } catch (const std::bad_alloc&) { // later
    }
    door::block_for(100'000);
  }
}

// The loop of a main scheduler that the user wrote, from its start to its return.
void run_main_loop(void* argument) {
  auto& s = *static_cast<scheduler*>(argument);
  s.definition.run(handle_of<ABT_sched>(&s));
  xstream& es = *stream_here();
  if (scheduler* next = es.next_main.exchange(nullptr)) {
    es.set_main(*next);
    insist([&] {
      es.group->set_scheduler(*es.worker.load(), core_scheduler_for(*next, es));
      return true;
    });
  } else {
    insist([&] {
      es.stop_running();
      return es.stopping.load();
    });
  }
}

// A user's scheduler as the main one: the core has nothing to pick but the ULT that is its loop.
class looping final : public weft::scheduler {
 public:
  looping(abt::scheduler& s, xstream& es)
      : weft::scheduler({es.loop_pool}), scheduler_(s), stream_(es), home_(s.pools.front()) {}

  descriptor* next(worker& here) override {
    descriptor* u = main_pool().pop(here);
    has_run_ = has_run_ || u != nullptr;
    return u;
  }
  [[nodiscard]] weft::pool& pool_of_new_units() const noexcept override { return *home_; }

 protected:
  void on_start(worker& w) override {
    stream_.worker.store(&w, std::memory_order_release);
    descriptor& loop = make_loop();
    w.threads_schedule.store(true, std::memory_order_relaxed);
    join_tool(w);
    main_pool().push(loop);
    stream_.starts.fetch_add(1, std::memory_order_release);
  }
  void on_stop(worker& w) noexcept override {
    w.threads_schedule.store(false, std::memory_order_relaxed);
    if (has_run_)
      return;
    // Its worker could not be started, or has got another scheduler at once.
    if (descriptor* loop = main_pool().pop(w))
      free_ended_unit(*loop);
  }

 private:
  descriptor& make_loop() {
    const door::thread_form form{current().loop_stack_size};
    descriptor& u = door::new_unit(loop_operations, main_pool(), form.traits());
    closure::make_in(u, &run_main_loop, &scheduler_);
    static_cast<void>(u.join.detach());
    try {
      info_of(u).loop = &scheduler_;
    } catch (...) {
      door::free_unit(u, freed_operations);
      throw;
    }
    tell_tool(u, ABT_TOOL_EVENT_THREAD_CREATE);
    return u;
  }

  abt::scheduler& scheduler_;
  xstream& stream_;
  std::shared_ptr<pool> home_;
  bool has_run_ = false;
};

} // namespace

descriptor* scheduler::pick(worker& w) {
  if (predefined != ABT_SCHED_RANDWS) {
    for (const auto& p : pools) {
      if (descriptor* u = p->pop(w))
        return u;
    }
    return nullptr;
  }
  if (descriptor* u = pools.front()->pop(w))
    return u;
  return door::steal_among(w, pools, 1, pools.size(), seed);
}

bool scheduler::has_user_pools() const noexcept {
  return std::any_of(pools.begin(), pools.end(), [](const auto& p) { return p->names_units(); });
}

bool scheduler::has_no_work() const {
  return std::all_of(pools.begin(), pools.end(), [](const auto& p) {
    return !p->holds_units() && (p->schedulers.load(std::memory_order_relaxed) > 1 || p->drained());
  });
}

bool scheduler::has_to_stop() const {
  const std::uint32_t asked = requests.load(std::memory_order_acquire);
  if ((asked & (exit_requested | replace_requested)) != 0)
    return true;
  if ((asked & finish_requested) == 0 && used.load(std::memory_order_relaxed) != use::in_pool)
    return false;
  return has_no_work();
}

std::shared_ptr<weft::scheduler> core_scheduler_for(scheduler& s, xstream& es) {
  if (s.loops())
    return std::make_shared<looping>(s, es);
  return std::make_shared<picking>(s, es);
}

// Nobody is woken for a scheduler in a pool, so it sleeps for short whiles when there is nothing to do; its
// parent runs others meanwhile.
void run_predefined(scheduler& s) {
  constexpr std::int64_t shortest = 5'000;
  constexpr std::int64_t longest = 1'000'000;
  std::int64_t pause = shortest;
  for (std::uint64_t round = 1;; ++round) {
    descriptor* u = s.pick(door::here());
    if (u != nullptr) {
      pause = shortest;
      door::run_child(*u);
    }
    if (u != nullptr && round % s.event_frequency != 0)
      continue;
    check_events(s);
    if (s.has_to_stop())
      return;
    if (u != nullptr) {
      door::yield();
    } else {
      door::sleep_until(door::now() + pause);
      pause = std::min(2 * pause, longest);
    }
  }
}

void check_events(scheduler& s) {
  xstream& es = *stream_here();
  serve_stack_dump();
  worker& w = door::here();
  door::see_to_timers(w);
  if (es.main.load() == &s && door::loop_is_wanted(w))
    door::yield_thoroughly(); // the loop below has something to do
}

} // namespace weft::abt
