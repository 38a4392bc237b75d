// SPDX-License-Identifier: MIT
#include "weft/packing.hpp"

#include <algorithm>
#include <system_error>

#include "weft/latch.hpp"

namespace weft {
namespace {

using sched::packed_thread;
using sched::packing_board;

// The scheduler under which the caller, a thread in the runtime, runs; null: none of this kind.
packing_scheduler* scheduler_here() noexcept {
  if (!sched::on_worker())
    return nullptr;
  return dynamic_cast<packing_scheduler*>(sched::here().main_scheduler.get());
}

void begin(packed_thread* t) noexcept {
  const sched::runtime_section in;
  if (t == nullptr)
    return;
  sched::worker& here = sched::here();
  t->unit.store_relaxed(here.current);
  if (packing_scheduler* s = scheduler_here())
    s->begin(here, *t);
}

void end(packed_thread* t, latch& all_ended) {
  const sched::runtime_section in;
  if (t != nullptr) {
    if (packing_scheduler* s = scheduler_here())
      s->end(sched::here());
    t->unit.store_relaxed(nullptr);
  }
  all_ended.count_down();
}

// Gives the board back whatever happens.
class board_lease {
 public:
  board_lease(packing_board& board, std::size_t threads) : board_(board), table_(board.take(threads)) {}
  ~board_lease() {
    if (table_ != nullptr)
      board_.give_back();
  }
  board_lease(const board_lease&) = delete;
  board_lease& operator=(const board_lease&) = delete;

  [[nodiscard]] packing_board& board() const noexcept { return board_; }
  [[nodiscard]] packing_board::table* table() const noexcept { return table_; }
  [[nodiscard]] packed_thread* of(unsigned i) const noexcept {
    return table_ != nullptr ? &table_->threads[i] : nullptr;
  }

 private:
  packing_board& board_;
  packing_board::table* table_;
};

} // namespace

struct packed_region::state {
  state(packing_board& board, unsigned threads) : lease(board, threads) { order.reserve(threads); }
  board_lease lease;
  std::vector<unsigned> order;  // in which they are made
  std::vector<unsigned> places; // the worker at which each begins
};

packed_region::packed_region(worker_group& of, const options& wanted) : group_(of), options_(wanted) {
  if (of.board() == nullptr || wanted.preemption == preemption::none) {
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "weft: a packed region needs a group of arrangement::packing and preemption");
  }
}

// One thread of each worker after the other, so that none waits long for its first.
void packed_region::lay_out(state& s, unsigned threads) {
  const unsigned workers = group_.active_workers();
  s.places.resize(threads);
  const bool knows_times =
      options_.planned == plan::wrap_around && s.lease.table() != nullptr && times_.size() == threads;
  was_planned_ = knows_times && threads > workers;
  if (!was_planned_) {
    for (unsigned i = 0; i < threads; ++i) {
      s.places[i] = i % group_.size();
      s.order.push_back(i);
      if (knows_times) // nobody has to leave before that
        s.lease.of(i)->expected = times_[i];
    }
    return;
  }
  const sched::wrap_around laid(times_, workers, options_.least_part.count());
  for (std::size_t nth = 0; s.order.size() < threads; ++nth) {
    for (const auto& of_worker : laid.orders) {
      if (nth < of_worker.size())
        s.order.push_back(of_worker[nth]);
    }
  }
  for (unsigned i = 0; i < threads; ++i) {
    s.places[i] = laid.places[i].worker;
    s.lease.of(i)->expected = times_[i];
    s.lease.of(i)->place = laid.places[i];
  }
}

void packed_region::learn(const state& s, unsigned threads) {
  if (s.lease.table() == nullptr)
    return;
  times_.resize(threads);
  for (unsigned i = 0; i < threads; ++i)
    times_[i] = s.lease.of(i)->spent.load_relaxed();
}

void packed_region::run_erased(unsigned threads, void (*call)(void*, unsigned), void* function) {
  if (threads == 0)
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "weft: a region of no threads");
  state s(*group_.board(), threads);
  lay_out(s, threads);
  latch all_ended(threads);
  std::vector<thread> made;
  made.reserve(threads);
  const auto wait = [&] {
    all_ended.count_down(threads - static_cast<unsigned>(made.size()));
    all_ended.wait(); // a join would run threads on the caller's stack, whoever's turn it is
    for (thread& t : made)
      t.join();
  };
  if (was_planned_)
    s.lease.board().set(packing_board::phase::laying_out);
  try {
    for (const unsigned i : s.order) {
      thread_attributes a;
      a.pool = group_.member(s.places[i]).main_pool.load_acquire();
      a.preemption = options_.preemption;
      made.emplace_back(a, [&all_ended, call, function, i, t = s.lease.of(i)] {
        begin(t);
        call(function, i);
        end(t, all_ended);
      });
    }
  } catch (...) {
    s.lease.board().set(packing_board::phase::none);
    wait();
    throw;
  }
  if (was_planned_)
    s.lease.board().set(packing_board::phase::planned);
  wait();
  learn(s, threads);
}

} // namespace weft
