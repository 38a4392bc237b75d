// SPDX-License-Identifier: MIT
// The shipped schedulers.
#include "weft/workers/scheduler.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <system_error>

#include "weft/sched/stealing.hpp"

namespace weft::sched {
void note_steal(worker& thief, const descriptor& u, const pool& victim) noexcept {
  ++thief.recording.counters.steals;
  const worker* owner = victim.owner();
  thief.note(trace::event::steal, &u, owner != nullptr ? owner->recording.recorder.track() : trace::no_track);
}

scheduler::scheduler(std::vector<std::shared_ptr<pool>> pools) : pools_(std::move(pools)) {
  if (pools_.empty() || std::find(pools_.begin(), pools_.end(), nullptr) != pools_.end()) {
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "weft: a scheduler needs pools, none of them null");
  }
}

scheduler::~scheduler() = default;

bool scheduler::has_work() const noexcept {
  return std::any_of(pools_.begin(), pools_.end(), [](const auto& p) { return !p->empty(); });
}

descriptor* scheduler::next_oldest(worker& here) {
  pool* p = hot_pool();
  return p != nullptr ? p->pop_oldest(here) : nullptr;
}

void scheduler::start(worker& w) {
  std::size_t attached = 0;
  try {
    for (; attached < pools_.size(); ++attached)
      pools_[attached]->attach(w, attached == 0);
    on_start(w);
  } catch (...) {
    while (attached > 0)
      pools_[--attached]->detach(w);
    throw;
  }
}

void scheduler::stop(worker& w) noexcept {
  on_stop(w);
  for (const auto& p : pools_)
    p->detach(w);
}

descriptor* fifo_scheduler::next(worker& here) {
  for (std::size_t tried = 0; tried < pools().size(); ++tried) {
    pool& p = *pools()[turn_];
    turn_ = turn_ + 1 == pools().size() ? 0 : turn_ + 1;
    if (descriptor* u = p.pop(here))
      return u;
  }
  return nullptr;
}

descriptor* priority_scheduler::next(worker& here) {
  for (const auto& p : pools()) {
    if (descriptor* u = p->pop(here))
      return u;
  }
  return nullptr;
}

descriptor* random_stealing_scheduler::next(worker& here) {
  if (descriptor* u = main_pool().pop(here))
    return u;
  return steal_among(here, pools(), 1, pools().size(), seed_);
}

hierarchical_scheduler::hierarchical_scheduler(std::vector<std::shared_ptr<pool>> pools,
                                               std::vector<int> distances)
    : scheduler(std::move(pools)) {
  if (distances.size() + 1 != this->pools().size() || !std::is_sorted(distances.begin(), distances.end())) {
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "weft: one distance for each pool but the first, nearest first");
  }
  for (std::size_t first = 0; first < distances.size();) {
    std::size_t last = first;
    while (last < distances.size() && distances[last] == distances[first])
      ++last;
    levels_.emplace_back(first + 1, last + 1);
    first = last;
  }
}

descriptor* hierarchical_scheduler::next(worker& here) {
  if (descriptor* u = main_pool().pop(here))
    return u;
  for (const auto& [first, last] : levels_) {
    if (descriptor* u = steal_among(here, pools(), first, last, seed_))
      return u;
  }
  return nullptr;
}

} // namespace weft::sched
