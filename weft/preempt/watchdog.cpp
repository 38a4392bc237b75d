// SPDX-License-Identifier: MIT
// The watchdog. What it looks at is written by workers without a thought of it, so a look is a guess; the
// handler of its signal, which runs on the worker's kernel thread, checks the guess and copies what there is
// to say while the thread cannot go on.
#include "weft/preempt/watchdog.hpp"

#include <dlfcn.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <string_view>
#include <system_error>

#include "weft/base/assert.hpp"
#include "weft/base/immortal.hpp"
#include "weft/base/knob.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/futex.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/os/task_file.hpp"
#include "weft/preempt/signal_use.hpp"
#include "weft/preempt/tick_sources.hpp"
#include "weft/unit/extension.hpp"

namespace weft::preempt {
namespace {

using sched::worker;

constexpr std::int64_t longest_ms = 3'600'000;

constinit base::integer_knob watchdog_knob{"WEFT_WATCHDOG",
                                           0,
                                           {0, longest_ms},
                                           base::knob_scale::count,
                                           "milliseconds after which a thread that keeps its worker is "
                                           "reported, with its calls; 0: never"};
const base::knob_list watchdog_knobs{watchdog_knob};

// --- the question, and the answer of the handler ---

enum : std::uint32_t { nothing_asked, asked, being_answered, answered, gone };

struct question {
  base::atomic<std::uint32_t> state{nothing_asked};
  worker* who = nullptr;
  const unit::descriptor* unit = nullptr;
  std::int64_t decisions = 0;
  // The answer.
  std::array<char, unit::name_size> name{};
  const char* label = nullptr;
  const void* function = nullptr;
  bool preemptible = false;
  std::array<void*, 64> calls{};
  std::size_t depth = 0;
};
constinit question the_question;

struct walk {
  const void* begin; // the interrupted instruction: what is above is the handler
  bool begun;
};

_Unwind_Reason_Code note_call(_Unwind_Context* context, void* argument) {
  walk& w = *static_cast<walk*>(argument);
  auto* const at = reinterpret_cast<void*>(_Unwind_GetIP(context));
  w.begun = w.begun || at == w.begin;
  question& q = the_question;
  if (!w.begun)
    return _URC_NO_REASON;
  if (at == nullptr || q.depth == q.calls.size())
    return _URC_END_OF_STACK;
  q.calls[q.depth++] = at;
  return _URC_NO_REASON;
}

// Not atomic where they are written: a worker's own. A stale or torn value is a wrong guess, no more.
template <class T>
__attribute__((no_sanitize("thread"))) T peek(const T& value) noexcept {
  return *const_cast<const volatile T*>(&value);
}

// Another value after each scheduling decision, but for rare coincidences. RACY.
std::int64_t decisions_of(const worker& w) noexcept {
  return (std::int64_t{peek(w.preemption.preempted)} << 32) + w.budget;
}

const void* function_of(const unit::descriptor& u) noexcept {
  const unit::operations& o = *u.operations;
  if (o.name_at != 0) {
    const void* own;
    std::memcpy(&own, reinterpret_cast<const std::byte*>(&u) + o.name_at, sizeof own);
    if (own != nullptr)
      return own;
  }
  return o.name != nullptr ? o.name : reinterpret_cast<const void*>(o.run);
}

// --- what is reported ---

// Of "... [with Callable = type]" the type; C++ has no other name for a lambda's function.
std::string_view callable_in(std::string_view label) noexcept {
  constexpr std::string_view mark = "Callable = ";
  const std::size_t at = label.find(mark);
  if (at == std::string_view::npos)
    return label;
  label.remove_prefix(at + mark.size());
  return label.substr(0, label.find_last_of(']'));
}

void write_symbol(char* out, std::size_t bytes, const void* at) noexcept {
  Dl_info found = {};
  if (::dladdr(at, &found) == 0 || found.dli_fname == nullptr) {
    std::snprintf(out, bytes, "%p", at);
    return;
  }
  const char* const slash = std::strrchr(found.dli_fname, '/');
  const char* const module = slash != nullptr ? slash + 1 : found.dli_fname;
  const auto in_module =
      static_cast<std::size_t>(static_cast<const char*>(at) - static_cast<const char*>(found.dli_fbase));
  if (found.dli_sname == nullptr) {
    std::snprintf(out, bytes, "%s+0x%zx", module, in_module);
    return;
  }
  const auto in_symbol =
      static_cast<std::size_t>(static_cast<const char*>(at) - static_cast<const char*>(found.dli_saddr));
  std::snprintf(out, bytes, "%s+0x%zx (%s+0x%zx)", found.dli_sname, in_symbol, module, in_module);
}

void write_report(const held_worker& what, void* /*argument*/) {
  base::warn("watchdog: thread \"%s\" (%s)%s has kept worker %u for %u ms without a scheduling decision",
             what.thread, what.function, what.preemptible ? ", preemptible," : "", what.worker,
             static_cast<unsigned>(what.for_.count()));
  if (what.calls.empty())
    base::warn("watchdog:   its kernel thread does not answer");
  for (std::size_t i = 0; i < what.calls.size(); ++i) {
    char symbol[400];
    write_symbol(symbol, sizeof symbol, what.calls[i]);
    base::warn("watchdog:   #%zu %s", i, symbol);
  }
}

// --- the kernel thread ---

struct suspect {
  worker* who;
  const unit::descriptor* unit;
  std::int64_t decisions;
  std::int64_t ran;
};

struct patrol {
  std::int64_t now;
  std::int64_t limit;
  std::array<suspect, 16> suspects;
  std::size_t count;
};

std::int64_t cpu_time_of(const worker& w) noexcept {
  const int kernel_id = w.carried.kernel_thread_id.load_relaxed();
  return kernel_id != 0 ? os::cpu_time_ns(kernel_id) : 0;
}

// Whether it computes or waits for a CPU. False also where the kernel does not tell.
bool is_runnable(int kernel_id) noexcept {
  std::array<char, 256> text;
  static_cast<void>(os::read_task_file(kernel_id, "stat", text));
  const char* const name_end = std::strrchr(text.data(), ')');
  return name_end != nullptr && name_end[1] == ' ' && name_end[2] == 'R';
}

// Whether its kernel thread has waited for a CPU most of the time: then nobody keeps the worker.
bool lacks_a_cpu(const worker& w, const sched::watchdog_note& s, std::int64_t limit) noexcept {
  return cpu_time_of(w) - s.cpu_ns < limit / 2 && is_runnable(w.carried.kernel_thread_id.load_relaxed());
}

// A thread that yields alone goes through 251 values: a late watchdog may see the same one twice, hardly five
// times.
bool decides_after_all(const worker& w, const unit::descriptor* unit, std::int64_t decisions) noexcept {
  constexpr int looks = 3;
  constexpr std::int64_t between = 700'000;
  for (int i = 0; i < looks; ++i) {
    os::sleep_ns(between);
    if (decisions_of(w) != decisions || peek(w.current) != unit)
      return true;
  }
  return false;
}

void suspect_it(worker& w, void* argument) {
  patrol& l = *static_cast<patrol*>(argument);
  sched::watchdog_note& s = w.ticking.watchdog;
  const unit::descriptor* const now = peek(w.current);
  const std::int64_t decisions = decisions_of(w);
  const bool others_wait = w.preemption.others_wait.equals_relaxed(sched::waiting::somebody) ||
                           w.attention.any_relaxed(sched::inbox_waiting);
  const bool idles =
      now == &w.loop_unit || w.timing.sleeps_until.load_relaxed() != 0 ||
      (w.preemption.user_mode_serial.load_relaxed() != 0 && !others_wait); // it would leave if asked
  if (idles || now != s.unit || decisions != s.decisions) {
    s = {idles ? nullptr : now, decisions, l.now, idles ? 0 : cpu_time_of(w), false};
    return;
  }
  if (s.told || l.now - s.since < l.limit || l.count == l.suspects.size() || lacks_a_cpu(w, s, l.limit))
    return;
  if (decides_after_all(w, now, decisions)) {
    s = {now, decisions_of(w), l.now, cpu_time_of(w), false};
    return;
  }
  s.told = true;
  l.suspects[l.count++] = {&w, now, decisions, l.now - s.since};
}

class watchdog {
 public:
  void set(std::chrono::milliseconds limit, watchdog_report report, void* argument) {
    const std::scoped_lock held(lock_);
    if (running_)
      end();
    if (limit.count() == 0)
      return;
    limit_ = limit.count() * 1'000'000;
    report_ = report != nullptr ? report : &write_report;
    argument_ = argument;
    begin();
  }
  void start_if_asked() noexcept {
    const std::scoped_lock held(lock_);
    const std::int64_t ms = watchdog_knob.get();
    if (running_ || ms == 0)
      return;
    limit_ = ms * 1'000'000;
    report_ = &write_report;
    try {
      begin();
    } catch (const std::system_error& e) {
      base::warn("no watchdog: %s", e.what());
    }
  }
  void forget_after_fork() noexcept {
    ::new (static_cast<void*>(this)) watchdog;
    the_question.state.store_relaxed(nothing_asked);
  }

 private:
  void begin() {
    number_ = use_signal();
    ending_.store_relaxed(0);
    const int error = os::start_with_signals_blocked(
        thread_,
        [](void* self) -> void* {
          static_cast<watchdog*>(self)->watch();
          return nullptr;
        },
        this, 0);
    if (error != 0) {
      unuse_signal();
      throw std::system_error(error, std::generic_category(), "weft: no kernel thread for the watchdog");
    }
    running_ = true;
  }
  void end() noexcept {
    ending_.store_release(1);
    os::futex_wake(&ending_, 1);
    thread_.join();
    unuse_signal();
    running_ = false;
  }
  void watch() noexcept {
    os::name_this_kernel_thread("weft-watchdog");
    walk nowhere{nullptr, false};
    _Unwind_Backtrace(&note_call, &nowhere); // what the first one allocates, it allocates here
    while (ending_.load_acquire() == 0) {
      patrol l{os::now_ns(), limit_, {}, 0};
      sched::for_each_worker(&suspect_it, &l);
      for (std::size_t i = 0; i < l.count; ++i)
        tell(l.suspects[i]);
      os::futex_wait_until(&ending_, 0, os::now_ns() + std::max<std::int64_t>(limit_ / 4, 1'000'000));
    }
  }
  // Asks the kernel thread of the worker, and reports what it says unless the thread has gone on meanwhile.
  void tell(const suspect& s) noexcept {
    const std::int32_t kernel_id = s.who->carried.kernel_thread_id.load_relaxed();
    question& q = the_question;
    if (kernel_id == 0)
      return;
    q.who = s.who;
    q.unit = s.unit;
    q.decisions = s.decisions;
    q.depth = 0;
    q.name = {};
    q.label = nullptr;
    q.function = nullptr;
    q.state.store_release(asked); // pairs with the acquire in answer_watchdog()
    ask_for_calls(kernel_id, number_);
    const std::int64_t patience = os::now_ns() + 200'000'000;
    while (q.state.load_acquire() == asked && os::now_ns() < patience)
      os::futex_wait_until(&q.state, asked, patience);
    std::uint32_t now = asked;
    if (!q.state.cas_strong_acq_rel(now, nothing_asked)) {
      while ((now = q.state.load_acquire()) == being_answered)
        os::sleep_ns(10'000);
      if (now == gone)
        return;
    }
    char function[256] = "";
    if (q.label != nullptr) {
      const std::string_view type = callable_in(q.label);
      std::snprintf(function, sizeof function, "%.*s",
                    static_cast<int>(std::min(type.size(), sizeof function)), type.data());
    } else if (q.function != nullptr) {
      write_symbol(function, sizeof function, q.function);
    }
    report_({s.who->number, q.name.data(), function, std::chrono::milliseconds(s.ran / 1'000'000),
             q.preemptible, std::span<void* const>(q.calls.data(), q.depth)},
            argument_);
  }

  std::mutex lock_;
  os::kernel_thread thread_;
  base::atomic<std::uint32_t> ending_{0};
  bool running_ = false;
  int number_ = 0;
  std::int64_t limit_ = 0;
  watchdog_report report_ = nullptr;
  void* argument_ = nullptr;
};

watchdog& the_watchdog() noexcept {
  return base::immortal<watchdog>();
}

} // namespace

void set_watchdog(std::chrono::milliseconds limit, watchdog_report report, void* argument) {
  if (limit.count() < 0 || limit.count() > longest_ms)
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "weft: the watchdog's limit is 1 ms to 1 h, or 0");
  the_watchdog().set(limit, report, argument);
}

void start_watchdog_if_asked() noexcept {
  the_watchdog().start_if_asked();
}

void forget_watchdog_after_fork() noexcept {
  the_watchdog().forget_after_fork();
}

void answer_watchdog(const void* interrupted_at) noexcept {
  question& q = the_question;
  worker* const w = sched::weft_worker_here;
  std::uint32_t now = asked;
  if (q.state.load_acquire() != asked || w != q.who || !q.state.cas_strong_acq_rel(now, being_answered))
    return; // a late one
  const unit::descriptor& u = *w->current;
  const bool same = &u == q.unit && decisions_of(*w) == q.decisions;
  if (same) {
    std::strncpy(q.name.data(), unit::name_of(u), q.name.size() - 1);
    q.label = u.operations->label;
    q.function = function_of(u);
    q.preemptible = u.has(unit::preemptible);
    walk from{interrupted_at, false};
    _Unwind_Backtrace(&note_call, &from);
  }
  q.state.store_release(same ? answered : gone); // pairs with the acquires in tell()
  os::futex_wake(&q.state, 1);
}

} // namespace weft::preempt
