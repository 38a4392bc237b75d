// SPDX-License-Identifier: MIT
// A MODEL, not a measurement: N equal threads on n workers of a machine that has that many cores, event by
// event, with the very rules that the schedulers use (weft/arrange/packing_rules.hpp). For sizes that the
// machine at hand cannot hold. It knows no caches, no memory bandwidth and no other processes; a switch costs
// what --switch says, a tick comes --late after it was due, and the threads of a region vary by --noise.
// Prints CSV: how much longer a region takes than N * T / n, in percent, averaged over regions.
//
//   packing_model [--threads 28] [--switch 5] [--late 15] [--noise 0.02] [--regions 200]      microseconds
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "weft/arrange/packing_rules.hpp"

namespace {

using time_ns = std::int64_t;
using weft::sched::packing_turns;
using weft::sched::wrap_around;

constexpr time_ns never = INT64_MAX;

enum class policy { none, paper, algorithm_1, wrap_around };
constexpr const char* names[] = {"no preemption", "algorithm 1", "algorithm 1 + leftovers", "wrap-around"};

struct setting {
  unsigned threads = 28;
  time_ns switch_cost = 5'000;
  time_ns late = 15'000; // at most: uniform
  double noise = 0.02;
  int regions = 200;
  time_ns interval = 1'000'000;
};

struct worker {
  packing_turns turns;
  std::optional<unsigned> running;
  time_ns since = 0;      // when `running` began to compute
  time_ns until = never;  // when it ends or is preempted
  bool preempted = false; // at `until`
  time_ns next_tick = 0;
};

// One region: all threads are ready at 0, and it ends when the last one does.
class region {
 public:
  region(const setting& s, policy how, unsigned active, const std::vector<time_ns>& times,
         const wrap_around* plan, std::mt19937_64& random)
      : s_(s), how_(how), active_(active), left_(times), pools_(s.threads), workers_(active), plan_(plan),
        begun_(s.threads, false), random_(random) {
    if (plan_ != nullptr) {
      for (unsigned w = 0; w < active; ++w)
        pools_[w].assign(plan_->orders[w].begin(), plan_->orders[w].end());
    } else {
      for (unsigned i = 0; i < s.threads; ++i)
        pools_[i].push_back(i);
    }
    for (unsigned w = 0; w < active; ++w) // staggered, as the monitor's looks are
      workers_[w].next_tick = s.interval * (w + 1) / active;
  }

  time_ns run() {
    time_ns now = 0, end = 0;
    for (unsigned unfinished = s_.threads; unfinished != 0;) {
      for (unsigned w = 0; w < active_; ++w) {
        if (!workers_[w].running)
          start(w, now);
      }
      unsigned next = 0;
      for (unsigned w = 1; w < active_; ++w) {
        if (workers_[w].until < workers_[next].until)
          next = w;
      }
      worker& at = workers_[next];
      now = at.until;
      const unsigned thread = *at.running;
      left_[thread] -= now - at.since;
      at.running.reset();
      at.until = never;
      if (at.preempted) {
        const bool cut = plan_ != nullptr && plan_->places[thread].slice != 0;
        pools_[cut ? plan_->places[thread].second : home_of(thread)].push_back(thread);
      } else {
        --unfinished;
        end = now;
      }
    }
    return end;
  }

 private:
  unsigned home_of(unsigned thread) const { return plan_ != nullptr ? plan_->places[thread].worker : thread; }

  std::optional<unsigned> take(unsigned w) {
    const auto pop = [this](unsigned i) -> std::optional<unsigned> {
      if (pools_[i].empty())
        return std::nullopt;
      const unsigned thread = pools_[i].front();
      pools_[i].pop_front();
      return thread;
    };
    if (plan_ == nullptr)
      return workers_[w].turns.pick(w, active_, s_.threads, how_ == policy::algorithm_1, pop);
    for (unsigned k = 0; k < s_.threads; ++k) {
      if (auto thread = pop((w + k) % s_.threads))
        return thread;
    }
    return std::nullopt;
  }

  time_ns lateness() { return s_.late > 0 ? static_cast<time_ns>(random_() % s_.late) : 0; }

  void start(unsigned w, time_ns now) {
    const std::optional<unsigned> thread = take(w);
    if (!thread)
      return;
    worker& at = workers_[w];
    at.running = thread;
    at.since = now + s_.switch_cost;
    const time_ns end = at.since + left_[*thread];
    time_ns tick = never;
    if (plan_ != nullptr) {
      const auto& place = plan_->places[*thread];
      if (place.slice != 0 && place.worker == w && !begun_[*thread])
        tick = at.since + place.slice + lateness();
      begun_[*thread] = true;
    } else if (how_ != policy::none) {
      while (at.next_tick <= at.since)
        at.next_tick += s_.interval;
      tick = at.next_tick + lateness();
    }
    at.preempted = tick < end;
    at.until = std::min(tick, end);
  }

  const setting& s_;
  const policy how_;
  const unsigned active_;
  std::vector<time_ns> left_;
  std::vector<std::deque<unsigned>> pools_;
  std::vector<worker> workers_;
  const wrap_around* plan_;
  std::vector<bool> begun_;
  std::mt19937_64& random_;
};

std::vector<time_ns> times_of(const setting& s, time_ns t, std::mt19937_64& random) {
  std::normal_distribution<double> varies(0, s.noise);
  std::vector<time_ns> times(s.threads);
  for (time_ns& each : times)
    each = static_cast<time_ns>(static_cast<double>(t) * std::max(0.5, 1 + varies(random)));
  return times;
}

// In percent of N * T / n.
double overhead(const setting& s, policy how, unsigned active, time_ns t) {
  std::mt19937_64 random(1);
  std::vector<time_ns> learned = times_of(s, t, random);
  double took = 0, ideal = 0;
  for (int k = 0; k < s.regions; ++k) {
    const std::vector<time_ns> times = times_of(s, t, random);
    std::optional<wrap_around> plan;
    if (how == policy::wrap_around)
      plan.emplace(learned, active, 50'000);
    took += static_cast<double>(region(s, how, active, times, plan ? &*plan : nullptr, random).run());
    ideal += static_cast<double>(s.threads) * static_cast<double>(t) / active;
    learned = times;
  }
  return 100 * (took / ideal - 1);
}

} // namespace

int main(int argc, char** argv) {
  setting s;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const double value = std::atof(argv[i + 1]);
    if (name == "--threads")
      s.threads = static_cast<unsigned>(value);
    else if (name == "--switch")
      s.switch_cost = static_cast<time_ns>(value * 1000);
    else if (name == "--late")
      s.late = static_cast<time_ns>(value * 1000);
    else if (name == "--noise")
      s.noise = value;
    else if (name == "--regions")
      s.regions = static_cast<int>(value);
  }
  std::printf("# model: %u threads, switch %.1f us, late by up to %.1f us, noise %.3f, %d regions\n",
              s.threads, static_cast<double>(s.switch_cost) / 1000, static_cast<double>(s.late) / 1000,
              s.noise, s.regions);
  std::printf("region_ms,interval_ms,policy,workers,overhead_percent\n");
  for (const double ms : {1.0, 3.0, 10.0, 100.0}) {
    for (const double interval : {1.0, 10.0}) {
      s.interval = static_cast<time_ns>(interval * 1e6);
      for (const policy how : {policy::none, policy::paper, policy::algorithm_1, policy::wrap_around}) {
        if (interval > 1 && (how == policy::none || how == policy::wrap_around))
          continue; // the interval does not matter
        for (unsigned n = s.threads / 2; n <= s.threads; ++n)
          std::printf("%g,%g,%s,%u,%.2f\n", ms, interval, names[static_cast<int>(how)], n,
                      overhead(s, how, n, static_cast<time_ns>(ms * 1e6)));
      }
    }
  }
}
