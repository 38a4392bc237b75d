// SPDX-License-Identifier: MIT
// The rules by which N equal threads are packed onto n < N workers, free of everything else: the schedulers
// (packing.hpp) and the model in bench/packing use this very code. docs/design/packing.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace weft::sched {

// Algorithm 1 of "Lightweight Preemptive User-Level Threads" (Shiina, Iwasaki, Taura, Balaji, PPoPP 2021):
// each worker has pools of its own, and what cannot be dealt out evenly is shared by all; one unit of the
// worker's own pools and one of the shared ones in turn, so that at each interval the shared threads go on,
// elsewhere. Two differences. Among several pools it begins after the one it took from last: the paper's loop
// begins with the first, and threads there that wait for others by spinning would keep these from running.
// And a worker that finds nothing there takes what is left elsewhere (`leftovers`).
//
// Ownership: one worker.
class packing_turns {
 public:
  // `take(i)` takes from pool i, or gives null. `rank` < `active` <= `total`.
  template <class Take>
  auto pick(unsigned rank, unsigned active, unsigned total, bool leftovers, Take take) -> decltype(take(0U)) {
    const unsigned mine = total / active;
    const unsigned exclusive = active * mine;
    for (int phase = 0; phase < 2; ++phase) {
      const bool shared = std::exchange(shared_next_, !shared_next_);
      const auto pool_of = [=](unsigned k) { return shared ? exclusive + k : rank + k * active; };
      const unsigned count = shared ? total - exclusive : mine;
      unsigned& last = shared ? last_shared_ : last_own_;
      for (unsigned tried = 0; tried < count; ++tried) {
        last = last + 1 >= count ? 0 : last + 1;
        if (auto unit = take(pool_of(last)))
          return unit;
      }
    }
    for (unsigned k = 1; leftovers && k < total; ++k) {
      if (auto unit = take((rank + k) % total))
        return unit;
    }
    return {};
  }

 private:
  bool shared_next_ = false;
  unsigned last_own_ = 0;
  unsigned last_shared_ = 0;
};

// McNaughton's wrap-around rule ("Scheduling with deadlines and loss functions", 1959): with threads that
// need times t_i, n workers can be done after max(max t_i, sum t_i / n), and not before. Lay the threads out
// one after the other on a line, and cut it after each such length; a thread that is cut begins on the next
// worker and is finished on the one before, at the end of its time: never on both at once, since no t_i is
// longer.
struct wrap_around {
  struct place {
    unsigned worker = 0;    // where it begins
    std::int64_t slice = 0; // so long; 0: to its end
    unsigned second = 0;    // where it is finished, if `slice` is not 0
  };
  std::vector<place> places;                 // of each thread
  std::vector<std::vector<unsigned>> orders; // of each worker: who begins there, first to last
  std::int64_t length = 0;

  // Parts shorter than `least` are not cut off: a preemption costs something. What a worker gets more or less
  // for that is made up for by those that follow. Errors: std::bad_alloc.
  wrap_around(std::span<const std::int64_t> times, unsigned workers, std::int64_t least)
      : places(times.size()), orders(workers) {
    std::int64_t left = 0; // of what the workers from `on` on get
    std::int64_t longest = 0;
    for (const std::int64_t t : times) {
      left += t;
      longest = std::max(longest, t);
    }
    unsigned on = 0;
    std::int64_t at = 0; // of this worker's time
    const auto share = [&] { return std::max(longest, (left + workers - on - 1) / (workers - on)); };
    length = share();
    std::int64_t mine = length;
    const auto next_worker = [&](std::int64_t begun) {
      left -= at;
      ++on;
      at = begun;
      mine = share();
    };
    for (unsigned i = 0; i < times.size(); ++i) {
      if (on + 1 < workers && at > mine - least)
        next_worker(0);
      const std::int64_t over = at + times[i] - mine;
      if (on + 1 == workers || over <= least) { // whole, perhaps a little longer than planned
        place_at(i, {on, 0, on});
        at += times[i];
      } else if (times[i] - over < least) { // too little would be left here
        next_worker(times[i]);
        place_at(i, {on, 0, on});
      } else {
        place_at(i, {on + 1, over, on});
        at += times[i] - over;
        next_worker(over);
      }
    }
  }

 private:
  void place_at(unsigned thread, place where) {
    places[thread] = where;
    orders[where.worker].push_back(thread);
  }
};

} // namespace weft::sched
