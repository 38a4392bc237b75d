// SPDX-License-Identifier: MIT
// One pass over all tracks at once, in the order of time.
#include "weft/trace/summary.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace weft::trace {
namespace {

enum class doing : std::uint8_t { loop, running, searching, parked };

// Who waits for what lock. Whoever waits cannot wait for another at the same time.
struct lock_wait {
  std::uint64_t address;
  std::uint32_t waiter;
  bool operator==(const lock_wait&) const = default;
};
struct hash_of_wait {
  std::size_t operator()(const lock_wait& w) const noexcept {
    return static_cast<std::size_t>((w.address ^ (std::uint64_t{w.waiter} << 32)) * 0x9E3779B97F4A7C15ULL);
  }
};

// What one worker is in the middle of.
struct worker_state {
  doing what = doing::loop;
  std::uint64_t since = 0;
  std::string_view name; // of the unit that runs
};

class analysis {
 public:
  analysis(const recording& all, summary& result)
      : all_(all), result_(result), end_(static_cast<std::uint64_t>(all.end_ns)) {}

  void run() {
    prepare();
    go_through_events();
    for (std::size_t i = 0; i < states_.size(); ++i) {
      change(i, doing::loop, end_);
    }
    finish_locks();
    finish_names();
  }

 private:
  void prepare() {
    const auto begin = static_cast<std::uint64_t>(all_.begin_ns);
    for (const track& t : all_.tracks) {
      if (t.outside) {
        worker_of_track_.push_back(none);
        continue;
      }
      worker_of_track_.push_back(result_.workers.size());
      place_of_id_.emplace(t.id, result_.workers.size());
      worker_summary w;
      w.number = t.number;
      w.track = t.id;
      w.dropped = t.dropped;
      result_.workers.push_back(w);
      // What a worker did before its first event, that event tells; before events that are missing, nothing.
      states_.push_back({doing::loop, t.dropped != 0 && t.size() != 0 ? t.at(0).time_ns : begin, {}});
    }
    result_.steals.assign(result_.workers.size(), std::vector<std::uint64_t>(result_.workers.size() + 1));
    first_seen_.assign(result_.workers.size(), false);
  }

  void go_through_events() {
    struct next_event {
      std::uint64_t time;
      std::size_t track;
      std::size_t index;
      bool operator>(const next_event& other) const {
        return std::pair(time, track) > std::pair(other.time, other.track);
      }
    };
    std::priority_queue<next_event, std::vector<next_event>, std::greater<>> next;
    for (std::size_t t = 0; t < all_.tracks.size(); ++t) {
      if (all_.tracks[t].size() != 0) {
        next.push({all_.tracks[t].at(0).time_ns, t, 0});
      }
    }
    while (!next.empty()) {
      next_event e = next.top();
      next.pop();
      take(e.track, all_.tracks[e.track].at(e.index));
      if (++e.index < all_.tracks[e.track].size()) {
        e.time = all_.tracks[e.track].at(e.index).time_ns;
        next.push(e);
      }
    }
  }

  void take(std::size_t t, const record& r) {
    take_unit(r);
    take_lock(r);
    if (const std::size_t w = worker_of_track_[t]; w != none) {
      take_worker(w, all_.tracks[t], r);
    }
  }

  // --- workers ---

  void take_worker(std::size_t w, const track& t, const record& r) {
    switch (r.what) {
    case event::run: {
      change(w, doing::running, r.time_ns);
      const char* name = t.name_of(r.argument);
      states_[w].name = name != nullptr ? name : unnamed;
      name_of_mark_[mark_of(r.unit)] = states_[w].name;
      ++result_.workers[w].runs;
      ++names_[states_[w].name].runs;
      return;
    }
    case event::stop_end:
      ++names_[states_[w].what == doing::running ? states_[w].name : unnamed].ended;
      [[fallthrough]];
    case event::stop_yield:
    case event::stop_wait:
      was(w, doing::running);
      return change(w, doing::loop, r.time_ns);
    case event::search:
      return change(w, doing::searching, r.time_ns);
    case event::park:
      return change(w, doing::parked, r.time_ns);
    case event::unpark:
      was(w, doing::parked);
      return change(w, doing::searching, r.time_ns);
    case event::steal: {
      const auto victim = place_of_id_.find(r.argument);
      ++result_.steals[w][victim != place_of_id_.end() ? victim->second : result_.workers.size()];
      ++result_.workers[w].steals;
      return;
    }
    default:
      return;
    }
  }

  // The first event of a worker may tell what it had been doing.
  void was(std::size_t w, doing what) {
    if (!first_seen_[w]) {
      states_[w].what = what;
      states_[w].name = unnamed;
    }
  }

  void change(std::size_t w, doing next, std::uint64_t now) {
    first_seen_[w] = true;
    worker_state& s = states_[w];
    const std::uint64_t length = now > s.since ? now - s.since : 0;
    worker_summary& sum = result_.workers[w];
    switch (s.what) {
    case doing::running: {
      sum.running_ns += length;
      name_summary& n = names_[s.name];
      n.running_ns += length;
      n.longest_ns = std::max(n.longest_ns, length);
      break;
    }
    case doing::searching:
      sum.searching_ns += length;
      break;
    case doing::parked:
      sum.parked_ns += length;
      break;
    case doing::loop:
      sum.loop_ns += length;
      break;
    }
    s.what = next;
    s.since = now;
  }

  // --- from ready to running ---

  void take_unit(const record& r) {
    switch (r.what) {
    case event::create:
      ready_.insert_or_assign(r.unit, ready{r.time_ns, &latency_summary::created});
      return;
    case event::ready:
      ready_.insert_or_assign(r.unit, ready{r.time_ns, &latency_summary::woken});
      return;
    case event::stop_yield:
      ready_.insert_or_assign(r.unit, ready{r.time_ns, &latency_summary::yielded});
      return;
    case event::run:
      if (const auto found = ready_.find(r.unit); found != ready_.end()) {
        (result_.latency.*found->second.cause).add(r.time_ns - found->second.since);
        ready_.erase(found);
      }
      return;
    case event::stop_end:
      ready_.erase(r.unit);
      return;
    default:
      return;
    }
  }

  // --- locks ---

  void take_lock(const record& r) {
    switch (r.what) {
    case event::lock_wait:
      waits_.insert_or_assign({r.unit, r.argument}, r.time_ns);
      return;
    case event::lock_pass:
      locks_[r.unit].passed_by = r.argument;
      return;
    case event::lock_got: {
      const auto found = waits_.find({r.unit, r.argument});
      if (found == waits_.end()) {
        return; // it began before the recording
      }
      lock_state& l = locks_[r.unit];
      ++l.sum.waits;
      add_wait(l.sum, r.time_ns - found->second);
      if (const auto holder = name_of_mark_.find(l.passed_by); holder != name_of_mark_.end()) {
        ++l.holders[holder->second];
      }
      waits_.erase(found);
      return;
    }
    default:
      return;
    }
  }

  static void add_wait(lock_summary& l, std::uint64_t length) {
    l.total_ns += length;
    l.longest_ns = std::max(l.longest_ns, length);
  }

  void finish_locks() {
    for (const auto& [wait, since] : waits_) {
      lock_summary& l = locks_[wait.address].sum;
      ++l.waiting;
      add_wait(l, end_ - since);
    }
    for (auto& [address, l] : locks_) {
      if (l.sum.waits + l.sum.waiting == 0) {
        continue;
      }
      l.sum.address = address;
      const auto most =
          std::max_element(l.holders.begin(), l.holders.end(), [](const auto& a, const auto& b) {
            return std::pair(a.second, b.first) < std::pair(b.second, a.first);
          });
      if (most != l.holders.end()) {
        l.sum.held_by = most->first;
      }
      result_.locks.push_back(std::move(l.sum));
    }
    std::sort(result_.locks.begin(), result_.locks.end(), [](const auto& a, const auto& b) {
      return std::pair(b.total_ns, a.address) < std::pair(a.total_ns, b.address);
    });
  }

  void finish_names() {
    for (auto& [name, n] : names_) {
      n.name = name;
      result_.names.push_back(std::move(n));
    }
    std::sort(result_.names.begin(), result_.names.end(), [](const auto& a, const auto& b) {
      return std::tie(b.running_ns, a.name) < std::tie(a.running_ns, b.name);
    });
  }

  static constexpr std::size_t none = ~std::size_t{0};
  static constexpr std::string_view unnamed = "(not known)";

  struct ready {
    std::uint64_t since;
    histogram latency_summary::* cause;
  };
  struct lock_state {
    lock_summary sum;
    std::uint32_t passed_by = 0;
    std::unordered_map<std::string_view, std::uint64_t> holders;
  };

  const recording& all_;
  summary& result_;
  std::uint64_t end_;
  std::vector<std::size_t> worker_of_track_;
  std::unordered_map<std::uint32_t, std::size_t> place_of_id_;
  std::vector<worker_state> states_;
  std::vector<bool> first_seen_;
  std::unordered_map<std::uint64_t, ready> ready_;
  std::unordered_map<std::string_view, name_summary> names_; // the keys are the recording's
  std::unordered_map<std::uint32_t, std::string_view> name_of_mark_;
  std::unordered_map<lock_wait, std::uint64_t, hash_of_wait> waits_;
  std::unordered_map<std::uint64_t, lock_state> locks_;
};

} // namespace

summary summarise(const recording& what) {
  summary result;
  result.program = what.program;
  result.process = what.process;
  result.length_ns = static_cast<std::uint64_t>(what.end_ns - what.begin_ns);
  result.events = what.kept();
  result.dropped = what.dropped();
  analysis(what, result).run();
  return result;
}

} // namespace weft::trace
