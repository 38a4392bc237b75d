// SPDX-License-Identifier: MIT
// Start, stop and exit of the default runtime.
#include "weft/runtime/runtime.hpp"
#include "weft/preempt/leaving.hpp"
#include "weft/preempt/preparation.hpp"
#include "weft/preempt/watchdog.hpp"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <new>
#include <system_error>

#include "weft/base/immortal.hpp"
#include "weft/base/knob.hpp"
#include "weft/base/once.hpp"
#include "weft/carrier/leaving.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/io/blocking.hpp"
#include "weft/memory/overflow.hpp"
#include "weft/memory/statistics.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/runtime/fork.hpp"
#include "weft/runtime/internal.hpp"
#include "weft/sched/default_group.hpp"
#include "weft/sync/sleep.hpp"
#include "weft/trace/session.hpp"
#include "weft/unit/extension.hpp"

namespace weft::runtime {
namespace {

constinit base::integer_knob workers_knob{"WEFT_WORKERS",
                                          0,
                                          {0, 65536},
                                          base::knob_scale::count,
                                          "number of workers; 0: what affinity mask and cgroup quota allow"};
constexpr const char* pool_words[] = {"stealing", "hierarchical", "one", "private", "priorities", "packing"};
constinit base::choice_knob pools_knob{
    "WEFT_POOLS", 0, pool_words,
    "pools of the default runtime: a deque each, stolen from at random or from the nearest "
    "first, one shared FIFO, a private FIFO each, two pools each, of high and low priority, or a FIFO each "
    "that "
    "others serve while its worker sleeps"};
constexpr const char* technique_words[] = {"automatic",
                                           "full",
                                           "full_lazy",
                                           "roc",
                                           "roc_lazy",
                                           "ss",
                                           "ss_lazy",
                                           "sc",
                                           "inline_join",
                                           "c_full",
                                           "c_full_eager_release",
                                           "c_roc",
                                           "c_roc_eager_release"};
static_assert(std::size(technique_words) == unit::technique_count);
constinit base::choice_knob technique_knob{
    "WEFT_TECHNIQUE", 0, technique_words,
    "how threads start and end that have no technique of their own; c_...: creating a thread may switch"};
constinit base::boolean_knob bind_knob{"WEFT_BIND", false, "bind each worker to a CPU of its own"};
constinit base::boolean_knob print_technique_knob{
    "WEFT_PRINT_TECHNIQUE", false, "print at exit how threads of no fixed technique were started, and fared"};
const base::knob_list runtime_knobs{workers_knob, pools_knob, technique_knob, bind_knob,
                                    print_technique_knob};

// What is counted at no cost: all but the starts by joiners, of which one in some 500 is looked at.
void print_techniques() {
  const trace::counters all = trace::session::of_process().total();
  const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::fprintf(
      stderr,
      "weft: techniques: %llu threads started by a worker's loop (Full-L), %llu on the stack of one that "
      "had just ended; of the joins one in some 500 was sampled: %llu threads, of which %llu deviated\n",
      number(all.started), number(all.handed_on), number(all.sampled), number(all.deviated));
}

sched::group_options resolve(const options& wanted) {
  sched::group_options o;
  o.workers = wanted.workers != 0 ? wanted.workers : static_cast<unsigned>(workers_knob.get());
  o.pools = wanted.pools;
  if (o.pools == sched::arrangement::stealing)
    o.pools = static_cast<sched::arrangement>(pools_knob.get());
  o.bind = wanted.bind || bind_knob.get();
  o.make_scheduler = wanted.make_scheduler;
  o.technique = wanted.technique;
  if (o.technique == unit::technique_id::automatic)
    o.technique = static_cast<unit::technique_id>(technique_knob.get());
  o.primary_joins = os::this_kernel_thread_id() == ::getpid();
  return o;
}

void describe_thread(void* owner, char* buffer, std::size_t bytes) {
  const auto& u = *static_cast<const unit::descriptor*>(owner);
  const char* name = unit::name_of(u);
  char function[512];
  const unit::operations& o = *u.operations;
  if (const char* type = o.label != nullptr ? std::strstr(o.label, "Callable = ") : nullptr) {
    std::snprintf(function, sizeof function, "%s", type + std::strlen("Callable = "));
    if (char* end = std::strrchr(function, ']'))
      *end = '\0';
  } else {
    const void* address = o.name != nullptr ? o.name : reinterpret_cast<const void*>(o.run);
    if (o.name_at != 0)
      std::memcpy(&address, reinterpret_cast<const char*>(&u) + o.name_at, sizeof address);
    memory::describe_address(address, function, sizeof function);
  }
  std::snprintf(buffer, bytes, "%s%s%s(%p), function %s", *name != '\0' ? "\"" : "", name,
                *name != '\0' ? "\" " : "", owner, function);
}

// Static destructors run after this; threads still alive stop at their next scheduling decision. One that
// never makes such a decision goes on, as a detached kernel thread would. Groups of fronts run on:
// destructors of what stands on them join them.
void stand_still_at_exit() {
  if (print_technique_knob.get())
    print_techniques();
  sched::keep_for_exit();
  constexpr int patience_ms = 100;
  if (sched::group* g = state().group.load(std::memory_order_acquire)) {
    state().stands_still.store(true, std::memory_order_relaxed); // relaxed: read by destructors, after this
    g->freeze_others(patience_ms);
  }
}

void install_once() {
  static constinit base::once installed;
  installed([] {
    memory::set_describe_function(&describe_thread);
    memory::set_running_stack_function([]() -> const memory::stack_record* {
      const unit::descriptor* const running = sched::here().current;
      return running != nullptr ? running->stack : nullptr;
    });
    memory::install_handler();
    install_terminate_handler();
    install_fork_handlers();
    preempt::see_to_leaving();
    std::atexit(&stand_still_at_exit);
    base::check_all();
    base::warn_of_unknown();
    base::print_config_if_asked();
  });
}

// main() has ended by pthread_exit(), or was cancelled. Its kernel thread goes on as worker 0 until no thread
// of Weft is left, and then ends the process, as the last pthread does.
void outlive_main(void* /*anything*/) {
  sched::come_back_if_away();
  const sched::group* const g = state().group.load(std::memory_order_acquire);
  if (g == nullptr || g->size() == 0 || !g->member(0).on_primary_thread || &sched::here() != &g->member(0))
    return;
  while (count().units != 0)
    this_thread::sleep_for(std::chrono::milliseconds(1));
  std::exit(0);
}

// Without room for it worker 0 ends with main().
void note_end_of_main() noexcept {
  static pthread_key_t key;
  static bool made = false;
  static constinit base::once tried;
  tried([] { made = ::pthread_key_create(&key, &outlive_main) == 0; });
  if (made)
    ::pthread_setspecific(key, &key);
}

sched::group& start_locked(const options& wanted) {
  sched::refuse_shadow_stack(); // before the watchdog has a kernel thread
  preempt::start_watchdog_if_asked();
  auto* fresh = new sched::group(resolve(wanted));
  if (fresh->size() != 0 && fresh->member(0).on_primary_thread)
    note_end_of_main();
  io::choose(wanted.io);
  io::limit_spare_threads(wanted.blocking_threads);
  state().group.store(fresh, std::memory_order_release); // release: pairs with the acquire in default_group()
  return *fresh;
}

} // namespace

process_state& state() noexcept {
  return base::immortal<process_state>();
}

bool start(const options& wanted) {
  install_once();
  std::lock_guard held(state().lock);
  const bool fresh = state().group.load(std::memory_order_relaxed) == nullptr;
  if (fresh)
    start_locked(wanted);
  ++state().users;
  return fresh;
}

bool stop() noexcept {
  sched::come_back_if_away();
  std::lock_guard held(state().lock);
  if (state().users == 0 || --state().users != 0 || state().automatic)
    return false;
  if (state().stands_still.load(std::memory_order_relaxed)) // relaxed: set by exit() before destructors run
    return false;                                           // its workers end with the process
  sched::group* g = state().group.load(std::memory_order_relaxed);
  const bool has_primary = g->size() != 0 && g->member(0).on_primary_thread;
  if (has_primary ? &sched::here() != &g->member(0) || !sched::here().current->has(unit::not_cancellable)
                  : sched::on_worker()) {
    return false;
  }
  state().group.store(nullptr, std::memory_order_relaxed);
  delete g;
  preempt::stop();
  return true;
}

void prepare_process() {
  install_once();
  sched::refuse_shadow_stack();
  preempt::start_watchdog_if_asked();
}

bool running() noexcept {
  return state().group.load(std::memory_order_acquire) != nullptr;
}

unsigned worker_count() {
  return sched::default_group().size();
}

void set_worker_count(unsigned workers) {
  sched::default_group().resize(workers);
}

void set_active_workers(unsigned n) {
  sched::default_group().set_active_workers(n);
}

unsigned active_workers() {
  return sched::default_group().active_workers();
}

namespace {

// The sum of the workers' trim counters; none is odd, so no memory is on its way.
std::uint64_t settled_trims(const sched::group* g) {
  for (;;) {
    std::uint64_t sum = 0;
    bool settled = true;
    for (unsigned i = 0; g != nullptr && i < g->size(); ++i) {
      const std::uint32_t trims = g->member(i).caches.trims.load_acquire();
      settled = settled && trims % 2 == 0;
      sum += trims;
    }
    if (settled) {
      return sum;
    }
    os::sleep_ns(100'000);
  }
}

} // namespace

census count() {
  sched::group* g = state().group.load(std::memory_order_acquire);
  for (;;) {
    const std::uint64_t trims = settled_trims(g);
    census c{};
    c.units = memory::object_cache<unit::descriptor>::process_depot().count().live;
    c.stacks = memory::read_statistics().stacks.live;
    c.timers = sched::timers_left_behind().size();
    if (g != nullptr) {
      c.workers = g->size();
      for (unsigned i = 0; i < c.workers; ++i) {
        c.timers += g->member(i).timing.queue.size();
      }
    }
    // An idle worker that gave memory back meanwhile may have been caught between two lists.
    if (settled_trims(g) == trims) {
      return c;
    }
  }
}

} // namespace weft::runtime

namespace weft::sched {

group& default_group() {
  auto& s = runtime::state();
  if (group* g = s.group.load(std::memory_order_acquire)) [[likely]]
    return *g;
  runtime::install_once();
  std::lock_guard held(s.lock);
  group* g = s.group.load(std::memory_order_relaxed);
  if (g == nullptr)
    g = &runtime::start_locked({});
  s.automatic = true; // only now: nobody relies on a start that failed
  return *g;
}

} // namespace weft::sched
