// SPDX-License-Identifier: MIT
// preemption of Weft's threads. A new kind of thread, or of ticks, is one line here.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "bench/peer/weft.hpp"
#include "bench/preemption/workload.hpp"
#include "weft/pool.hpp"
#include "weft/preempt/spares.hpp"
#include "weft/preemption.hpp"
#include "weft/thread.hpp"

namespace bench = weft::bench;
namespace workload = weft::bench::preemption;
using weft::preemption;

namespace {

using weft::preempt::hand_off;

struct named_kind {
  const char* name;
  preemption kind;
  hand_off how = hand_off::direct;
};
// The last three are the paper's ways to pass a worker on (its Fig. 6): futexes and lists of spare kernel
// threads for each worker, one list for all, and signals.
constexpr named_kind kinds[] = {
    {"signal_yield", preemption::signal_yield},
    {"own_tls", preemption::own_tls},
    {"own_kernel_thread", preemption::own_kernel_thread},
    {"klt_local", preemption::own_kernel_thread, hand_off::local},
    {"klt_futex", preemption::own_kernel_thread, hand_off::global},
    {"klt_naive", preemption::own_kernel_thread, hand_off::sigsuspend},
};

struct named_source {
  const char* name;
  weft::preempt::tick_source source;
};
constexpr named_source sources[] = {
    {"monitor", weft::preempt::tick_source::monitor},
    {"creation_time", weft::preempt::tick_source::creation_time},
    {"aligned", weft::preempt::tick_source::aligned},
    {"one_to_all", weft::preempt::tick_source::one_to_all},
    {"chain", weft::preempt::tick_source::chain},
};

std::vector<std::string> forms() {
  std::vector<std::string> all{"overhead.timer"};
  for (const named_kind& k : kinds) {
    for (const char* what : {"switch.", "tick.", "overhead.", "alone."})
      all.push_back(what + std::string(k.name));
    for (const named_source& s : sources) {
      for (const char* what : {"tick.", "overhead."})
        all.push_back(what + std::string(k.name) + "." + s.name);
    }
  }
  return all;
}

// A form's words: what, kind, source.
struct asked {
  explicit asked(const std::string& form) {
    std::string rest = form;
    const auto word = [&rest] {
      const std::size_t end = std::min(rest.find('.'), rest.size());
      std::string first = rest.substr(0, end);
      rest.erase(0, end + 1);
      return first;
    };
    what = word();
    const std::string kind_name = word(), source_name = word();
    for (const named_kind& k : kinds) {
      if (kind_name == k.name) {
        kind = k.kind;
        how = k.how;
      }
    }
    for (const named_source& s : sources) {
      if (source_name == s.name)
        source = s.source;
    }
  }
  std::string what;
  preemption kind = preemption::none; // overhead.timer
  hand_off how = hand_off::direct;
  weft::preempt::tick_source source = weft::preempt::tick_source::monitor;
};

weft::thread_attributes on_worker(unsigned worker, preemption kind) {
  weft::thread_attributes a;
  a.pool = weft::runtime::default_group().member(worker).main_pool.load_acquire();
  a.preemption = kind;
  return a;
}

// body(worker, number) in so many threads for each worker, and waits for all.
template <class Body>
void threads_on_each(unsigned workers, unsigned each, preemption kind, Body body) {
  std::vector<weft::thread> all;
  for (unsigned w = 0; w < workers; ++w) {
    for (unsigned i = 0; i < each; ++i)
      all.emplace_back(on_worker(w, kind), [&body, w, i] { body(w, static_cast<int>(i)); });
  }
  for (weft::thread& t : all)
    t.join();
}

int measure_gaps(bench::recorder& rec, const asked& a) {
  const unsigned workers = rec.opt().workers;
  const std::size_t n = rec.opt().rounds;
  const bool by_itself = a.what == "switch";
  std::vector<double> lost;
  const std::size_t signals = weft::preempt::counts().signals;
  for (std::size_t repeat = 0; repeat < rec.opt().repeats; ++repeat) {
    const auto relays = std::make_unique<workload::relay[]>(workers);
    for (unsigned w = 0; w < workers; ++w)
      relays[w].reserve(n);
    const std::int64_t give_up = bench::now_ns() + 5'000'000'000;
    threads_on_each(workers, 2, a.kind, [&](unsigned w, int me) {
      if (by_itself)
        return workload::leave_in_turn(relays[w], me, n, weft::preempt::tick_self);
      workload::watch_clock(relays[w], me, n, give_up);
    });
    for (unsigned w = 0; w < workers; ++w) {
      workload::relay& r = relays[w];
      rec.check(!r.gaps.empty(), "the other thread took over");
      rec.add_sample(workload::median_of(r.gaps));
      rec.add_ops(r.gaps.size());
      lost.insert(lost.end(), r.lost.begin(), r.lost.end());
    }
  }
  rec.unit("ns");
  double sum = 0;
  for (const double gap : lost)
    sum += gap;
  if (!by_itself && !lost.empty()) {
    rec.extra("lost", sum / static_cast<double>(lost.size()));
    rec.extra("lost_median", workload::median_of(lost));
  }
  rec.extra("signals", static_cast<double>(weft::preempt::counts().signals - signals));
  return rec.finish();
}

// A timer for each worker whose handler does nothing: what ticks cost at least that are sent without asking.
class bare_timers {
 public:
  bare_timers(unsigned workers, std::int64_t interval_ns) {
    struct sigaction nothing = {};
    nothing.sa_handler = [](int) {};
    nothing.sa_flags = SA_RESTART | SA_NODEFER;
    ::sigaction(SIGRTMIN + 7, &nothing, nullptr);
    const std::int64_t begin = (bench::now_ns() / interval_ns + 2) * interval_ns;
    for (unsigned w = 0; w < workers; ++w) {
      sigevent to = {};
      to.sigev_notify = SIGEV_THREAD_ID;
      to.sigev_signo = SIGRTMIN + 7;
      to._sigev_un._tid = weft::runtime::default_group().member(w).carried.kernel_thread_id.load_relaxed();
      timer_t timer;
      if (::timer_create(CLOCK_MONOTONIC, &to, &timer) != 0)
        continue;
      timers_.push_back(timer);
      const std::int64_t first = begin + interval_ns * w / workers;
      const itimerspec when = {time(interval_ns), time(first)};
      ::timer_settime(timer, TIMER_ABSTIME, &when, nullptr);
    }
  }
  ~bare_timers() {
    for (timer_t timer : timers_)
      ::timer_delete(timer);
  }
  bare_timers(const bare_timers&) = delete;
  bare_timers& operator=(const bare_timers&) = delete;

 private:
  static timespec time(std::int64_t ns) {
    return {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  }
  std::vector<timer_t> timers_;
};

// What the monitor has used so far, by the kernel's account: no noise of others is in that.
struct monitor_use {
  double cpu_ns = 0;
  double runs = 0; // how often it had a CPU
};
monitor_use use_of_monitor() {
  monitor_use sum;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream(entry.path() / "comm") >> name;
    double cpu_ns = 0, waited_ns = 0, runs = 0;
    if (name == "weft-monitor" && std::ifstream(entry.path() / "schedstat") >> cpu_ns >> waited_ns >> runs)
      sum = {sum.cpu_ns + cpu_ns, sum.runs + runs};
  }
  return sum;
}

int measure_overhead(bench::recorder& rec, const asked& a) {
  const unsigned workers = rec.opt().workers;
  const unsigned each = a.what == "alone" ? 1 : 10;
  const std::size_t steps = rec.opt().rounds * 100'000 / each; // a worker's round
  std::atomic<std::size_t> done{0}, expected{0};
  const auto round = [&](preemption kind) {
    expected += std::size_t{each} * workers;
    threads_on_each(workers, each, kind, [&](unsigned, int) {
      workload::compute(steps);
      ++done;
    });
  };
  const auto round_with_timer = [&] {
    const bare_timers ticking(workers, static_cast<std::int64_t>(rec.opt().n) * 1000);
    round(preemption::none);
  };
  round(a.kind); // the monitor is there from now on
  const weft::preempt::tick_counts before = weft::preempt::counts();
  const monitor_use monitor_before = use_of_monitor();
  double cpu_ns = 0;
  workload::compare(
      rec, [&] { round(preemption::none); }, round_with_timer,
      [&] {
        if (a.kind == preemption::none)
          return round_with_timer();
        cpu_ns += workload::cost_of([&] { round(a.kind); });
      });
  const monitor_use monitor_now = use_of_monitor();
  const weft::preempt::tick_counts now = weft::preempt::counts();
  const auto rounds = static_cast<double>(2 * rec.opt().repeats + 1);
  rec.extra("signals", static_cast<double>(now.signals - before.signals) / rounds);
  rec.extra("preemptions", static_cast<double>(now.preemptions - before.preemptions) / rounds);
  if (a.kind != preemption::none) {
    rec.extra("monitor_runs", (monitor_now.runs - monitor_before.runs) / rounds);
    rec.extra("monitor_percent", 100 * (monitor_now.cpu_ns - monitor_before.cpu_ns) / cpu_ns);
  }
  rec.check(done == expected, "every thread has ended");
  return rec.finish();
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, workload::defaults(), forms());
  const asked a(rec.opt().form);
  weft::preempt::choose_hand_off(a.how);
  weft::runtime::options o;
  o.workers = rec.opt().workers;
  o.pools = weft::sched::arrangement::pool_per_worker;
  o.bind = true;
  const weft::runtime::scope runtime(o);
  weft::preempt::set_interval(std::chrono::microseconds(a.what == "switch" ? 1'000'000 : rec.opt().n));
  weft::preempt::set_tick_source(a.source);
  if (a.what == "overhead" || a.what == "alone")
    return measure_overhead(rec, a);
  return measure_gaps(rec, a);
}
