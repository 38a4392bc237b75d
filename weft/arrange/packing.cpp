// SPDX-License-Identifier: MIT
#include "weft/arrange/packing.hpp"

#include <algorithm>

#include "weft/os/clock.hpp"
#include "weft/sched/stealing.hpp"
#include "weft/workers/group.hpp"
#include "weft/workers/ticker.hpp"

namespace weft::sched {
namespace {

// How long a thread may run before it is treated as any other that others wait for: a little longer than
// expected. It may wait, spinning, for one that has not started.
constexpr deadline with_grace(std::int64_t expected) noexcept {
  return expected + expected / 4 + 200'000;
}

} // namespace

packing_board::table* packing_board::take(std::size_t threads) {
  std::uint32_t nobody = 0;
  if (!taken_.cas_strong_acq_rel(nobody, 1))
    return nullptr;
  const auto known = std::find_if(tables_.begin(), tables_.end(),
                                  [threads](const auto& t) { return t->threads.size() == threads; });
  table* t = nullptr;
  try {
    t = known != tables_.end() ? known->get() : tables_.emplace_back(std::make_unique<table>(threads)).get();
  } catch (...) {
    taken_.store_release(0);
    throw;
  }
  shown_.store_release(t); // release: pairs with the acquire in find()
  for (packed_thread& p : t->threads) {
    p.spent.store_relaxed(0);
    p.expected = 0;
    p.place = {};
  }
  return t;
}

void packing_board::give_back() noexcept {
  set(phase::none);
  taken_.store_release(0);
}

packed_thread* packing_board::find(const descriptor* u) const noexcept {
  table* t = shown_.load_acquire();
  if (t == nullptr || taken_.load_relaxed() == 0)
    return nullptr;
  for (packed_thread& p : t->threads) {
    if (p.unit.load_relaxed() == u)
      return &p;
  }
  return nullptr;
}

packing_scheduler::packing_scheduler(std::vector<std::shared_ptr<pool>> pools, unsigned rank,
                                     const group& crew, packing_board& board)
    : scheduler(std::move(pools)), rank_(rank), crew_(crew), board_(board) {}

descriptor* packing_scheduler::next(worker& here) {
  here.timing.running.stop(); // of one that made way for another without the loop
  descriptor* u = take(here);
  here.preemption.planned_tick.store_relaxed(0);
  here.preemption.unhurried_until.store_relaxed(0);
  // One that goes on; one that starts says so itself.
  packed_thread* const t = u != nullptr ? board_.find(u) : nullptr;
  if (t != nullptr) {
    const deadline now = os::now_ns();
    here.timing.running.count(t->spent, now);
    if (t->expected != 0)
      here.preemption.unhurried_until.store_relaxed(now + with_grace(t->expected));
  }
  return u;
}

descriptor* packing_scheduler::take(worker& here) {
  const auto total = static_cast<unsigned>(pools().size());
  const auto pop = [&](unsigned i) -> descriptor* {
    pool& from = pool_of(i);
    if (from.empty())
      return nullptr;
    descriptor* u = from.pop(here);
    if (u != nullptr && i != rank_)
      note_steal(here, *u, from);
    return u;
  };
  const packing_board::phase phase = board_.now();
  if (phase == packing_board::phase::none) {
    // A thread of signal_yield that it has begun it must end: who has some takes none of others'.
    const bool takes_leftovers = here.local.empty();
    descriptor* u = turns_.pick(rank_, std::min(crew_.active_workers(), total), total, takes_leftovers, pop);
    if (u == nullptr && !takes_leftovers)
      call_for_leftovers();
    return u;
  }
  if (descriptor* u = pop(rank_))
    return u;
  for (unsigned k = 1; phase == packing_board::phase::planned && k < total; ++k) {
    if (descriptor* u = pop((rank_ + k) % total))
      return u;
  }
  return nullptr;
}

// This worker may have been the one that was woken for them.
void packing_scheduler::call_for_leftovers() noexcept {
  for (const auto& p : pools()) {
    if (!p->empty())
      p->announce();
  }
}

void packing_scheduler::begin(worker& here, packed_thread& t) noexcept {
  const deadline now = os::now_ns();
  here.timing.running.count(t.spent, now);
  if (t.expected == 0)
    return;
  // Where it was planned to begin: its first part, then it goes where it will be finished. Elsewhere it was
  // taken by a worker that had nothing else, which runs it to the end.
  const bool cut = t.place.slice != 0 && t.place.worker == rank_;
  if (cut)
    here.current->own_pool = &pool_of(t.place.second);
  here.preemption.unhurried_until.store_relaxed(now + with_grace(t.expected));
  if (!cut)
    return;
  const deadline at = now + t.place.slice;
  here.preemption.planned_tick.store_relaxed(at);
  if (ticker* ticks = ticker_of_process.load(std::memory_order_acquire))
    ticks->look_by(at);
}

void packing_scheduler::end(worker& here) noexcept {
  here.timing.running.stop();
  here.preemption.planned_tick.store_relaxed(0);
  here.preemption.unhurried_until.store_relaxed(0);
}

} // namespace weft::sched
