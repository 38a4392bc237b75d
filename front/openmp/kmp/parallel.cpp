// SPDX-License-Identifier: MIT
// Regions, single, masked, barriers, cancellation, reductions, critical: __kmpc_... for clang's programs.
#include "front/openmp/kmp/abi.hpp"
#include "weft/door/mutex.hpp"
#include "weft/door/section.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <string>
#include <utility>
#include <vector>

using namespace weft::openmp;
using namespace weft::openmp::kmp;
namespace door = weft::door;

// --- regions ---

namespace {

constexpr std::size_t most_arguments = 64;

// A region's function has the thread's number in the process, that in the team, and so many pointers more.
struct call {
  void* function;
  std::size_t count;
  std::array<void*, most_arguments> arguments;
};

template <std::size_t... I>
[[gnu::always_inline]] inline void invoke(const call& c, int* global, int* bound, std::index_sequence<I...>) {
  using function = void (*)(int*, int*, decltype(static_cast<void>(I), static_cast<void*>(nullptr))...);
  reinterpret_cast<function>(c.function)(global, bound, c.arguments[I]...);
}
template <std::size_t N>
void invoke_with(const call& c, int* global, int* bound) {
  if (tool::is_on) [[unlikely]]
    tool::exits_from(*self, __builtin_frame_address(0));
  invoke(c, global, bound, std::make_index_sequence<N>());
  __asm__ volatile(""); // no jump in place of the call: this frame stays below the program's
}
using invoker = void (*)(const call&, int*, int*);
template <std::size_t... N>
constexpr std::array<invoker, sizeof...(N)> make_invokers(std::index_sequence<N...>) {
  return {&invoke_with<N>...};
}
constexpr auto invokers = make_invokers(std::make_index_sequence<most_arguments + 1>());

void run_call(void* data) {
  const call& c = *static_cast<call*>(data);
  const thread& t = caller();
  int global = t.id;
  int bound = static_cast<int>(t.at.number);
  invokers[c.count](c, &global, &bound);
}

call read_call(void* function, int count, va_list list) {
  call c{.function = function, .count = static_cast<std::size_t>(count), .arguments = {}};
  for (int i = 0; i < count && static_cast<std::size_t>(i) < most_arguments; ++i)
    c.arguments[static_cast<std::size_t>(i)] = va_arg(list, void*);
  return c;
}

region region_of(thread& t, call& c) {
  return {.function = &run_call,
          .data = &c,
          .threads = std::exchange(t.threads_pushed, 0),
          .bind = std::exchange(t.bind_pushed, binding::off),
          .below = std::exchange(t.threads_below_pushed, nullptr),
          .strict = std::exchange(t.strict_pushed, {}),
          .of_llvm = true};
}

// Lists of numbers, each once, as tasks point to them. A program has few, and they stay.
struct kept_list {
  kept_list* next = nullptr;
  std::vector<unsigned> numbers; // and a 0
};

const unsigned* keep(std::vector<unsigned> numbers) {
  static constinit door::atomic<kept_list*> lists{nullptr};
  kept_list* first = lists.load_acquire(); // pairs with the release below
  for (kept_list* k = first; k != nullptr; k = k->next) {
    if (k->numbers == numbers)
      return k->numbers.data();
  }
  auto* const made = new kept_list{first, std::move(numbers)};
  while (!lists.cas_weak_acq_rel(made->next, made)) { // two that are equal do no harm
  }
  return made->numbers.data();
}

void say_fewer(const strictness& asked, unsigned wanted, unsigned got) {
  if (asked.message != nullptr)
    return say_error(asked.severity, asked.message);
  const std::string text = "a region of " + std::to_string(wanted) + " threads has " + std::to_string(got);
  say_error(asked.severity, text.c_str());
}

} // namespace

KMP_EXPORT int __kmpc_global_thread_num(ident*) {
  return caller().id;
}
KMP_EXPORT int __kmpc_bound_thread_num(ident*) {
  return static_cast<int>(caller().at.number);
}
KMP_EXPORT int __kmpc_global_num_threads(ident*) {
  return static_cast<int>(caller().at.team->size);
}
KMP_EXPORT int __kmpc_bound_num_threads(ident*) {
  return static_cast<int>(caller().at.team->size);
}
KMP_EXPORT int __kmpc_in_parallel(ident*) {
  return caller().at.active_level != 0 ? 1 : 0;
}
KMP_EXPORT int __kmpc_ok_to_fork(ident*) {
  return 1;
}
KMP_EXPORT void __kmpc_begin(ident*, int) {}
KMP_EXPORT void __kmpc_end(ident*) {}

KMP_EXPORT void __kmpc_push_num_threads(ident*, int, int n) {
  caller().threads_pushed = static_cast<unsigned>(std::max(n, 0));
}
// num_threads(a, b, ...): this region's, and those of the levels inside.
KMP_EXPORT void __kmpc_push_num_threads_list(ident* place, int id, unsigned length, const int* list) {
  if (length == 0)
    return;
  __kmpc_push_num_threads(place, id, list[0]);
  if (length == 1)
    return;
  std::vector<unsigned> below;
  for (unsigned i = 1; i < length; ++i)
    below.push_back(static_cast<unsigned>(std::max(list[i], 1)));
  below.push_back(0);
  caller().threads_below_pushed = keep(std::move(below));
}
KMP_EXPORT void __kmpc_push_num_threads_strict(ident* place, int id, int n, int severity,
                                               const char* message) {
  __kmpc_push_num_threads(place, id, n);
  caller().strict_pushed = {&say_fewer, severity, message};
}
KMP_EXPORT void __kmpc_push_num_threads_list_strict(ident* place, int id, unsigned length, const int* list,
                                                    int severity, const char* message) {
  __kmpc_push_num_threads_list(place, id, length, list);
  caller().strict_pushed = {&say_fewer, severity, message};
}
KMP_EXPORT void __kmpc_pop_num_threads(ident*, int) {} // fork_call has taken it
// target thread_limit(n), which the caller runs itself.
KMP_EXPORT void __kmpc_set_thread_limit(ident*, int, int n) {
  if (n > 0)
    caller().current->icv.thread_limit = static_cast<unsigned>(n);
}
KMP_EXPORT void __kmpc_push_proc_bind(ident*, int, int bind) {
  if (bind >= 2 && bind <= 4)
    caller().bind_pushed = static_cast<binding>(bind);
}

KMP_EXPORT void __kmpc_fork_call(ident* at, int count, void* function, ...) {
  thread& t = called_by(at);
  va_list list;
  va_start(list, function);
  call c = read_call(function, count, list);
  va_end(list);
  parallel(t, region_of(t, c));
}
KMP_EXPORT void __kmpc_fork_call_if(ident* at, int count, void* function, int wanted, void* argument) {
  thread& t = called_by(at);
  call c{.function = function, .count = count != 0 ? std::size_t{1} : 0, .arguments = {}};
  c.arguments[0] = argument;
  region r = region_of(t, c);
  if (wanted == 0)
    r.threads = 1;
  parallel(t, r);
}
// if(0): the compiler calls the function itself, between these.
KMP_EXPORT void __kmpc_serialized_parallel(ident* at, int) {
  thread& t = called_by(at);
  t.threads_pushed = 0;
  t.threads_below_pushed = nullptr;
  t.strict_pushed = {};
  open_region(t, {.threads = 1, .of_llvm = true});
}
KMP_EXPORT void __kmpc_end_serialized_parallel(ident* at, int) {
  close_region(called_by(at));
}

// --- teams, one after the other ---

KMP_EXPORT void __kmpc_push_num_teams(ident*, int, int teams, int threads) {
  thread& t = caller();
  t.league_pushed = {static_cast<unsigned>(std::max(teams, 0)), static_cast<unsigned>(std::max(threads, 0))};
}
KMP_EXPORT void __kmpc_push_num_teams_51(ident* place, int id, int least, int most, int threads) {
  __kmpc_push_num_teams(place, id, most != 0 ? most : least, threads);
}
KMP_EXPORT void __kmpc_fork_teams(ident* at, int count, void* function, ...) {
  thread& t = called_by(at);
  va_list list;
  va_start(list, function);
  call c = read_call(function, count, list);
  va_end(list);
  const auto [teams, threads] = std::exchange(t.league_pushed, {});
  run_league(t, teams, threads, &run_call, &c);
}

// --- single, masked ---

KMP_EXPORT int __kmpc_single(ident* at, int) {
  thread& t = called_by(at);
  const bool mine = enter_share(t, [](work_share&) {});
  if (tool::is_on) [[unlikely]]
    tool::single(t, mine);
  return mine ? 1 : 0;
}
KMP_EXPORT void __kmpc_end_single(ident* at, int) {
  tell_end_of_work(at);
}
KMP_EXPORT void __kmpc_copyprivate(ident* at, int, std::size_t, void* data, void (*copy)(void*, void*),
                                   int mine) {
  thread& t = called_by(at);
  if (mine != 0)
    t.at.share->copied = data;
  static_cast<void>(barrier(t, false));
  if (mine == 0)
    copy(data, t.at.share->copied);
  static_cast<void>(barrier(t, false));
}
KMP_EXPORT int __kmpc_masked(ident* at, int, int filter) {
  thread& t = called_by(at);
  if (static_cast<int>(t.at.number) != filter)
    return 0;
  if (tool::is_on) [[unlikely]]
    tool::masked(t, true);
  return 1;
}
KMP_EXPORT void __kmpc_end_masked(ident* at, int) {
  if (tool::is_on) [[unlikely]]
    tool::masked(called_by(at), false);
}
KMP_EXPORT int __kmpc_master(ident* at, int) {
  thread& t = called_by(at);
  if (t.at.number != 0)
    return 0;
  if (tool::is_on) [[unlikely]]
    tool::masked(t, true);
  return 1;
}
KMP_EXPORT void __kmpc_end_master(ident* at, int) {
  if (tool::is_on) [[unlikely]]
    tool::masked(called_by(at), false);
}

// --- barriers, cancellation ---

KMP_EXPORT void __kmpc_flush(ident* at, ...) {
  door::full_fence();
  if (tool::is_on) [[unlikely]]
    tool::flushes(called_by(at));
}
KMP_EXPORT void __kmpc_barrier(ident* at, int) {
  static_cast<void>(barrier(called_by(at), false));
}
KMP_EXPORT int __kmpc_cancel_barrier(ident* at, int) {
  return barrier(called_by(at), true) ? 1 : 0;
}
// #pragma omp barrier in the master alone, around code that is the master's.
KMP_EXPORT int __kmpc_barrier_master(ident* at, int) {
  thread& t = called_by(at);
  static_cast<void>(barrier(t, false));
  return t.at.number == 0 ? 1 : 0;
}
KMP_EXPORT void __kmpc_end_barrier_master(ident* at, int) {
  static_cast<void>(barrier(called_by(at), false));
}
KMP_EXPORT int __kmpc_barrier_master_nowait(ident* at, int) {
  thread& t = called_by(at);
  static_cast<void>(barrier(t, false));
  return t.at.number == 0 ? 1 : 0;
}

namespace {

// 1 parallel, 2 loop, 3 sections, 4 group: as the GNU ABI's bits.
cancellation which(int kind) noexcept {
  switch (kind) {
  case 2:
    return cancellation::loop;
  case 3:
    return cancellation::sections;
  case 4:
    return cancellation::group;
  default:
    return cancellation::parallel;
  }
}

} // namespace

KMP_EXPORT int __kmpc_cancel(ident* at, int, int kind) {
  return cancel(called_by(at), which(kind)) ? 1 : 0;
}
KMP_EXPORT int __kmpc_cancellationpoint(ident* at, int, int kind) {
  return is_cancelled(called_by(at), which(kind)) ? 1 : 0;
}

// --- critical, and reductions under a lock: the program gives 32 bytes of zeros ---

namespace {

void take(void* name) {
  auto& word = *static_cast<door::lock_word*>(name);
  const std::uint32_t displaced = word.take();
  if (door::lock_word::is_free(displaced))
    return;
  const errno_kept as_it_was;
  const door::runtime_section in;
  word.lock(door::no_deadline, displaced, [] { return 0; }); // SWITCH: may resume on another worker
}
void give(void* name) noexcept {
  static_cast<door::lock_word*>(name)->release();
}

} // namespace

namespace {

[[gnu::always_inline]] inline void take_critical(const ident* at, void* name, unsigned hint) {
  if (!tool::is_on) [[likely]]
    return take(name); // SWITCH: may resume on another worker
  thread& t = called_by(at);
  tool::acquires(t, tool::mutex::critical, name, hint);
  take(name); // SWITCH: may resume on another worker
  tool::acquired(t, tool::mutex::critical, name);
}

// 1: the caller adds its values to the shared ones now, alone, and then calls the end.
[[gnu::always_inline]] inline int begin_reduction(const ident* at, void* name) {
  take(name); // SWITCH: may resume on another worker
  if (tool::is_on) [[unlikely]]
    tool::reduction_begins(called_by(at));
  return 1;
}
[[gnu::always_inline]] inline void end_reduction(const ident* at, void* name) {
  if (tool::is_on) [[unlikely]]
    tool::reduction_ends(called_by(at));
  give(name);
}

} // namespace

KMP_EXPORT void __kmpc_critical(ident* at, int, void* name) {
  take_critical(at, name, 0); // SWITCH: may resume on another worker
}
KMP_EXPORT void __kmpc_critical_with_hint(ident* at, int, void* name, std::uint32_t hint) {
  take_critical(at, name, hint); // SWITCH: may resume on another worker
}
KMP_EXPORT void __kmpc_end_critical(ident* at, int, void* name) {
  if (tool::is_on) [[unlikely]]
    tool::released(called_by(at), tool::mutex::critical, name);
  give(name);
}

KMP_EXPORT int __kmpc_reduce_nowait(ident* at, int, int, std::size_t, void*, void (*)(void*, void*),
                                    void* name) {
  return begin_reduction(at, name); // SWITCH: may resume on another worker
}
KMP_EXPORT void __kmpc_end_reduce_nowait(ident* at, int, void* name) {
  end_reduction(at, name);
}
KMP_EXPORT int __kmpc_reduce(ident* at, int, int, std::size_t, void*, void (*)(void*, void*), void* name) {
  return begin_reduction(at, name); // SWITCH: may resume on another worker
}
KMP_EXPORT void __kmpc_end_reduce(ident* at, int, void* name) {
  end_reduction(at, name);
  static_cast<void>(barrier(called_by(at), false)); // SWITCH: may resume on another worker
}
